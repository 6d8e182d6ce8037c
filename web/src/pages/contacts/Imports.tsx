import type { ContactImport } from "@postern/sdk";
import { IconUpload } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { m } from "../../messages/messages.js";
import { bytes, count, longTime } from "../../parts/format";
import { Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { Frame } from "./Frame";
import { importShape, importTone, importWord, isRunning, PROGRESS_MS } from "./importWords";

/** Events after which there may be another import: it creates or changes contacts. */
const EVENTS = ["contact.created", "contact.updated"];

/** All imports of the project. */
export function Imports() {
  const projectId = useProjectId();
  const { importId } = useParams({ strict: false });
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const list = useRowList<ContactImport>({
    queryKey: ["contacts", projectId, "imports"],
    first: () => api(projectId).contacts.imports.list({ limit: PAGE_ROWS }),
    one: (id) => api(projectId).contacts.imports.get(id),
    types: EVENTS,
    live: true,
  });
  const { patch } = list;
  const running = list.rows
    .filter(isRunning)
    .map((each) => each.id)
    .join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `patch` is another function each time, and does the same.
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(async () => {
      for (const id of running.split(",")) {
        const now = await api(projectId)
          .contacts.imports.get(id)
          .catch(() => undefined);
        if (now) patch(id, now);
      }
    }, PROGRESS_MS);
    return () => clearInterval(timer);
  }, [running, projectId]);
  const open = useCallback(
    (row: ContactImport) =>
      void navigate({
        to: "/projects/$projectId/contacts/imports/$importId",
        params: { projectId, importId: row.id },
        replace: importId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, importId],
  );
  const close = useCallback(
    () => void navigate({ to: "/projects/$projectId/contacts/imports", params: { projectId }, resetScroll: false }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, importId, open, close, list.patch);
  const start = (className: string) => (
    <Link className={className} to="/projects/$projectId/contacts/imports/new" params={{ projectId }}>
      <IconUpload {...ICON} />
      {m.contacts_import_csv()}
    </Link>
  );
  return (
    <Frame
      tab="imports"
      request={{
        method: "GET",
        path: `/projects/${projectId}/contacts/imports${queryString({ limit: PAGE_ROWS })}`,
      }}
      actions={mayWrite && start("btn primary")}
      neighbours={neighbours}
      panel={importId && <Outlet />}
    >
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        <Empty title={m.contacts_imports_empty()} lead={m.contacts_imports_empty_lead()}>
          {mayWrite && start("btn")}
        </Empty>
      ) : (
        <RowTable
          label={m.contacts_imports_table()}
          columns={columns()}
          className="imports"
          rows={list.rows}
          total={undefined}
          isPending={list.isPending}
          openId={importId}
          fresh={list.fresh}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(row) => <Cells row={row} />}
        />
      )}
    </Frame>
  );
}

function columns(): Column[] {
  return [
    { key: "status", label: m.contacts_import_state(), className: "c-st", skeleton: 80 },
    { key: "started", label: m.contacts_import_started(), className: "c-to", skeleton: 150 },
    { key: "rows", label: m.contacts_import_rows(), className: "num c-n", skeleton: 40 },
    { key: "created", label: m.contacts_import_created(), className: "num c-n", skeleton: 40 },
    { key: "updated", label: m.contacts_import_updated(), className: "num c-n", skeleton: 40 },
    { key: "skipped", label: m.contacts_import_skipped(), className: "num c-n c-more", skeleton: 40 },
    { key: "failed", label: m.contacts_import_refused(), className: "num c-n", skeleton: 40 },
    { key: "size", label: m.contacts_import_size(), className: "num c-time", skeleton: 40 },
  ];
}

function Cells({ row }: { row: ContactImport }) {
  const projectId = useProjectId();
  return (
    <>
      <td className="c-st">
        <Status shape={importShape(row)} tone={importTone(row)}>
          {importWord(row)}
        </Status>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/contacts/imports/$importId"
          params={{ projectId, importId: row.id }}
          resetScroll={false}
        >
          <Time at={row.createdAt} format={longTime} />
        </Link>
      </th>
      <td className="c-n num">{count(row.rows)}</td>
      <td className="c-n num">{count(row.created)}</td>
      <td className="c-n num">{count(row.updated)}</td>
      <td className="c-n c-more num">{count(row.skipped)}</td>
      <td className="c-n num">{count(row.failed)}</td>
      <td className="c-time num">{bytes(row.bytes)}</td>
    </>
  );
}
