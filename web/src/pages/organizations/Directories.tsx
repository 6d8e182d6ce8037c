import "../../lists/lists.css";
import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { DirectoryConnection, DirectoryGroup, DirectoryUser, Organization } from "@postern/sdk";
import { IconDots } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { roleOf } from "../../parts/access";
import { rolesQuery } from "../../parts/accessQueries";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { count, longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { DirectorySteps } from "./DirectorySteps";
import { Older } from "./History";
import {
  directoriesQuery,
  directoryQuery,
  domainsQuery,
  keyOf,
  useParts,
  useReadAgain,
  useShowDirectory,
} from "./queries";
import { isRefused, unsentGroups, wasSeen } from "./values";
import { Waiting } from "./Waiting";
import { directoryAdvice, directoryLook } from "./words";

const dialogs = () => import("./directoryDialogs");
const DirectoryDialog = lazy(async () => ({ default: (await dialogs()).DirectoryDialog }));
const GroupRolesDialog = lazy(async () => ({ default: (await dialogs()).GroupRolesDialog }));
const RotateDialog = lazy(async () => ({ default: (await dialogs()).RotateDialog }));

const page = getRouteApi("/session/projects/$projectId/organizations/$organizationId");

/** Refused requests that are shown until all are asked for. */
const FEW = 3;

function pathOf(projectId: string, organizationId: string): string {
  return `/projects/${projectId}/b2b/organizations/${organizationId}/directory-connections`;
}

/** The directories that add and remove the members of an organization. */
export function Directories({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { connection: wanted } = page.useSearch();
  const query = useQuery(directoriesQuery(projectId, organization.id));
  const [isAdding, setAdding] = useState(false);
  const directories = query.data ?? [];
  const now = Date.now();
  // Trouble first, then the one that was made last.
  const current =
    directories.find((each) => each.id === wanted) ??
    directories.find((each) => each.status === "ACTIVE" && isRefused(each, now)) ??
    directories[0];
  return (
    <>
      <section className="sec" aria-labelledby="directory">
        <header>
          <h2 id="directory">{m.organizations_dir_title()}</h2>
          {mayWrite && directories.length > 0 && (
            <div className="acts">
              <Button kind="bare" size="small" onClick={() => setAdding(true)}>
                {m.organizations_dir_another()}
              </Button>
            </div>
          )}
        </header>
        {query.isError && !query.data ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <Waiting />
        ) : (
          directories.length === 0 && (
            <>
              <Empty title={m.organizations_dir_empty()} lead={m.organizations_dir_empty_lead()}>
                {mayWrite && <Button onClick={() => setAdding(true)}>{m.organizations_dir_new()}</Button>}
                <a className="btn" href="/guide/scim" target="_blank" rel="noreferrer">
                  {m.organizations_dir_guide()}
                </a>
                <Button
                  kind="bare"
                  onClick={() =>
                    void copyCurl({
                      method: "POST",
                      path: pathOf(projectId, organization.id),
                      body: { name: "Acme Entra ID", groupRoles: { Administrators: ["ADMIN"] } },
                    })
                  }
                >
                  {m.copy_as_curl()}
                </Button>
              </Empty>
              <DirectorySteps />
            </>
          )
        )}
        {directories.length > 1 && (
          <nav className="seg fit scrollx" aria-label={m.organizations_dir_list()}>
            {directories.map((each) => (
              <Link
                key={each.id}
                to="."
                search={{ tab: "directory", connection: each.id } as never}
                replace
                resetScroll={false}
                aria-current={each.id === current?.id ? "page" : undefined}
              >
                <Glyph shape={directoryLook(each, now).shape} />
                {each.name}
              </Link>
            ))}
          </nav>
        )}
      </section>
      {current && <Directory key={current.id} organization={organization} id={current.id} />}
      {isAdding && (
        <Suspense>
          <DirectoryDialog organization={organization} onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </>
  );
}

/** One directory, read with its version. */
function Directory({ organization, id }: { organization: Organization; id: string }) {
  const projectId = useProjectId();
  const query = useQuery(directoryQuery(projectId, organization.id, id));
  if (query.isError && !query.data) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Waiting rows={5} />;
  return <Loaded organization={organization} directory={query.data} />;
}

type Dialog = "" | "edit" | "rotate" | "off" | "delete";

function Loaded({ organization, directory }: { organization: Organization; directory: DirectoryConnection }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const navigate = useNavigate();
  const show = useShowDirectory(projectId);
  const readAgain = useReadAgain(projectId, organization.id);
  const [dialog, setDialog] = useState<Dialog>("");
  const [isBusy, setBusy] = useState(false);
  const { id, name, status } = directory;
  const { directories } = api(projectId);
  const now = Date.now();
  const look = directoryLook(directory, now);
  const isOff = status === "DISABLED";
  const isTrouble = isRefused(directory, now);
  const close = () => setDialog("");
  // What the directory has changed is seen by its numbers: there is no event for it.
  const changes = `${directory.lastSyncedAt} ${directory.userCount} ${directory.activeUserCount} ${directory.groupCount}`;
  const [seen, setSeen] = useState(changes);
  useEffect(() => {
    if (changes === seen) return;
    setSeen(changes);
    for (const part of ["directoryUsers", "directoryGroups"] as const)
      void client.invalidateQueries({ queryKey: [...keyOf(projectId, part, organization.id), id] });
  }, [changes, seen, client, projectId, organization.id, id]);
  const setOn = async (isOn: boolean) => {
    show(await directories.update(organization.id, id, { status: isOn ? "ACTIVE" : "DISABLED" }));
    notifications.show({ message: isOn ? m.organizations_dir_is_on({ name }) : m.organizations_dir_is_off({ name }) });
  };
  const switchOn = async () => {
    setBusy(true);
    await setOn(true).catch((error: unknown) => notifications.show({ message: messageOf(error) }));
    setBusy(false);
  };
  const refused = directory.recentErrors.length > 0 && <Refused directory={directory} isTrouble={isTrouble} />;
  return (
    <>
      <section className="sec connection" aria-labelledby="connection">
        <header>
          <h2 id="connection" className="breaks">
            {name}
          </h2>
          <Status shape={look.shape} tone={look.tone}>
            {look.word()}
          </Status>
          <div className="acts">
            {mayWrite && (
              <Button size="small" onClick={() => setDialog("edit")}>
                {m.organizations_dir_edit()}
              </Button>
            )}
            <Menu
              position="bottom-end"
              width={260}
              portalProps={{ target: "#menus" }}
              withInitialFocusPlaceholder={false}
            >
              <Menu.Target>
                <button className="btn small more" type="button" aria-label={m.organizations_dir_more()}>
                  <IconDots {...ICON} />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  onClick={() => void copyCurl({ method: "GET", path: `${pathOf(projectId, organization.id)}/${id}` })}
                >
                  {m.copy_as_curl()}
                </Menu.Item>
                {mayWrite && (
                  <>
                    {isOff ? (
                      <Menu.Item onClick={() => void switchOn()}>{m.organizations_dir_switch_on()}</Menu.Item>
                    ) : (
                      <Menu.Item onClick={() => setDialog("off")}>{m.organizations_dir_switch_off()}</Menu.Item>
                    )}
                    <Menu.Divider />
                    <Menu.Item className="danger" onClick={() => setDialog("delete")}>
                      {m.organizations_dir_delete()}
                    </Menu.Item>
                  </>
                )}
              </Menu.Dropdown>
            </Menu>
          </div>
        </header>
        {isOff && (
          <div className="note bad trouble">
            <Glyph shape="off" />
            <div>
              <p>
                <b>{m.organizations_dir_off_lead()}</b> {m.organizations_dir_off_what()}
              </p>
              {mayWrite && (
                <p>
                  <Button size="small" busy={isBusy} onClick={() => void switchOn()}>
                    {m.organizations_dir_switch_on()}
                  </Button>
                </p>
              )}
            </div>
          </div>
        )}
        <NoDomain organization={organization} directory={directory} />
      </section>
      {isTrouble && refused}
      <Values directory={directory} onRotate={mayWrite ? () => setDialog("rotate") : undefined} />
      <Users organization={organization} directory={directory} />
      <Groups organization={organization} directory={directory} />
      {!isTrouble && refused}
      <Suspense>
        {dialog === "edit" && <DirectoryDialog organization={organization} directory={directory} onClose={close} />}
        {dialog === "rotate" && <RotateDialog organization={organization} directory={directory} onClose={close} />}
      </Suspense>
      {dialog === "off" && (
        <ConfirmDialog
          title={m.organizations_dir_off_title({ name })}
          deed={m.organizations_dir_switch_off_deed()}
          onClose={close}
          run={() => setOn(false)}
        >
          <p>{m.organizations_dir_off_what()}</p>
        </ConfirmDialog>
      )}
      {dialog === "delete" && (
        <TypedConfirm
          title={m.organizations_dir_delete_title({ name })}
          name={name}
          deed={m.organizations_dir_delete_deed()}
          onClose={close}
          run={async () => {
            await directories.delete(organization.id, id);
            await client.cancelQueries({ queryKey: keyOf(projectId, "directories", organization.id) });
            client.setQueryData<DirectoryConnection[]>(
              directoriesQuery(projectId, organization.id).queryKey,
              (before) => before?.filter((each) => each.id !== id),
            );
            await navigate({ to: ".", search: { tab: "directory" } as never, replace: true, resetScroll: false });
            client.removeQueries({ queryKey: directoryQuery(projectId, organization.id, id).queryKey });
            readAgain("directories");
            notifications.show({ message: m.organizations_dir_deleted({ name }) });
          }}
        >
          <p>{m.organizations_dir_delete_lead()}</p>
          <p>{m.organizations_dir_delete_keeps({ count: count(directory.activeUserCount) })}</p>
        </TypedConfirm>
      )}
    </>
  );
}

/** Says that nobody can be added while the organization has no verified domain. */
function NoDomain({ organization, directory }: { organization: Organization; directory: DirectoryConnection }) {
  const projectId = useProjectId();
  const domains = useQuery(domainsQuery(projectId, organization.id));
  if (directory.allowOtherDomains || !domains.data || domains.data.some((each) => each.status === "VERIFIED"))
    return null;
  return (
    <div className="note wait trouble">
      <Glyph shape="waiting" />
      <p>
        <b>{m.organizations_dir_no_domain()}</b> {m.organizations_dir_no_domain_lead()}{" "}
        <Link to="." search={{ tab: "domains" } as never} resetScroll={false}>
          {m.organizations_sso_to_domains()}
        </Link>
      </p>
    </div>
  );
}

/** The requests of the directory that were refused: what it wanted, why not, and what to do. */
function Refused({ directory, isTrouble }: { directory: DirectoryConnection; isTrouble: boolean }) {
  const [all, setAll] = useState(false);
  const { recentErrors } = directory;
  const shown = all || recentErrors.length <= FEW + 1 ? recentErrors : recentErrors.slice(0, FEW);
  const last = recentErrors[0];
  return (
    <section className="sec" aria-labelledby="refused">
      <header>
        <h2 id="refused">{m.organizations_dir_errors()}</h2>
        <p>{m.organizations_dir_errors_lead()}</p>
      </header>
      {isTrouble && last && (
        <div className="note bad trouble">
          <Glyph shape="attention" />
          <p>
            <b>{m.organizations_dir_trouble({ when: longTime(last.occurredAt) })}</b>{" "}
            {m.organizations_dir_trouble_lead()}
          </p>
        </div>
      )}
      <ul className="list ruled refusals">
        {shown.map((error) => {
          const advice = directoryAdvice(error);
          return (
            <li key={error.id}>
              <div className="grow">
                <p className="breaks">
                  {advice ?? error.detail}
                  {error.scimType === "invalidValue" && (
                    <>
                      {" "}
                      <Link to="." search={{ tab: "domains" } as never} resetScroll={false}>
                        {m.organizations_sso_to_domains()}
                      </Link>
                    </>
                  )}
                </p>
                <p className="muted breaks">
                  <code>
                    {error.method} {error.path}
                  </code>{" "}
                  <code>
                    {error.status}
                    {error.scimType && ` ${error.scimType}`}
                  </code>
                  {advice && ` ${error.detail}`}
                </p>
              </div>
              <span className="muted">
                <Time at={error.occurredAt} format={longTime} />
              </span>
            </li>
          );
        })}
      </ul>
      {shown.length < recentErrors.length && (
        <p className="more">
          <Button size="small" onClick={() => setAll(true)}>
            {m.organizations_dir_errors_all({ count: recentErrors.length })}
          </Button>
        </p>
      )}
    </section>
  );
}

/** What is entered in the directory, whether it uses it, and what its users get. */
function Values({ directory, onRotate }: { directory: DirectoryConnection; onRotate: (() => void) | undefined }) {
  const projectId = useProjectId();
  const roles = useQuery(rolesQuery(projectId));
  const { baseUrl, tokens, defaultRoles, allowOtherDomains, lastSyncedAt } = directory;
  const isSeen = wasSeen(directory);
  return (
    <section className="sec" aria-labelledby="values">
      <header>
        <h2 id="values">{m.organizations_dir_values()}</h2>
        <p>{m.organizations_dir_values_lead()}</p>
        {onRotate && (
          <div className="acts">
            <Button size="small" onClick={onRotate}>
              {m.organizations_dir_rotate()}
            </Button>
          </div>
        )}
      </header>
      <dl className="facts ruled">
        <dt>{m.organizations_dir_url()}</dt>
        <dd>
          <code>{baseUrl}</code>
          <Copy value={baseUrl} label={m.organizations_copy_value({ what: m.organizations_dir_url() })} />
        </dd>
        {tokens.map((token, index) => (
          <div key={token.id} className="pair">
            <dt>{index === 0 ? m.organizations_dir_token() : m.organizations_dir_token_old()}</dt>
            <dd>
              {token.lastUsedAt ? (
                <span>
                  {m.organizations_dir_token_used()} <Time at={token.lastUsedAt} format={longTime} />
                </span>
              ) : (
                m.organizations_dir_token_unused()
              )}
              <span className="muted">
                {token.expiresAt ? (
                  <>
                    {m.organizations_dir_token_until()} <Time at={token.expiresAt} format={longTime} />
                  </>
                ) : (
                  <>
                    {m.organizations_dir_token_made()} <Time at={token.createdAt} format={longTime} />
                  </>
                )}
              </span>
            </dd>
          </div>
        ))}
        <dt>{m.organizations_dir_synced()}</dt>
        <dd>
          {lastSyncedAt ? (
            <Time at={lastSyncedAt} format={longTime} />
          ) : (
            <span className="muted">{m.organizations_dir_never()}</span>
          )}
        </dd>
        <dt>{m.organizations_dir_default_roles()}</dt>
        <dd>{namesOf(roles.data, defaultRoles)}</dd>
        <dt>{m.organizations_dir_addresses()}</dt>
        <dd>{allowOtherDomains ? m.organizations_dir_addresses_all() : m.organizations_dir_addresses_own()}</dd>
      </dl>
      <details className="how" open={!isSeen || undefined}>
        <summary>{m.organizations_dir_how()}</summary>
        <DirectorySteps />
      </details>
    </section>
  );
}

type Roles = Parameters<typeof roleOf>[0];

function namesOf(roles: Roles | undefined, keys: string[]): string {
  return keys.map((key) => roleOf(roles ?? [], key, "ORGANIZATION")?.name ?? key).join(", ");
}

/** A part of a long list, or why there is none. */
function Listing({
  query,
  isEmpty,
  empty,
  children,
}: {
  query: ReturnType<typeof useParts>["query"];
  isEmpty: boolean;
  empty: string;
  children: ReactNode;
}) {
  if (query.isError && !query.data) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  if (query.isPending) return <Waiting />;
  if (isEmpty) return <p className="muted hint ruled">{empty}</p>;
  return (
    <>
      <ul className="list ruled">{children}</ul>
      <Older query={query} />
    </>
  );
}

/** The users of the directory with the roles that it gives them. */
function Users({ organization, directory }: { organization: Organization; directory: DirectoryConnection }) {
  const projectId = useProjectId();
  const roles = useQuery(rolesQuery(projectId));
  const { id, userCount, activeUserCount } = directory;
  const { query, rows } = useParts<DirectoryUser>(
    [...keyOf(projectId, "directoryUsers", organization.id), id],
    (parameters, options) => api(projectId).directories.listUsers(organization.id, id, parameters, options),
  );
  const sourced = ({ role, groups }: DirectoryUser["roles"][number]) =>
    groups.length
      ? m.organizations_dir_role_from({ role: namesOf(roles.data, [role]), groups: groups.join(", ") })
      : namesOf(roles.data, [role]);
  return (
    <section className="sec" aria-labelledby="users">
      <header>
        <h2 id="users">{m.organizations_dir_users()}</h2>
        {userCount > 0 && (
          <p>{m.organizations_dir_users_count({ count: count(userCount), active: count(activeUserCount) })}</p>
        )}
      </header>
      <Listing query={query} isEmpty={rows.length === 0} empty={m.organizations_dir_users_none()}>
        {rows.map((user) => (
          <li key={user.id}>
            <div className="grow">
              <b className="breaks">
                <Link
                  className="quietlink"
                  to="/projects/$projectId/customers/$customerId"
                  params={{ projectId, customerId: user.customerId }}
                >
                  {user.displayName || user.userName}
                </Link>
              </b>
              {user.displayName && <span className="muted breaks"> {user.userName}</span>}
              <p className="muted breaks">
                {user.active ? user.roles.map(sourced).join(", ") : m.organizations_dir_user_off_lead()}
              </p>
            </div>
            <Status shape={user.active ? "yes" : "off"}>
              {user.active ? m.organizations_dir_user_on() : m.organizations_dir_user_off()}
            </Status>
          </li>
        ))}
      </Listing>
    </section>
  );
}

/** A group whose roles are changed: one that the directory has sent, or a name that is expected. */
export type MappedGroup = Pick<DirectoryGroup, "id" | "externalId" | "displayName" | "roles">;

/** The groups of the directory with the roles of their members. */
function Groups({ organization, directory }: { organization: Organization; directory: DirectoryConnection }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const roles = useQuery(rolesQuery(projectId));
  const [changing, setChanging] = useState<MappedGroup>();
  const { id, groupRoles } = directory;
  const { query, rows } = useParts<DirectoryGroup>(
    [...keyOf(projectId, "directoryGroups", organization.id), id],
    (parameters, options) => api(projectId).directories.listGroups(organization.id, id, parameters, options),
  );
  // Only when all groups are there is it known which are not.
  const unsent: MappedGroup[] =
    query.data && !query.hasNextPage
      ? unsentGroups(groupRoles, rows).map((key) => ({
          id: key,
          externalId: null,
          displayName: key,
          roles: groupRoles[key] ?? [],
        }))
      : [];
  const item = (group: MappedGroup, about: string) => (
    <li key={group.id}>
      <div className="grow">
        <b className="breaks">{group.displayName}</b> <span className="muted">{about}</span>
        <p className="muted">{namesOf(roles.data, group.roles) || m.organizations_dir_group_no_roles()}</p>
      </div>
      {mayWrite && (
        <Button
          kind="bare"
          size="small"
          aria-label={m.organizations_roles_of({ name: group.displayName })}
          onClick={() => setChanging(group)}
        >
          {m.organizations_roles()}
        </Button>
      )}
    </li>
  );
  return (
    <section className="sec" aria-labelledby="groups">
      <header>
        <h2 id="groups">{m.organizations_dir_groups()}</h2>
        <p>{m.organizations_dir_groups_lead()}</p>
      </header>
      <Listing query={query} isEmpty={rows.length + unsent.length === 0} empty={m.organizations_dir_groups_none()}>
        {rows.map((group) =>
          item(
            group,
            group.memberCount === 1
              ? m.organizations_dir_group_one()
              : m.organizations_dir_group_count({ count: count(group.memberCount) }),
          ),
        )}
        {unsent.map((group) => item(group, m.organizations_dir_group_unsent()))}
      </Listing>
      {changing && (
        <Suspense>
          <GroupRolesDialog
            organization={organization}
            directory={directory}
            group={changing}
            onClose={() => setChanging(undefined)}
          />
        </Suspense>
      )}
    </section>
  );
}
