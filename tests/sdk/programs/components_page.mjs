import {
  ImpersonationBanner,
  OrganizationSwitcher,
  PosternProvider,
  SignedIn,
  SignedOut,
  SignInButton,
  SignOutButton,
  SignUpButton,
  useCustomer,
  UserButton,
} from "@postern/react";
import { createElement as h, useState } from "react";

const CSS = `
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: #fff; color: #111a1c; }
header { display: flex; gap: 8px; align-items: center; padding: 12px 20px; border-bottom: 1px solid #e2e7e9; }
header > :nth-child(2) { margin-inline-start: auto; }
main { padding: 20px; }
.dark { background: #0f1516; color: #eef3f4; } .dark header { border-color: #232c2e; }
@media (prefers-color-scheme: dark) { .auto { background: #0f1516; color: #eef3f4; } .auto header { border-color: #232c2e; } }
`;

export function Page({ theme, inPlace }) {
  const [switched, setSwitched] = useState("");
  const onSwitch = inPlace ? { onSwitch: (organization) => setSwitched(`switched to ${organization?.name}`) } : {};
  return h(
    "html",
    { lang: "en", "data-props": JSON.stringify({ theme, inPlace }) },
    h(
      "head",
      null,
      h("meta", { charSet: "utf-8" }),
      h("meta", { name: "viewport", content: "width=device-width" }),
      h("title", null, "Components"),
      h("style", null, CSS),
      h("script", { type: "module", src: "/client.js" }),
    ),
    h(
      "body",
      { className: theme },
      h(
        PosternProvider,
        { theme, ...onSwitch },
        h(ImpersonationBanner, { signOutReturnTo: "/components" }),
        h(
          "header",
          null,
          h(SignedIn, null, h(OrganizationSwitcher, { links: [{ label: "Create an organization", href: "/create" }] })),
          h("span"),
          h(SignedOut, null, h(SignInButton), h(SignUpButton)),
          h(SignedIn, null, h(UserButton, { links: [{ label: "Account settings", href: "/settings" }] })),
        ),
        h("main", null, h(Facts), h("p", null, switched), h(SignedIn, null, h(SignOutButton))),
      ),
    ),
  );
}

function Facts() {
  const { isLoaded, customer, organization, permissions, has } = useCustomer();
  if (!isLoaded) return h("p", null, "Loading");
  if (!customer) return h("p", null, "Nobody is signed in");
  const facts = [customer.email, organization?.name ?? "no organization", permissions.join(" "), has("reports:read")];
  return h("p", { id: "facts" }, facts.join(" | "));
}
