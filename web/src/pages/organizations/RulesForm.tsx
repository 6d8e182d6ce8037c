import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { AttributeMapping, Organization, SsoConnection, SsoConnectionChange } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { roleOf } from "../../parts/access";
import { rolesQuery } from "../../parts/accessQueries";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { Button, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { RoleBoxes } from "../customers/RoleBoxes";
import { useEditing, useShowConnection } from "./queries";
import { groupLines, groupsIn, limitIn } from "./values";

const NAMES = ["subject", "email", "name", "firstName", "lastName", "groups"] as const;
type Name = (typeof NAMES)[number];

const WORDS: Record<Name, () => string> = {
  subject: m.organizations_map_subject,
  email: m.organizations_map_email,
  name: m.organizations_map_name,
  firstName: m.organizations_map_first,
  lastName: m.organizations_map_last,
  groups: m.organizations_map_groups,
};

/** The options that are on or off. */
const USUAL = ["createCustomers", "allowOtherDomains", "trustMfa", "requireEncryption", "allowIdpInitiated"] as const;
/** Those for providers that need something else than usual. */
const SPECIAL = ["forceAuthn", "allowAesCbc", "acceptExpiredCertificates"] as const;
const OPTIONS = [...USUAL, ...SPECIAL] as const;
type Option = (typeof OPTIONS)[number];
/** Those that there are only by SAML. */
const SAML_ONLY: readonly Option[] = [
  "requireEncryption",
  "allowIdpInitiated",
  "allowAesCbc",
  "acceptExpiredCertificates",
];
/** The options that a connection has. */
const optionsOf = ({ kind }: SsoConnection) => OPTIONS.filter((each) => kind !== "OIDC" || !SAML_ONLY.includes(each));
/** Seconds by which the clocks of both sides may differ at most. */
const MOST_SKEW_SECONDS = 300;

const OPTION_WORDS: Record<Option, { label: () => string; hint: () => string }> = {
  createCustomers: { label: m.organizations_opt_create, hint: m.organizations_opt_create_hint },
  allowOtherDomains: { label: m.organizations_opt_others, hint: m.organizations_opt_others_hint },
  trustMfa: { label: m.organizations_opt_mfa, hint: m.organizations_opt_mfa_hint },
  requireEncryption: { label: m.organizations_opt_encryption, hint: m.organizations_opt_encryption_hint },
  allowIdpInitiated: { label: m.organizations_opt_portal, hint: m.organizations_opt_portal_hint },
  forceAuthn: { label: m.organizations_opt_force, hint: m.organizations_opt_force_hint },
  allowAesCbc: { label: m.organizations_opt_cbc, hint: m.organizations_opt_cbc_hint },
  acceptExpiredCertificates: { label: m.organizations_opt_expired, hint: m.organizations_opt_expired_hint },
};

/** Which attribute is what, and what people get: in short, with a dialog that changes it. */
export function RulesForm({ organization, connection }: { organization: Organization; connection: SsoConnection }) {
  const mayWrite = useMayWrite();
  const projectId = useProjectId();
  const roles = useQuery(rolesQuery(projectId));
  const [isOpen, setOpen] = useState(false);
  const namesOf = (keys: string[]) =>
    keys.map((key) => roleOf(roles.data ?? [], key, "ORGANIZATION")?.name ?? key).join(", ");
  const mapped = NAMES.filter((name) => connection.attributeMapping[name]);
  const groups = Object.entries(connection.groupRoles);
  const on = optionsOf(connection).filter((each) => connection[each]);
  return (
    <>
      <dl className="facts">
        <dt>{m.organizations_attributes()}</dt>
        <dd>
          {mapped.length === 0
            ? m.organizations_attributes_usual()
            : mapped.map((name) => `${WORDS[name]()}: ${connection.attributeMapping[name]}`).join(", ")}
        </dd>
        <dt>{m.organizations_default_roles()}</dt>
        <dd>{namesOf(connection.defaultRoles)}</dd>
        {groups.length > 0 && (
          <>
            <dt>{m.organizations_group_roles()}</dt>
            <dd>{groups.map(([group, keys]) => `${group}: ${namesOf(keys)}`).join("; ")}</dd>
          </>
        )}
        <dt>{m.organizations_options()}</dt>
        <dd>{on.map((each) => OPTION_WORDS[each].label()).join("; ") || m.organizations_options_none()}</dd>
      </dl>
      {mayWrite && (
        <p>
          <Button size="small" onClick={() => setOpen(true)}>
            {m.organizations_rules_change()}
          </Button>
        </p>
      )}
      {isOpen && <RulesDialog organization={organization} connection={connection} onClose={() => setOpen(false)} />}
    </>
  );
}

const draftOf = (connection: SsoConnection) => ({
  mapping: Object.fromEntries(NAMES.map((name) => [name, connection.attributeMapping[name] ?? ""])) as Record<
    Name,
    string
  >,
  defaultRoles: connection.defaultRoles,
  groups: groupLines(connection.groupRoles),
  defaultRedirectUrl: connection.defaultRedirectUrl ?? "",
  nameIdFormat: connection.nameIdFormat ?? "",
  clockSkew: String(connection.clockSkewSeconds),
  isHeld: connection.onNewSubject === "HOLD",
  options: Object.fromEntries(OPTIONS.map((name) => [name, connection[name]])) as Record<Option, boolean>,
});
type Draft = ReturnType<typeof draftOf>;

/** A draft as a text for each part, to compare two versions. */
const partsOf = ({ mapping, defaultRoles, groups, options, ...draft }: Draft): Record<string, string> => ({
  [m.organizations_attributes()]: NAMES.filter((name) => mapping[name])
    .map((name) => `${WORDS[name]()}: ${mapping[name]}`)
    .join(", "),
  [m.organizations_default_roles()]: defaultRoles.join(", "),
  [m.organizations_group_roles()]: groups,
  [m.organizations_redirect()]: draft.defaultRedirectUrl,
  [m.organizations_name_id()]: draft.nameIdFormat,
  [m.organizations_skew()]: draft.clockSkew,
  [m.organizations_opt_hold()]: draft.isHeld ? m.organizations_on() : m.organizations_off(),
  [m.organizations_options()]: OPTIONS.filter((each) => options[each])
    .map((each) => OPTION_WORDS[each].label())
    .join("; "),
});

const FIELDS = {
  attributeMapping: "attributeMapping",
  defaultRoles: "defaultRoles",
  groupRoles: "groupRoles",
  defaultRedirectUrl: "defaultRedirectUrl",
  nameIdFormat: "nameIdFormat",
  clockSkewSeconds: "clockSkewSeconds",
  role_unknown: "groupRoles",
};

/** Whether a connection has a setting of those that are not shown at first. */
function isUnusual(connection: SsoConnection): boolean {
  const isOn = SPECIAL.some((each) => connection[each]) || connection.onNewSubject === "HOLD";
  return isOn || connection.nameIdFormat !== null;
}

function Box({
  label,
  hint,
  checked,
  onChange,
}: {
  label: string;
  hint: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className="boxed">
      <input type="checkbox" className="check" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        <span className="muted">{hint}</span>
      </span>
    </label>
  );
}

function RulesDialog({
  organization,
  connection,
  onClose,
}: {
  organization: Organization;
  connection: SsoConnection;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const show = useShowConnection(projectId);
  const roles = useQuery(rolesQuery(projectId));
  const { sso } = api(projectId);
  const { theirs, isBusy, save, takeTheirs, settle } = useEditing(
    connection,
    () => sso.get(organization.id, connection.id),
    show,
  );
  const [draft, setDraft] = useState(() => draftOf(connection));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isSpecial, setSpecial] = useState(() => isUnusual(connection));
  const options = optionsOf(connection);
  const store = async (against?: SsoConnection) => {
    const read = groupsIn(draft.groups);
    if ("wrongLine" in read) {
      settle();
      return setErrors({ groupRoles: m.organizations_groups_wrong({ line: read.wrongLine }) });
    }
    if (draft.defaultRoles.length === 0) {
      settle();
      return setErrors({ defaultRoles: m.organizations_roles_needed() });
    }
    const clockSkewSeconds = limitIn(draft.clockSkew);
    if (clockSkewSeconds === undefined || clockSkewSeconds === null || clockSkewSeconds > MOST_SKEW_SECONDS) {
      settle();
      setSpecial(true);
      return setErrors({ clockSkewSeconds: m.organizations_skew_wrong({ most: MOST_SKEW_SECONDS }) });
    }
    setErrors({});
    const attributeMapping: AttributeMapping = Object.fromEntries(
      NAMES.flatMap((name) => (draft.mapping[name].trim() ? [[name, draft.mapping[name].trim()]] : [])),
    );
    const body: SsoConnectionChange = {
      attributeMapping,
      defaultRoles: draft.defaultRoles,
      groupRoles: read.groups,
      ...Object.fromEntries(options.map((each) => [each, draft.options[each]])),
      ...(connection.kind !== "OIDC" && {
        defaultRedirectUrl: draft.defaultRedirectUrl.trim() || null,
        nameIdFormat: draft.nameIdFormat.trim() || null,
        clockSkewSeconds,
      }),
      onNewSubject: draft.isHeld ? "HOLD" : "REFUSE",
    };
    const saved = await save((ifMatch) => sso.update(organization.id, connection.id, body, { ifMatch }), against);
    if (saved.kind === "refused") {
      settle();
      setErrors(messagesByField(saved.error, FIELDS, messageOf(saved.error)));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_rules_saved() });
      onClose();
    }
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) await store();
  };
  if (theirs) {
    const [now, mine] = [partsOf(draftOf(theirs)), partsOf(draft)];
    return (
      <ConflictDialog
        lead={m.organizations_conflict_lead()}
        rows={Object.keys(mine)
          .filter((name) => now[name] !== mine[name])
          .map((name) => ({
            name,
            theirs: <span className="breaks">{now[name]}</span>,
            mine: <span className="breaks">{mine[name]}</span>,
          }))}
        onClose={settle}
        onTheirs={() => {
          setDraft(draftOf(theirs));
          show(theirs);
          takeTheirs();
        }}
        onMine={() => store(theirs)}
      />
    );
  }
  const box = (each: Option) => (
    <Box
      key={each}
      label={OPTION_WORDS[each].label()}
      hint={OPTION_WORDS[each].hint()}
      checked={draft.options[each]}
      onChange={(isOn) => setDraft({ ...draft, options: { ...draft.options, [each]: isOn } })}
    />
  );
  return (
    <Modal
      opened
      onClose={onClose}
      size={600}
      title={m.organizations_rules_title()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <fieldset className="mapping">
          <legend className="label">{m.organizations_attributes()}</legend>
          <p className="muted">{m.organizations_attributes_hint()}</p>
          <div className="two">
            {NAMES.map((name) => (
              <Field
                key={name}
                label={WORDS[name]()}
                placeholder={m.organizations_attribute_usual()}
                maxLength={300}
                autoComplete="off"
                spellCheck={false}
                value={draft.mapping[name]}
                onChange={(event) => setDraft({ ...draft, mapping: { ...draft.mapping, [name]: event.target.value } })}
              />
            ))}
          </div>
          <Wrong>{errors.attributeMapping}</Wrong>
        </fieldset>
        <RoleBoxes
          roles={roles.data}
          scope="ORGANIZATION"
          legend={m.organizations_default_roles()}
          chosen={draft.defaultRoles}
          onChange={(defaultRoles) => setDraft({ ...draft, defaultRoles })}
        />
        <Wrong>{errors.defaultRoles}</Wrong>
        <Field label={m.organizations_group_roles()} hint={m.organizations_groups_hint()} error={errors.groupRoles}>
          {(attributes) => (
            <textarea
              {...attributes}
              className="input mono"
              rows={3}
              spellCheck={false}
              placeholder="admins = ADMIN"
              value={draft.groups}
              onChange={(event) => {
                setDraft({ ...draft, groups: event.target.value });
                setErrors({});
              }}
            />
          )}
        </Field>
        <fieldset className="roleboxes">
          <legend className="label">{m.organizations_options()}</legend>
          {USUAL.filter((each) => options.includes(each)).map(box)}
        </fieldset>
        {draft.options.allowIdpInitiated && (
          <Field
            label={m.organizations_redirect()}
            hint={m.organizations_redirect_hint()}
            type="url"
            maxLength={2048}
            error={errors.defaultRedirectUrl}
            value={draft.defaultRedirectUrl}
            onChange={(event) => setDraft({ ...draft, defaultRedirectUrl: event.target.value })}
          />
        )}
        <details open={isSpecial} onToggle={(event) => setSpecial(event.currentTarget.open)}>
          <summary>{m.organizations_special()}</summary>
          <div className="form">
            <fieldset className="roleboxes">
              <legend className="sr">{m.organizations_special()}</legend>
              {SPECIAL.filter((each) => options.includes(each)).map(box)}
              <Box
                label={m.organizations_opt_hold()}
                hint={m.organizations_opt_hold_hint()}
                checked={draft.isHeld}
                onChange={(isHeld) => setDraft({ ...draft, isHeld })}
              />
            </fieldset>
            {connection.kind !== "OIDC" && (
              <>
                {" "}
                <Field
                  label={m.organizations_skew()}
                  hint={m.organizations_skew_hint({ most: MOST_SKEW_SECONDS })}
                  inputMode="numeric"
                  autoComplete="off"
                  error={errors.clockSkewSeconds}
                  value={draft.clockSkew}
                  onChange={(event) => {
                    setDraft({ ...draft, clockSkew: event.target.value });
                    setErrors({});
                  }}
                />
                <Field
                  label={m.organizations_name_id()}
                  hint={m.organizations_name_id_hint()}
                  placeholder="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
                  maxLength={1024}
                  autoComplete="off"
                  spellCheck={false}
                  error={errors.nameIdFormat}
                  value={draft.nameIdFormat}
                  onChange={(event) => setDraft({ ...draft, nameIdFormat: event.target.value })}
                />
              </>
            )}
          </div>
        </details>
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
