import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Suppression } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useCallback, useState } from "react";
import { useNeighbours, useNeighboursOf } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { download } from "../../parts/download";
import { count, longTime } from "../../parts/format";
import { Button, Empty, Field, ICON, LoadingFailed, Status, Time, type Tone } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Frame } from "./Frame";
import type { Reason } from "./routes";
import { REASON_WORDS, REASONS, SOURCES } from "./why";

/** Addresses of one bulk addition. */
const MOST_ADDRESSES = 1_000;
/** Events after which other addresses may be on the list. */
const TYPES = ["email.bounced", "email.complained", "email.unsubscribed", "contact.unsubscribed"];
const ALL: Reason[] = ["BOUNCE", "COMPLAINT", "UNSUBSCRIBE", "MANUAL"];

const SHAPES: Record<string, Shape> = {
  BOUNCE: "bounced",
  COMPLAINT: "complaint",
  UNSUBSCRIBE: "no",
  MANUAL: "suppressed",
};
const TONES: Record<string, Tone> = { BOUNCE: "bad", COMPLAINT: "comp" };

const page = getRouteApi("/session/projects/$projectId/emails/suppressions");

interface Search {
  q?: string;
  reason?: Reason;
}

/** Addresses that get no mail from this project, and why. */
export function Suppressions() {
  const projectId = useProjectId();
  const { address } = useParams({ strict: false });
  const { q, reason } = page.useSearch();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const [isAdding, setAdding] = useState(false);
  const client = useQueryClient();
  const list = useRowList<Suppression>({
    queryKey: ["emails", projectId, "suppressions", { q, reason }],
    first: () => api(projectId).suppressions.list({ q, reason, limit: PAGE_ROWS }),
    types: TYPES,
    live: true,
  });
  const openId = address && list.rows.find((each) => each.address === address)?.id;
  const setSearch = (search: Search) =>
    void navigate({ to: ".", search: search as never, replace: true, resetScroll: false });
  const open = useCallback(
    (row: Suppression) =>
      void navigate({
        to: "/projects/$projectId/emails/suppressions/$address",
        params: { projectId, address: row.address },
        search: true,
        replace: address !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, address],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/emails/suppressions",
        params: { projectId },
        search: true,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, openId, open, close, list.patch);
  const onExport = async () => {
    try {
      download(await api(projectId).suppressions.export({ q, reason }), "suppressions.csv", "text/csv");
    } catch (error) {
      notifications.show({ message: m.emails_export_failed({ reason: messageOf(error) }) });
    }
  };
  const path = `/projects/${projectId}/suppressions`;
  return (
    <Frame
      tab="suppressions"
      request={{ method: "GET", path: path + queryString({ q, reason, limit: PAGE_ROWS }) }}
      onExport={onExport}
      neighbours={neighbours}
      panel={address && <Outlet />}
    >
      <form
        className="filters"
        role="search"
        aria-label={m.emails_filter()}
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchBox
          value={q ?? ""}
          label={m.emails_sup_search()}
          onChange={(next) => setSearch({ reason, q: next || undefined })}
        />
        {mayWrite && (
          <Button icon={<IconPlus {...ICON} />} onClick={() => setAdding(true)}>
            {m.emails_sup_add()}
          </Button>
        )}
        <div className="chips">
          <div className="seg scrollx" role="group" aria-label={m.emails_sup_reason()}>
            {[undefined, ...ALL].map((each) => (
              <button
                key={each ?? "all"}
                type="button"
                aria-pressed={reason === each}
                onClick={() => setSearch({ q, reason: each })}
              >
                {each ? REASON_WORDS[each]?.() : m.emails_sup_all()}
              </button>
            ))}
          </div>
          <span className="total muted" aria-live="polite">
            {list.total !== undefined &&
              !list.isStale &&
              (list.total === 1 ? m.emails_sup_total_one() : m.emails_sup_total({ count: count(list.total) }))}
          </span>
        </div>
      </form>
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        q || reason ? (
          <Empty title={m.emails_sup_none()} lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}>
            {q && reason && <Button onClick={() => setSearch({ q })}>{m.emails_sup_any_reason()}</Button>}
            <Button kind="bare" onClick={() => setSearch({})}>
              {m.list_clear_filters()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.emails_sup_empty()} lead={m.emails_sup_empty_lead()}>
            {mayWrite && <Button onClick={() => setAdding(true)}>{m.emails_sup_add()}</Button>}
          </Empty>
        )
      ) : (
        <RowTable
          label={m.emails_sup_table()}
          columns={columns()}
          className="suppressions"
          rows={list.rows}
          total={list.total}
          isPending={list.isPending}
          isStale={list.isStale}
          openId={openId}
          fresh={list.fresh}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(row) => <Cells row={row} />}
        />
      )}
      {isAdding && (
        <AddDialog
          onClose={() => setAdding(false)}
          onAdded={() => {
            void client.invalidateQueries({ queryKey: ["emails", projectId, "suppressions"] });
            void client.invalidateQueries({ queryKey: ["emails", projectId, "count"] });
          }}
        />
      )}
    </Frame>
  );
}

function columns(): Column[] {
  return [
    { key: "reason", label: m.emails_sup_reason(), skeleton: 90, className: "c-st" },
    { key: "address", label: m.emails_sup_address(), skeleton: 220, className: "c-to" },
    { key: "detail", label: m.emails_sup_detail(), skeleton: 200, className: "c-sub" },
    { key: "since", label: m.emails_sup_since(), skeleton: 36, className: "num c-time" },
  ];
}

function Cells({ row }: { row: Suppression }) {
  const projectId = useProjectId();
  return (
    <>
      <td className="c-st">
        <Status shape={SHAPES[row.reason] ?? "suppressed"} tone={TONES[row.reason] ?? ""}>
          {REASON_WORDS[row.reason]?.() ?? row.reason}
        </Status>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/emails/suppressions/$address"
          params={{ projectId, address: row.address }}
          search={true}
          resetScroll={false}
        >
          {row.address}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted">{row.detail ?? SOURCES[row.source]?.() ?? row.source}</span>
      </td>
      <td className="c-time num">
        <Time at={row.createdAt} />
      </td>
    </>
  );
}

/** Why an address is on the list, with what came before, and how it comes off it. */
export function SuppressionPanel() {
  const projectId = useProjectId();
  const { address = "" } = useParams({ strict: false });
  const { row, close, patch } = useNeighbours();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [isRemoving, setRemoving] = useState(false);
  const query = useQuery({
    queryKey: ["suppression", projectId, address],
    queryFn: ({ signal }) => api(projectId).suppressions.get(address, { signal }),
    // Not kept: when it is opened again, it may have been removed.
    gcTime: 0,
    placeholderData: row as Suppression | undefined,
  });
  usePageRequest({ method: "GET", path: `/projects/${projectId}/suppressions/${encodeURIComponent(address)}` });
  const found = query.data;
  if (query.isError || (query.isSuccess && !found))
    return (
      <Panel label={address} actions={null}>
        {!query.error || (query.error instanceof APIError && query.error.status === 404) ? (
          <Empty title={m.emails_sup_not_listed({ address })} lead={m.emails_sup_not_listed_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!found)
    return (
      <Panel label={address} actions={null} busy>
        {null}
      </Panel>
    );
  return (
    <Panel
      label={found.address}
      actions={
        mayWrite && (
          <Button size="small" kind="danger" onClick={() => setRemoving(true)}>
            {m.emails_sup_remove()}
          </Button>
        )
      }
    >
      <header className="subject">
        <Status shape={SHAPES[found.reason] ?? "suppressed"} tone={TONES[found.reason] ?? ""}>
          {REASON_WORDS[found.reason]?.() ?? found.reason}
        </Status>
        <h2 className="address">{found.address}</h2>
        <p>
          {found.reason === "UNSUBSCRIBE" ? m.emails_sup_means_marketing() : m.emails_sup_means()}{" "}
          <Link to="/projects/$projectId/emails" params={{ projectId }} search={{ recipient: found.address }}>
            {m.emails_sup_all_emails()}
          </Link>
        </p>
      </header>
      <ol className="timeline" aria-label={m.emails_sup_history()}>
        {found.history.map((former) => (
          <HistoryStep key={former.since} {...former} />
        ))}
        <HistoryStep
          reason={found.reason}
          source={found.source}
          detail={found.detail}
          sendId={found.sendId}
          since={found.updatedAt}
        />
      </ol>
      {isRemoving && (
        <ConfirmDialog
          title={m.emails_sup_remove_title({ address: found.address })}
          deed={m.emails_sup_remove()}
          keep={m.emails_sup_keep()}
          onClose={() => setRemoving(false)}
          run={async () => {
            await api(projectId).suppressions.remove(found.address);
            patch(found.id, undefined);
            void client.invalidateQueries({ queryKey: ["emails", projectId, "count"] });
            notifications.show({ message: m.emails_sup_removed({ address: found.address }) });
            close();
          }}
        >
          <p>{CONSEQUENCES[found.reason]?.() ?? m.emails_sup_after_manual()}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

/** What follows from removing an address, by the reason why it is there. */
const CONSEQUENCES: Record<string, () => string> = {
  BOUNCE: m.emails_sup_after_bounce,
  COMPLAINT: m.emails_sup_after_complaint,
  UNSUBSCRIBE: m.emails_sup_after_unsubscribe,
  MANUAL: m.emails_sup_after_manual,
};

function HistoryStep({
  reason,
  source,
  detail,
  sendId,
  since,
}: {
  reason: string;
  source: string;
  detail: string | null;
  sendId: string | null;
  since: string;
}) {
  const projectId = useProjectId();
  return (
    <li className="dated">
      <Glyph shape={SHAPES[reason] ?? "suppressed"} />
      <div>
        <b>{sentence(REASONS[reason]?.() ?? reason)}</b>{" "}
        <span className="muted">
          <Time at={since} format={longTime} />
        </span>
        <p>
          {SOURCES[source]?.() ?? source}
          {sendId && (
            <>
              {" "}
              <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId }}>
                {m.emails_sup_show_email()}
              </Link>
            </>
          )}
        </p>
        {detail && (
          <p className="said">
            <code>{detail}</code>
          </p>
        )}
      </div>
    </li>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Adds one address or many. */
function AddDialog({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<{ addresses?: string; detail?: string }>({});
  const [typed, setTyped] = useState("");
  const addresses = typed.split(/[\s,;]+/).filter(Boolean);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const reason = String(form.get("reason"));
    const detail = String(form.get("detail") ?? "").trim();
    const [address] = addresses;
    if (!address) return setErrors({ addresses: m.emails_sup_add_none() });
    if (addresses.length > MOST_ADDRESSES)
      return setErrors({
        addresses: m.emails_sup_add_many({ most: count(MOST_ADDRESSES), count: count(addresses.length) }),
      });
    setBusy(true);
    setErrors({});
    try {
      if (addresses.length === 1) {
        await api(projectId).suppressions.add({ address, reason, detail: detail || null });
        notifications.show({ message: m.emails_sup_added_one({ address }) });
      } else {
        const { added, skipped } = await api(projectId).suppressions.addBatch({ addresses, reason });
        notifications.show({
          message: skipped
            ? m.emails_sup_added_skipped({ added: count(added), skipped: count(skipped) })
            : m.emails_sup_added({ added: count(added) }),
        });
      }
      onAdded();
      onClose();
    } catch (error) {
      const isDetail = error instanceof APIError && error.errors.some((each) => each.path === "/detail");
      setErrors({ [isDetail ? "detail" : "addresses"]: messageOf(error) });
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.emails_sup_add()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.emails_sup_addresses()}
          hint={m.emails_sup_addresses_hint({ most: count(MOST_ADDRESSES) })}
          error={errors.addresses}
        >
          {(attributes) => (
            <textarea
              className="input"
              rows={4}
              {...attributes}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              data-autofocus
            />
          )}
        </Field>
        <Field label={m.emails_sup_reason()} hint={m.emails_sup_reason_hint()}>
          {(attributes) => (
            <select className="input" name="reason" defaultValue="MANUAL" {...attributes}>
              {["MANUAL", "UNSUBSCRIBE", "BOUNCE", "COMPLAINT"].map((each) => (
                <option key={each} value={each}>
                  {REASON_WORDS[each]?.()}
                </option>
              ))}
            </select>
          )}
        </Field>
        {addresses.length < 2 && (
          <Field label={m.emails_sup_note()} name="detail" maxLength={1000} autoComplete="off" error={errors.detail} />
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {addresses.length > 1 ? m.emails_sup_add_count({ count: count(addresses.length) }) : m.emails_sup_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
