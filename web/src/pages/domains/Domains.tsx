import { Modal } from "@mantine/core";
import type { Domain } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconPlus, IconTerminal2 } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useCallback, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count, percent } from "../../parts/format";
import { Button, Empty, Field, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { type ApiRequest, copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { DOMAIN_EVENTS, domainQuery, domainsQuery, MOST_DOMAINS, ratesQuery } from "./queries";
import { domainIn, STATES as ORDER, stateOf } from "./records";
import type { DomainsSearch } from "./routes";
import { needsAttention, STATES, todoOf } from "./words";
import "./domains.css";

const page = getRouteApi("/session/projects/$projectId/domains");

/** Nothing opens beside this list: a domain has a page of its own. */
const NO_NEIGHBOURS: Neighbours = {
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
};

/** The domains from which the project sends, and what is to be done about them. */
export function Domains() {
  const projectId = useProjectId();
  const { q, only, add } = page.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const domains = useQuery(domainsQuery(projectId));
  const rates = useQuery(ratesQuery(projectId));
  useLive(projectId, DOMAIN_EVENTS, () => void client.invalidateQueries({ queryKey: ["domains", projectId] }));
  const setSearch = (search: DomainsSearch) =>
    void navigate({ to: ".", search: search as never, replace: true, resetScroll: false });
  const open = useCallback(
    (domain: Domain) =>
      void navigate({ to: "/projects/$projectId/domains/$domainId", params: { projectId, domainId: domain.id } }),
    [navigate, projectId],
  );
  const close = useCallback(() => {}, []);
  const all = (domains.data ?? []).toSorted(
    (first, second) => ORDER.indexOf(stateOf(first)) - ORDER.indexOf(stateOf(second)),
  );
  const rows = all.filter(
    (each) => (!q || each.domain.includes(q.toLowerCase())) && (only !== "attention" || needsAttention(each)),
  );
  const attention = all.filter(needsAttention).length;
  const mail = new Map(rates.data?.map((each) => [each.domainId, each]));
  const path = `/projects/${projectId}/domains`;
  return (
    <ListPage
      title={m.domains()}
      name="domains"
      request={{ method: "GET", path: `${path}?limit=${MOST_DOMAINS}` }}
      neighbours={NO_NEIGHBOURS}
      actions={
        mayWrite && (
          <Button
            kind="primary"
            icon={<IconPlus {...ICON} />}
            data-tour="domain"
            onClick={() => setSearch({ q, only, add: "1" })}
          >
            {m.domains_add()}
          </Button>
        )
      }
    >
      {(all.length > 0 || domains.isPending) && (
        <form
          className="filters"
          role="search"
          aria-label={m.domains_filter()}
          onSubmit={(event) => event.preventDefault()}
        >
          <SearchBox
            value={q ?? ""}
            label={m.domains_search()}
            onChange={(next) => setSearch({ only, q: next || undefined })}
          />
          <div className="seg" role="group" aria-label={m.domains_which()}>
            <button type="button" aria-pressed={!only} onClick={() => setSearch({ q })}>
              {m.domains_all()}
            </button>
            <button type="button" aria-pressed={only !== undefined} onClick={() => setSearch({ q, only: "attention" })}>
              {m.domains_attention({ count: count(attention) })}
            </button>
          </div>
          <span className="total muted" aria-live="polite">
            {domains.data &&
              (rows.length === 1 ? m.domains_total_one() : m.domains_total({ count: count(rows.length) }))}
          </span>
        </form>
      )}
      {domains.isError && !domains.data ? (
        <LoadingFailed error={domains.error} onRetry={() => void domains.refetch()} />
      ) : domains.data && rows.length === 0 ? (
        all.length > 0 ? (
          <Empty title={m.domains_none()} lead={q ? m.list_none_match_q({ q }) : m.domains_none_attention()}>
            {q && only && <Button onClick={() => setSearch({ q })}>{m.domains_search_all()}</Button>}
            <Button kind="bare" onClick={() => setSearch({})}>
              {m.list_clear_filters()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.domains_empty()} lead={m.domains_empty_lead()}>
            {mayWrite && (
              <Button kind="primary" onClick={() => setSearch({ add: "1" })}>
                {m.domains_add()}
              </Button>
            )}
            <CurlButton request={{ method: "POST", path, body: { domain: "mail.example.com" } }} />
          </Empty>
        )
      ) : (
        <RowTable
          label={m.domains()}
          columns={columns()}
          rows={rows}
          total={rows.length}
          isPending={domains.isPending}
          onOpen={open}
          onClose={close}
          row={(domain) => {
            const state = stateOf(domain);
            const { shape, tone, word } = STATES[state];
            const sent = mail.get(domain.id);
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
                    to="/projects/$projectId/domains/$domainId"
                    params={{ projectId, domainId: domain.id }}
                  >
                    {domain.domain}
                  </Link>
                </th>
                <td className="c-sub">
                  <span className={`cut ${state === "ready" ? "muted" : ""}`} title={todoOf(domain)}>
                    {todoOf(domain)}
                  </span>
                </td>
                <td className="num c-num">{sent ? count(sent.total) : rates.data && "0"}</td>
                <td className="num c-num">{sent && sent.total > 0 ? percent(sent.bounceRate, 2) : ""}</td>
                <td className="num c-time">{domain.lastCheckedAt && <Time at={domain.lastCheckedAt} />}</td>
              </>
            );
          }}
        />
      )}
      {add && mayWrite && <AddDialog onClose={() => setSearch({ q, only })} />}
    </ListPage>
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.domains_state(), skeleton: 110, className: "c-st" },
    { key: "domain", label: m.domains_domain(), skeleton: 200, className: "c-to" },
    { key: "todo", label: m.domains_todo(), skeleton: 240, className: "c-sub" },
    { key: "sent", label: m.domains_sent(), skeleton: 40, className: "num c-num" },
    { key: "bounced", label: m.domains_bounced(), skeleton: 40, className: "num c-num" },
    { key: "checked", label: m.domains_checked(), skeleton: 40, className: "num c-time" },
  ];
}

function CurlButton({ request }: { request: ApiRequest }) {
  return (
    <Button kind="bare" icon={<IconTerminal2 {...ICON} />} onClick={() => void copyCurl(request)}>
      {m.copy_as_curl()}
    </Button>
  );
}

/** Adds a domain, and leads to its records. */
function AddDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState("");
  const [exists, setExists] = useState<Domain>();
  const domain = domainIn(typed);
  const request: ApiRequest = { method: "POST", path: `/projects/${projectId}/domains`, body: { domain } };
  const show = (id: string) =>
    navigate({ to: "/projects/$projectId/domains/$domainId", params: { projectId, domainId: id } });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setExists(undefined);
    if (!domain) return setError(m.domains_add_none());
    setBusy(true);
    setError("");
    try {
      const added = await api(projectId).domains.create({ domain });
      client.setQueryData(domainQuery(projectId, added.id).queryKey, added);
      void client.invalidateQueries({ queryKey: ["domains", projectId, "list"] });
      void client.invalidateQueries({ queryKey: ["overview", projectId, "domains"] });
      await show(added.id);
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
      if (caught instanceof APIError && caught.code === "domain_exists") {
        const known = await client.fetchQuery(domainsQuery(projectId)).catch(() => []);
        setExists(known.find((each) => each.domain === domain.toLowerCase()));
      }
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.domains_add()} size={520} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.domains_domain()}
          placeholder="mail.example.com"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          hint={domain && domain !== typed.trim() ? m.domains_add_understood({ domain }) : m.domains_add_hint()}
          error={error}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setError("");
          }}
          data-autofocus
        />
        {exists && (
          <p>
            <Link to="/projects/$projectId/domains/$domainId" params={{ projectId, domainId: exists.id }}>
              {m.domains_show({ domain: exists.domain })}
            </Link>
          </p>
        )}
        <div>
          <h3>{m.domains_next()}</h3>
          <ol className="nextsteps">
            <li>{m.domains_next_records()}</li>
            <li>{m.domains_next_publish()}</li>
            <li>{m.domains_next_look()}</li>
          </ol>
        </div>
        <div className="dialog-actions">
          {domain && <CurlButton request={request} />}
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.domains_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
