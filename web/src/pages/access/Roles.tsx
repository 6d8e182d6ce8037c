import { notifications } from "@mantine/notifications";
import { APIError, type Permission, type Role } from "@postern/sdk";
import { IconLock, IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useRef, useState } from "react";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { permissionsQuery, rolesQuery } from "../../parts/accessQueries";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { longTime } from "../../parts/format";
import { Button, Empty, Field, ICON, LoadingFailed, SkeletonRows, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useUndo } from "../../parts/undo";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Choices, FormDialog, textOf } from "../settings/pieces";
import { columnsOf, grantOf, type Row, rolesNaming, rowsOf, toggled } from "./matrix";
import type { AccessSearch } from "./routes";

const page = getRouteApi("/session/projects/$projectId/access");
const POLL_MS = 30_000;

/** What someone wanted to store of a role that another person has changed meanwhile. */
interface Clash {
  base: Role;
  theirs: Role;
  mine: RoleDraft;
  /** Stores the own version over theirs. */
  keep: () => Promise<void>;
}

interface RoleDraft {
  name: string;
  description: string;
  permissions: string[];
  everywhere: boolean;
}

function draftOf(role: Role): RoleDraft {
  return {
    name: role.name,
    description: role.description ?? "",
    permissions: role.permissions,
    everywhere: role.appliesToAllOrganizations,
  };
}

/** The permissions of the project as rows, its roles as columns. */
export function Roles() {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const { scope: place, role: shownKey, q } = page.useSearch();
  const scope = place === "organization" ? "ORGANIZATION" : "PROJECT";
  const roles = useQuery({ ...rolesQuery(projectId), refetchInterval: POLL_MS });
  const permissions = useQuery({ ...permissionsQuery(projectId), refetchInterval: POLL_MS });
  const undo = useUndo();
  const [dialog, setDialog] = useState<"role" | "permission">();
  const [editing, setEditing] = useState<Role>();
  const [clash, setClash] = useState<Clash>();
  const [losing, setLosing] = useState<Permission>();
  const client = useQueryClient();
  const columns = columnsOf(roles.data ?? [], scope);
  const shown = columns.find((each) => each.key === shownKey) ?? columns.find((each) => !each.system) ?? columns[0];
  const known = permissions.data ?? [];
  const rows = rowsOf(
    known.filter((each) => !undo.hidden.has(permissionId(each))),
    columns.filter((each) => !each.system),
  ).filter((row) => !q || `${row.key} ${row.description ?? ""}`.toLowerCase().includes(q.toLowerCase()));
  const set = (change: Partial<Record<keyof AccessSearch, string | undefined>>) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  const failed = roles.data && permissions.data ? undefined : (roles.error ?? permissions.error);
  const refresh = async () => {
    await Promise.all([
      client.invalidateQueries(rolesQuery(projectId)),
      client.invalidateQueries(permissionsQuery(projectId)),
    ]);
    void client.invalidateQueries({ queryKey: ["customers", projectId, "check"] });
  };
  const removePermission = (permission: Permission) => {
    if (rolesNaming(roles.data ?? [], permission.key).length) return setLosing(permission);
    undo.start({
      id: permissionId(permission),
      said: m.access_deleted({ name: permission.key }),
      run: async () => {
        await api(projectId).access.permissions.delete(permission.key);
        await refresh();
      },
      failed: (error) => m.access_failed({ name: permission.key, reason: messageOf(error) }),
    });
  };
  return (
    <div className="rolespart">
      <div className="filters">
        <fieldset className="seg">
          <legend className="sr">{m.access_scope()}</legend>
          <button
            type="button"
            aria-pressed={scope === "PROJECT"}
            onClick={() => set({ scope: undefined, role: undefined })}
          >
            {m.access_scope_project()}
          </button>
          <button
            type="button"
            aria-pressed={scope === "ORGANIZATION"}
            onClick={() => set({ scope: "organization", role: undefined })}
          >
            {m.access_scope_organization()}
          </button>
        </fieldset>
        <SearchBox
          value={q ?? ""}
          label={m.access_permission_search()}
          onChange={(value) => set({ q: value || undefined })}
        />
        {mayWrite && (
          <div className="acts right">
            <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setDialog("permission")}>
              {m.access_permission_new()}
            </Button>
            <Button size="small" kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setDialog("role")}>
              {m.access_role_new()}
            </Button>
          </div>
        )}
      </div>
      <p className="muted small">
        {scope === "PROJECT" ? m.access_scope_project_lead() : m.access_scope_organization_lead()}
      </p>
      {failed ? (
        <LoadingFailed
          error={failed}
          onRetry={() => {
            void roles.refetch();
            void permissions.refetch();
          }}
        />
      ) : roles.data && permissions.data && known.length === 0 ? (
        <Empty title={m.access_permissions_none()} lead={m.access_permissions_none_lead()}>
          {mayWrite && (
            <Button kind="primary" onClick={() => setDialog("permission")}>
              {m.access_permission_new()}
            </Button>
          )}
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({
                method: "POST",
                path: `/projects/${projectId}/access/permissions`,
                body: { key: "posts:write", description: "Write and change posts." },
              })
            }
          >
            {m.copy_as_curl()}
          </Button>
        </Empty>
      ) : (
        <>
          {columns.length > 0 && (
            <div className="onerole">
              <Field label={m.access_role_shown()}>
                {(attributes) => (
                  <select
                    className="input"
                    value={shown?.key}
                    onChange={(event) => set({ role: event.target.value })}
                    {...attributes}
                  >
                    {columns.map((each) => (
                      <option key={each.key} value={each.key}>
                        {each.name}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            </div>
          )}
          <Matrix
            rows={roles.data && permissions.data ? rows : undefined}
            columns={columns}
            shown={shown}
            q={q}
            onClash={setClash}
            onEdit={setEditing}
            onRemove={(key) => {
              const permission = known.find((each) => each.key === key);
              if (permission) removePermission(permission);
            }}
          />
        </>
      )}
      {dialog === "permission" && <NewPermission onClose={() => setDialog(undefined)} onSaved={refresh} />}
      {dialog === "role" && (
        <RoleDialog scope={scope} onClose={() => setDialog(undefined)} onSaved={refresh} onClash={setClash} />
      )}
      {editing && (
        <RoleDialog
          stored={editing}
          scope={scope}
          onClose={() => setEditing(undefined)}
          onSaved={refresh}
          onClash={setClash}
        />
      )}
      {losing && (
        <TypedConfirm
          title={m.access_permission_delete_title({ key: losing.key })}
          name={losing.key}
          deed={m.access_permission_delete()}
          onClose={() => setLosing(undefined)}
          run={async () => {
            await api(projectId).access.permissions.delete(losing.key);
            await refresh();
            notifications.show({ message: m.access_deleted({ name: losing.key }) });
          }}
        >
          <p>
            {m.access_permission_delete_used({
              roles: rolesNaming(roles.data ?? [], losing.key)
                .map((each) => each.name)
                .join(", "),
            })}
          </p>
          <p>{m.access_permission_delete_lead()}</p>
        </TypedConfirm>
      )}
      {clash && <RoleConflict clash={clash} onClose={() => setClash(undefined)} onDone={refresh} />}
    </div>
  );
}

function permissionId({ key, createdAt }: Permission): string {
  return `permission ${key} ${createdAt}`;
}

/** Changes to one role after the other, so that each knows the version that the one before has made. */
function useRoleChanges(onClash: (clash: Clash) => void) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const queue = useRef(new Map<string, Promise<unknown>>());
  const versions = useRef(new Map<string, Role>());
  const { queryKey } = rolesQuery(projectId);
  const show = (role: Role) =>
    client.setQueryData(queryKey, (before) =>
      before?.map((each) => (each.key === role.key && each.scope === role.scope ? role : each)),
    );
  /** Switch a permission of a role: shown at once, and taken back if it fails. */
  return (role: Role, key: string, on: boolean) => {
    void client.cancelQueries({ queryKey });
    show({ ...role, permissions: toggled(role.permissions, key, on) });
    const run = async () => {
      const { access } = api(projectId);
      const last = versions.current.get(role.key);
      // A version that came by this page is known with its ETag; else it is read, and must be what was shown.
      const base = last && last.updatedAt >= role.updatedAt ? last : await access.roles.get(role.key);
      if (!last && base.updatedAt !== role.updatedAt) return clashWith(base);
      try {
        const stored = await access.roles.update(
          role.key,
          { permissions: toggled(base.permissions, key, on) },
          { ifMatch: base },
        );
        versions.current.set(role.key, stored);
        show(stored);
      } catch (error) {
        versions.current.delete(role.key);
        if (error instanceof APIError && error.status === 412) return clashWith(await access.roles.get(role.key));
        notifications.show({ message: m.access_failed({ name: role.name, reason: messageOf(error) }) });
        await client.invalidateQueries({ queryKey });
      }
    };
    const clashWith = (theirs: Role) => {
      versions.current.delete(role.key);
      show(theirs);
      onClash({
        base: role,
        theirs,
        mine: { ...draftOf(role), permissions: toggled(role.permissions, key, on) },
        keep: async () => {
          const wanted = toggled(theirs.permissions, key, on);
          show(await api(projectId).access.roles.update(role.key, { permissions: wanted }, { ifMatch: theirs }));
        },
      });
    };
    const before = queue.current.get(role.key) ?? Promise.resolve();
    queue.current.set(
      role.key,
      before.then(run).catch((error: unknown) => {
        notifications.show({ message: m.access_failed({ name: role.name, reason: messageOf(error) }) });
        void client.invalidateQueries({ queryKey });
      }),
    );
  };
}

function Matrix({
  rows,
  columns,
  shown,
  q,
  onClash,
  onEdit,
  onRemove,
}: {
  rows: Row[] | undefined;
  columns: Role[];
  shown: Role | undefined;
  q: string | undefined;
  onClash: (clash: Clash) => void;
  onEdit: (role: Role) => void;
  onRemove: (key: string) => void;
}) {
  const mayWrite = useMayWrite();
  const change = useRoleChanges(onClash);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const table = useRef<HTMLTableElement>(null);
  const move = (event: KeyboardEvent<HTMLInputElement>, row: number, column: number) => {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const target = table.current?.querySelector<HTMLInputElement>(`[data-cell="${row + step[0]}/${column + step[1]}"]`);
    // On a phone, only one column is drawn.
    if (target?.offsetParent) target.focus();
  };
  const isIn = (row: number, column: number) =>
    row === Math.min(active.row, (rows?.length ?? 1) - 1) && column === Math.min(active.column, columns.length - 1);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys.
    <div className="scrollx matrixbox" tabIndex={0} role="region" aria-label={m.access_matrix()}>
      <table className="table matrix" ref={table}>
        <thead>
          <tr>
            <th scope="col">{m.access_permission()}</th>
            {columns.map((role) => (
              <th key={role.key} scope="col" className={role === shown ? "col on" : "col"}>
                <span className="rolehead">
                  {role.system || !mayWrite ? (
                    <span className="name" title={role.key}>
                      {role.name}
                    </span>
                  ) : (
                    <button
                      type="button"
                      className="name linkish"
                      title={role.key}
                      aria-label={m.access_edit_of({ name: role.name })}
                      onClick={() => onEdit(role)}
                    >
                      {role.name}
                    </button>
                  )}
                  {role.system && (
                    <IconLock {...ICON} size={14} aria-hidden={undefined} role="img" aria-label={m.access_built_in()} />
                  )}
                </span>
                {role.appliesToAllOrganizations && <span className="tag">{m.access_everywhere()}</span>}
              </th>
            ))}
            {mayWrite && (
              <th scope="col" className="c-act">
                <span className="sr">{m.access_actions()}</span>
              </th>
            )}
          </tr>
        </thead>
        {rows ? (
          <tbody>
            {rows.map((row, index) => (
              <tr key={row.key} className={row.isWildcard ? "wild" : ""}>
                <th scope="row">
                  <code>{row.key}</code>
                  <small className="muted">
                    {row.key === "*"
                      ? m.access_everything()
                      : row.isWildcard
                        ? m.access_wildcard({ prefix: row.key.slice(0, -2) })
                        : row.isUndeclared
                          ? m.access_undeclared()
                          : row.description}
                  </small>
                </th>
                {columns.map((role, column) => {
                  const grant = grantOf(role, row.key);
                  const isLocked = role.system || !mayWrite || grant.kind === "covered";
                  const label = m.access_cell({ role: role.name, permission: row.key });
                  return (
                    <td key={role.key} className={role === shown ? "col on" : "col"}>
                      <input
                        type="checkbox"
                        className={`check ${grant.kind === "covered" ? "covered" : ""}`}
                        data-cell={`${index}/${column}`}
                        checked={grant.kind !== "none"}
                        aria-label={grant.kind === "covered" ? `${label}, ${m.access_by({ by: grant.by })}` : label}
                        aria-disabled={isLocked || undefined}
                        title={grant.kind === "covered" ? m.access_by({ by: grant.by }) : undefined}
                        tabIndex={isIn(index, column) || role === shown ? 0 : -1}
                        onFocus={() => setActive({ row: index, column })}
                        onKeyDown={(event) => move(event, index, column)}
                        onChange={(event) => {
                          if (!isLocked) change(role, row.key, event.target.checked);
                        }}
                      />
                    </td>
                  );
                })}
                {mayWrite && (
                  <td className="c-act">
                    {!row.isWildcard && !row.isUndeclared && (
                      <Button
                        kind="bare"
                        size="small"
                        aria-label={m.access_delete_of({ name: row.key })}
                        onClick={() => onRemove(row.key)}
                      >
                        {m.access_delete()}
                      </Button>
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        ) : (
          <SkeletonRows rows={6} widths={[180, 40, 40, 40]} />
        )}
      </table>
      {rows?.length === 0 && q && (
        <p className="muted nothing" role="status">
          {m.nothing_found({ text: q })}
        </p>
      )}
    </div>
  );
}

/** The role was changed by another person meanwhile: both versions. */
function RoleConflict({
  clash: { base, theirs, mine, keep },
  onClose,
  onDone,
}: {
  clash: Clash;
  onClose: () => void;
  onDone: () => Promise<void>;
}) {
  const before = draftOf(base);
  const after = draftOf(theirs);
  const words: Record<keyof RoleDraft, [() => string, (draft: RoleDraft) => string]> = {
    name: [m.access_role_name, (draft) => draft.name],
    description: [m.access_description, (draft) => draft.description || m.access_none()],
    permissions: [m.access_permissions, (draft) => draft.permissions.join(", ") || m.access_none()],
    everywhere: [m.access_everywhere, (draft) => (draft.everywhere ? m.settings_on() : m.settings_off())],
  };
  const names = (Object.keys(words) as (keyof RoleDraft)[]).filter((name) =>
    [after, mine].some((each) => JSON.stringify(each[name]) !== JSON.stringify(before[name])),
  );
  return (
    <ConflictDialog
      lead={
        <>
          {m.access_role_conflict({ name: theirs.name })} <Time at={theirs.updatedAt} format={longTime} />
        </>
      }
      rows={names.map((name) => {
        const [word, wordsOf] = words[name];
        return { name: word(), theirs: wordsOf(after), mine: wordsOf(mine) };
      })}
      hint={m.access_role_conflict_hint()}
      onTheirs={() => {
        onClose();
        void onDone();
      }}
      onMine={async () => {
        try {
          await keep();
          onClose();
        } catch (error) {
          notifications.show({ message: m.access_failed({ name: theirs.name, reason: messageOf(error) }) });
          onClose();
        }
        await onDone();
      }}
      onClose={() => {
        onClose();
        void onDone();
      }}
    />
  );
}

function NewPermission({ onClose, onSaved }: { onClose: () => void; onSaved: () => Promise<void> }) {
  const projectId = useProjectId();
  return (
    <FormDialog
      title={m.access_permission_new()}
      deed={m.access_permission_create()}
      places={{ key: ["/key", "permission_exists"], description: ["/description"] }}
      onClose={onClose}
      run={async (form) => {
        const description = textOf(form, "description");
        const key = textOf(form, "key");
        await api(projectId).access.permissions.create({ key, ...(description && { description }) });
        await onSaved();
        notifications.show({ message: m.access_saved({ name: key }) });
      }}
    >
      {(errors) => (
        <>
          <Field
            label={m.access_permission()}
            name="key"
            hint={m.access_permission_hint()}
            placeholder="posts:write"
            maxLength={128}
            spellCheck={false}
            autoComplete="off"
            error={errors.key}
            data-autofocus
          />
          <Field
            label={m.access_description()}
            name="description"
            hint={m.access_permission_description_hint()}
            maxLength={1_000}
            autoComplete="off"
            error={errors.description}
          />
        </>
      )}
    </FormDialog>
  );
}

function RoleDialog({
  stored,
  scope,
  onClose,
  onSaved,
  onClash,
}: {
  stored?: Role;
  scope: "PROJECT" | "ORGANIZATION";
  onClose: () => void;
  onSaved: () => Promise<void>;
  onClash: (clash: Clash) => void;
}) {
  const projectId = useProjectId();
  const [isDeleting, setDeleting] = useState(false);
  const [place, setPlace] = useState(scope);
  if (stored && isDeleting)
    return (
      <ConfirmDialog
        title={m.access_role_delete_title({ name: stored.name })}
        deed={m.access_role_delete()}
        onClose={onClose}
        run={async () => {
          await api(projectId).access.roles.delete(stored.key);
          await onSaved();
          notifications.show({ message: m.access_deleted({ name: stored.name }) });
        }}
      >
        <p>{m.access_role_delete_lead()}</p>
      </ConfirmDialog>
    );
  return (
    <FormDialog
      title={stored ? m.access_role_edit({ name: stored.name }) : m.access_role_new()}
      deed={stored ? m.settings_save() : m.access_role_create()}
      places={{ key: ["/key", "role_exists"], name: ["/name"], description: ["/description"] }}
      onClose={onClose}
      run={async (form) => {
        const { roles } = api(projectId).access;
        const name = textOf(form, "name");
        const description = textOf(form, "description") || null;
        const everywhere = form.get("everywhere") === "on";
        if (!stored) {
          await roles.create({
            key: textOf(form, "key"),
            ...(name && { name }),
            ...(description && { description }),
            scope: place,
            ...(everywhere && { appliesToAllOrganizations: true }),
          });
          await onSaved();
          notifications.show({ message: m.access_saved({ name: name || textOf(form, "key") }) });
          return;
        }
        const wanted = { name: name || stored.key, description, appliesToAllOrganizations: everywhere };
        const now = await roles.get(stored.key);
        const clash = (theirs: Role) =>
          onClash({
            base: stored,
            theirs,
            mine: { ...draftOf(stored), name: wanted.name, description: description ?? "", everywhere },
            keep: async () => void (await roles.update(stored.key, wanted, { ifMatch: theirs })),
          });
        if (now.updatedAt !== stored.updatedAt) return clash(now);
        try {
          await roles.update(stored.key, wanted, { ifMatch: now });
        } catch (error) {
          if (!(error instanceof APIError && error.status === 412)) throw error;
          return clash(await roles.get(stored.key));
        }
        await onSaved();
        notifications.show({ message: m.access_saved({ name: wanted.name }) });
      }}
    >
      {(errors) => (
        <>
          <Field
            label={m.access_role_name()}
            name="name"
            defaultValue={stored?.name ?? ""}
            maxLength={200}
            autoComplete="off"
            error={errors.name}
            data-autofocus
          />
          {!stored && (
            <>
              <Field
                label={m.access_key()}
                name="key"
                hint={m.access_role_key_hint()}
                placeholder="editor"
                maxLength={64}
                spellCheck={false}
                autoComplete="off"
                error={errors.key}
              />
              <Choices
                legend={m.access_scope()}
                isLegendShown
                name="scope"
                value={place}
                onChange={setPlace}
                options={[
                  { value: "PROJECT", label: m.access_scope_project(), hint: m.access_scope_project_hint() },
                  {
                    value: "ORGANIZATION",
                    label: m.access_scope_organization(),
                    hint: m.access_scope_organization_hint(),
                  },
                ]}
              />
            </>
          )}
          <Field
            label={m.access_description()}
            name="description"
            defaultValue={stored?.description ?? ""}
            maxLength={1_000}
            autoComplete="off"
            error={errors.description}
          />
          {place === "PROJECT" && (
            <label className="line">
              <input
                className="check"
                type="checkbox"
                name="everywhere"
                defaultChecked={stored?.appliesToAllOrganizations ?? false}
              />
              {m.access_everywhere_label()}
            </label>
          )}
          {stored && (
            <p>
              <Button kind="danger" size="small" onClick={() => setDeleting(true)}>
                {m.access_role_delete()}
              </Button>
            </p>
          )}
        </>
      )}
    </FormDialog>
  );
}
