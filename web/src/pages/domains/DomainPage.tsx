import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Domain } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconDots, IconRefresh } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Empty, ICON, LoadingFailed, Pill } from "../../parts/parts";
import { relative, useNow } from "../../parts/relative";
import { copyCurl, usePageRequest } from "../../parts/request";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { DmarcReports } from "./DmarcReports";
import { DnsFindings } from "./DnsFindings";
import { DomainSettings } from "./DomainSettings";
import { DOMAIN_EVENTS, domainQuery } from "./queries";
import { Records } from "./Records";
import { stateOf } from "./records";
import { type DomainSearch, TABS } from "./routes";
import { Dmarc, Reputation } from "./Standing";
import { WarmUpPlan } from "./WarmUp";
import { STATES } from "./words";
import "./domains.css";

const page = getRouteApi("/session/projects/$projectId/domains/$domainId");

const TAB_NAMES: Record<NonNullable<DomainSearch["tab"]>, () => string> = {
  dmarc: m.dmarc_reports,
  "warm-up": m.warm_up,
  settings: m.domains_settings,
};

/** One domain: the records to publish and what was found, its reputation, and its settings. */
export function DomainPage() {
  const projectId = useProjectId();
  const { domainId } = page.useParams();
  const client = useQueryClient();
  // While it is deleted here, it is not read any more.
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery({ ...domainQuery(projectId, domainId), enabled: !isLeaving });
  useLive(projectId, DOMAIN_EVENTS, (event) => {
    if (!isLeaving && event.subjectId === domainId) void client.invalidateQueries({ queryKey: ["domains", projectId] });
  });
  usePageRequest({ method: "GET", path: `/projects/${projectId}/domains/${encodeURIComponent(domainId)}` });
  if (query.isError && !query.data) {
    const isMissing = query.error instanceof APIError && [400, 404].includes(query.error.status);
    return (
      <main id="main" className="page domain">
        <Crumb />
        <div className="head">
          <h1>{m.domains_domain()}</h1>
        </div>
        {isMissing ? (
          <Empty title={m.domains_missing()} lead={m.domains_missing_lead()}>
            <Link className="btn" to="/projects/$projectId/domains" params={{ projectId }}>
              {m.domains_to_list()}
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
      <main id="main" className="page domain" aria-busy="true">
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
  return <Loaded domain={query.data} key={query.data.id} onLeaving={setLeaving} />;
}

function Crumb({ name }: { name?: string }) {
  const projectId = useProjectId();
  return (
    <p className="crumb cut">
      <Link to="/projects/$projectId/domains" params={{ projectId }} activeOptions={{ exact: true }}>
        {m.domains()}
      </Link>
      {name && ` / ${name}`}
    </p>
  );
}

function Loaded({ domain, onLeaving }: { domain: Domain; onLeaving: (isLeaving: boolean) => void }) {
  const projectId = useProjectId();
  const { tab } = page.useSearch();
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isLooking, setLooking] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const right = domain.records.filter((each) => each.status === "VERIFIED").length;
  const path = `/projects/${projectId}/domains/${domain.id}`;
  const look = async () => {
    setLooking(true);
    try {
      const found = await api(projectId).domains.verify(domain.id);
      client.setQueryData(domainQuery(projectId, domain.id).queryKey, found);
      void client.invalidateQueries({ queryKey: ["domains", projectId, "list"] });
      void client.invalidateQueries({ queryKey: ["overview", projectId, "domains"] });
      notifications.show({
        message:
          found.status === "VERIFIED" && domain.status !== "VERIFIED"
            ? m.domains_now_ready({ domain: found.domain })
            : m.domains_looked({
                right: found.records.filter((each) => each.status === "VERIFIED").length,
                all: found.records.length,
              }),
      });
    } catch (error) {
      notifications.show({ message: m.domains_look_failed({ reason: messageOf(error) }) });
    } finally {
      setLooking(false);
    }
  };
  return (
    <main id="main" className="page domain">
      <Crumb name={domain.domain} />
      <div className="head">
        <h1 className="cut" title={domain.domain}>
          {domain.domain}
        </h1>
        <StatePill domain={domain} />
        <div className="acts">
          {domain.lastCheckedAt && <Checked at={domain.lastCheckedAt} />}
          {mayWrite && (
            <Button busy={isLooking} icon={<IconRefresh {...ICON} />} onClick={() => void look()}>
              {isLooking ? m.domains_looking() : m.domains_look()}
            </Button>
          )}
          <Menu
            position="bottom-end"
            width={240}
            portalProps={{ target: "#menus" }}
            withInitialFocusPlaceholder={false}
          >
            <Menu.Target>
              <button className="btn more" type="button" aria-label={m.domains_more()}>
                <IconDots {...ICON} />
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => void copyCurl({ method: "GET", path })}>{m.copy_as_curl()}</Menu.Item>
              <Menu.Item onClick={() => void copyCurl({ method: "POST", path: `${path}/verify` })}>
                {m.domains_look_curl()}
              </Menu.Item>
              {mayWrite && (
                <>
                  <Menu.Divider />
                  <Menu.Item className="danger" onClick={() => setDeleting(true)}>
                    {m.domains_delete()}
                  </Menu.Item>
                </>
              )}
            </Menu.Dropdown>
          </Menu>
        </div>
      </div>
      <nav className="tabs" aria-label={m.domains_parts()}>
        {[undefined, ...TABS].map((each) => (
          <Link
            key={each ?? "records"}
            to="."
            search={(before: object) => ({ ...before, tab: each }) as never}
            replace
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={each === tab ? "page" : undefined}
          >
            {each ? TAB_NAMES[each]() : m.domains_records()}
          </Link>
        ))}
      </nav>
      <p className="sr" role="status">
        {m.domains_right({ right, all: domain.records.length })}
      </p>
      {tab === "settings" ? (
        <DomainSettings domain={domain} onDelete={() => setDeleting(true)} />
      ) : tab === "dmarc" ? (
        <DmarcReports domain={domain} />
      ) : tab === "warm-up" ? (
        <WarmUpPlan domain={domain} />
      ) : (
        <>
          <Records domain={domain} isLooking={isLooking} />
          <DnsFindings domain={domain} />
          <div className="split">
            <Reputation domain={domain} />
            <Dmarc domain={domain} />
          </div>
        </>
      )}
      {isDeleting && (
        <DeleteDialog
          domain={domain}
          onClose={() => setDeleting(false)}
          onLeaving={onLeaving}
          onDeleted={async () => {
            await navigate({ to: "/projects/$projectId/domains", params: { projectId } });
            client.removeQueries({ queryKey: domainQuery(projectId, domain.id).queryKey });
            void client.invalidateQueries({ queryKey: ["domains", projectId] });
            notifications.show({ message: m.domains_deleted({ domain: domain.domain }) });
          }}
        />
      )}
    </main>
  );
}

function StatePill({ domain }: { domain: Domain }) {
  const state = stateOf(domain);
  const { shape, tone, word } = STATES[state];
  const wrong = domain.records.filter((each) => each.status === "WRONG").length;
  const text = state === "wrong" ? (wrong === 1 ? m.domains_change_one() : m.domains_change({ count: wrong })) : word();
  return (
    <Pill shape={shape} tone={state === "ready" ? "good" : tone === "comp" ? "bad" : tone}>
      {text}
    </Pill>
  );
}

function Checked({ at }: { at: string }) {
  const now = useNow();
  return <span className="muted checked wide">{m.domains_looked_at({ when: relative(at, now) })}</span>;
}

/** Deletes a domain; if mail waits to be sent from it, only after saying what becomes of that. */
function DeleteDialog({
  domain,
  onClose,
  onLeaving,
  onDeleted,
}: {
  domain: Domain;
  onClose: () => void;
  onLeaving: (isLeaving: boolean) => void;
  onDeleted: () => Promise<void>;
}) {
  const projectId = useProjectId();
  const [waits, setWaits] = useState("");
  const explain = (error: unknown) => {
    if (error instanceof APIError && error.code === "domain_has_waiting_sends") {
      setWaits(error.detail);
      return m.domains_delete_waiting();
    }
    if (error instanceof APIError && error.code === "domain_in_use") {
      return (
        <div>
          <p>{m.domains_delete_in_use()}</p>
          <ul className="uses">
            {error.errors.map((each) => (
              <li key={each.path + each.message}>{each.message}</li>
            ))}
          </ul>
        </div>
      );
    }
    return messageOf(error);
  };
  return (
    <TypedConfirm
      title={m.domains_delete_title({ domain: domain.domain })}
      name={domain.domain}
      deed={waits ? m.domains_delete_anyway() : m.domains_delete()}
      onClose={onClose}
      explain={explain}
      run={async () => {
        onLeaving(true);
        try {
          await api(projectId).domains.delete(domain.id, waits ? { force: true } : {});
        } catch (error) {
          onLeaving(false);
          throw error;
        }
        await onDeleted();
      }}
    >
      <p>{m.domains_delete_lead()}</p>
    </TypedConfirm>
  );
}
