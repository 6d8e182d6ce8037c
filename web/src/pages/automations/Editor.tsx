import "./automations.css";
import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Automation } from "@postern/sdk";
import { IconArrowBackUp, IconArrowForwardUp, IconPlayerPlay, IconTerminal2 } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, Empty, Field, ICON, LoadingFailed } from "../../parts/parts";
import { type ApiRequest, copyCurl, usePageRequest } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useMayWrite, useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { BeforeLeaving } from "../contacts/BeforeLeaving";
import { excerpt, lineDiff } from "../templates/diff";
import { DryRunDialog } from "./DryRun";
import { automationQuery, useChoices } from "./queries";
import { recipeOf } from "./recipes";
import { isComplete, StepForm } from "./StepForm";
import { type Editing, StepList } from "./StepList";
import {
  type Branch,
  bodyOf,
  type Content,
  contentOf,
  duplicated,
  flattened,
  type Missing,
  MOST_STEPS,
  type Move,
  missingIn,
  moved,
  NEEDED_TO_SAVE,
  newStep,
  replacedStep,
  type StepType,
  stepAt,
  withList,
} from "./steps";
import { TriggerForm } from "./TriggerForm";
import { dropDraft, useDraft } from "./useDraft";
import { linesOf, type Names, NEED_WORDS, stepWords, triggerWords } from "./words";

/** As long as a name can be. */
const NAME_CHARACTERS = 200;
/** Lines around those that differ. */
const AROUND = 2;

function Frame({ children, busy }: { children?: React.ReactNode; busy?: boolean }) {
  return (
    <main id="main" className="page automation" aria-busy={busy}>
      {children}
    </main>
  );
}

/** An automation that does not exist yet, from a recipe. */
export function NewAutomation() {
  const mayWrite = useMayWrite();
  const { recipe } = useSearch({ strict: false }) as { recipe?: string };
  const choices = useChoices();
  if (!mayWrite)
    return (
      <Frame>
        <Empty title={m.automations_not_allowed()} lead={m.automations_not_allowed_lead()} />
      </Frame>
    );
  if (!choices.isReady) return <Frame busy />;
  const { name, build, key } = recipeOf(recipe);
  const domain = choices.domains.find((each) => each.status === "VERIFIED") ?? choices.domains[0];
  const content = { name: key === "blank" ? "" : name(), ...build(domain ? `hello@${domain.domain}` : "") };
  return <Editor key={key} draftId={`new.${key}`} automation={undefined} initial={content} />;
}

/** The trigger and steps of an automation that exists. */
export function EditAutomation() {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { automationId = "" } = useParams({ strict: false });
  const query = useQuery({
    ...automationQuery(projectId, automationId),
    queryKey: ["automations", projectId, "edit", automationId],
    // The editor works on what it began with, and asks before it overwrites something newer.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
  if (query.isError)
    return (
      <Frame>
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.automations_missing()} lead={m.automations_missing_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Frame>
    );
  if (!query.data) return <Frame busy />;
  if (!mayWrite)
    return (
      <Frame>
        <Empty title={m.automations_not_allowed()} lead={m.automations_not_allowed_lead()} />
      </Frame>
    );
  return (
    <Editor
      key={automationId}
      draftId={automationId}
      automation={query.data}
      initial={contentOf(query.data as never)}
    />
  );
}

function Editor({
  draftId,
  automation,
  initial,
}: {
  draftId: string;
  automation: Automation | undefined;
  initial: Content;
}) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const choices = useChoices();
  const { at } = useSearch({ strict: false }) as { at?: string };
  const [stored, setStored] = useState(automation);
  // Several people can use one browser.
  const draftName = `${useProfile().id}.${automation ? draftId : `${projectId}.${draftId}`}`;
  const draft = useDraft(draftName, {
    updatedAt: automation?.updatedAt ?? "",
    content: initial,
  });
  const { content, change } = draft;
  const { trigger, steps } = content;
  const [openId, setOpenId] = useState<string | undefined>(() => at && stepAt(steps, at)?.step.id);
  const [isAsked, setAsked] = useState(at !== undefined);
  const [isBusy, setBusy] = useState(false);
  const [isDry, setDry] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  const [conflict, setConflict] = useState<Automation>();
  const isSaved = useRef(false);

  const missing = useMemo(() => missingIn(content, isComplete), [content]);
  const blocking = missing.filter(({ need }) => NEEDED_TO_SAVE.includes(need));

  // What the API refused, at its step, and what is missing once someone tried to save.
  const errors = useMemo(() => {
    const of = new Map<string, Record<string, string>>();
    const loose: string[] = [];
    const put = (id: string, field: string, message: string) => of.set(id, { [field]: message, ...of.get(id) });
    const details = refusal instanceof APIError ? refusal.errors : [];
    for (const { path, message } of details) {
      const found = stepAt(steps, path);
      if (found) put(found.step.id, found.field, message);
      else if (path.startsWith("/trigger/")) put("trigger", path.split("/")[2] ?? "type", message);
      else if (path === "/name") put("whole", "name", message);
      else loose.push(message);
    }
    if (refusal !== undefined && details.length === 0) loose.push(messageOf(refusal));
    if (isAsked)
      for (const { id, need } of missing)
        put(
          id ?? (need === "name" || need === "steps" || need === "limit" ? "whole" : "trigger"),
          FIELD[need] ?? need,
          NEED_WORDS[need](),
        );
    return { of, loose };
  }, [refusal, isAsked, missing, steps]);
  const faults = useMemo(
    () => new Map([...errors.of].map(([id, messages]) => [id, [...new Set(Object.values(messages))]])),
    [errors],
  );

  const edit = useCallback(
    (next: (content: Content) => Content, mark?: string) => {
      setRefusal(undefined);
      change(next, mark);
    },
    [change],
  );
  const setSteps = (next: (steps: Content["steps"]) => Content["steps"], mark?: string) =>
    edit((before) => ({ ...before, steps: next(before.steps) }), mark);
  /** The step whose button gets the focus once it is there. */
  const focus = useRef<string>(undefined);
  useEffect(() => {
    if (!focus.current) return;
    document.querySelector<HTMLElement>(`[data-step="${focus.current}"]`)?.focus();
    focus.current = undefined;
  });
  // A link to what is missing opens its field.
  const began = useRef(false);
  useEffect(() => {
    if (began.current || !at) return;
    began.current = true;
    const found = stepAt(steps, at);
    goTo(found ? `${found.step.id}-${found.field.split("/")[0]}` : `trigger-${at.split("/")[2]?.replace("Id", "")}`);
  }, [at, steps]);
  const count = flattened(steps).length;
  const editing: Editing = {
    steps,
    openId,
    faults,
    isFull: count >= MOST_STEPS,
    open: setOpenId,
    add: (type: StepType, parent: string | undefined, branch: Branch | undefined) => {
      const sender = flattened(steps).find((each) => each.step.type === "SEND_EMAIL")?.step.fields.fromEmail;
      const domain = choices.domains.find((each) => each.status === "VERIFIED") ?? choices.domains[0];
      const fromEmail = sender ?? (domain ? `hello@${domain.domain}` : "");
      const step = newStep(type, type === "SEND_EMAIL" ? { templateId: "", fromEmail } : {});
      setSteps((before) => withList(before, parent, branch, (list) => [...list, step]));
      setOpenId(step.id);
      focus.current = step.id;
    },
    move: (id: string, move: Move) => {
      setSteps((before) => moved(before, id, move));
      focus.current = id;
    },
    duplicate: (id: string) => {
      const copy = duplicated(steps, id);
      setSteps(() => copy.steps);
      setOpenId(copy.id);
      focus.current = copy.id;
    },
    remove: (id: string) => {
      const all = flattened(steps);
      const index = all.findIndex((each) => each.step.id === id);
      setSteps((before) => replacedStep(before, id, () => []));
      if (openId === id) setOpenId(undefined);
      focus.current = all[index - 1]?.step.id;
    },
    form: (step) => (
      <StepForm
        step={step}
        choices={choices}
        errors={errors.of.get(step.id) ?? {}}
        isAsked={isAsked}
        onChange={(next, mark) => setSteps((before) => replacedStep(before, step.id, () => [next]), mark)}
      />
    ),
  };

  // Ctrl Z and Ctrl Shift Z, except in fields, which have their own.
  const { undo, redo } = draft;
  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("[role=dialog]")) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      const key = event.key.toLowerCase();
      const run = key === "z" ? (event.shiftKey ? redo : undo) : key === "y" ? redo : undefined;
      if (!run) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [undo, redo]);

  const body = bodyOf(content);
  const path = `/projects/${projectId}/automations`;
  const request: ApiRequest = automation
    ? { method: "PATCH", path: `${path}/${automation.id}`, body }
    : { method: "POST", path, body };
  usePageRequest(request);

  const leaveTo = async (saved: Automation) => {
    const { id } = saved;
    isSaved.current = true;
    // The page of the automation begins with this version: what it changes is compared with it.
    client.setQueryData(automationQuery(projectId, id).queryKey, saved);
    void client.invalidateQueries({ queryKey: ["automations", projectId] });
    await navigate({ to: "/projects/$projectId/automations/$automationId", params: { projectId, automationId: id } });
  };
  const save = async (over?: Automation) => {
    setAsked(true);
    setRefusal(undefined);
    const first = blocking[0];
    if (first) return goToMissing(first, setOpenId);
    setBusy(true);
    try {
      if (!stored) {
        const created = await api(projectId).automations.create(body as never);
        draft.saved(created.updatedAt);
        notifications.show({ message: m.automations_saved_new({ name: created.name }) });
        return await leaveTo(created);
      }
      if (!over && draft.base.updatedAt !== stored.updatedAt) {
        setConflict(await api(projectId).automations.get(stored.id));
        return;
      }
      const saved = await api(projectId).automations.update(stored.id, body as never, { ifMatch: over ?? stored });
      draft.saved(saved.updatedAt);
      setStored(saved);
      notifications.show({ message: m.automations_saved() });
      await leaveTo(saved);
    } catch (error) {
      if (stored && error instanceof APIError && error.status === 412)
        await api(projectId).automations.get(stored.id).then(setConflict).catch(setRefusal);
      else {
        setRefusal(error);
        const detail = error instanceof APIError ? error.errors[0] : undefined;
        const found = detail && stepAt(steps, detail.path);
        if (found) setOpenId(found.step.id);
      }
    } finally {
      setBusy(false);
    }
  };
  const whole = errors.of.get("whole") ?? {};
  return (
    <main id="main" className="page automation editor">
      <p className="crumb cut">
        <Link to="/projects/$projectId/automations" params={{ projectId }} activeOptions={{ exact: true }}>
          {m.automations()}
        </Link>
        {automation && (
          <>
            {" / "}
            <Link
              to="/projects/$projectId/automations/$automationId"
              params={{ projectId, automationId: automation.id }}
            >
              {automation.name}
            </Link>
          </>
        )}
      </p>
      <div className="head">
        <h1 className="cut">{content.name || m.automations_new()}</h1>
        <div className="acts">
          <button
            className="iconbtn"
            type="button"
            aria-label={m.automations_undo()}
            title={`${m.automations_undo()} (Ctrl Z)`}
            disabled={!undo}
            onClick={undo}
          >
            <IconArrowBackUp {...ICON} />
          </button>
          <button
            className="iconbtn"
            type="button"
            aria-label={m.automations_redo()}
            title={`${m.automations_redo()} (Ctrl Shift Z)`}
            disabled={!redo}
            onClick={redo}
          >
            <IconArrowForwardUp {...ICON} />
          </button>
          <button
            className="iconbtn wide"
            type="button"
            aria-label={m.copy_as_curl()}
            title={m.copy_as_curl()}
            onClick={() => void copyCurl(request)}
          >
            <IconTerminal2 {...ICON} />
          </button>
          {automation && (
            <Button icon={<IconPlayerPlay {...ICON} />} onClick={() => setDry(true)}>
              {m.automations_dry()}
            </Button>
          )}
          <Button kind="primary" busy={isBusy} onClick={() => void save()}>
            {automation ? m.automations_save() : m.automations_create()}
          </Button>
        </div>
      </div>
      {draft.isResumed && draft.isChanged && (
        <p className="note">
          <Glyph shape="waiting" />
          <span>
            {m.automations_resumed()}{" "}
            <button
              type="button"
              className="linkbtn"
              onClick={() => draft.discard({ updatedAt: stored?.updatedAt ?? "", content: initial })}
            >
              {m.automations_discard()}
            </button>
          </span>
        </p>
      )}
      {errors.loose.map((message) => (
        <p className="wrong" role="alert" key={message}>
          <Glyph shape="failed" />
          <span>{message}</span>
        </p>
      ))}
      <div className="split">
        <div className="formcol">
          <section className="sec" aria-labelledby="starts">
            <header>
              <h2 id="starts">{m.automations_starts()}</h2>
            </header>
            <div className="form">
              <Field
                label={m.automations_name()}
                error={whole.name}
                data-field="whole-name"
                maxLength={NAME_CHARACTERS}
                autoComplete="off"
                value={content.name}
                onChange={(event) => {
                  const name = event.target.value;
                  edit((before) => ({ ...before, name }), "name");
                }}
              />
            </div>
            <TriggerForm
              trigger={trigger}
              choices={choices}
              errors={errors.of.get("trigger") ?? {}}
              onChange={(next, mark) => edit((before) => ({ ...before, trigger: next }), mark)}
            />
          </section>
          <section className="sec" aria-labelledby="steps-title" data-field="whole-steps" tabIndex={-1}>
            <header>
              <h2 id="steps-title">{m.automations_steps()}</h2>
            </header>
            {steps.length === 0 && <p className="muted">{m.automations_no_steps()}</p>}
            <StepList steps={steps} names={choices} editing={editing} />
            <p className="muted keyshint">{m.automations_keys()}</p>
          </section>
        </div>
        <Checklist missing={missing} steps={steps} names={choices} isAsked={isAsked} onOpen={setOpenId} />
      </div>
      {isDry && stored && (
        <DryRunDialog automation={stored} content={content} choices={choices} onClose={() => setDry(false)} />
      )}
      {conflict && (
        <Conflict
          theirs={conflict}
          mine={content}
          names={choices}
          onClose={() => setConflict(undefined)}
          onTheirs={() => {
            dropDraft(draftName);
            draft.discard({ updatedAt: conflict.updatedAt, content: contentOf(conflict as never) });
            setStored(conflict);
            setConflict(undefined);
          }}
          onMine={async () => {
            setStored(conflict);
            setConflict(undefined);
            await save(conflict);
          }}
        />
      )}
      <BeforeLeaving
        isUnsaved={() => draft.isChanged && !isSaved.current}
        title={m.automations_leave()}
        lead={m.automations_leave_lead()}
        deed={m.automations_leave_deed()}
        keep={m.automations_leave_keep()}
      />
    </main>
  );
}

/** The field that shows what is missing. */
const FIELD: Record<string, string> = {
  template: "templateId",
  sender: "fromEmail",
  audience: "audienceId",
  duration: "",
  rules: "",
};
/** The `data-field` of what is missing, after the id of its step. */
const ANCHOR: Record<string, string> = {
  template: "templateId",
  sender: "fromEmail",
  audience: "audienceId",
  duration: "days",
};

/** Go to a field by its `data-field`, once it is there. */
function goTo(field: string): void {
  const find = (attempts: number) => {
    const found = document.querySelector<HTMLElement>(`main [data-field="${CSS.escape(field)}"]`);
    if (found) {
      found.scrollIntoView({ block: "center" });
      found.focus({ preventScroll: true });
    } else if (attempts) requestAnimationFrame(() => find(attempts - 1));
  };
  find(20);
}

function goToMissing({ id, need }: Missing, open: (id: string) => void): void {
  if (id) {
    open(id);
    goTo(`${id}-${ANCHOR[need] ?? need}`);
    return;
  }
  goTo(
    need === "name" || need === "steps" || need === "limit"
      ? `whole-${need === "limit" ? "steps" : need}`
      : `trigger-${need}`,
  );
}

/** What must be there before the automation can be active; what is missing leads to its field. */
function Checklist({
  missing,
  steps,
  names,
  isAsked,
  onOpen,
}: {
  missing: Missing[];
  steps: Content["steps"];
  names: Names;
  isAsked: boolean;
  onOpen: (id: string) => void;
}) {
  const positions = flattened(steps);
  const groups = [
    {
      title: m.automations_starts(),
      open: missing.filter((each) => !each.id && each.need !== "steps" && each.need !== "limit"),
    },
    {
      title: m.automations_steps(),
      open: missing.filter((each) => each.id || each.need === "steps" || each.need === "limit"),
    },
  ];
  return (
    <section className="checks sidecol" aria-labelledby="checks">
      <h2 id="checks">{m.automations_checks()}</h2>
      <p className={missing.length > 0 && isAsked ? "wrong" : "muted"}>
        {missing.length === 0
          ? m.automations_checks_done()
          : missing.length === 1
            ? m.automations_checks_one()
            : m.automations_checks_left({ count: missing.length })}
      </p>
      <ul>
        {groups.map(({ title, open }) => (
          <li key={title}>
            <Glyph shape={open.length ? "off" : "yes"} />
            <div>
              <b>{title}</b>
              {open.length > 0 && (
                <ul>
                  {open.map((each) => {
                    const position = positions.find(({ step }) => step.id === each.id);
                    return (
                      <li key={`${each.id}${each.need}`}>
                        <button type="button" className="linkbtn" onClick={() => goToMissing(each, onOpen)}>
                          {NEED_WORDS[each.need]()}
                        </button>
                        {position && <span className="muted small"> {stepWords(position.step, names)}</span>}
                      </li>
                    );
                  })}
                </ul>
              )}
            </div>
          </li>
        ))}
      </ul>
      {missing.some(({ need }) => !NEEDED_TO_SAVE.includes(need)) && (
        <p className="muted small">{m.automations_checks_later()}</p>
      )}
    </section>
  );
}

/** Another person saved the automation meanwhile: both versions, line by line. */
function Conflict({
  theirs,
  mine,
  names,
  onTheirs,
  onMine,
  onClose,
}: {
  theirs: Automation;
  mine: Content;
  names: Names;
  onTheirs: () => void;
  onMine: () => Promise<void>;
  onClose: () => void;
}) {
  useReturnFocus();
  const linesFor = (content: Content) =>
    [content.name, triggerWords(content.trigger, names), ...linesOf(content.steps, names)].join("\n");
  const lines = excerpt(lineDiff(linesFor(contentOf(theirs as never)), linesFor(mine)), AROUND);
  return (
    <Modal opened onClose={onClose} size={720} title={m.conflict()} closeButtonProps={{ "aria-label": m.close() }}>
      <p>{m.automations_conflict_lead()}</p>
      {lines.length === 0 ? (
        <p className="muted">{m.automations_conflict_same()}</p>
      ) : (
        <ul className="stepdiff" aria-label={m.automations_conflict_diff()}>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines never move.
            <li key={index} className={line.kind}>
              {line.kind === "gap" ? (
                "…"
              ) : (
                <>
                  <span className="who">
                    {line.kind === "old"
                      ? m.automations_conflict_theirs()
                      : line.kind === "new"
                        ? m.automations_conflict_mine()
                        : ""}
                  </span>
                  <span className="says">{line.text}</span>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      <div className="dialog-actions">
        <Button onClick={onTheirs}>{m.conflict_take_theirs()}</Button>
        <Button kind="primary" onClick={() => void onMine()} data-autofocus>
          {m.conflict_keep_mine()}
        </Button>
      </div>
    </Modal>
  );
}
