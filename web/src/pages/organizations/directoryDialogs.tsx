import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type {
  DirectoryConnection,
  DirectoryConnectionChange,
  DirectoryConnectionWithToken,
  Organization,
} from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { rolesQuery } from "../../parts/accessQueries";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { longTime } from "../../parts/format";
import { Button, Copy, Field } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { RoleBoxes } from "../customers/RoleBoxes";
import type { MappedGroup } from "./Directories";
import { DirectorySteps } from "./DirectorySteps";
import { domainsQuery, useEditing, useReadAgain, useShowDirectory } from "./queries";
import { groupLines, groupsIn, keysOfGroup, withRolesOf } from "./values";

/** Hours for which the present token is still accepted. */
const OVERLAPS = [0, 1, 24, 72, 168] as const;

const FIELDS = { name: "name", defaultRoles: "defaultRoles", groupRoles: "groupRoles", role_unknown: "groupRoles" };

const draftOf = (directory: DirectoryConnection | undefined) => ({
  name: directory?.name ?? "",
  defaultRoles: directory?.defaultRoles ?? ["MEMBER"],
  groups: groupLines(directory?.groupRoles ?? {}),
  allowOtherDomains: directory?.allowOtherDomains ?? false,
});
type Draft = ReturnType<typeof draftOf>;

/** A draft as a text for each part, to compare two versions. */
const partsOf = ({ name, defaultRoles, groups, allowOtherDomains }: Draft): Record<string, string> => ({
  [m.organizations_name()]: name,
  [m.organizations_dir_default_roles()]: defaultRoles.join(", "),
  [m.organizations_group_roles()]: groups,
  [m.organizations_dir_addresses()]: allowOtherDomains
    ? m.organizations_dir_addresses_all()
    : m.organizations_dir_addresses_own(),
});

/** Connects a directory and shows its token once, or changes one. */
export function DirectoryDialog({
  organization,
  directory,
  onClose,
}: {
  organization: Organization;
  directory?: DirectoryConnection;
  onClose: () => void;
}) {
  useReturnFocus();
  const navigate = useNavigate();
  const [created, setCreated] = useState<DirectoryConnectionWithToken>();
  if (directory) return <ChangeForm organization={organization} directory={directory} onClose={onClose} />;
  if (!created) return <NewForm organization={organization} onCreated={setCreated} onClose={onClose} />;
  return (
    <TokenModal
      directory={created}
      lead={m.organizations_dir_token_once()}
      onClose={() => {
        onClose();
        void navigate({
          to: ".",
          search: { tab: "directory", connection: created.id } as never,
          resetScroll: false,
        });
      }}
    />
  );
}

/** The two values to enter in the directory; the token this once. */
function TokenModal({
  directory,
  lead,
  onClose,
}: {
  directory: DirectoryConnectionWithToken;
  lead: string;
  onClose: () => void;
}) {
  const values: [string, string][] = [
    [m.organizations_dir_url(), directory.baseUrl],
    [m.organizations_dir_token(), directory.token],
  ];
  return (
    <Modal
      opened
      onClose={onClose}
      size={680}
      title={m.organizations_dir_token_title()}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <div className="form customerform">
        <p>{lead}</p>
        <dl className="handover">
          {values.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <code>{value}</code>
                <Copy value={value} label={m.organizations_copy_value({ what: label })} />
              </dd>
            </div>
          ))}
        </dl>
        <DirectorySteps />
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {m.organizations_dir_token_saved()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

function NewForm({
  organization,
  onCreated,
  onClose,
}: {
  organization: Organization;
  onCreated: (created: DirectoryConnectionWithToken) => void;
  onClose: () => void;
}) {
  const projectId = useProjectId();
  const readAgain = useReadAgain(projectId, organization.id);
  const domains = useQuery(domainsQuery(projectId, organization.id));
  const [draft, setDraft] = useState(() => draftOf(undefined));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isBusy, setBusy] = useState(false);
  const path = `/projects/${projectId}/b2b/organizations/${organization.id}/directory-connections`;
  const read = groupsIn(draft.groups);
  const body = {
    name: draft.name.trim(),
    defaultRoles: draft.defaultRoles,
    groupRoles: "groups" in read ? read.groups : {},
    allowOtherDomains: draft.allowOtherDomains,
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const wrong = faultsOf(draft);
    setErrors(wrong);
    if (Object.keys(wrong).length) return;
    setBusy(true);
    try {
      const created = await api(projectId).directories.create(organization.id, body);
      readAgain("directories");
      onCreated(created);
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={600}
      title={m.organizations_dir_new()}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_dir_new_lead()}</p>
        <Fields
          draft={draft}
          errors={errors}
          onChange={(part) => {
            setDraft({ ...draft, ...part });
            setErrors({});
          }}
        />
        {!draft.allowOtherDomains && domains.data && !domains.data.some((each) => each.status === "VERIFIED") && (
          <p className="muted">
            {m.organizations_dir_no_domain()} {m.organizations_dir_no_domain_lead()}{" "}
            <Link to="." search={{ tab: "domains" } as never} resetScroll={false}>
              {m.organizations_sso_to_domains()}
            </Link>
          </p>
        )}
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_dir_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** What of a draft can be seen to be wrong, by field. */
function faultsOf(draft: Draft): Record<string, string> {
  const read = groupsIn(draft.groups);
  return {
    ...(!draft.name.trim() && { name: m.organizations_name_needed() }),
    ...(draft.defaultRoles.length === 0 && { defaultRoles: m.organizations_roles_needed() }),
    ...("wrongLine" in read && { groupRoles: m.organizations_groups_wrong({ line: read.wrongLine }) }),
  };
}

function ChangeForm({
  organization,
  directory,
  onClose,
}: {
  organization: Organization;
  directory: DirectoryConnection;
  onClose: () => void;
}) {
  const projectId = useProjectId();
  const show = useShowDirectory(projectId);
  const { directories } = api(projectId);
  const { base, theirs, isBusy, save, takeTheirs, settle } = useEditing(
    directory,
    () => directories.get(organization.id, directory.id),
    show,
  );
  const [draft, setDraft] = useState(() => draftOf(directory));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const store = async (against?: DirectoryConnection) => {
    const wrong = faultsOf(draft);
    setErrors(wrong);
    const read = groupsIn(draft.groups);
    if (Object.keys(wrong).length || "wrongLine" in read) return settle();
    // What this person has changed: the rest stays as another person has stored it.
    const before = draftOf(base);
    const change: DirectoryConnectionChange = {
      ...(draft.name.trim() !== before.name && { name: draft.name.trim() }),
      ...(draft.defaultRoles.join() !== before.defaultRoles.join() && { defaultRoles: draft.defaultRoles }),
      ...(draft.groups !== before.groups && { groupRoles: read.groups }),
      ...(draft.allowOtherDomains !== before.allowOtherDomains && { allowOtherDomains: draft.allowOtherDomains }),
    };
    if (Object.keys(change).length === 0) return onClose();
    const saved = await save(
      (ifMatch) => directories.update(organization.id, directory.id, change, { ifMatch }),
      against,
    );
    if (saved.kind === "refused") {
      settle();
      setErrors(messagesByField(saved.error, FIELDS, messageOf(saved.error)));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_dir_saved({ name: draft.name.trim() }) });
      onClose();
    }
  };
  if (theirs)
    return (
      <Conflict
        now={partsOf(draftOf(theirs))}
        mine={partsOf(draft)}
        onClose={settle}
        onTheirs={() => {
          setDraft(draftOf(theirs));
          show(theirs);
          takeTheirs();
        }}
        onMine={() => store(theirs)}
      />
    );
  return (
    <Modal
      opened
      onClose={onClose}
      size={600}
      title={m.organizations_dir_edit_title({ name: directory.name })}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form
        className="form customerform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!isBusy) void store();
        }}
      >
        <Fields
          draft={draft}
          errors={errors}
          onChange={(part) => {
            setDraft({ ...draft, ...part });
            setErrors({});
          }}
        />
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

/** Two versions of a directory, as a text for each part. */
function Conflict({
  now,
  mine,
  ...deeds
}: {
  now: Record<string, string>;
  mine: Record<string, string>;
  onClose: () => void;
  onTheirs: () => void;
  onMine: () => Promise<void>;
}) {
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
      hint={m.organizations_conflict_hint()}
      {...deeds}
    />
  );
}

function Fields({
  draft,
  errors,
  onChange,
}: {
  draft: Draft;
  errors: Record<string, string>;
  onChange: (part: Partial<Draft>) => void;
}) {
  const roles = useQuery(rolesQuery(useProjectId()));
  return (
    <>
      <Field
        label={m.organizations_name()}
        hint={m.organizations_dir_name_hint()}
        placeholder="Acme Entra ID"
        maxLength={200}
        autoComplete="off"
        error={errors.name}
        value={draft.name}
        onChange={(event) => onChange({ name: event.target.value })}
        data-autofocus
      />
      <RoleBoxes
        roles={roles.data}
        scope="ORGANIZATION"
        legend={m.organizations_dir_default_roles()}
        chosen={draft.defaultRoles}
        onChange={(defaultRoles) => onChange({ defaultRoles })}
      />
      <Wrong>{errors.defaultRoles}</Wrong>
      <Field label={m.organizations_group_roles()} hint={m.organizations_dir_groups_hint()} error={errors.groupRoles}>
        {(attributes) => (
          <textarea
            {...attributes}
            className="input mono"
            rows={3}
            spellCheck={false}
            placeholder="Administrators = ADMIN"
            value={draft.groups}
            onChange={(event) => onChange({ groups: event.target.value })}
          />
        )}
      </Field>
      <label className="boxed">
        <input
          type="checkbox"
          className="check"
          checked={draft.allowOtherDomains}
          onChange={(event) => onChange({ allowOtherDomains: event.target.checked })}
        />
        <span>
          {m.organizations_dir_others()}
          <span className="muted">{m.organizations_dir_others_hint()}</span>
        </span>
      </label>
    </>
  );
}

/** Which roles the members of one group have. */
export function GroupRolesDialog({
  organization,
  directory,
  group,
  onClose,
}: {
  organization: Organization;
  directory: DirectoryConnection;
  group: MappedGroup;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const show = useShowDirectory(projectId);
  const roles = useQuery(rolesQuery(projectId));
  const { directories } = api(projectId);
  const { base, theirs, isBusy, save, takeTheirs, settle } = useEditing(
    directory,
    () => directories.get(organization.id, directory.id),
    show,
  );
  const [chosen, setChosen] = useState(group.roles);
  const [error, setError] = useState<string>();
  const rolesIn = ({ groupRoles }: DirectoryConnection) => [
    ...new Set(keysOfGroup(groupRoles, group).flatMap((key) => groupRoles[key] ?? [])),
  ];
  const store = async (against: DirectoryConnection) => {
    setError(undefined);
    const change = { groupRoles: withRolesOf(against.groupRoles, group, chosen) };
    const saved = await save(
      (ifMatch) => directories.update(organization.id, directory.id, change, { ifMatch }),
      against,
    );
    if (saved.kind === "refused") {
      settle();
      setError(messageOf(saved.error));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_dir_group_saved({ name: group.displayName }) });
      onClose();
    }
  };
  if (theirs)
    return (
      <Conflict
        now={{ [m.organizations_roles()]: rolesIn(theirs).join(", ") }}
        mine={{ [m.organizations_roles()]: chosen.join(", ") }}
        onClose={settle}
        onTheirs={() => {
          setChosen(rolesIn(theirs));
          show(theirs);
          takeTheirs();
        }}
        onMine={() => store(theirs)}
      />
    );
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_roles_of({ name: group.displayName })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form
        className="form customerform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!isBusy) void store(base);
        }}
      >
        <p>{m.organizations_dir_group_lead()}</p>
        <RoleBoxes
          roles={roles.data}
          scope="ORGANIZATION"
          legend={m.organizations_roles()}
          chosen={chosen}
          onChange={setChosen}
        />
        <Wrong>{error}</Wrong>
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

/** Creates another token; the present one goes on for a while. */
export function RotateDialog({
  organization,
  directory,
  onClose,
}: {
  organization: Organization;
  directory: DirectoryConnection;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const show = useShowDirectory(projectId);
  const [created, setCreated] = useState<DirectoryConnectionWithToken>();
  const [overlapHours, setOverlap] = useState<number>(24);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const path = `/projects/${projectId}/b2b/organizations/${organization.id}/directory-connections/${directory.id}`;
  const { directories } = api(projectId);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      setCreated(await directories.rotateToken(organization.id, directory.id, { overlapHours }));
      // Read again for its version; without it, the next look shows it.
      await directories.get(organization.id, directory.id).then(show, () => undefined);
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  if (created) {
    const end = created.tokens[1]?.expiresAt;
    return (
      <TokenModal
        directory={created}
        lead={
          overlapHours && end ? m.organizations_dir_rotated({ when: longTime(end) }) : m.organizations_dir_rotated_now()
        }
        onClose={onClose}
      />
    );
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_dir_rotate_title({ name: directory.name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_dir_rotate_lead()}</p>
        <Field
          label={m.organizations_dir_overlap()}
          hint={overlapHours ? m.organizations_dir_overlap_hint() : m.organizations_dir_overlap_none_hint()}
        >
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={overlapHours}
              onChange={(event) => setOverlap(Number(event.target.value))}
            >
              {OVERLAPS.map((hours) => (
                <option key={hours} value={hours}>
                  {overlapWord(hours)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Wrong>{error}</Wrong>
        <div className="dialog-actions">
          <Button
            kind="bare"
            onClick={() => void copyCurl({ method: "POST", path: `${path}/rotate-token`, body: { overlapHours } })}
          >
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind={overlapHours ? "primary" : "solid-danger"} type="submit" busy={isBusy}>
            {m.organizations_dir_rotate_deed()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function overlapWord(hours: number): string {
  if (hours === 0) return m.organizations_dir_overlap_none();
  if (hours === 1) return m.organizations_dir_overlap_hour();
  return hours === 24 ? m.organizations_dir_overlap_day() : m.organizations_dir_overlap_days({ days: hours / 24 });
}
