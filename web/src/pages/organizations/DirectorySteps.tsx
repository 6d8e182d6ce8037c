import { m } from "../../messages/messages.js";

/** What the administrator of the organization does in the two directories that are used most. */
export function DirectorySteps() {
  const directories = [
    {
      name: "Entra ID",
      guide: "/guide/scim#enter-it-in-entra-id",
      steps: [m.organizations_dir_entra1(), m.organizations_dir_entra2(), m.organizations_dir_entra3()],
    },
    {
      name: "Okta",
      guide: "/guide/scim#enter-it-in-okta",
      steps: [m.organizations_dir_okta1(), m.organizations_dir_okta2(), m.organizations_dir_okta3()],
    },
  ];
  return (
    <div className="directorysteps">
      {directories.map(({ name, guide, steps }) => (
        <div key={name}>
          <h3>{name}</h3>
          <ol>
            {steps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
          <p>
            <a href={guide} target="_blank" rel="noreferrer">
              {m.organizations_dir_steps_guide({ name })}
            </a>
          </p>
        </div>
      ))}
    </div>
  );
}
