import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Organization } from "@postern/sdk";
import { IconDots } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isMissing } from "../customers/queries";
import { Directories } from "./Directories";
import { Domains } from "./Domains";
import { History } from "./History";
import { Invitations } from "./Invitations";
import { Members } from "./Members";
import { Overview } from "./Overview";
import { Plan } from "./Plan";
import {
  domainsQuery,
  ENTITLEMENT_EVENTS,
  INVITATION_EVENTS,
  keyOf,
  ORGANIZATION_EVENTS,
  organizationQuery,
  type Part,
  SSO_EVENTS,
  useShowOrganization,
} from "./queries";
import { TABS, type Tab } from "./routes";
import { Settings } from "./Settings";
import { Sso } from "./Sso";
import { stateOf } from "./words";
import "../customers/customers.css";
import "./organizations.css";

const page = getRouteApi("/session/projects/$projectId/organizations/$organizationId");

/** What an event of the project may have changed of the organization that is open. */
const CHANGED: [string[], Part[]][] = [
  [ORGANIZATION_EVENTS, ["one", "members", "domains", "sso", "directories", "directoryUsers"]],
  [INVITATION_EVENTS, ["one", "invitations", "members"]],
  [SSO_EVENTS, ["sso", "traces", "members"]],
  [ENTITLEMENT_EVENTS, ["plan", "entitlements"]],
];
const TYPES = CHANGED.flatMap(([types]) => types);
/** Their subject is the organization itself; that of the others is an invitation, a connection, a plan or a feature. */
const OWN = new Set(ORGANIZATION_EVENTS);

/** One organization: who belongs to it, how its people sign in, and what it may use. */
export function OrganizationPage() {
  const projectId = useProjectId();
  const { organizationId } = page.useParams();
  const client = useQueryClient();
  // While it is deleted here, it is not read any more.
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery({ ...organizationQuery(projectId, organizationId), enabled: !isLeaving });
  useLive(projectId, TYPES, ({ type, subjectId }) => {
    if (isLeaving || (OWN.has(type) && subjectId !== organizationId)) return;
    const parts = CHANGED.find(([types]) => types.includes(type))?.[1] ?? [];
    for (const part of [...parts, "history" as const])
      void client.invalidateQueries({ queryKey: keyOf(projectId, part, organizationId) });
  });
  const isGone = !isLeaving && query.isError && isMissing(query.error);
  if (isGone || (query.isError && !query.data)) {
    return (
      <main id="main" className="page customer organization">
        <Crumb />
        <div className="head">
          <h1>{m.organizations_one()}</h1>
        </div>
        {isGone ? (
          <Empty title={m.organizations_missing()} lead={m.organizations_missing_lead()}>
            <Link className="btn" to="/projects/$projectId/organizations" params={{ projectId }}>
              {m.organizations_to_list()}
            </Link>
          </Empty>
        ) : (
          <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />
        )}
      </main>
    );
  }
  if (!query.data) {
    return (
      <main id="main" className="page customer organization" aria-busy="true">
        <Crumb />
        <div className="head">
          <h1>
            <span className="sr">{m.loading()}</span>
            <i className="skel" style={{ width: 260, height: 16 }} />
          </h1>
        </div>
      </main>
    );
  }
  return <Loaded organization={query.data} key={query.data.id} onLeaving={setLeaving} />;
}

function Crumb({ name }: { name?: string }) {
  const projectId = useProjectId();
  return (
    <p className="crumb cut">
      <Link to="/projects/$projectId/organizations" params={{ projectId }} activeOptions={{ exact: true }}>
        {m.organizations()}
      </Link>
      {name && ` / ${name}`}
    </p>
  );
}

function Loaded({ organization, onLeaving }: { organization: Organization; onLeaving: (isLeaving: boolean) => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const show = useShowOrganization(projectId);
  const { tab } = page.useSearch();
  const [dialog, setDialog] = useState<"" | "suspend" | "delete">("");
  const [isBusy, setBusy] = useState(false);
  const { id, name, slug, status } = organization;
  const domains = useQuery(domainsQuery(projectId, id));
  const request = { method: "GET" as const, path: pathOf(projectId, id, tab) };
  usePageRequest(request);
  const { shape, word } = stateOf(status);
  const isSuspended = status === "SUSPENDED";
  const close = () => setDialog("");
  const resume = async () => {
    setBusy(true);
    try {
      show(await api(projectId).organizations.update(id, { status: "ACTIVE" }));
      notifications.show({ message: m.organizations_resumed({ name }) });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <main id="main" className="page customer organization">
      <Crumb name={name} />
      <div className="head who">
        <span className="chip" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <div className="id">
          <h1 className="cut" title={name}>
            {name}
          </h1>
          <p className="muted address">
            <span className="cut">{slug}</span>
            <Copy value={slug} label={m.organizations_copy_slug()} />
          </p>
        </div>
        <Pill shape={shape} tone={isSuspended ? "bad" : "good"}>
          {word()}
        </Pill>
        <div className="acts">
          <CopyRequest request={request} icon />
          {mayWrite && (
            <Menu
              position="bottom-end"
              width={240}
              portalProps={{ target: "#menus" }}
              withInitialFocusPlaceholder={false}
            >
              <Menu.Target>
                <button className="btn more" type="button" aria-label={m.organizations_more()}>
                  <IconDots {...ICON} />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                {isSuspended ? (
                  <Menu.Item onClick={() => void resume()}>{m.organizations_resume()}</Menu.Item>
                ) : (
                  <Menu.Item onClick={() => setDialog("suspend")}>{m.organizations_suspend()}</Menu.Item>
                )}
                <Menu.Divider />
                <Menu.Item className="danger" onClick={() => setDialog("delete")}>
                  {m.organizations_delete()}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </div>
      </div>
      {isSuspended && (
        <div className="note bad trouble">
          <div>
            <p>
              <b>{m.organizations_suspended_lead()}</b> {m.organizations_suspended_what()}
            </p>
            {mayWrite && (
              <p>
                <Button size="small" busy={isBusy} onClick={() => void resume()}>
                  {m.organizations_resume()}
                </Button>
              </p>
            )}
          </div>
        </div>
      )}
      <Tabs
        current={tab}
        counts={{
          members: organization.memberCount,
          invitations: organization.pendingInvitationCount,
          domains: domains.data?.length ?? 0,
        }}
      />
      {tab === "members" ? (
        <Members organization={organization} />
      ) : tab === "invitations" ? (
        <Invitations organization={organization} />
      ) : tab === "domains" ? (
        <Domains organization={organization} />
      ) : tab === "sso" ? (
        <Sso organization={organization} />
      ) : tab === "directory" ? (
        <Directories organization={organization} />
      ) : tab === "plan" ? (
        <Plan organization={organization} />
      ) : tab === "history" ? (
        <History organization={organization} />
      ) : tab === "settings" ? (
        <Settings organization={organization} onDelete={() => setDialog("delete")} />
      ) : (
        <Overview organization={organization} />
      )}
      {dialog === "suspend" && (
        <TypedConfirm
          title={m.organizations_suspend_title({ name })}
          name={name}
          deed={m.organizations_suspend_deed()}
          onClose={close}
          run={async () => {
            show(await api(projectId).organizations.update(id, { status: "SUSPENDED" }));
            notifications.show({ message: m.organizations_suspended_done({ name }) });
          }}
        >
          <p>{m.organizations_suspended_what()}</p>
        </TypedConfirm>
      )}
      {dialog === "delete" && (
        <TypedConfirm
          title={m.organizations_delete_title({ name })}
          name={name}
          deed={m.organizations_delete_deed()}
          onClose={close}
          run={async () => {
            onLeaving(true);
            try {
              await api(projectId).organizations.delete(id);
            } catch (error) {
              onLeaving(false);
              throw error;
            }
            await navigate({ to: "/projects/$projectId/organizations", params: { projectId } });
            client.removeQueries({
              predicate: ({ queryKey }) => queryKey[0] === "organizations" && queryKey[3] === id,
            });
            void client.invalidateQueries({ queryKey: ["organizations", projectId] });
            notifications.show({ message: m.organizations_deleted({ name }) });
          }}
        >
          <p>{m.organizations_delete_lead({ count: organization.memberCount })}</p>
          <p>{m.organizations_delete_keeps()}</p>
        </TypedConfirm>
      )}
    </main>
  );
}

/** What a tab shows, as a path of the API. */
function pathOf(projectId: string, id: string, tab: Tab | undefined): string {
  const path = `/projects/${projectId}/b2b/organizations/${id}`;
  switch (tab) {
    case "members":
    case "invitations":
    case "domains":
      return `${path}/${tab}`;
    case "sso":
      return `${path}/sso-connections`;
    case "directory":
      return `${path}/directory-connections`;
    case "plan":
      return `${path}/entitlements`;
    case "history":
      return `/projects/${projectId}/events?subjectId=${id}`;
    default:
      return path;
  }
}

function Tabs({ current, counts }: { current: Tab | undefined; counts: Partial<Record<Tab, number>> }) {
  const words: Record<Tab, () => string> = {
    members: m.organizations_members,
    invitations: m.organizations_invitations,
    domains: m.organizations_domains,
    sso: m.organizations_sso,
    directory: m.organizations_directory,
    plan: m.organizations_plan,
    history: m.organizations_history,
    settings: m.organizations_settings,
  };
  return (
    <nav className="tabs" aria-label={m.organizations_parts()}>
      {[undefined, ...TABS].map((each) => (
        <Link
          key={each ?? "overview"}
          to="."
          search={(each ? { tab: each } : {}) as never}
          replace
          resetScroll={false}
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={each === current ? "page" : undefined}
        >
          {each ? words[each]() : m.overview()}
          {each && counts[each] ? <span className="count">{counts[each]}</span> : null}
        </Link>
      ))}
    </nav>
  );
}
