import "./contacts.css";
import { APIError } from "@postern/sdk";
import { IconUpload } from "@tabler/icons-react";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type DragEvent, useId, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { bytes, percent } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { BeforeLeaving } from "./BeforeLeaving";
import { type Choice, parametersOf, START_BYTES, wholeLines } from "./csvStart";
import { Encoding, Mapping, Notices, Rows } from "./ImportPreview";
import { useAttributes } from "./queries";
import { uploader } from "./upload";

/** Bytes of a file that the API takes. */
const MOST_BYTES = 1_073_741_824;

interface Chosen {
  file: File;
  /** The lines at its beginning, for the preview. */
  start: Uint8Array<ArrayBuffer>;
  /** Tells files apart. */
  number: number;
}

/** Imports contacts from a CSV file: choose it, say what its columns are, look at the first rows, start. */
export function NewImport() {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const { types } = useAttributes();
  const [chosen, setChosen] = useState<Chosen>();
  const [fileError, setFileError] = useState<string>();
  const [charset, setCharset] = useState("");
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [mode, setMode] = useState<"upsert" | "skip">("upsert");
  const [sent, setSent] = useState<number>();
  const [error, setError] = useState<unknown>();
  const files = useRef(0);
  /** Ends the upload that is under way. */
  const upload = useRef<AbortController>(undefined);
  const parameters = { ...parametersOf(choices), ...(charset && { charset }) };
  const preview = useQuery({
    queryKey: ["contact-import-preview", projectId, chosen?.number, parameters],
    queryFn: ({ signal }) => api(projectId).contacts.imports.preview(chosen?.start ?? "", parameters, { signal }),
    enabled: chosen !== undefined && mayWrite,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  usePageRequest({
    method: "POST",
    path: `/projects/${projectId}/contacts/import${queryString({ ...parameters, mode })}`,
  });
  const choose = async (file: File | undefined) => {
    if (!file) return;
    setError(undefined);
    if (file.size === 0) return setFileError(m.contacts_file_empty());
    if (file.size > MOST_BYTES) return setFileError(m.contacts_file_large({ size: bytes(file.size) }));
    try {
      const read = new Uint8Array(await file.slice(0, START_BYTES).arrayBuffer());
      files.current += 1;
      setFileError(undefined);
      setChoices(new Map());
      setCharset("");
      const start = new Uint8Array(wholeLines(read, file.size <= START_BYTES));
      setChosen({ file, start, number: files.current });
    } catch {
      setFileError(m.contacts_file_unreadable());
    }
  };
  const start = async () => {
    if (!chosen) return;
    const controller = new AbortController();
    upload.current = controller;
    setError(undefined);
    setSent(0);
    try {
      const { imports } = uploader(projectId, setSent).contacts;
      const options = { signal: controller.signal };
      const created = await imports.create(chosen.file, { ...parameters, mode }, options);
      upload.current = undefined;
      void client.invalidateQueries({ queryKey: ["contacts", projectId] });
      await navigate({
        to: "/projects/$projectId/contacts/imports/$importId",
        params: { projectId, importId: created.id },
        replace: true,
      });
    } catch (caught) {
      upload.current = undefined;
      if (!controller.signal.aborted) setError(caught);
      setSent(undefined);
    }
  };
  const isBusy = sent !== undefined;
  const found = chosen && preview.data;
  const isReady = found?.importable === true && !preview.isPlaceholderData && !preview.isError;
  return (
    <main id="main" className="page contacts importpage">
      <p className="crumb">
        <Link to="/projects/$projectId/contacts/imports" params={{ projectId }}>
          {m.contacts_imports()}
        </Link>
      </p>
      <div className="head">
        <h1>{m.contacts_import_csv()}</h1>
      </div>
      {!mayWrite ? (
        <Empty title={m.contacts_not_allowed()} lead={m.contacts_not_allowed_lead()} />
      ) : (
        <>
          <Drop file={chosen?.file} error={fileError} disabled={isBusy} onChoose={(file) => void choose(file)} />
          {chosen && preview.isError ? (
            preview.error instanceof APIError ? (
              <Refused error={preview.error} onReset={() => setChoices(new Map())} canReset={choices.size > 0} />
            ) : (
              <LoadingFailed title={m.contacts_preview_failed()} error={preview.error} onRetry={preview.refetch} />
            )
          ) : chosen && !found ? (
            <p className="muted reading" role="status">
              {m.contacts_reading()}
            </p>
          ) : (
            found && (
              <div aria-busy={preview.isPlaceholderData || undefined}>
                <section className="sec" aria-labelledby="columns-title">
                  <header>
                    <h2 id="columns-title">{m.contacts_import_columns()}</h2>
                    <p>{m.contacts_import_columns_lead()}</p>
                  </header>
                  <Encoding found={found} charset={charset} onChange={setCharset} />
                  <Notices
                    found={found}
                    onEmail={(column) =>
                      setChoices(new Map(choices).set(column, { target: "email", name: column, type: "" }))
                    }
                  />
                  <Mapping
                    found={found}
                    choices={choices}
                    types={types}
                    onChange={(name, choice) => setChoices(new Map(choices).set(name, choice))}
                  />
                </section>
                <Rows found={found} types={types} />
                <section className="sec" aria-labelledby="existing-title">
                  <header>
                    <h2 id="existing-title">{m.contacts_existing_title()}</h2>
                  </header>
                  <fieldset className="modes">
                    <legend className="sr">{m.contacts_existing_title()}</legend>
                    {(["upsert", "skip"] as const).map((each) => (
                      <label key={each} className="line">
                        <input
                          type="radio"
                          name="mode"
                          checked={mode === each}
                          disabled={isBusy}
                          onChange={() => setMode(each)}
                        />
                        {each === "upsert" ? m.contacts_mode_upsert() : m.contacts_mode_skip()}
                      </label>
                    ))}
                  </fieldset>
                  <p className="muted">{m.contacts_import_consent()}</p>
                </section>
              </div>
            )
          )}
          {error !== undefined && <Wrong>{m.contacts_upload_failed({ reason: messageOf(error) })}</Wrong>}
          {isBusy && (
            <div className="progress">
              <div
                className="meter"
                role="progressbar"
                aria-label={m.contacts_uploading()}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={Math.round(sent * 100)}
              >
                <i style={{ width: `${sent * 100}%` }} />
              </div>
              <p className="line muted">
                {m.contacts_upload_progress({ share: percent(sent, 0) })}
                <Button size="small" kind="bare" onClick={() => upload.current?.abort()}>
                  {m.contacts_stop_upload()}
                </Button>
              </p>
            </div>
          )}
          {found && (
            <div className="line start">
              <Button
                kind="primary"
                busy={isBusy}
                disabled={!isReady}
                data-tour="contacts"
                onClick={() => void start()}
              >
                {m.contacts_start_import()}
              </Button>
              {!isReady && !preview.isPlaceholderData && !preview.isError && (
                <span className="muted">{m.contacts_not_importable()}</span>
              )}
            </div>
          )}
        </>
      )}
      <BeforeLeaving
        isUnsaved={() => upload.current !== undefined}
        title={m.contacts_leave_upload()}
        lead={m.contacts_leave_upload_lead()}
        deed={m.contacts_stop_upload()}
        keep={m.contacts_stay()}
        onLeave={() => upload.current?.abort()}
      />
    </main>
  );
}

/** The field for the file, on which it can be dropped. */
function Drop({
  file,
  error,
  disabled,
  onChoose,
}: {
  file: File | undefined;
  error: string | undefined;
  disabled: boolean;
  onChoose: (file: File | undefined) => void;
}) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(!disabled);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (!disabled) onChoose(event.dataTransfer.files[0]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the field in it is the first.
    <div
      className={`drop well ${isOver ? "over" : ""}`}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <IconUpload {...ICON} />
      <div className="grow">
        {file ? (
          <p className="named">
            <b>{file.name}</b> <span className="muted">{bytes(file.size)}</span>
          </p>
        ) : (
          <p className="named">{m.contacts_drop_file()}</p>
        )}
        <p className="muted" id={`${id}h`}>
          {m.contacts_file_hint()}
        </p>
        <input
          id={id}
          className="sr"
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          disabled={disabled}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}e` : `${id}h`}
          onChange={(event) => {
            onChoose(event.target.files?.[0]);
            // The same file can be chosen again after it was mended.
            event.target.value = "";
          }}
        />
        <label className="btn small" htmlFor={id} data-tour={file ? undefined : "contacts"}>
          {file ? m.contacts_choose_other_file() : m.contacts_choose_file()}
        </label>
        {error && <Wrong id={`${id}e`}>{error}</Wrong>}
      </div>
    </div>
  );
}

function Refused({ error, canReset, onReset }: { error: APIError; canReset: boolean; onReset: () => void }) {
  return (
    <div role="alert">
      <Empty title={m.contacts_file_refused()} lead={messageOf(error)} shape="failed">
        {canReset && <Button onClick={onReset}>{m.contacts_reset_columns()}</Button>}
      </Empty>
    </div>
  );
}
