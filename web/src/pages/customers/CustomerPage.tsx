import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Customer } from "@postern/sdk";
import { IconDots, IconTerminal2 } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { membershipsQuery } from "../../parts/accessQueries";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill, Time } from "../../parts/parts";
import { copyCurl, usePageRequest } from "../../parts/request";
import { plannedTime } from "../../parts/when";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { useMay } from "../settings/pieces";
import { About } from "./About";
import { Apps } from "./Apps";
import { Audit } from "./Audit";
import { BanDialog, EraseDialog, LinkDialog, MergeDialog } from "./deeds";
import { stateOf } from "./history";
import { ImpersonateDialog } from "./ImpersonateDialog";
import { Organizations } from "./Organizations";
import { Check, Entitlements, Roles } from "./Permissions";
import { CUSTOMER_EVENTS, customerQuery, isMissing, ORGANIZATION_EVENTS, useShowChanged } from "./queries";
import { TABS, type Tab } from "./routes";
import { EndAllDialog, Sessions } from "./Sessions";
import { SignIn } from "./SignIn";
import { Timeline } from "./Timeline";
import { initialsOf, nameOf, STATES } from "./words";
import "./customers.css";

const page = getRouteApi("/session/projects/$projectId/customers/$customerId");

/** One customer: who it is, how it signs in, what happened, what it may do. */
export function CustomerPage() {
  const projectId = useProjectId();
  const { customerId } = page.useParams();
  const client = useQueryClient();
  const showChanged = useShowChanged();
  // While it is erased here, it is not read any more.
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery({ ...customerQuery(projectId, customerId), enabled: !isLeaving });
  useLive(projectId, CUSTOMER_EVENTS, (event) => {
    if (!isLeaving && event.subjectId === customerId) showChanged(customerId);
  });
  useLive(projectId, ORGANIZATION_EVENTS, () => {
    for (const part of ["organizations", "check"])
      void client.invalidateQueries({ queryKey: ["customers", projectId, part, customerId] });
  });
  usePageRequest({ method: "GET", path: `/projects/${projectId}/customers/${encodeURIComponent(customerId)}` });
  const isGone = !isLeaving && query.isError && isMissing(query.error);
  if (isGone || (query.isError && !query.data)) {
    return (
      <main id="main" className="page customer">
        <Crumb />
        <div className="head">
          <h1>{m.customers_customer()}</h1>
        </div>
        {isGone ? (
          <Empty title={m.customers_missing()} lead={m.customers_missing_lead()}>
            <Link className="btn" to="/projects/$projectId/customers" params={{ projectId }}>
              {m.customers_to_list()}
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
      <main id="main" className="page customer" aria-busy="true">
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
  return <Loaded customer={query.data} key={query.data.id} onLeaving={setLeaving} />;
}

function Crumb({ name }: { name?: string }) {
  const projectId = useProjectId();
  return (
    <p className="crumb cut">
      <Link to="/projects/$projectId/customers" params={{ projectId }} activeOptions={{ exact: true }}>
        {m.customers()}
      </Link>
      {name && ` / ${name}`}
    </p>
  );
}

type Dialog = "" | "impersonate" | "ban" | "link" | "merge" | "erase" | "end";

function Loaded({ customer, onLeaving }: { customer: Customer; onLeaving: (isLeaving: boolean) => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const mayImpersonate = useMay("account") && customer.bannedAt === null;
  const { tab } = page.useSearch();
  const [dialog, setDialog] = useState<Dialog>("");
  const showChanged = useShowChanged();
  const organizations = useQuery(membershipsQuery(projectId, customer.id));
  const name = nameOf(customer);
  const state = stateOf(customer);
  const path = `/projects/${projectId}/customers/${customer.id}`;
  const close = () => setDialog("");
  const lift = async (deed: "unban" | "unlock", said: string) => {
    try {
      showChanged(customer.id, await api(projectId).customers[deed](customer.id));
      notifications.show({ message: said });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
  };
  return (
    <main id="main" className="page customer">
      <Crumb name={name} />
      <div className="head who">
        <span className="face big" aria-hidden="true">
          {initialsOf(customer)}
        </span>
        <div className="id">
          <h1 className="cut" title={name}>
            {name}
          </h1>
          {customer.email && customer.email !== name && (
            <p className="muted address">
              <span className="cut">{customer.email}</span>
              <Copy value={customer.email} label={m.customers_copy_email()} />
            </p>
          )}
        </div>
        <StatePill customer={customer} />
        <div className="acts">
          <button
            className="iconbtn wide"
            type="button"
            aria-label={m.copy_as_curl()}
            title={m.copy_as_curl()}
            onClick={() => void copyCurl({ method: "GET", path })}
          >
            <IconTerminal2 {...ICON} />
          </button>
          {mayWrite && customer.sessions.length > 0 && (
            <Button className="wide" onClick={() => setDialog("end")}>
              {m.customers_end_all()}
            </Button>
          )}
          {mayWrite && (
            <Menu
              position="bottom-end"
              width={260}
              portalProps={{ target: "#menus" }}
              withInitialFocusPlaceholder={false}
            >
              <Menu.Target>
                <button className="btn more" type="button" aria-label={m.customers_more()}>
                  <IconDots {...ICON} />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                {customer.sessions.length > 0 && (
                  <Menu.Item onClick={() => setDialog("end")}>{m.customers_end_all()}</Menu.Item>
                )}
                {mayImpersonate && (
                  <Menu.Item onClick={() => setDialog("impersonate")}>{m.customers_impersonate()}</Menu.Item>
                )}
                <Menu.Item onClick={() => setDialog("link")}>{m.customers_link()}</Menu.Item>
                <Menu.Item onClick={() => setDialog("merge")}>{m.customers_merge()}</Menu.Item>
                <Menu.Divider />
                <Menu.Item className="danger" onClick={() => setDialog("ban")}>
                  {state === "blocked" ? m.customers_ban_change() : m.customers_ban()}
                </Menu.Item>
                <Menu.Item className="danger" onClick={() => setDialog("erase")}>
                  {m.customers_erase()}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </div>
      </div>
      <Trouble customer={customer} lift={mayWrite ? lift : undefined} />
      <Tabs
        current={tab}
        counts={{ sessions: customer.sessions.length, organizations: organizations.data?.length ?? 0 }}
      />
      {tab === "timeline" ? (
        <Timeline customer={customer} />
      ) : tab === "sessions" ? (
        <>
          <Sessions customer={customer} onEndAll={() => setDialog("end")} />
          <Apps customer={customer} />
        </>
      ) : tab === "organizations" ? (
        <Organizations customer={customer} />
      ) : tab === "permissions" ? (
        <div className="split">
          <div className="leftcol">
            <Roles customer={customer} />
            <Entitlements customer={customer} />
          </div>
          <div className="rightcol">
            <Check customer={customer} />
          </div>
        </div>
      ) : tab === "audit" ? (
        <Audit customer={customer} />
      ) : (
        <div className="split">
          <div className="leftcol">
            <SignIn customer={customer} />
            <Sessions customer={customer} onEndAll={() => setDialog("end")} most={3} />
            <Apps customer={customer} isQuiet />
            <Organizations customer={customer} most={3} />
            <About customer={customer} />
          </div>
          <div className="rightcol">
            <Check customer={customer} />
            <Timeline customer={customer} most={12} />
          </div>
        </div>
      )}
      {dialog === "end" && <EndAllDialog customer={customer} onClose={close} />}
      {dialog === "impersonate" && <ImpersonateDialog customer={customer} onClose={close} />}
      {dialog === "ban" && <BanDialog customer={customer} onClose={close} />}
      {dialog === "link" && <LinkDialog customer={customer} onClose={close} onMerge={() => setDialog("merge")} />}
      {dialog === "merge" && <MergeDialog customer={customer} onClose={close} />}
      {dialog === "erase" && (
        <EraseDialog
          customer={customer}
          onClose={close}
          onLeaving={onLeaving}
          onErased={async () => {
            await navigate({ to: "/projects/$projectId/customers", params: { projectId } });
            for (const part of ["one", "timeline", "audit", "organizations", "requests", "consents", "check"])
              client.removeQueries({ queryKey: ["customers", projectId, part, customer.id] });
            void client.invalidateQueries({ queryKey: ["customers", projectId, "list"] });
            void client.invalidateQueries({ queryKey: ["overview", projectId, "customers"] });
            notifications.show({ message: m.customers_erased() });
          }}
        />
      )}
    </main>
  );
}

function StatePill({ customer }: { customer: Customer }) {
  const state = stateOf(customer);
  const { shape, word } = STATES[state];
  const tone = ({ blocked: "fail", locked: "bad", unconfirmed: "wait", active: "good" } as const)[state];
  return (
    <Pill shape={shape} tone={tone}>
      {word()}
    </Pill>
  );
}

/** Why someone cannot sign in, until when, and the button that ends it. */
function Trouble({
  customer,
  lift,
}: {
  customer: Customer;
  lift: ((deed: "unban" | "unlock", said: string) => Promise<void>) | undefined;
}) {
  const [isBusy, setBusy] = useState(false);
  const state = stateOf(customer);
  const name = nameOf(customer);
  if (state !== "blocked" && state !== "locked") return null;
  const run = async () => {
    setBusy(true);
    await (state === "blocked"
      ? lift?.("unban", m.customers_unbanned({ name }))
      : lift?.("unlock", m.customers_unlocked({ name })));
    setBusy(false);
  };
  return (
    <div className="note bad trouble">
      <Glyph shape={STATES[state].shape} />
      <div>
        {state === "blocked" ? (
          <p>
            <b>{m.customers_blocked_lead({ name })}</b>{" "}
            {customer.bannedAt && (
              <>
                {m.customers_since()} <Time at={customer.bannedAt} format={plannedTime} />,{" "}
              </>
            )}
            {customer.banExpiresAt
              ? m.customers_until({ when: plannedTime(customer.banExpiresAt) })
              : m.customers_until_lifted()}
            {customer.banReason && <span className="reason">{customer.banReason}</span>}
          </p>
        ) : (
          <p>
            <b>{m.customers_locked_lead({ name })}</b>{" "}
            {m.customers_locked_until({
              count: customer.failedSignInAttempts,
              when: plannedTime(customer.signInLockedUntil ?? ""),
            })}
          </p>
        )}
        {lift && (
          <p>
            <Button size="small" busy={isBusy} onClick={() => void run()}>
              {state === "blocked" ? m.customers_unban() : m.customers_unlock()}
            </Button>
          </p>
        )}
      </div>
    </div>
  );
}

function Tabs({ current, counts }: { current: Tab | undefined; counts: Partial<Record<Tab, number>> }) {
  const words: Record<Tab, () => string> = {
    timeline: m.customers_timeline,
    sessions: m.customers_sessions,
    organizations: m.customers_organizations,
    permissions: m.customers_permissions,
    audit: m.customers_audit,
  };
  return (
    <nav className="tabs" aria-label={m.customers_parts()}>
      {[undefined, ...TABS].map((each) => (
        <Link
          key={each ?? "profile"}
          to="."
          search={(before: object) => ({ ...before, tab: each }) as never}
          replace
          resetScroll={false}
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={each === current ? "page" : undefined}
        >
          {each ? words[each]() : m.customers_profile()}
          {each && counts[each] ? <span className="count">{counts[each]}</span> : null}
        </Link>
      ))}
    </nav>
  );
}
