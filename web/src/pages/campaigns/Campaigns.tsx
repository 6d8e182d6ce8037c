import { Modal } from "@mantine/core";
import type { ListedCampaign } from "@postern/sdk";
import { IconPlus, IconTerminal2 } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useCallback, useMemo, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count, percent } from "../../parts/format";
import { Button, Empty, Field, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { type ApiRequest, copyCurl, queryString } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useUndo } from "../../parts/undo";
import { plannedTime } from "../../parts/when";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { doneOf, partsOf } from "./numbers";
import { CAMPAIGN_EVENTS, campaignQuery, isRunning, parametersOf, templatesQuery, useCampaigns } from "./queries";
import { type CampaignsSearch, GROUPS, SORTS } from "./routes";
import { GROUP_WORDS, lookOf, SORT_WORDS } from "./words";
import "./campaigns.css";

const page = getRouteApi("/session/projects/$projectId/campaigns");

/** Nothing opens beside this list: a campaign has a page of its own. */
const NO_NEIGHBOURS: Neighbours = {
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
};

/** All campaigns: drafts, those that wait or are being sent, and what came of the others. */
export function Campaigns() {
  const projectId = useProjectId();
  const search = page.useSearch();
  const { q, status, sort, add } = search;
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const { hidden } = useUndo();
  const list = useCampaigns(projectId, { q, status, sort });
  // Many campaigns have the subject of their template.
  const templates = useQuery(templatesQuery(projectId));
  const subjects = useMemo(() => new Map(templates.data?.map((each) => [each.id, each.subject])), [templates.data]);
  useLive(projectId, CAMPAIGN_EVENTS, () => void client.invalidateQueries({ queryKey: ["campaigns", projectId] }));
  const setSearch = useCallback(
    (next: CampaignsSearch) => void navigate({ to: ".", search: next as never, replace: true, resetScroll: false }),
    [navigate],
  );
  const open = useCallback(
    (campaign: ListedCampaign) =>
      void navigate({
        to: "/projects/$projectId/campaigns/$campaignId",
        params: { projectId, campaignId: campaign.id },
      }),
    [navigate, projectId],
  );
  const close = useCallback(() => {}, []);
  const rows = list.rows.filter((each) => !hidden.has(each.id));
  const total = list.total === undefined ? undefined : list.total - (list.rows.length - rows.length);
  const path = `/projects/${projectId}/campaigns`;
  const isFiltered = q !== undefined || status !== undefined;
  const { include, ...filters } = parametersOf({ q, status, sort });
  return (
    <ListPage
      title={m.campaigns()}
      name="campaigns"
      request={{ method: "GET", path: path + queryString({ ...filters, include }) }}
      neighbours={NO_NEIGHBOURS}
      actions={
        mayWrite && (
          <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setSearch({ ...search, add: "1" })}>
            {m.campaigns_new()}
          </Button>
        )
      }
    >
      {(rows.length > 0 || list.isPending || isFiltered) && (
        <form
          className="filters"
          role="search"
          aria-label={m.campaigns_filter()}
          onSubmit={(event) => event.preventDefault()}
        >
          <SearchBox
            value={q ?? ""}
            label={m.campaigns_search()}
            onChange={(next) => setSearch({ status, sort, q: next || undefined })}
          />
          <select
            className="input sort"
            aria-label={m.campaigns_sort()}
            value={sort ?? ""}
            onChange={(event) => setSearch({ q, status, sort: SORTS.find((each) => each === event.target.value) })}
          >
            <option value="">{m.campaigns_sort_newest()}</option>
            {SORTS.map((each) => (
              <option key={each} value={each}>
                {SORT_WORDS[each]()}
              </option>
            ))}
          </select>
          <div className="chips">
            <div className="seg scrollx" role="group" aria-label={m.campaigns_state()}>
              {[undefined, ...GROUPS].map((each) => (
                <button
                  key={each ?? "all"}
                  type="button"
                  aria-pressed={status === each}
                  onClick={() => setSearch({ q, sort, status: each })}
                >
                  {each ? GROUP_WORDS[each]() : m.campaigns_all()}
                </button>
              ))}
            </div>
            <span className="total muted" aria-live="polite">
              {total !== undefined &&
                !list.isStale &&
                (total === 1 ? m.campaigns_total_one() : m.campaigns_total({ count: count(total) }))}
            </span>
          </div>
        </form>
      )}
      {list.error && rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && rows.length === 0 ? (
        isFiltered ? (
          <Empty title={m.campaigns_none()} lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}>
            {q && status && <Button onClick={() => setSearch({ q, sort })}>{m.campaigns_any_state()}</Button>}
            <Button kind="bare" onClick={() => setSearch({ sort })}>
              {m.list_clear_filters()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.campaigns_empty()} lead={m.campaigns_empty_lead()}>
            {mayWrite && (
              <Button kind="primary" onClick={() => setSearch({ add: "1" })}>
                {m.campaigns_new()}
              </Button>
            )}
            <CurlButton request={{ method: "POST", path, body: { name: m.campaigns_example_name() } }} />
          </Empty>
        )
      ) : (
        <>
          <RowTable
            label={m.campaigns()}
            columns={columns()}
            rows={rows}
            total={total}
            isPending={list.isPending}
            isStale={list.isStale}
            onOpen={open}
            onClose={close}
            onEnd={list.more}
            row={(campaign) => <Cells campaign={campaign} subject={subjects.get(campaign.templateId ?? "")} />}
          />
          {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
        </>
      )}
      {add && mayWrite && <NewDialog onClose={() => setSearch({ q, status, sort })} />}
    </ListPage>
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.campaigns_state(), skeleton: 100, className: "c-st" },
    { key: "name", label: m.campaigns_name(), skeleton: 200, className: "c-to" },
    { key: "subject", label: m.campaigns_subject(), skeleton: 220, className: "c-sub" },
    { key: "sent", label: m.status_sent(), skeleton: 48, className: "num c-num" },
    { key: "opened", label: m.status_opened(), skeleton: 48, className: "num c-num" },
    { key: "clicked", label: m.status_clicked(), skeleton: 48, className: "num c-num" },
    { key: "time", label: m.campaigns_time(), skeleton: 60, className: "num c-time" },
  ];
}

function Cells({
  campaign,
  subject,
}: {
  campaign: ListedCampaign;
  /** The subject of its template. */
  subject: string | null | undefined;
}) {
  const projectId = useProjectId();
  const { shape, tone, word } = lookOf(campaign);
  const { stats } = campaign;
  const hasMail = stats !== null && stats.total > 0;
  const rate = (part: number) => (stats && stats.sent > 0 ? percent(part / stats.sent, 1) : "");
  return (
    <>
      <td className="c-st">
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/campaigns/$campaignId"
          params={{ projectId, campaignId: campaign.id }}
        >
          {campaign.name}
        </Link>
      </th>
      <td className="c-sub">
        {isRunning(campaign) || campaign.status === "PAUSED" ? (
          <Progress id={campaign.id} />
        ) : (
          <span className={`cut ${campaign.subject || subject ? "" : "muted"}`}>
            {campaign.subject || subject || m.campaigns_no_subject()}
          </span>
        )}
      </td>
      <td className="num c-num">{hasMail ? count(stats.sent) : ""}</td>
      <td className="num c-num">{hasMail ? rate(stats.opened) : ""}</td>
      <td className="num c-num">{hasMail ? rate(stats.clicked) : ""}</td>
      <td className="num c-time">
        {campaign.status === "SCHEDULED" && campaign.scheduledAt ? (
          <Time at={campaign.scheduledAt} format={plannedTime} />
        ) : (
          <Time at={campaign.sentAt ?? campaign.updatedAt} />
        )}
      </td>
    </>
  );
}

/** How far a campaign is that is being sent. The list's own numbers lack the size of the audience. */
function Progress({ id }: { id: string }) {
  const projectId = useProjectId();
  const { data } = useQuery(campaignQuery(projectId, id));
  if (!data) return <span className="muted">{m.loading()}</span>;
  const done = doneOf(partsOf(data));
  const { expected } = data.progress;
  const words = m.campaigns_done_of({ done: count(done), all: count(expected) });
  return (
    <span className="underway">
      <span className="meter" role="img" aria-label={words}>
        <i style={{ width: `${expected > 0 ? Math.min((done / expected) * 100, 100) : 0}%` }} />
      </span>
      <span className="cut muted" aria-hidden="true">
        {words}
      </span>
    </span>
  );
}

function CurlButton({ request }: { request: ApiRequest }) {
  return (
    <Button kind="bare" icon={<IconTerminal2 {...ICON} />} onClick={() => void copyCurl(request)}>
      {m.copy_as_curl()}
    </Button>
  );
}

/** Makes a draft, and leads to it. */
function NewDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState("");
  const name = typed.trim();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!name) return setError(m.campaigns_need_name());
    setBusy(true);
    setError("");
    try {
      const { id } = await api(projectId).campaigns.create({ name });
      void client.invalidateQueries({ queryKey: ["campaigns", projectId, "list"] });
      await navigate({ to: "/projects/$projectId/campaigns/$campaignId", params: { projectId, campaignId: id } });
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.campaigns_new()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.campaigns_name()}
          hint={m.campaigns_name_hint()}
          error={error}
          autoComplete="off"
          maxLength={200}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setError("");
          }}
          data-autofocus
        />
        <div className="dialog-actions">
          {name && (
            <CurlButton request={{ method: "POST", path: `/projects/${projectId}/campaigns`, body: { name } }} />
          )}
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.campaigns_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
