import { notifications } from "@mantine/notifications";
import type { ContactImport } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { bytes, count, percent } from "../../parts/format";
import { Button, Empty, Field, LoadingFailed, Status, Time } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useProfile, useProject, useProjectId } from "../../session/profile";
import { queries } from "../../session/queries";
import { API, api, messageOf, send } from "../../session/server";
import { Frame } from "./Frame";
import { FormDialog, LoadingRows, OwnPassword, ReadOnly, Row, Section, useMay } from "./pieces";
import { received } from "./stream";

/** Milliseconds between two looks at an import that runs. */
const LOOK_MS = 2_000;
const IMPORTS = 10;
/** Milliseconds that a download may take: an account can have many records. */
const DOWNLOAD_MS = 6 * 3_600_000;

/** What can be taken out, what was brought in, how long it is kept, and the end of the account. */
export function DataPart() {
  return (
    <Frame
      name="data"
      title={m.settings_data()}
      lead={m.settings_data_lead()}
      request={{ method: "GET", path: "/account/export" }}
    >
      <AccountExport />
      <Lists />
      <Imports />
      <Retention />
      <DeleteAccount />
    </Frame>
  );
}

/** Read a file of the API as it comes, and save it. Returns its size in bytes. */
async function save(
  path: string,
  usualName: string,
  { signal, progress = () => {} }: { signal?: AbortSignal; progress?: (bytes: number) => void } = {},
): Promise<number> {
  const response = await send(API + path, signal ? { signal } : {}, DOWNLOAD_MS);
  const { content, filename } = await received(response, progress);
  download(content, filename ?? usualName, content.type);
  return content.size;
}

function AccountExport() {
  const mayExport = useMay("account");
  const [size, setSize] = useState<number>();
  const [error, setError] = useState("");
  const running = useRef<AbortController>(undefined);
  const run = async () => {
    const controller = new AbortController();
    running.current = controller;
    setSize(0);
    setError("");
    try {
      const total = await save("/account/export", "postern.json", { signal: controller.signal, progress: setSize });
      notifications.show({ message: m.settings_export_done({ size: bytes(total) }) });
    } catch (caught) {
      if (!controller.signal.aborted) setError(messageOf(caught));
    } finally {
      setSize(undefined);
    }
  };
  return (
    <Section title={m.settings_export_account()} lead={m.settings_export_account_lead()}>
      {mayExport ? (
        <>
          <p className="line" aria-live="polite">
            <Button kind="primary" busy={size !== undefined} onClick={() => void run()}>
              {size === undefined ? m.settings_export_start() : m.settings_export_running({ size: bytes(size) })}
            </Button>
            {size !== undefined && (
              <Button kind="bare" onClick={() => running.current?.abort()}>
                {m.settings_export_stop()}
              </Button>
            )}
          </p>
          <Wrong>{error || undefined}</Wrong>
        </>
      ) : (
        <ReadOnly what="account" />
      )}
    </Section>
  );
}

/** The lists of the project that the API exports as CSV: name of the file, path and title. */
const LISTS = [
  { name: "contacts", path: "contacts/export", title: m.settings_list_contacts },
  { name: "customers", path: "customers/export", title: m.settings_list_customers },
  { name: "emails", path: "emails/logs/export", title: m.settings_list_emails },
  { name: "suppressions", path: "suppressions/export", title: m.settings_list_suppressions },
];

function Lists() {
  return (
    <Section title={m.settings_lists()} lead={m.settings_lists_lead()}>
      <ul className="rows">
        {LISTS.map(({ name, path, title }) => (
          <ListRow key={name} name={name} path={path} title={title()} />
        ))}
      </ul>
    </Section>
  );
}

function ListRow({ name, path, title }: { name: string; path: string; title: string }) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await save(`/projects/${projectId}/${path}`, `${name}.csv`);
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Row
      title={title}
      action={
        <Button
          size="small"
          busy={isBusy}
          aria-label={m.settings_list_download({ name: title })}
          onClick={() => void run()}
        >
          {m.settings_download()}
        </Button>
      }
    />
  );
}

const IMPORT_STATES: Record<string, { word: () => string; shape: "scheduled" | "waiting" | "yes" | "failed" }> = {
  UPLOADING: { word: m.settings_import_uploading, shape: "waiting" },
  PENDING: { word: m.settings_import_pending, shape: "scheduled" },
  RUNNING: { word: m.settings_import_running, shape: "waiting" },
  COMPLETED: { word: m.settings_import_completed, shape: "yes" },
  FAILED: { word: m.settings_import_failed, shape: "failed" },
};

function Imports() {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["settings", projectId, "imports"],
    queryFn: async ({ signal }) => (await api(projectId).contacts.imports.list({ limit: IMPORTS }, { signal })).data,
    refetchInterval: ({ state }) => (state.data?.some((each) => each.finishedAt === null) ? LOOK_MS : false),
  });
  return (
    <Section title={m.settings_imports()} lead={m.settings_imports_lead()}>
      {query.error && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <LoadingRows count={1} />
      ) : query.data?.length === 0 ? (
        <Empty title={m.settings_imports_none()} lead={m.settings_imports_none_lead()} />
      ) : (
        <ul className="rows">
          {query.data?.map((each) => (
            <ImportRow key={each.id} job={each} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function ImportRow({ job }: { job: ContactImport }) {
  const state = IMPORT_STATES[job.status];
  const isRunning = job.finishedAt === null;
  const result = [
    m.settings_import_created({ count: count(job.created) }),
    m.settings_import_updated({ count: count(job.updated) }),
    job.skipped > 0 && m.settings_import_skipped({ count: count(job.skipped) }),
    job.failed > 0 && m.settings_import_wrong({ count: count(job.failed) }),
  ].filter(Boolean);
  return (
    <Row
      title={
        <>
          {m.settings_import_rows({ count: count(job.rows) })}{" "}
          <Status shape={state?.shape ?? "waiting"} tone={job.status === "FAILED" ? "fail" : ""}>
            {state?.word() ?? job.status}
            {isRunning && job.bytes > 0 && ` ${percent(job.position / job.bytes, 0)}`}
          </Status>
        </>
      }
    >
      {result.join(" · ")} · <Time at={job.createdAt} />
      {job.errors.length > 0 && (
        <details>
          <summary>{m.settings_import_errors({ count: count(job.errors.length) })}</summary>
          <ul className="importerrors">
            {job.errors.map(({ line, message }) => (
              <li key={`${line} ${message}`}>
                {m.settings_import_line({ line: count(line) })}: {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Row>
  );
}

function Retention() {
  const projectId = useProjectId();
  const settings = useProject()?.settings;
  const lasting = (days: number | null | undefined, usual: string) =>
    days ? m.settings_kept_days({ count: count(days) }) : usual;
  const kept: [string, string][] = [
    [m.settings_kept_content(), lasting(settings?.retentionDays, m.settings_kept_usual())],
    [m.settings_kept_emails(), lasting(settings?.logRetentionDays, m.settings_kept_always())],
    [m.settings_kept_events(), lasting(settings?.eventRetentionDays, m.settings_kept_always())],
    [m.settings_kept_log(), m.settings_kept_always()],
    [m.settings_kept_webhooks(), m.settings_kept_days({ count: "30" })],
    [m.settings_kept_sessions(), m.settings_kept_days({ count: "30" })],
    [m.settings_kept_sso(), m.settings_kept_days({ count: "7" })],
    [m.settings_kept_deleted(), m.settings_kept_minutes()],
  ];
  return (
    <Section
      title={m.settings_kept()}
      lead={
        <>
          {m.settings_kept_lead()}{" "}
          <Link to="/projects/$projectId/settings" params={{ projectId }}>
            {m.settings_kept_change()}
          </Link>
        </>
      }
    >
      <table className="table plain tight kept">
        <caption className="sr">{m.settings_kept()}</caption>
        <thead className="sr">
          <tr>
            <th scope="col">{m.settings_kept_what()}</th>
            <th scope="col">{m.settings_kept_how_long()}</th>
          </tr>
        </thead>
        <tbody>
          {kept.map(([what, howLong]) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              <td>{howLong}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function DeleteAccount() {
  const mayDelete = useMay("own");
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title={m.settings_delete_account()} lead={m.settings_delete_account_lead()}>
      {mayDelete ? (
        <p>
          <Button kind="danger" onClick={() => setOpen(true)}>
            {m.settings_delete_account_open()}
          </Button>
        </p>
      ) : (
        <ReadOnly what="own" />
      )}
      {isOpen && <DeleteAccountDialog onClose={() => setOpen(false)} />}
    </Section>
  );
}

/** Asks for the name of the account and the password. */
function DeleteAccountDialog({ onClose }: { onClose: () => void }) {
  const { account, projects } = useProfile();
  const [typed, setTyped] = useState("");
  return (
    <FormDialog
      title={m.settings_delete_title({ name: account.name })}
      deed={m.settings_delete_account()}
      kind="solid-danger"
      places={{ password: ["/password", "password_wrong"] }}
      ready={typed.trim().toLowerCase() === account.name.trim().toLowerCase()}
      onClose={onClose}
      run={async (form) => {
        await api().account.delete({ password: String(form.get("password")) });
        queries.clear();
        location.assign("/dashboard/sign-in");
      }}
    >
      {(errors) => (
        <>
          <p>
            {projects.length === 1
              ? m.settings_delete_account_lost_one()
              : m.settings_delete_account_lost({ count: count(projects.length) })}
          </p>
          <p>{m.settings_delete_account_after()}</p>
          <Field
            label={m.confirm_type({ name: account.name })}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <OwnPassword error={errors.password} />
        </>
      )}
    </FormDialog>
  );
}
