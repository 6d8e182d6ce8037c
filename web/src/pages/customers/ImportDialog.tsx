import { Modal } from "@mantine/core";
import { APIError } from "@postern/sdk";
import { type ChangeEvent, useId, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { customersIn, type Fault, inRequests, type Sheet, type Field as SheetField } from "./sheet";

/** Lines that are shown before the import, and lines with faults after it. */
const SHOWN_ROWS = 4;
const SHOWN_FAULTS = 50;
/** Megabytes of a file that a browser reads at once without trouble. */
const MOST_MEGABYTES = 50;
/** Customers of one request for whose sake the request is sent again without them. */
const MOST_REFUSED = 50;

const FIELDS: Record<SheetField, () => string> = {
  email: m.customers_email,
  name: m.customers_name,
  firstName: m.customers_name,
  lastName: m.customers_name,
  language: m.customers_language,
  phone: m.customers_phone,
  externalUserId: m.customers_external_id,
  emailVerified: m.customers_is_confirmed,
  passwordHash: m.customers_password_hash,
  roles: m.customers_roles_project,
  metadata: m.customers_metadata,
};

const FAULTS: Record<Fault, () => string> = {
  nobody: m.customers_fault_nobody,
  email: m.customers_fault_email,
  name: m.customers_fault_name,
  language: m.customers_fault_language,
  phone: m.customers_fault_phone,
  externalUserId: m.customers_fault_external_id,
  passwordHash: m.customers_fault_password_hash,
  roles: m.customers_fault_roles,
  metadata: m.customers_fault_metadata,
};

interface Result {
  created: number;
  skipped: number;
  faults: { line: number; message: string }[];
  /** Number of customers that were sent, of all. */
  sent: number;
  isDone: boolean;
  /** Why it stopped early. */
  error: string;
}

/** Imports customers from a CSV file: what is in it is shown first, then how far it is, then what came of it. */
export default function ImportDialog({ onClose, onImported }: { onClose: () => void; onImported: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const [sheet, setSheet] = useState<Sheet>();
  const [error, setError] = useState("");
  const [result, setResult] = useState<Result>();
  const isStopped = useRef(false);
  const read = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0];
    setSheet(undefined);
    setError("");
    if (!file) return;
    if (file.size > MOST_MEGABYTES * 1_000_000) return setError(m.customers_import_large({ most: MOST_MEGABYTES }));
    const found = customersIn(await file.text());
    if (!found.used.some(({ field }) => field === "email" || field === "externalUserId"))
      return setError(m.customers_import_no_head());
    if (found.customers.length + found.faults.length === 0) return setError(m.customers_import_no_rows());
    setSheet(found);
  };
  const run = async ({ customers, faults }: Sheet) => {
    const state: Result = {
      created: 0,
      skipped: 0,
      faults: faults.map(({ line, fault }) => ({ line, message: FAULTS[fault]() })),
      sent: 0,
      isDone: false,
      error: "",
    };
    const show = () => setResult({ ...state, faults: [...state.faults] });
    isStopped.current = false;
    show();
    try {
      for (const request of inRequests(customers)) {
        if (isStopped.current) break;
        let left = request;
        for (let refused = 0; left.length > 0; ) {
          try {
            const answer = await api(projectId).customers.importBatch({ customers: left.map((each) => each.customer) });
            state.created += answer.created;
            state.skipped += answer.skipped;
            for (const { index, message } of answer.faults) {
              state.faults.push({ line: left[index]?.line ?? 0, message });
            }
            break;
          } catch (caught) {
            const found = refusedIn(caught);
            refused++;
            if (!found || !left[found.index] || refused > MOST_REFUSED) throw caught;
            // One customer that is not well formed: nothing of the request was imported.
            state.faults.push({ line: left[found.index]?.line ?? 0, message: found.message });
            left = left.filter((_, index) => index !== found.index);
          }
        }
        state.sent += request.length;
        show();
      }
    } catch (caught) {
      state.error = messageOf(caught);
    }
    state.isDone = true;
    state.faults.sort((first, second) => first.line - second.line);
    show();
    onImported();
  };
  const isRunning = result !== undefined && !result.isDone;
  const close = () => {
    // What was sent stays sent; the rest is not begun.
    isStopped.current = true;
    onClose();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={m.customers_import_title()}
      size={640}
      closeOnClickOutside={!isRunning}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <div className="form customerform">
        {result && sheet ? (
          <Outcome
            result={result}
            total={sheet.customers.length}
            onStop={() => {
              isStopped.current = true;
            }}
            onClose={close}
          />
        ) : (
          <>
            <p>{m.customers_import_lead()}</p>
            <Field label={m.customers_import_file()} hint={m.customers_import_hint()} error={error}>
              {(attributes) => (
                <input
                  {...attributes}
                  className="input file"
                  type="file"
                  accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
                  onChange={(event) => void read(event)}
                  data-autofocus
                />
              )}
            </Field>
            {sheet && <Preview sheet={sheet} />}
            <div className="dialog-actions">
              <Button
                kind="bare"
                onClick={() =>
                  void copyCurl({
                    method: "POST",
                    path: `/projects/${projectId}/customers/import`,
                    body: {
                      customers: sheet?.customers.slice(0, SHOWN_ROWS).map((each) => each.customer) ?? [
                        { email: "ada@example.com", emailVerified: true, name: "Ada" },
                      ],
                    },
                  })
                }
              >
                {m.copy_as_curl()}
              </Button>
              <Button onClick={close}>{m.cancel()}</Button>
              <Button kind="primary" disabled={!sheet?.customers.length} onClick={() => sheet && void run(sheet)}>
                {sheet?.customers.length
                  ? m.customers_import_count({ count: count(sheet.customers.length) })
                  : m.customers_import()}
              </Button>
            </div>
          </>
        )}
      </div>
    </Modal>
  );
}

/** The customer of a request that is not well formed, and why. */
function refusedIn(error: unknown): { index: number; message: string } | undefined {
  if (!(error instanceof APIError) || ![400, 422].includes(error.status)) return undefined;
  for (const { path, message } of error.errors) {
    const index = /^\/customers\/(\d+)(?:\/|$)/.exec(path)?.[1];
    if (index !== undefined) return { index: Number(index), message };
  }
  return undefined;
}

function Preview({ sheet }: { sheet: Sheet }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{m.customers_import_found({ count: count(sheet.customers.length) })}</h3>
      <p className="muted">
        {m.customers_import_columns({
          columns: sheet.used.map(({ head, field }) => `${head} (${FIELDS[field]()})`).join(", "),
        })}{" "}
        {sheet.unused.length > 0 && m.customers_import_unused({ columns: sheet.unused.join(", ") })}
      </p>
      <ul className="samples">
        {sheet.customers.slice(0, SHOWN_ROWS).map(({ line, customer }) => (
          <li key={line} className="cut">
            {[customer.email, customer.name, customer.externalUserId, customer.phone].filter(Boolean).join(" · ")}
          </li>
        ))}
      </ul>
      {sheet.faults.length > 0 && (
        <>
          <p>{m.customers_import_faulty({ count: count(sheet.faults.length) })}</p>
          <Faults faults={sheet.faults.map(({ line, fault }) => ({ line, message: FAULTS[fault]() }))} />
        </>
      )}
    </section>
  );
}

function Faults({ faults }: { faults: Result["faults"] }) {
  return (
    <ul className="faults" aria-label={m.customers_import_faults()}>
      {faults.slice(0, SHOWN_FAULTS).map(({ line, message }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line can have several faults, and they never move.
        <li key={`${line} ${index}`}>{m.customers_import_line({ line, message })}</li>
      ))}
      {faults.length > SHOWN_FAULTS && (
        <li>{m.customers_import_more({ count: count(faults.length - SHOWN_FAULTS) })}</li>
      )}
    </ul>
  );
}

function Outcome({
  result,
  total,
  onStop,
  onClose,
}: {
  result: Result;
  total: number;
  onStop: () => void;
  onClose: () => void;
}) {
  const { created, skipped, faults, sent, isDone, error } = result;
  return (
    <>
      <p role="status">
        {isDone
          ? m.customers_imported({ created: count(created), skipped: count(skipped), failed: count(faults.length) })
          : m.customers_importing({ sent: count(sent), total: count(total) })}
      </p>
      <div className="meter" aria-hidden="true">
        <i style={{ width: `${total ? (100 * sent) / total : 100}%` }} />
      </div>
      {isDone && sent < total && !error && <p>{m.customers_import_stopped({ count: count(total - sent) })}</p>}
      {error && (
        <p className="wrong" role="alert">
          {m.customers_import_failed({ sent: count(sent), total: count(total), reason: error })}
        </p>
      )}
      {skipped > 0 && <p className="muted">{m.customers_import_skipped()}</p>}
      {faults.length > 0 && <Faults faults={faults} />}
      <div className="dialog-actions">
        {isDone ? (
          <Button kind="primary" onClick={onClose}>
            {m.customers_done()}
          </Button>
        ) : (
          <Button onClick={onStop}>{m.customers_import_stop()}</Button>
        )}
      </div>
    </>
  );
}
