import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { NewSetupLink, Organization, SetupLink, SetupLinkWithUrl } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Button, Copy, Field, LoadingFailed, Status, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { plannedTime } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { Older } from "./History";
import { keyOf, useParts, useReadAgain } from "./queries";
import { setupLinkLook } from "./words";

const DAYS = [1, 3, 7, 14, 30];
const USUAL_DAYS = 7;
const STEPS = {
  DOMAIN: m.organizations_setup_domain,
  SSO: m.organizations_setup_sso,
  SCIM: m.organizations_setup_scim,
};
type Step = keyof typeof STEPS;

/** The links with which an administrator of the organization sets it up without an account. */
export function SetupLinks({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { id, status } = organization;
  const readAgain = useReadAgain(projectId, id);
  const [isAdding, setAdding] = useState(false);
  const [revoked, setRevoked] = useState<SetupLink>();
  const { query, rows } = useParts<SetupLink>(keyOf(projectId, "setup", id), (parameters, options) =>
    api(projectId).organizations.setupLinks.list(id, parameters, options),
  );
  return (
    <section className="sec" aria-labelledby="setup">
      <header>
        <h2 id="setup">{m.organizations_setup()}</h2>
        {mayWrite && status === "ACTIVE" && (
          <div className="acts">
            <Button size="small" onClick={() => setAdding(true)}>
              {m.organizations_setup_new()}
            </Button>
          </div>
        )}
      </header>
      <p className="muted">{m.organizations_setup_lead()}</p>
      {query.isError && !query.data && <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />}
      {rows.length > 0 && (
        <ul className="list ruled">
          {rows.map((link) => {
            const { shape, tone, word } = setupLinkLook(link);
            const isOpen = link.status === "PENDING" || link.status === "OPENED";
            return (
              <li key={link.id}>
                <div className="grow">
                  <b className="breaks">
                    {link.email ?? link.steps.map((step) => STEPS[step as Step]?.() ?? step).join(", ")}
                  </b>
                  <p className="muted">
                    {isOpen ? (
                      <>
                        {m.organizations_inv_until()} <Time at={link.expiresAt} format={plannedTime} />
                      </>
                    ) : (
                      <>
                        {word()} <Time at={link.completedAt ?? link.revokedAt ?? link.expiresAt} />
                      </>
                    )}
                  </p>
                </div>
                <Status shape={shape} tone={tone}>
                  {word()}
                </Status>
                {mayWrite && isOpen && (
                  <Button kind="bare" size="small" onClick={() => setRevoked(link)}>
                    {m.organizations_inv_withdraw()}
                  </Button>
                )}
              </li>
            );
          })}
        </ul>
      )}
      <Older query={query} />
      {isAdding && <NewDialog organization={organization} onClose={() => setAdding(false)} />}
      {revoked && (
        <ConfirmDialog
          title={m.organizations_setup_revoke()}
          deed={m.organizations_inv_withdraw()}
          run={async () => {
            await api(projectId).organizations.setupLinks.revoke(id, revoked.id);
            readAgain("setup");
            notifications.show({ message: m.organizations_setup_revoked() });
          }}
          onClose={() => setRevoked(undefined)}
        >
          <p>{m.organizations_setup_revoke_lead()}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

const FIELDS = { email: "email", steps: "steps" };

function NewDialog({ organization: { id, name }, onClose }: { organization: Organization; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const readAgain = useReadAgain(projectId, id);
  const [email, setEmail] = useState("");
  const [steps, setSteps] = useState<Step[]>(["DOMAIN", "SSO"]);
  const [days, setDays] = useState(USUAL_DAYS);
  const [created, setCreated] = useState<SetupLinkWithUrl>();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const path = `/projects/${projectId}/b2b/organizations/${id}/setup-links`;
  const body: NewSetupLink = { steps, expiresInDays: days, ...(email.trim() && { email: email.trim() }) };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (steps.length === 0) return setErrors({ "": m.organizations_setup_steps_needed() });
    setBusy(true);
    setErrors({});
    try {
      setCreated(await api(projectId).organizations.setupLinks.create(id, body));
      readAgain("setup");
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
    }
    setBusy(false);
  };
  if (created)
    return (
      <Modal
        opened
        onClose={onClose}
        size={680}
        title={m.organizations_setup_new()}
        // What is shown only once does not vanish by a slip.
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        <div className="form customerform">
          <p>
            {created.email ? m.organizations_setup_mailed({ email: created.email }) : m.organizations_setup_url_once()}
          </p>
          <dl className="handover">
            <div>
              <dt>{m.organizations_setup_url()}</dt>
              <dd>
                <code>{created.url}</code>
                <Copy value={created.url} label={m.organizations_copy_value({ what: m.organizations_setup_url() })} />
              </dd>
            </div>
          </dl>
          <div className="dialog-actions">
            <Button kind="primary" onClick={onClose}>
              {m.organizations_dir_token_saved()}
            </Button>
          </div>
        </div>
      </Modal>
    );
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_setup_title({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_setup_warning()}</p>
        <Field
          label={m.organizations_setup_email()}
          hint={m.organizations_setup_email_hint()}
          type="email"
          autoComplete="off"
          maxLength={254}
          error={errors.email}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          data-autofocus
        />
        <fieldset>
          <legend>{m.organizations_setup_steps()}</legend>
          {(Object.keys(STEPS) as Step[]).map((step) => (
            <label className="line" key={step}>
              <input
                type="checkbox"
                className="check"
                checked={steps.includes(step)}
                onChange={(event) =>
                  setSteps(event.target.checked ? [...steps, step] : steps.filter((each) => each !== step))
                }
              />
              {STEPS[step]()}
            </label>
          ))}
        </fieldset>
        <Field label={m.organizations_inv_days()}>
          {(attributes) => (
            <select
              {...attributes}
              className="input"
              value={days}
              onChange={(event) => setDays(Number(event.target.value))}
            >
              {DAYS.map((each) => (
                <option key={each} value={each}>
                  {each === 1 ? m.organizations_day_one() : m.organizations_days({ count: each })}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Wrong>{errors[""] ?? errors.steps}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_setup_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
