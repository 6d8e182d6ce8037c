import { notifications } from "@mantine/notifications";
import { APIError, type Project } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { longTime } from "../../parts/format";
import { LeaveGuard } from "../../parts/LeaveGuard";
import { Button, LoadingFailed, Time } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { queries } from "../../session/queries";
import { api } from "../../session/server";
import { useAuthor } from "../settings/Conflict";
import { type Errors, errorsOf, ReadOnly, useMay } from "../settings/pieces";
import { projectQuery } from "../settings/projectQuery";
import { changeOf, type Draft, differences, draftOf, type Field, PLACES, takenOver } from "./signIn";
import { fieldWord, valueWords } from "./words";

const PRECONDITION_FAILED = 412;

export interface FormProps {
  /** The settings as they are stored. */
  stored: Draft;
  draft: Draft;
  errors: Errors;
  change: (part: Partial<Draft>) => void;
}

/** A form for some of the sign-in settings: what is typed is saved together, and conflicts show both versions. */
export function SettingsForm({
  label,
  fields,
  isPart = false,
  children,
}: {
  label: string;
  fields: Field[];
  /** Whether the form is a part of a page that says itself who may change something. */
  isPart?: boolean;
  children: (props: FormProps) => ReactNode;
}) {
  const projectId = useProjectId();
  const query = useQuery({ ...projectQuery(projectId), refetchInterval: 60_000 });
  if (query.data)
    return (
      <Form key={projectId} loaded={query.data} label={label} fields={fields} isPart={isPart}>
        {children}
      </Form>
    );
  if (query.error)
    return <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <div className="formload" aria-busy="true">
      <i className="skel" style={{ width: 220 }} />
      <i className="skel" style={{ width: 420 }} />
      <i className="skel" style={{ width: 360 }} />
    </div>
  );
}

function Form({
  loaded,
  label,
  fields,
  isPart,
  children,
}: {
  loaded: Project;
  label: string;
  fields: Field[];
  isPart: boolean;
  children: (props: FormProps) => ReactNode;
}) {
  const projectId = loaded.id;
  const mayWrite = useMay("projects");
  const [base, setBase] = useState(loaded);
  const [draft, setDraft] = useState(() => draftOf(loaded.settings.signIn));
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const [theirs, setTheirs] = useState<Project>();
  const stored = draftOf(base.settings.signIn);
  const changed = differences(stored, draft, fields);
  // An error at a setting of another form is shown beside the button.
  const places = Object.fromEntries(fields.map((field) => [field, PLACES[field] ?? []]));
  // Another person has saved, and nothing is typed here: show it.
  if (loaded !== base && loaded.updatedAt > base.updatedAt && changed.length === 0) {
    setBase(loaded);
    setDraft(draftOf(loaded.settings.signIn));
  }
  const change = (part: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => field !== "" && !(field in part))),
    );
  };
  const accept = (project: Project) => {
    setBase(project);
    setDraft(draftOf(project.settings.signIn));
    setErrors({});
    setTheirs(undefined);
    queries.setQueryData(projectQuery(projectId).queryKey, project);
    void queries.invalidateQueries({ queryKey: ["access", projectId, "preview"] });
  };
  const save = async (from: Project, wanted: Draft) => {
    if (wanted.methods.length === 0) return setErrors({ methods: m.access_methods_none() });
    setBusy(true);
    setErrors({});
    try {
      const request = changeOf(draftOf(from.settings.signIn), wanted);
      accept(await api(projectId).projects.update(request, { ifMatch: from }));
      notifications.show({ message: m.settings_saved() });
    } catch (error) {
      if (error instanceof APIError && error.status === PRECONDITION_FAILED) {
        await api(projectId)
          .projects.get()
          .then(setTheirs, (failed: unknown) => setErrors(errorsOf(failed, places)));
      } else setErrors(errorsOf(error, places));
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
      {!isPart && <ReadOnly what="projects" />}
      <form className="settingsform" onSubmit={submit} noValidate aria-label={label}>
        <fieldset disabled={!mayWrite}>{children({ stored, draft, errors, change })}</fieldset>
        {changed.length > 0 && (
          <section className="savebar" aria-label={m.settings_unsaved_label()}>
            <p>{changed.length === 1 ? m.settings_unsaved_one() : m.settings_unsaved({ count: changed.length })}</p>
            <Wrong>{errors[""] ?? (Object.keys(errors).length ? m.settings_see_above() : undefined)}</Wrong>
            <div className="acts">
              <Button
                kind="bare"
                disabled={isBusy}
                onClick={() => {
                  setDraft(stored);
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
      {theirs && (
        <Conflict
          base={base}
          mine={draft}
          theirs={theirs}
          onMine={async () => {
            const current = draftOf(theirs.settings.signIn);
            const wanted = takenOver(current, draft, changed);
            setBase(theirs);
            setDraft(wanted);
            setTheirs(undefined);
            if (differences(current, wanted).length) await save(theirs, wanted);
          }}
          onTheirs={() => accept(theirs)}
          onClose={() => setTheirs(undefined)}
        />
      )}
      <LeaveGuard
        active={changed.length > 0 && mayWrite}
        leaves={(from, to) => from.pathname !== to.pathname || tabOf(from.search) !== tabOf(to.search)}
      />
    </>
  );
}

function tabOf(search: object): unknown {
  return "tab" in search ? search.tab : undefined;
}

/** Another person has changed the project meanwhile: their settings beside those that were typed here. */
function Conflict({
  base,
  mine,
  theirs,
  onMine,
  onTheirs,
  onClose,
}: {
  base: Project;
  mine: Draft;
  theirs: Project;
  onMine: () => Promise<void>;
  onTheirs: () => void;
  onClose: () => void;
}) {
  const before = draftOf(base.settings.signIn);
  const after = draftOf(theirs.settings.signIn);
  const ours = differences(before, mine);
  const others = differences(before, after);
  return (
    <ConflictDialog
      who={useAuthor(base, theirs)}
      lead={
        <>
          {m.settings_conflict_lead()} <Time at={theirs.updatedAt} format={longTime} />
        </>
      }
      rows={[...new Set([...ours, ...others])].map((field) => ({
        name: fieldWord(field),
        theirs: <span className={others.includes(field) ? "value" : "value muted"}>{valueWords(field, after)}</span>,
        mine: ours.includes(field) ? (
          <span className="value">{valueWords(field, mine)}</span>
        ) : (
          <span className="muted">{m.settings_conflict_untouched()}</span>
        ),
      }))}
      hint={m.settings_conflict_mine_hint()}
      onTheirs={onTheirs}
      onMine={onMine}
      onClose={onClose}
    />
  );
}
