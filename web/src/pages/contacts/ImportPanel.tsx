import type { ContactImport } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconDownload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { useNeighbours } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { bytes, count, longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { csvOf } from "./attributes";
import { delimiterWords, importShape, importWord, isRunning, PROGRESS_MS, targetWords } from "./importWords";

/** One import beside the list: its progress, its numbers, and the lines that were refused. */
export function ImportPanel() {
  const projectId = useProjectId();
  const { importId = "" } = useParams({ strict: false });
  const { row } = useNeighbours();
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ["contact-import", projectId, importId],
    queryFn: ({ signal }) => api(projectId).contacts.imports.get(importId, { signal }),
    placeholderData: row as ContactImport | undefined,
    refetchInterval: ({ state }) => (state.data && !isRunning(state.data) ? false : PROGRESS_MS),
  });
  usePageRequest({ method: "GET", path: `/projects/${projectId}/contacts/imports/${importId}` });
  const found = query.data;
  const isDone = found !== undefined && !isRunning(found);
  // It may have brought contacts and attributes that other pages do not know yet.
  useEffect(() => {
    if (isDone) void client.invalidateQueries({ queryKey: ["contacts", projectId] });
  }, [client, projectId, isDone]);
  if (query.isError && !found)
    return (
      <Panel label={m.contacts_import_one()} actions={null}>
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.contacts_import_gone()} lead={m.contacts_import_gone_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!found)
    return (
      <Panel label={m.contacts_import_one()} actions={null} busy>
        {null}
      </Panel>
    );
  const share = found.bytes ? found.position / found.bytes : 0;
  const tone = found.status === "FAILED" ? "fail" : isRunning(found) ? "wait" : "good";
  const saveErrors = () =>
    download(
      csvOf([["line", "reason"], ...found.errors.map((each) => [each.line, each.message])]),
      "import-errors.csv",
      "text/csv",
    );
  return (
    <Panel label={m.contacts_import_one()} actions={null}>
      <header className="subject">
        <Pill shape={importShape(found)} tone={tone}>
          {importWord(found)}
        </Pill>
        <h2>
          {m.contacts_import_of()} <Time at={found.createdAt} format={longTime} />
        </h2>
        {isRunning(found) && (
          <div className="progress">
            <div
              className="meter"
              role="progressbar"
              aria-label={m.contacts_import_progress()}
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuenow={Math.round(share * 100)}
            >
              <i style={{ width: `${share * 100}%` }} />
            </div>
            <p className="muted">{m.contacts_import_read({ read: bytes(found.position), size: bytes(found.bytes) })}</p>
          </div>
        )}
        <dl className="facts" aria-live="polite">
          <dt>{m.contacts_import_rows()}</dt>
          <dd>{count(found.rows)}</dd>
          <dt>{m.contacts_import_created()}</dt>
          <dd>{count(found.created)}</dd>
          <dt>{m.contacts_import_updated()}</dt>
          <dd>{count(found.updated)}</dd>
          <dt>{m.contacts_import_skipped()}</dt>
          <dd>{count(found.skipped)}</dd>
          <dt>{m.contacts_import_refused()}</dt>
          <dd>{count(found.failed)}</dd>
          <dt>{m.contacts_existing()}</dt>
          <dd>{found.mode === "skip" ? m.contacts_existing_skip() : m.contacts_existing_update()}</dd>
          {found.charset && (
            <>
              <dt>{m.contacts_encoding()}</dt>
              <dd>
                {found.charset}
                {found.delimiter && <span className="muted">{delimiterWords(found.delimiter)}</span>}
              </dd>
            </>
          )}
          <dt>{m.contacts_id()}</dt>
          <dd className="id">
            <code className="cut">{found.id}</code>
            <Copy value={found.id} />
          </dd>
        </dl>
      </header>
      {found.errors.length > 0 && (
        <section className="part" aria-label={m.contacts_refused_lines()}>
          <div className="sechead">
            <h3>{m.contacts_refused_lines()}</h3>
            <div className="acts">
              <Button size="small" icon={<IconDownload {...ICON} />} onClick={saveErrors}>
                {m.contacts_save_errors()}
              </Button>
            </div>
          </div>
          {found.failed > found.errors.length && (
            <p className="muted">{m.contacts_first_errors({ count: count(found.errors.length) })}</p>
          )}
          <ul className="list lines">
            {found.errors.map((each) => (
              <li key={`${each.line} ${each.message}`}>
                <Glyph shape="failed" />
                <span className="muted">{m.contacts_line({ line: each.line })}</span>
                <span className="grow">{each.message}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {found.columns.length > 0 && (
        <section className="part" aria-label={m.contacts_import_columns()}>
          <div className="sechead">
            <h3>{m.contacts_import_columns()}</h3>
          </div>
          <dl className="facts values">
            {found.columns.map((each) => (
              <ColumnFact key={each.number} name={each.name} target={each.target} />
            ))}
          </dl>
        </section>
      )}
    </Panel>
  );
}

function ColumnFact({ name, target }: { name: string; target: string | null }) {
  return (
    <>
      <dt>{name || m.contacts_no_name()}</dt>
      <dd className={target === null ? "muted" : ""}>{targetWords(target)}</dd>
    </>
  );
}
