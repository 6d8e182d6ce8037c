import { notifications } from "@mantine/notifications";
import type { AccountInvitation, AccountMember } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { initials } from "../../parts/format";
import { Button, Copy, Empty, Field, ICON, LoadingFailed, SkeletonRows, Status, Time } from "../../parts/parts";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useUndo } from "../../parts/undo";
import { profileQuery, useProfile } from "../../session/profile";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { Frame } from "./Frame";
import { MEMBERS, useMembers } from "./members";
import { Choices, FormDialog, LoadingRows, OwnPassword, ReadOnly, Row, Section, textOf, useMay } from "./pieces";
import { INVITED_ROLES, ROLE_HINTS, ROLE_WORDS } from "./roles";

const INVITATIONS = ["account", "invitations"];

type Dialog =
  | { kind: "invite" }
  | { kind: "rename" }
  | { kind: "leave" }
  | { kind: "transfer" }
  | { kind: "role" | "remove"; member: AccountMember };

/** Who belongs to the account, what they may do, and who is invited. */
export function TeamPart() {
  const profile = useProfile();
  const mayWrite = useMay("account");
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Frame
      name="team"
      title={m.settings_team()}
      lead={m.settings_team_lead({ account: profile.account.name })}
      request={{ method: "GET", path: "/account/members" }}
      actions={
        mayWrite && (
          <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setDialog({ kind: "invite" })}>
            {m.settings_invite()}
          </Button>
        )
      }
    >
      <ReadOnly what="account" />
      <Members onOpen={setDialog} />
      <Invitations onInvite={() => setDialog({ kind: "invite" })} />
      <RoleTable />
      <Section title={m.settings_account()}>
        <ul className="rows">
          <Row
            title={profile.account.name}
            action={
              mayWrite && (
                <Button size="small" onClick={() => setDialog({ kind: "rename" })}>
                  {m.settings_rename()}
                </Button>
              )
            }
          >
            {m.settings_account_name()}
          </Row>
          <OwnerRow onOpen={() => setDialog({ kind: "transfer" })} />
          {profile.role !== "OWNER" && (
            <Row
              title={m.settings_leave_account()}
              action={
                <Button size="small" kind="danger" onClick={() => setDialog({ kind: "leave" })}>
                  {m.settings_leave_open()}
                </Button>
              }
            >
              {m.settings_leave_account_lead()}
            </Row>
          )}
        </ul>
      </Section>
      {dialog?.kind === "invite" && <InviteDialog onClose={close} />}
      {dialog?.kind === "rename" && <RenameDialog onClose={close} />}
      {dialog?.kind === "leave" && <LeaveDialog onClose={close} />}
      {dialog?.kind === "role" && <RoleDialog member={dialog.member} onClose={close} />}
      {dialog?.kind === "remove" && <RemoveDialog member={dialog.member} onClose={close} />}
      {dialog?.kind === "transfer" && <TransferDialog onClose={close} />}
    </Frame>
  );
}

/** The owner first, since everything depends on them. */
function Members({ onOpen }: { onOpen: (dialog: Dialog) => void }) {
  const profile = useProfile();
  const mayWrite = useMay("account");
  const query = useMembers();
  const members = query.data ?? [];
  const owner = members.filter((each) => each.role === "OWNER");
  const title =
    members.length === 1 ? m.settings_members_one() : m.settings_members({ count: members.length || "" }).trim();
  if (query.error && !query.data)
    return (
      <Section title={m.settings_people()}>
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      </Section>
    );
  return (
    <Section title={query.data ? title : m.settings_people()}>
      <table className="table plain people" aria-busy={query.isPending || undefined}>
        <caption className="sr">{m.settings_people()}</caption>
        <thead>
          <tr>
            <th scope="col">{m.settings_person()}</th>
            <th scope="col" className="c-role">
              {m.settings_role()}
            </th>
            <th scope="col" className="c-factor">
              {m.settings_second_factor()}
            </th>
            <th scope="col" className="c-last">
              {m.settings_last_sign_in()}
            </th>
            <th scope="col" className="c-acts">
              <span className="sr">{m.settings_actions()}</span>
            </th>
          </tr>
        </thead>
        {query.isPending ? (
          <SkeletonRows rows={3} widths={[220, 80, 60, 60, 60]} />
        ) : (
          <tbody>
            {[...owner, ...members.filter((each) => each.role !== "OWNER")].map((member) => (
              <tr key={member.id}>
                <th scope="row">
                  <Person name={member.name} email={member.email} isYou={member.id === profile.id} />
                </th>
                <td className="c-role">{ROLE_WORDS[member.role]?.() ?? member.role}</td>
                <td className="c-factor">
                  {member.mfaEnabledAt ? (
                    <Status shape="yes">{m.settings_on()}</Status>
                  ) : (
                    <Status shape="off">{m.settings_off()}</Status>
                  )}
                </td>
                <td className="c-last muted">
                  {member.lastSignInAt ? <Time at={member.lastSignInAt} /> : m.settings_never()}
                </td>
                <td className="c-acts">
                  {mayWrite && member.role !== "OWNER" && (
                    <span className="acts">
                      <Button
                        size="small"
                        aria-label={m.settings_role_of({ name: member.email })}
                        onClick={() => onOpen({ kind: "role", member })}
                      >
                        {m.settings_change_role()}
                      </Button>
                      {member.id !== profile.id && (
                        <Button
                          size="small"
                          kind="bare"
                          className="danger"
                          aria-label={m.settings_remove_member({ name: member.email })}
                          onClick={() => onOpen({ kind: "remove", member })}
                        >
                          {m.settings_remove()}
                        </Button>
                      )}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        )}
      </table>
    </Section>
  );
}

/** Who owns the account, and the way to another owner. */
function OwnerRow({ onOpen }: { onOpen: () => void }) {
  const mayTransfer = useMay("own");
  const members = useMembers().data ?? [];
  const owner = members.find((each) => each.role === "OWNER");
  if (!owner) return null;
  return (
    <Row
      title={owner.name || owner.email}
      action={
        mayTransfer &&
        members.length > 1 && (
          <Button size="small" onClick={onOpen}>
            {m.settings_transfer()}
          </Button>
        )
      }
    >
      {m.settings_owner_stays()}
    </Row>
  );
}

function Person({ name, email, isYou }: { name: string; email: string; isYou: boolean }) {
  return (
    <span className="person">
      <span className="face" aria-hidden="true">
        {initials(name || email)}
      </span>
      <span className="grow">
        <span className="cut">
          {name || email} {isYou && <span className="tag">{m.settings_you()}</span>}
        </span>
        {name && <small className="muted cut">{email}</small>}
      </span>
    </span>
  );
}

function Invitations({ onInvite }: { onInvite: () => void }) {
  const mayWrite = useMay("account");
  const { hidden, start } = useUndo();
  const [sending, setSending] = useState("");
  const query = useQuery({
    queryKey: INVITATIONS,
    queryFn: async ({ signal }) => (await api().account.invitations.list({}, { signal })).data,
  });
  const invitations = (query.data ?? []).filter((each) => !hidden.has(each.id));
  const again = async ({ id, email, role }: AccountInvitation) => {
    setSending(id);
    try {
      await api().account.invitations.create({ email, role });
      // The invitation has another id now. Until the list has it, it could not be withdrawn.
      await queries.invalidateQueries({ queryKey: INVITATIONS });
      notifications.show({ message: m.settings_invited_again({ email }) });
    } catch (error) {
      await queries.invalidateQueries({ queryKey: INVITATIONS });
      notifications.show({ message: messageOf(error) });
    }
    setSending("");
  };
  const withdraw = ({ id, email }: AccountInvitation) =>
    start({
      id,
      said: m.settings_withdrawn({ email }),
      run: async () => {
        await api().account.invitations.revoke(id);
        await queries.invalidateQueries({ queryKey: INVITATIONS });
      },
      failed: messageOf,
    });
  return (
    <Section title={m.settings_invitations()} lead={m.settings_invitations_lead()}>
      {query.error && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <LoadingRows count={2} />
      ) : invitations.length === 0 ? (
        <Empty title={m.settings_invitations_none()} lead={m.settings_invitations_none_lead()}>
          {mayWrite && <Button onClick={onInvite}>{m.settings_invite()}</Button>}
        </Empty>
      ) : (
        <ul className="rows">
          {invitations.map((each) => {
            const hasExpired = new Date(each.expiresAt).getTime() < Date.now();
            return (
              <Row
                key={each.id}
                title={
                  <>
                    {each.email} <span className="tag">{ROLE_WORDS[each.role]?.() ?? each.role}</span>
                  </>
                }
                action={
                  mayWrite && (
                    <>
                      <Button
                        size="small"
                        busy={sending === each.id}
                        aria-label={m.settings_send_again_to({ email: each.email })}
                        onClick={() => void again(each)}
                      >
                        {m.settings_send_again()}
                      </Button>
                      <Button
                        size="small"
                        kind="bare"
                        disabled={sending === each.id}
                        aria-label={m.settings_withdraw_for({ email: each.email })}
                        onClick={() => withdraw(each)}
                      >
                        {m.settings_withdraw()}
                      </Button>
                    </>
                  )
                }
              >
                {m.settings_invited_by({ who: each.invitedBy })} <Time at={each.createdAt} />
                {" · "}
                {hasExpired ? (
                  <span className="expired">{m.settings_expired()}</span>
                ) : (
                  <>
                    {m.settings_valid_until()} <Time at={each.expiresAt} />
                  </>
                )}
              </Row>
            );
          })}
        </ul>
      )}
    </Section>
  );
}

/** What each role may do: the table of the guide "Manage your account". */
const ABILITIES: { label: () => string; roles: string[] }[] = [
  { label: m.settings_can_read, roles: ["OWNER", "ADMIN", "DEVELOPER", "VIEWER"] },
  { label: m.settings_can_work, roles: ["OWNER", "ADMIN", "DEVELOPER"] },
  { label: m.settings_can_keys, roles: ["OWNER", "ADMIN", "DEVELOPER"] },
  { label: m.settings_can_people, roles: ["OWNER", "ADMIN"] },
  { label: m.settings_can_export, roles: ["OWNER", "ADMIN"] },
  { label: m.settings_can_own, roles: ["OWNER"] },
];
const ALL_ROLES = ["OWNER", "ADMIN", "DEVELOPER", "VIEWER"];

function RoleTable() {
  return (
    <Section title={m.settings_roles()} lead={m.settings_roles_lead()}>
      <table className="table plain tight roles">
        <caption className="sr">{m.settings_roles()}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="sr">{m.settings_ability()}</span>
            </th>
            {ALL_ROLES.map((role) => (
              <th key={role} scope="col">
                {ROLE_WORDS[role]?.()}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ABILITIES.map(({ label, roles }) => (
            <tr key={label()}>
              <th scope="row">{label()}</th>
              {ALL_ROLES.map((role) => (
                <td key={role}>
                  {roles.includes(role) ? (
                    <Status shape="yes">
                      <span className="sr">{m.settings_yes()}</span>
                    </Status>
                  ) : (
                    <span className="sr">{m.settings_no()}</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** The roles that can be given, each with what it means. */
function RoleChoices({ value }: { value: string }) {
  return (
    <Choices
      legend={m.settings_role()}
      isLegendShown
      name="role"
      value={value}
      options={INVITED_ROLES.map((role) => ({
        value: role,
        label: ROLE_WORDS[role]?.() ?? role,
        hint: ROLE_HINTS[role]?.(),
      }))}
    />
  );
}

const ROLE_PLACES = { email: ["/email", "already_member", "too_many_members"], role: ["/role"] };

function InviteDialog({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title={m.settings_invite()}
      deed={m.settings_invite_send()}
      places={ROLE_PLACES}
      onClose={onClose}
      run={async (form) => {
        const email = textOf(form, "email");
        await api().account.invitations.create({ email, role: textOf(form, "role") });
        void queries.invalidateQueries({ queryKey: INVITATIONS });
        notifications.show({ message: m.settings_invited({ email }) });
      }}
    >
      {(errors) => (
        <>
          <Field
            label={m.email_address()}
            name="email"
            type="email"
            autoComplete="off"
            error={errors.email}
            hint={m.settings_invite_hint()}
            data-autofocus
          />
          <RoleChoices value="DEVELOPER" />
          <details className="small">
            <summary>{m.settings_invite_capture()}</summary>
            <p className="muted">{m.settings_invite_capture_lead()}</p>
            <p className="idline">
              <code>postern developers mail</code>
              <Copy value="postern developers mail" />
            </p>
          </details>
        </>
      )}
    </FormDialog>
  );
}

function RoleDialog({ member, onClose }: { member: AccountMember; onClose: () => void }) {
  return (
    <FormDialog
      title={m.settings_role_of({ name: member.name || member.email })}
      deed={m.settings_change_role()}
      places={ROLE_PLACES}
      onClose={onClose}
      run={async (form) => {
        const role = textOf(form, "role");
        await api().account.members.updateRole(member.id, { role });
        await queries.invalidateQueries({ queryKey: MEMBERS });
        void queries.invalidateQueries({ queryKey: INVITATIONS });
        void queries.invalidateQueries(profileQuery);
        notifications.show({
          message: m.settings_role_changed({ name: member.email, role: ROLE_WORDS[role]?.() ?? role }),
        });
      }}
    >
      {() => (
        <>
          <p className="muted">{m.settings_role_when()}</p>
          <RoleChoices value={member.role} />
        </>
      )}
    </FormDialog>
  );
}

function RemoveDialog({ member, onClose }: { member: AccountMember; onClose: () => void }) {
  return (
    <TypedConfirm
      title={m.settings_remove_title({ name: member.name || member.email })}
      name={member.email}
      deed={m.settings_remove_deed()}
      onClose={onClose}
      run={async () => {
        await api().account.members.remove(member.id);
        await queries.invalidateQueries({ queryKey: MEMBERS });
        void queries.invalidateQueries({ queryKey: INVITATIONS });
        notifications.show({ message: m.settings_removed({ name: member.email }) });
      }}
    >
      <p>{m.settings_remove_lost()}</p>
    </TypedConfirm>
  );
}

function TransferDialog({ onClose }: { onClose: () => void }) {
  const others = (useMembers().data ?? []).filter((each) => each.role !== "OWNER");
  const [id, setId] = useState(others[0]?.id ?? "");
  const email = others.find((each) => each.id === id)?.email ?? "";
  return (
    <FormDialog
      title={m.settings_transfer_title()}
      deed={m.settings_make_owner()}
      kind="solid-danger"
      places={{ member: ["member_missing"], password: ["/password", "password_wrong"] }}
      ready={id !== ""}
      onClose={onClose}
      run={async (form) => {
        await api().account.members.transferOwnership(id, { password: String(form.get("password")) });
        await Promise.all([queries.invalidateQueries({ queryKey: MEMBERS }), queries.refetchQueries(profileQuery)]);
        notifications.show({ message: m.settings_transferred({ name: email }) });
      }}
    >
      {(errors) => (
        <>
          <Field label={m.settings_transfer_new()} error={errors.member}>
            {(attributes) => (
              <select
                className="input"
                value={id}
                onChange={(event) => setId(event.target.value)}
                data-autofocus
                {...attributes}
              >
                {others.map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name ? `${each.name} (${each.email})` : each.email}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <p>{m.settings_transfer_lead({ name: email })}</p>
          <OwnPassword error={errors.password} />
        </>
      )}
    </FormDialog>
  );
}

function RenameDialog({ onClose }: { onClose: () => void }) {
  const profile = useProfile();
  return (
    <FormDialog
      title={m.settings_rename_account()}
      deed={m.settings_rename()}
      places={{ name: ["/accountName"] }}
      onClose={onClose}
      run={async (form) => {
        await api().account.update({ accountName: textOf(form, "name") });
        await queries.refetchQueries(profileQuery);
      }}
    >
      {(errors) => (
        <Field
          label={m.settings_account_name()}
          name="name"
          defaultValue={profile.account.name}
          maxLength={200}
          error={errors.name}
          data-autofocus
        />
      )}
    </FormDialog>
  );
}

function LeaveDialog({ onClose }: { onClose: () => void }) {
  const profile = useProfile();
  return (
    <TypedConfirm
      title={m.settings_leave_account_title({ account: profile.account.name })}
      name={profile.email}
      deed={m.settings_leave_account()}
      onClose={onClose}
      run={async () => {
        await api().account.leave();
        queries.clear();
        location.assign("/dashboard/sign-in");
      }}
    >
      <p>{m.settings_leave_lost()}</p>
    </TypedConfirm>
  );
}
