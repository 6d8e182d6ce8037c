import { notifications } from "@mantine/notifications";
import type { DeliverySite, DeliverySiteLimits, Page } from "@postern/sdk";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { SearchBox } from "../../lists/SearchBox";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, countUpTo, longTime, shortTime } from "../../parts/format";
import { Button, Empty, Field, LoadingFailed, SkeletonRows, Status, Time, type Tone } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { localInput } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { FormDialog, textOf } from "../settings/pieces";
import { Frame } from "./Frame";
import type { SiteSearch } from "./routes";

const page = getRouteApi("/session/projects/$projectId/emails/sites");

const NO_PANEL = { above: undefined, below: undefined, close: () => {}, row: undefined, patch: () => {} };
/** Milliseconds between two looks: what waits changes all the time. */
const LOOK_MS = 5_000;
/** Sites that are read at once. */
const PAGE_ROWS = 100;

const STATES: Record<string, { shape: Shape; tone: Tone; word: () => string }> = {
  OPEN: { shape: "yes", tone: "", word: m.sites_open },
  SLOWED: { shape: "waiting", tone: "wait", word: m.sites_slowed },
  SUSPENDED: { shape: "attention", tone: "bad", word: m.sites_suspended },
};

/** How mail gets to a site that is not the recipients' own mail server. */
const WAYS: Record<string, () => string> = { relay: m.emails_way_relay, ses: m.emails_way_ses };

/** The destinations of the project's mail: what waits for each, what each takes, and how to stop one. */
export function Sites() {
  const projectId = useProjectId();
  const { q, siteState } = page.useSearch();
  const navigate = useNavigate();
  const parameters = { q, state: siteState, sort: "name", limit: PAGE_ROWS };
  const [pages, setPages] = useState(1);
  const query = useQuery({
    queryKey: ["emails", projectId, "sites", q, siteState, pages],
    queryFn: async ({ signal }) => {
      const rows: DeliverySite[] = [];
      let next: Page<DeliverySite> | undefined = await api(projectId).deliverySites.list(parameters, { signal });
      for (let read = 1; next; read++) {
        rows.push(...next.data);
        if (read >= pages || !next.hasNext) break;
        next = await next.next();
      }
      return { rows, hasNext: next?.hasNext ?? false };
    },
    refetchInterval: LOOK_MS,
    placeholderData: keepPreviousData,
  });
  const filter = (change: { [name in keyof SiteSearch]?: SiteSearch[name] | undefined }) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  const isFiltered = Boolean(q || siteState);
  return (
    <Frame
      tab="sites"
      request={{ method: "GET", path: `/projects/${projectId}/delivery/sites${queryString(parameters)}` }}
      neighbours={NO_PANEL}
    >
      <form
        className="filters"
        role="search"
        aria-label={m.sites_filter()}
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchBox value={q ?? ""} label={m.sites_search()} onChange={(text) => filter({ q: text || undefined })} />
        <div className="chips">
          <select
            className="input small"
            aria-label={m.sites_state()}
            value={siteState ?? ""}
            onChange={(event) => filter({ siteState: (event.target.value || undefined) as SiteSearch["siteState"] })}
          >
            <option value="">{m.sites_any_state()}</option>
            {Object.entries(STATES).map(([value, { word }]) => (
              <option key={value} value={value}>
                {word()}
              </option>
            ))}
          </select>
        </div>
      </form>
      {query.isError && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data?.rows.length === 0 ? (
        isFiltered ? (
          <Empty title={m.sites_none_match()} lead={m.sites_none_match_lead()}>
            <Button
              onClick={() =>
                void navigate({ to: "/projects/$projectId/emails/sites", params: { projectId }, replace: true })
              }
            >
              {m.received_clear()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.sites_empty()} lead={m.sites_empty_lead()} />
        )
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is read by scrolling it.
        <div className="scrollx sites" role="group" tabIndex={0} aria-label={m.sites_table()}>
          <table className="table plain" aria-label={m.sites_table()}>
            <thead>
              <tr>
                <th scope="col">{m.sites_site()}</th>
                <th scope="col">{m.sites_state()}</th>
                <th scope="col" className="num">
                  {m.sites_waiting()}
                </th>
                <th scope="col">{m.sites_limits()}</th>
                <th scope="col" className="num">
                  {m.sites_day()}
                </th>
                <th scope="col">{m.sites_reply()}</th>
                <th scope="col">
                  <span className="sr">{m.sites_actions()}</span>
                </th>
              </tr>
            </thead>
            {query.data ? (
              <tbody>
                {query.data.rows.map((each) => (
                  <Site key={each.name} site={each} />
                ))}
              </tbody>
            ) : (
              <SkeletonRows rows={4} widths={[160, 90, 40, 160, 60, 200, 120]} />
            )}
          </table>
        </div>
      )}
      {query.data?.hasNext && (
        <p className="after">
          <Button size="small" onClick={() => setPages(pages + 1)}>
            {m.sites_more()}
          </Button>
        </p>
      )}
    </Frame>
  );
}

/** Limits in words: `10 connections, 100 messages per connection, 600 per minute`. */
function limitsInWords({ connections, messagesPerConnection, messagesPerMinute }: DeliverySiteLimits): string {
  return (
    [
      connections !== null && m.sites_connections({ count: count(connections) }),
      messagesPerConnection !== null && m.sites_per_connection({ count: count(messagesPerConnection) }),
      messagesPerMinute !== null && m.sites_per_minute({ count: count(messagesPerMinute) }),
    ]
      .filter(Boolean)
      .join(", ") || m.sites_no_limits()
  );
}

function Site({ site }: { site: DeliverySite }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<"" | "suspend" | "bounce">("");
  const [isBusy, setBusy] = useState(false);
  const { shape, tone, word } = STATES[site.state] ?? {
    shape: "no" as const,
    tone: "" as const,
    word: () => site.state,
  };
  const { suspension, bounce } = site;
  const changed = () => client.invalidateQueries({ queryKey: ["emails", projectId, "sites"] });
  const { deliverySites } = api(projectId);
  const resume = async () => {
    setBusy(true);
    try {
      await deliverySites.resume(site.name);
      notifications.show({ message: m.sites_resumed({ site: site.name }) });
      await changed();
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <tr>
      <th scope="row">
        {site.name}
        <small className="muted">
          {[site.provider !== site.name && site.provider, WAYS[site.transport]?.()].filter(Boolean).join(" · ")}
        </small>
      </th>
      <td>
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
        {suspension && (
          <small>
            {suspension.by === "OPERATOR" && `${m.sites_by_operator()} `}
            {suspension.reason} {suspension.until && m.sites_until({ time: shortTime(suspension.until) })}
          </small>
        )}
        {site.throttledUntil && <small>{m.sites_throttled({ time: shortTime(site.throttledUntil) })}</small>}
      </td>
      <td className="num" data-label={m.sites_waiting()}>
        {countUpTo(site.waiting)}
        {site.oldestWaitingAt && (
          <small className="muted">
            {m.sites_since()} <Time at={site.oldestWaitingAt} />
          </small>
        )}
      </td>
      <td data-label={m.sites_limits()}>
        {limitsInWords(site.limits)}
        {site.state === "SLOWED" && (
          <small className="muted">{m.sites_usually({ limits: limitsInWords(site.defaultLimits) })}</small>
        )}
      </td>
      <td className="num" data-label={m.sites_day()}>
        {count(site.delivered)}
        <small className="muted">
          {m.sites_day_others({ deferred: count(site.deferred), bounced: count(site.bounced) })}
        </small>
      </td>
      <td className="said" data-label={m.sites_reply()}>
        {site.lastReply ? (
          <>
            <code>{site.lastReply}</code>
            {site.lastReplyAt && (
              <small className="muted">
                <Time at={site.lastReplyAt} format={longTime} />
              </small>
            )}
          </>
        ) : (
          <span className="muted">{m.sites_no_reply()}</span>
        )}
        {bounce && (
          <small>
            {bounce.endedAt
              ? m.sites_gave_up({ count: count(bounce.failed), reason: bounce.reason })
              : m.sites_giving_up({ count: count(bounce.failed), reason: bounce.reason })}
          </small>
        )}
      </td>
      <td>
        {mayWrite && (
          <div className="acts">
            {suspension?.by === "PROJECT" ? (
              <Button
                size="small"
                busy={isBusy}
                aria-label={m.sites_resume_of({ site: site.name })}
                onClick={() => void resume()}
              >
                {m.sites_resume()}
              </Button>
            ) : (
              <Button
                size="small"
                aria-label={m.sites_suspend_of({ site: site.name })}
                onClick={() => setDialog("suspend")}
              >
                {m.sites_suspend()}
              </Button>
            )}
            <Button
              size="small"
              kind="bare"
              disabled={site.waiting === 0}
              aria-label={m.sites_bounce_of({ site: site.name })}
              onClick={() => setDialog("bounce")}
            >
              {m.sites_bounce()}
            </Button>
          </div>
        )}
        {dialog === "suspend" && <SuspendDialog site={site} onDone={changed} onClose={() => setDialog("")} />}
        {dialog === "bounce" && <BounceDialog site={site} onDone={changed} onClose={() => setDialog("")} />}
      </td>
    </tr>
  );
}

interface DialogProps {
  site: DeliverySite;
  onDone: () => Promise<void>;
  onClose: () => void;
}

function SuspendDialog({ site, onDone, onClose }: DialogProps) {
  const projectId = useProjectId();
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      title={m.sites_suspend_of({ site: site.name })}
      deed={m.sites_suspend()}
      ready={reason.trim() !== ""}
      places={{ reason: ["/reason"], until: ["/until"] }}
      onClose={onClose}
      run={async (form) => {
        const until = textOf(form, "until");
        await api(projectId).deliverySites.suspend(site.name, {
          reason: reason.trim(),
          until: until ? new Date(until).toISOString() : null,
        });
        notifications.show({ message: m.sites_suspended_now({ site: site.name }) });
        await onDone();
      }}
    >
      {(errors) => (
        <>
          <p>{m.sites_suspend_lead()}</p>
          <Field
            label={m.sites_reason()}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            error={errors.reason}
            maxLength={500}
            autoComplete="off"
            data-autofocus
          />
          <Field
            label={m.sites_until_label()}
            name="until"
            type="datetime-local"
            min={localInput(new Date())}
            hint={m.sites_until_hint()}
            error={errors.until}
          />
        </>
      )}
    </FormDialog>
  );
}

/** Gives up what waits: the person types the name of the site, and says why. */
function BounceDialog({ site, onDone, onClose }: DialogProps) {
  const projectId = useProjectId();
  const [reason, setReason] = useState("");
  return (
    <TypedConfirm
      title={m.sites_bounce_title({ site: site.name })}
      name={site.name}
      deed={m.sites_bounce()}
      onClose={onClose}
      run={async () => {
        if (!reason.trim()) throw new Error(m.sites_reason_missing());
        await api(projectId).deliverySites.bounce(site.name, { reason: reason.trim() });
        notifications.show({ message: m.sites_bouncing({ site: site.name }) });
        await onDone();
      }}
    >
      <p>{m.sites_bounce_lead({ count: countUpTo(site.waiting) })}</p>
      <Field
        label={m.sites_reason()}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        maxLength={500}
        autoComplete="off"
      />
    </TypedConfirm>
  );
}
