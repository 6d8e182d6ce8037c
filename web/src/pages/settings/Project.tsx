import { notifications } from "@mantine/notifications";
import { APIError, type Project } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { LeaveGuard } from "../../parts/LeaveGuard";
import { Button, Copy, Field, LoadingFailed } from "../../parts/parts";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { Wrong } from "../../parts/Wrong";
import { profileQuery, useProjectId } from "../../session/profile";
import { queries } from "../../session/queries";
import { api } from "../../session/server";
import { Conflict } from "./Conflict";
import { Fallback, TRANSPORTS } from "./Fallback";
import { Frame } from "./Frame";
import { Choices, type Errors, errorsOf, ReadOnly, Section, Setting, useMay } from "./pieces";
import {
  changeOf,
  chosenTransport,
  type Draft,
  differences,
  draftOf,
  LIMITS,
  type NumberField,
  PLACES,
  takenOver,
  unreadable,
} from "./project";
import { projectQuery } from "./projectQuery";
import { Relays } from "./Relays";
import { SesAccount } from "./SesAccount";

const PRECONDITION_FAILED = 412;

/** Name, mail, tracking, limits and deletion of the project. */
export function ProjectPart() {
  const projectId = useProjectId();
  const query = useQuery(projectQuery(projectId));
  return (
    <Frame
      name="project"
      title={m.settings_general()}
      lead={m.settings_project_lead()}
      request={{ method: "GET", path: `/projects/${projectId}` }}
    >
      {query.data ? (
        <ProjectForm key={projectId} loaded={query.data} />
      ) : query.error ? (
        <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="formload" aria-busy="true" />
      )}
    </Frame>
  );
}

function ProjectForm({ loaded }: { loaded: Project }) {
  const projectId = loaded.id;
  const mayWrite = useMay("projects");
  const [base, setBase] = useState(loaded);
  const [draft, setDraft] = useState(() => draftOf(loaded));
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const [theirs, setTheirs] = useState<Project>();
  const changed = differences(draftOf(base), draft);
  // Another person has saved, and nothing is typed here: show it.
  if (loaded !== base && loaded.updatedAt > base.updatedAt && changed.length === 0) {
    setBase(loaded);
    setDraft(draftOf(loaded));
  }
  const change = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => field !== "" && !(field in part))),
    );
  };
  const accept = (project: Project) => {
    setBase(project);
    setDraft(draftOf(project));
    setErrors({});
    setTheirs(undefined);
    queries.setQueryData(projectQuery(projectId).queryKey, project);
    void queries.invalidateQueries(profileQuery);
  };
  const save = async (from: Project, wanted: Draft) => {
    const wrong = unreadable(wanted);
    if (wrong.length) return setErrors(Object.fromEntries(wrong.map((field) => [field, reasonOf(field)])));
    setBusy(true);
    setErrors({});
    try {
      accept(await api(projectId).projects.update(changeOf(draftOf(from), wanted), { ifMatch: from }));
      notifications.show({ message: m.settings_saved() });
    } catch (error) {
      if (error instanceof APIError && error.status === PRECONDITION_FAILED) {
        await api(projectId)
          .projects.get()
          .then(setTheirs, (failed: unknown) => setErrors(errorsOf(failed, PLACES)));
      } else setErrors(errorsOf(error, PLACES));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed.length && !isBusy) void save(base, draft);
  };
  return (
    <>
      <ReadOnly what="projects" />
      <form className="settingsform" onSubmit={submit} noValidate aria-label={m.settings_project()}>
        <fieldset disabled={!mayWrite}>
          <General projectId={projectId} draft={draft} errors={errors} change={change} />
          <Sending projectId={projectId} draft={draft} errors={errors} change={change} />
          <Tracking draft={draft} errors={errors} change={change} />
          <Limits draft={draft} errors={errors} change={change} />
          <Further draft={draft} errors={errors} change={change} />
        </fieldset>
        {changed.length > 0 && (
          <section className="savebar" aria-label={m.settings_unsaved_label()}>
            <p>{changed.length === 1 ? m.settings_unsaved_one() : m.settings_unsaved({ count: changed.length })}</p>
            <Wrong>{errors[""] ?? (Object.keys(errors).length ? m.settings_see_above() : undefined)}</Wrong>
            <div className="acts">
              <Button
                kind="bare"
                disabled={isBusy}
                onClick={() => {
                  setDraft(draftOf(base));
                  setErrors({});
                }}
              >
                {m.settings_discard()}
              </Button>
              <Button kind="primary" type="submit" busy={isBusy}>
                {m.settings_save()}
              </Button>
            </div>
          </section>
        )}
      </form>
      {mayWrite && <DeleteProject project={base} />}
      {theirs && (
        <Conflict
          base={base}
          mine={draft}
          theirs={theirs}
          onMine={async () => {
            const wanted = takenOver(draftOf(theirs), draft, changed);
            setBase(theirs);
            setDraft(wanted);
            setTheirs(undefined);
            if (differences(draftOf(theirs), wanted).length) await save(theirs, wanted);
          }}
          onTheirs={() => accept(theirs)}
          onClose={() => setTheirs(undefined)}
        />
      )}
      <LeaveGuard active={changed.length > 0 && mayWrite} />
    </>
  );
}

function reasonOf(field: string): string {
  if (field === "extra") return m.settings_extra_wrong();
  const [least, most] = LIMITS[field as NumberField];
  return m.settings_number_wrong({ least: count(least), most: count(most) });
}

interface PartProps {
  draft: Draft;
  errors: Errors;
  change: (part: Partial<Draft>) => void;
}

function General({ projectId, draft, errors, change }: PartProps & { projectId: string }) {
  return (
    <Section title={m.settings_project()}>
      <Setting title={m.settings_name()} lead={m.settings_name_lead()}>
        <Field
          label={m.settings_name()}
          value={draft.name}
          maxLength={200}
          error={errors.name}
          onChange={(event) => change({ name: event.target.value })}
        />
      </Setting>
      <Setting title={m.settings_id()} lead={m.settings_id_lead()}>
        <p className="idline">
          <code>{projectId}</code>
          <Copy value={projectId} label={m.settings_id_copy()} />
        </p>
      </Setting>
    </Section>
  );
}

function Sending({ projectId, draft, errors, change }: PartProps & { projectId: string }) {
  return (
    <Section title={m.settings_sending()}>
      <Setting title={m.settings_transport()} lead={m.settings_transport_lead()}>
        <Choices
          legend={m.settings_transport()}
          name="transport"
          value={draft.transport}
          onChange={(transport) => change(chosenTransport(draft, transport))}
          options={[
            { value: "", label: TRANSPORTS[""](), hint: m.settings_transport_default_hint() },
            { value: "capture", label: TRANSPORTS.capture(), hint: m.settings_transport_capture_hint() },
            { value: "relay", label: TRANSPORTS.relay(), hint: m.settings_transport_relay_hint() },
            { value: "ses", label: TRANSPORTS.ses(), hint: m.settings_transport_ses_hint() },
            { value: "direct", label: TRANSPORTS.direct(), hint: m.settings_transport_direct_hint() },
          ]}
        />
        <Wrong>{errors.transport}</Wrong>
      </Setting>
      {draft.transport !== "capture" && (
        <Setting title={m.settings_fallback()} lead={m.settings_fallback_lead()}>
          <Fallback
            transport={draft.transport}
            value={draft.fallbackTransports}
            error={errors.fallbackTransports}
            onChange={(fallbackTransports) => change({ fallbackTransports })}
          />
        </Setting>
      )}
      <Setting title={m.settings_relays()} lead={m.settings_relays_lead()}>
        <Relays relays={draft.relays} onChange={(relays) => change({ relays })} />
        <Wrong>{errors.relays}</Wrong>
      </Setting>
      <Setting title={m.settings_ses()} lead={m.settings_ses_lead()}>
        <SesAccount projectId={projectId} ses={draft.ses} onChange={(ses) => change({ ses })} />
        <Wrong>{errors.ses}</Wrong>
      </Setting>
      <Setting title={m.settings_ambiguous()} lead={m.settings_ambiguous_lead()}>
        <Choices
          legend={m.settings_ambiguous()}
          name="onAmbiguous"
          value={draft.onAmbiguous}
          onChange={(onAmbiguous) => change({ onAmbiguous })}
          options={[
            { value: "retry", label: m.settings_ambiguous_retry(), hint: m.settings_ambiguous_retry_hint() },
            { value: "hold", label: m.settings_ambiguous_hold(), hint: m.settings_ambiguous_hold_hint() },
          ]}
        />
        <Wrong>{errors.onAmbiguous}</Wrong>
      </Setting>
      <Setting title={m.settings_tls()} lead={m.settings_tls_lead()}>
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={draft.requireTls}
            aria-describedby="require-tls-hint"
            onChange={(event) => change({ requireTls: event.target.checked })}
          />
          {m.settings_tls_switch()}
        </label>
        <small className="muted" id="require-tls-hint">
          {draft.transport === "ses" ? m.settings_tls_ses() : m.settings_tls_hint()}
        </small>
        <Wrong>{errors.requireTls}</Wrong>
      </Setting>
    </Section>
  );
}

function Tracking({ draft, errors, change }: PartProps) {
  return (
    <Section title={m.settings_tracking()}>
      <Setting title={m.settings_track()} lead={m.settings_track_lead()}>
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={draft.trackOpens}
            onChange={(event) => change({ trackOpens: event.target.checked })}
          />
          {m.settings_track_opens()}
        </label>
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={draft.trackClicks}
            onChange={(event) => change({ trackClicks: event.target.checked })}
          />
          {m.settings_track_clicks()}
        </label>
        <Wrong>{errors.trackOpens ?? errors.trackClicks}</Wrong>
      </Setting>
      <Setting title={m.settings_tracking_domain()} lead={m.settings_tracking_domain_lead()}>
        <Field
          label={m.settings_tracking_domain()}
          value={draft.trackingDomain}
          placeholder={location.hostname}
          spellCheck={false}
          autoComplete="off"
          error={errors.trackingDomain}
          onChange={(event) => change({ trackingDomain: event.target.value })}
        />
      </Setting>
    </Section>
  );
}

function NumberSetting({
  field,
  title,
  lead,
  unit,
  usual,
  draft,
  errors,
  change,
}: PartProps & { field: NumberField; title: string; lead: string; unit: string; usual: string }) {
  return (
    <Setting title={title} lead={lead}>
      <Field label={title} hint={usual} error={errors[field]}>
        {(attributes) => (
          <span className="withunit">
            <input
              className="input"
              inputMode="numeric"
              autoComplete="off"
              value={draft[field]}
              onChange={(event) => change({ [field]: event.target.value })}
              {...attributes}
            />
            <span className="muted">{unit}</span>
          </span>
        )}
      </Field>
    </Setting>
  );
}

function Limits(props: PartProps) {
  return (
    <Section title={m.settings_limits()}>
      <NumberSetting
        {...props}
        field="retentionDays"
        title={m.settings_retention()}
        lead={m.settings_retention_lead()}
        unit={m.settings_days()}
        usual={m.settings_retention_usual()}
      />
      <NumberSetting
        {...props}
        field="inboundRetentionDays"
        title={m.settings_inbound_retention()}
        lead={m.settings_inbound_retention_lead()}
        unit={m.settings_days()}
        usual={m.settings_retention_usual()}
      />
      <NumberSetting
        {...props}
        field="logRetentionDays"
        title={m.settings_log_retention()}
        lead={m.settings_log_retention_lead()}
        unit={m.settings_days()}
        usual={m.settings_retention_never()}
      />
      <NumberSetting
        {...props}
        field="eventRetentionDays"
        title={m.settings_event_retention()}
        lead={m.settings_event_retention_lead()}
        unit={m.settings_days()}
        usual={m.settings_retention_never()}
      />
      <Setting title={m.settings_archive()} lead={m.settings_archive_lead()}>
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={props.draft.archiveExpired}
            onChange={(event) => props.change({ archiveExpired: event.target.checked })}
          />
          {m.settings_archive_switch()}
        </label>
        <Wrong>{props.errors.archiveExpired}</Wrong>
      </Setting>
      <NumberSetting
        {...props}
        field="frequencyCap"
        title={m.settings_cap()}
        lead={m.settings_cap_lead()}
        unit={m.settings_cap_unit()}
        usual={m.settings_cap_usual()}
      />
      <NumberSetting
        {...props}
        field="rateLimit"
        title={m.settings_rate()}
        lead={m.settings_rate_lead()}
        unit={m.settings_rate_unit()}
        usual={m.settings_rate_usual()}
      />
    </Section>
  );
}

function Further({ draft, errors, change }: PartProps) {
  return (
    <Section title={m.settings_further()}>
      <Setting title={m.settings_seed()} lead={m.settings_seed_lead()}>
        <Field label={m.settings_seed()} hint={m.settings_seed_hint()} error={errors.seedList}>
          {(attributes) => (
            <textarea
              className="input"
              rows={3}
              spellCheck={false}
              value={draft.seedList}
              onChange={(event) => change({ seedList: event.target.value })}
              {...attributes}
            />
          )}
        </Field>
      </Setting>
      <Setting title={m.settings_extra()} lead={m.settings_extra_lead()}>
        <Field label={m.settings_extra()} hint={m.settings_extra_hint()} error={errors.extra}>
          {(attributes) => (
            <textarea
              className="input mono"
              rows={Math.min(Math.max(draft.extra.split("\n").length, 2), 12)}
              spellCheck={false}
              placeholder="{}"
              value={draft.extra}
              onChange={(event) => change({ extra: event.target.value })}
              {...attributes}
            />
          )}
        </Field>
      </Setting>
    </Section>
  );
}

function DeleteProject({ project }: { project: Project }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title={m.settings_delete_project()} lead={m.settings_delete_project_lead()}>
      <p>
        <Button kind="danger" onClick={() => setOpen(true)}>
          {m.settings_delete_open()}
        </Button>
      </p>
      {isOpen && <DeleteDialog project={project} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function DeleteDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const navigate = useNavigate();
  const totals = useQuery({
    queryKey: ["settings", project.id, "totals"],
    queryFn: ({ signal }) => api(project.id).analytics.get({}, { signal }),
  });
  const numbers = totals.data;
  return (
    <TypedConfirm
      title={m.settings_delete_title({ name: project.name })}
      name={project.name}
      deed={m.settings_delete_project()}
      onClose={onClose}
      run={async () => {
        await api(project.id).projects.delete(project.id);
        await queries.refetchQueries(profileQuery);
        notifications.show({ message: m.settings_deleted({ name: project.name }) });
        // Settings that were typed but not saved are gone with the project.
        void navigate({ to: "/", replace: true, ignoreBlocker: true });
      }}
    >
      <p>
        {numbers
          ? m.settings_delete_lost({
              emails: count(numbers.sends.total),
              contacts: count(numbers.contacts.total),
              campaigns: count(numbers.campaigns.total),
            })
          : m.settings_delete_lost_all()}
      </p>
      <p>{m.settings_delete_after()}</p>
    </TypedConfirm>
  );
}
