import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type NewOrganizationInvitation, type Organization, type OrganizationInvitation } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { roleOf } from "../../parts/access";
import { rolesQuery } from "../../parts/accessQueries";
import { Button, Empty, Field, LoadingFailed, Status, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useUndo } from "../../parts/undo";
import { Wrong } from "../../parts/Wrong";
import { plannedTime } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { Older } from "./History";
import { keyOf, useParts, useReadAgain } from "./queries";
import { Waiting } from "./Waiting";
import { invitationLook } from "./words";

const DAYS = [1, 3, 7, 14, 30];
const USUAL_DAYS = 7;

/** The people who were asked to join an organization, and what became of it. */
export function Invitations({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { id, status } = organization;
  const readAgain = useReadAgain(projectId, id);
  const { hidden, start } = useUndo();
  const roles = useQuery(rolesQuery(projectId));
  const [isInviting, setInviting] = useState(false);
  const [sending, setSending] = useState("");
  const { query, rows } = useParts<OrganizationInvitation>(keyOf(projectId, "invitations", id), (parameters, options) =>
    api(projectId).organizations.invitations.list(id, parameters, options),
  );
  const invitations = rows.filter((each) => !hidden.has(each.id));
  const resend = async ({ id: invitationId, email }: OrganizationInvitation) => {
    if (sending) return;
    setSending(invitationId);
    try {
      await api(projectId).organizations.invitations.resend(id, invitationId);
      notifications.show({ message: m.organizations_inv_resent({ email }) });
    } catch (error) {
      const isSoon = error instanceof APIError && error.code === "resent_too_soon";
      notifications.show({ message: isSoon ? m.organizations_inv_too_soon() : messageOf(error) });
    }
    readAgain("one", "invitations");
    setSending("");
  };
  const withdraw = ({ id: invitationId, email }: OrganizationInvitation) =>
    start({
      id: invitationId,
      said: m.organizations_inv_withdrawn({ email }),
      run: async () => {
        await api(projectId).organizations.invitations.revoke(id, invitationId);
        readAgain("one", "invitations");
      },
      failed: messageOf,
    });
  const canInvite = mayWrite && status === "ACTIVE";
  return (
    <section className="sec" aria-labelledby="invitations">
      <header>
        <h2 id="invitations">{m.organizations_invitations()}</h2>
        {canInvite && rows.length > 0 && (
          <div className="acts">
            <Button size="small" onClick={() => setInviting(true)}>
              {m.organizations_invite()}
            </Button>
          </div>
        )}
      </header>
      {query.isError && rows.length === 0 ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Waiting />
      ) : invitations.length === 0 ? (
        <Empty title={m.organizations_inv_empty()} lead={m.organizations_inv_empty_lead()}>
          {canInvite && <Button onClick={() => setInviting(true)}>{m.organizations_invite()}</Button>}
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({
                method: "POST",
                path: `/projects/${projectId}/b2b/organizations/${id}/invitations`,
                body: { email: "ada@example.com", role: "MEMBER" },
              })
            }
          >
            {m.copy_as_curl()}
          </Button>
        </Empty>
      ) : (
        <>
          <ul className="list ruled">
            {invitations.map((invitation) => {
              const { shape, tone, word } = invitationLook(invitation);
              const { email, role, expiresAt, acceptedAt, revokedAt, mailedAt, mailProblem } = invitation;
              const isOpen = invitation.status === "PENDING" || invitation.status === "EXPIRED";
              return (
                <li key={invitation.id}>
                  <div className="grow">
                    <b className="breaks">{email}</b>
                    <p className="muted">
                      {roleOf(roles.data ?? [], role, "ORGANIZATION")?.name ?? role}
                      {" · "}
                      {invitation.status === "PENDING" ? (
                        <>
                          {m.organizations_inv_until()} <Time at={expiresAt} format={plannedTime} />
                          {" · "}
                          {mailedAt ? (
                            <>
                              {m.organizations_inv_mailed()} <Time at={mailedAt} />
                            </>
                          ) : (
                            m.organizations_inv_mailing()
                          )}
                        </>
                      ) : (
                        <>
                          {word()} <Time at={acceptedAt ?? revokedAt ?? expiresAt} />
                        </>
                      )}
                    </p>
                    {mailProblem && isOpen && <Wrong>{m.organizations_inv_problem({ reason: mailProblem })}</Wrong>}
                  </div>
                  <Status shape={shape} tone={tone}>
                    {word()}
                  </Status>
                  {mayWrite && isOpen && (
                    <>
                      {status === "ACTIVE" && (
                        <Button
                          kind="bare"
                          size="small"
                          busy={sending === invitation.id}
                          aria-label={m.organizations_inv_resend_of({ email })}
                          onClick={() => void resend(invitation)}
                        >
                          {m.organizations_inv_resend()}
                        </Button>
                      )}
                      <Button
                        kind="bare"
                        size="small"
                        aria-label={m.organizations_inv_withdraw_of({ email })}
                        onClick={() => withdraw(invitation)}
                      >
                        {m.organizations_inv_withdraw()}
                      </Button>
                    </>
                  )}
                </li>
              );
            })}
          </ul>
          <p className="muted hint">{m.organizations_inv_note()}</p>
        </>
      )}
      <Older query={query} />
      {isInviting && <InviteDialog organization={organization} onClose={() => setInviting(false)} />}
    </section>
  );
}

const FIELDS = {
  email: "email",
  role: "role",
  acceptUrl: "acceptUrl",
  already_invited: "email",
  already_member: "email",
  role_unknown: "role",
};

function InviteDialog({ organization: { id, name }, onClose }: { organization: Organization; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const readAgain = useReadAgain(projectId, id);
  const roles = useQuery(rolesQuery(projectId));
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("MEMBER");
  const [days, setDays] = useState(USUAL_DAYS);
  const [acceptUrl, setAcceptUrl] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const path = `/projects/${projectId}/b2b/organizations/${id}/invitations`;
  const body: NewOrganizationInvitation = { email: email.trim(), role, expiresInDays: days };
  if (acceptUrl.trim()) body.acceptUrl = acceptUrl.trim();
  const choices = (roles.data ?? []).filter((each) => each.scope === "ORGANIZATION");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!body.email) return setErrors({ email: m.organizations_inv_email_needed() });
    setBusy(true);
    setErrors({});
    try {
      await api(projectId).organizations.invitations.create(id, body);
      readAgain("one", "invitations");
      notifications.show({ message: m.organizations_inv_done({ email: body.email }) });
      onClose();
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_invite_title({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_invite_lead()}</p>
        <Field
          label={m.customers_email()}
          type="email"
          autoComplete="off"
          maxLength={254}
          error={errors.email}
          value={email}
          onChange={(event) => {
            setEmail(event.target.value);
            setErrors({});
          }}
          data-autofocus
        />
        <Field label={m.organizations_role()} error={errors.role}>
          {(attributes) => (
            <select {...attributes} className="input" value={role} onChange={(event) => setRole(event.target.value)}>
              {!choices.some((each) => each.key === role) && <option value={role}>{role}</option>}
              {choices.map((each) => (
                <option key={each.key} value={each.key}>
                  {each.name}
                </option>
              ))}
            </select>
          )}
        </Field>
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
        <Field
          label={m.organizations_inv_url()}
          hint={m.organizations_inv_url_hint()}
          type="url"
          placeholder="https://app.example.com/join"
          autoComplete="off"
          error={errors.acceptUrl}
          value={acceptUrl}
          onChange={(event) => setAcceptUrl(event.target.value)}
        />
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_invite_deed()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
