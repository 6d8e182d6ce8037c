import "./contacts.css";
import { notifications } from "@mantine/notifications";
import { APIError, type Audience, headersOf, type Rules } from "@postern/sdk";
import { IconTerminal2 } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { count } from "../../parts/format";
import { drop, keep, kept } from "../../parts/kept";
import { Button, Empty, Field, ICON, LoadingFailed } from "../../parts/parts";
import { type ApiRequest, copyCurl, usePageRequest } from "../../parts/request";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { BeforeLeaving } from "./BeforeLeaving";
import { lastChangedBy } from "./lastChange";
import { AUDIENCE_NAME_CHARACTERS } from "./limits";
import { useAttributes, useAudiences } from "./queries";
import { RuleBuilder } from "./RuleBuilder";
import { useRulePreview, WhoMatches } from "./RulePreview";
import {
  conditionsIn,
  type Group,
  isTree,
  type Missing,
  missingIn,
  newCondition,
  newGroup,
  nodeAt,
  type Reason,
  rulesOf,
  treeOf,
  withNewKeys,
} from "./rules";
import { groupWords } from "./ruleWords";

/** A new audience: by hand, or with rules. */
export function NewAudiencePage() {
  if (useMayWrite()) return <Editor audience={undefined} />;
  return (
    <main id="main" className="page contacts">
      <Empty title={m.contacts_not_allowed()} lead={m.contacts_not_allowed_lead()} />
    </main>
  );
}

/** The rules of an audience that exists. */
export function RulesPage() {
  const projectId = useProjectId();
  const { audienceId = "" } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ["audience-rules", projectId, audienceId],
    queryFn: ({ signal }) => api(projectId).audiences.get(audienceId, { signal }),
    // The editor works on what it began with, and its ETag; it asks before it overwrites something newer.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false,
  });
  if (query.isError)
    return (
      <main id="main" className="page contacts">
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.contacts_no_audience()} lead={m.contacts_no_audience_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </main>
    );
  if (!query.data) return <main id="main" className="page contacts" aria-busy="true" />;
  return <Editor audience={query.data} />;
}

const MISSING: Record<Missing, () => string> = {
  empty: m.contacts_missing_value,
  number: m.contacts_fault_number,
  days: m.contacts_missing_days,
  count: m.contacts_missing_count,
  event: m.contacts_missing_event,
};
const REASONS: Record<Reason, () => string> = {
  json: m.contacts_text_json,
  shape: m.contacts_text_shape,
  operator: m.contacts_text_operator,
  value: m.contacts_text_value,
};

/** The rules as they are edited: a tree, or text that may not be one. */
type Source = { view: "builder"; tree: Group } | { view: "text"; text: string };

function sourceOf(rules: unknown): Source {
  const read = treeOf(rules);
  return "tree" in read ? { view: "builder", tree: read.tree } : { view: "text", text: JSON.stringify(rules, null, 2) };
}

function parsed(text: string): { rules: unknown } | undefined {
  try {
    return { rules: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** What this browser keeps of rules that were typed and not saved. */
interface KeptRules {
  name: string;
  isDynamic: boolean;
  source: Source;
  /** The version of the audience that was edited. */
  etag: string;
}

function isKeptRules(value: unknown): value is KeptRules {
  if (typeof value !== "object" || value === null) return false;
  const { name, isDynamic, source, etag } = value as Partial<KeptRules>;
  if (typeof name !== "string" || typeof isDynamic !== "boolean" || typeof etag !== "string") return false;
  if (typeof source !== "object" || source === null) return false;
  return source.view === "text" ? typeof source.text === "string" : source.view === "builder" && isTree(source.tree);
}

function Editor({ audience }: { audience: Audience | undefined }) {
  const projectId = useProjectId();
  const keptName = `rules.${useProfile().id}.${projectId}.${audience?.id ?? "new"}`;
  /** Counts how often what was kept has been discarded: the editor begins anew then. */
  const [round, setRound] = useState(0);
  return (
    <RulesEditor
      key={round}
      audience={audience}
      keptName={keptName}
      onDiscard={() => {
        drop(keptName);
        setRound(round + 1);
      }}
    />
  );
}

function RulesEditor({
  audience,
  keptName,
  onDiscard,
}: {
  audience: Audience | undefined;
  keptName: string;
  onDiscard: () => void;
}) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const { attributes, types } = useAttributes();
  const { audiences } = useAudiences();
  const names = useMemo(() => new Map(audiences.map((each) => [each.id, each.name])), [audiences]);
  /** What was typed before the browser was closed. */
  const [before] = useState(() => {
    const rules = mayWrite ? kept(keptName, isKeptRules) : undefined;
    if (rules?.source.view !== "builder") return rules;
    return { ...rules, source: { ...rules.source, tree: withNewKeys(rules.source.tree) } };
  });
  const etag = before?.etag ?? (audience && headersOf(audience)?.get("etag")) ?? "";
  const [name, setName] = useState(before?.name ?? "");
  const [isDynamic, setDynamic] = useState(before?.isDynamic ?? true);
  const [source, setSource] = useState<Source>(
    () =>
      before?.source ??
      (audience?.rules
        ? sourceOf(audience.rules)
        : { view: "builder", tree: newGroup("all", [newCondition("email", new Map())]) }),
  );
  const [isTouched, setTouched] = useState(before !== undefined);
  const [isTried, setTried] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [nameError, setNameError] = useState<string>();
  const [saveError, setSaveError] = useState<unknown>();
  const [cannotShow, setCannotShow] = useState<Reason>();
  const [conflict, setConflict] = useState<{ theirs: Audience; who: string | undefined }>();
  const isSaved = useRef(false);
  const withRules = audience !== undefined || isDynamic;

  const text = source.view === "text" ? parsed(source.text) : undefined;
  const rules = source.view === "builder" ? rulesOf(source.tree) : text?.rules;
  const missing = useMemo(() => {
    const found = new Map<string, string>();
    if (source.view === "builder")
      for (const each of conditionsIn(source.tree)) {
        const fault = missingIn(each);
        if (fault) found.set(each.key, MISSING[fault]());
      }
    return found;
  }, [source]);
  const isComplete = missing.size === 0 && rules !== undefined;

  const preview = useRulePreview(isComplete && withRules ? rules : undefined);
  const refusal = saveError ?? preview.error;
  const details = refusal instanceof APIError ? refusal.errors : [];
  const faults = new Map<string, string>();
  const loose: string[] = [];
  if (source.view === "builder") {
    if (isTried) for (const [key, message] of missing) faults.set(key, message);
    for (const { path, message } of details) {
      const node = nodeAt(source.tree, path);
      if (node && node !== source.tree) faults.set(node.key, message);
      else if (path !== "/name") loose.push(message);
    }
  } else
    for (const { path, message } of details)
      if (path !== "/name") loose.push(`${path.replace(/^\/rules/, "") || "/"}: ${message}`);
  // What else is wrong with a preview stands in its place.
  if (saveError !== undefined && details.length === 0) loose.push(messageOf(saveError));

  const isUnsaved = () => isTouched && mayWrite && !isSaved.current;
  useEffect(() => {
    if (isTouched && mayWrite && !isSaved.current)
      keep(keptName, { name, isDynamic, source, etag } satisfies KeptRules);
  }, [isTouched, mayWrite, keptName, name, isDynamic, source, etag]);
  const change = (next: Source) => {
    setSource(next);
    setTouched(true);
    setSaveError(undefined);
    setCannotShow(undefined);
  };
  const fill = (withRules: boolean) => {
    setDynamic(withRules);
    setTouched(true);
  };
  const show = (view: Source["view"]) => {
    if (view === source.view) return;
    if (source.view === "builder")
      return setSource({ view: "text", text: JSON.stringify(rulesOf(source.tree), null, 2) });
    if (!text) return setCannotShow("json");
    const read = treeOf(text.rules);
    if ("reason" in read) return setCannotShow(read.reason);
    setCannotShow(undefined);
    setSource({ view: "builder", tree: read.tree });
  };
  const path = `/projects/${projectId}/audiences`;
  const request: ApiRequest = audience
    ? { method: "PATCH", path: `${path}/${audience.id}/rules`, body: rules }
    : { method: "POST", path, body: { name: name.trim() || "…", ...(withRules && { rules }) } };
  usePageRequest(request);

  const leaveTo = async (id: string) => {
    isSaved.current = true;
    drop(keptName);
    void client.invalidateQueries({ queryKey: ["contacts", projectId] });
    void client.invalidateQueries({ queryKey: ["audience", projectId, id] });
    await navigate({
      to: "/projects/$projectId/contacts/audiences/$audienceId",
      params: { projectId, audienceId: id },
    });
  };
  const compare = async (id: string) => {
    const [theirs, who] = await Promise.all([
      api(projectId).audiences.get(id),
      lastChangedBy(projectId, "audience.updated", id),
    ]);
    setConflict({ theirs, who });
  };
  const save = async (over?: Audience) => {
    setBusy(true);
    setSaveError(undefined);
    setNameError(undefined);
    try {
      if (audience) {
        const options = { ifMatch: over ?? etag };
        const { added, removed } = await api(projectId).audiences.setRules(audience.id, rules as Rules, options);
        notifications.show({ message: m.contacts_rules_saved({ added: count(added), removed: count(removed) }) });
        await leaveTo(audience.id);
      } else {
        const created = await api(projectId).audiences.create({
          name: name.trim(),
          ...(withRules && { rules: rules as Rules }),
        });
        notifications.show({ message: m.contacts_audience_created({ name: created.name }) });
        await leaveTo(created.id);
      }
    } catch (error) {
      if (audience && error instanceof APIError && error.status === 412) await compare(audience.id).catch(setSaveError);
      else if (error instanceof APIError && error.errors.some((each) => each.path === "/name"))
        setNameError(messageOf(error));
      else setSaveError(error);
    } finally {
      setBusy(false);
    }
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTried(true);
    if (!audience && !name.trim()) return setNameError(m.contacts_name_missing());
    if (withRules && !isComplete) return;
    await save();
  };
  const title = audience ? m.contacts_rules_of({ name: audience.name }) : m.contacts_new_audience();
  return (
    <main id="main" className="page contacts rulespage">
      <p className="crumb">
        <Link to="/projects/$projectId/contacts/audiences" params={{ projectId }}>
          {m.contacts_audiences()}
        </Link>
      </p>
      <form onSubmit={submit} noValidate>
        <div className="head">
          <h1 className="cut">{title}</h1>
          <div className="acts">
            <button
              className="iconbtn wide"
              type="button"
              aria-label={m.copy_as_curl()}
              title={m.copy_as_curl()}
              onClick={() => void copyCurl(request)}
            >
              <IconTerminal2 {...ICON} />
            </button>
            {mayWrite && (
              <Button kind="primary" type="submit" busy={isBusy}>
                {audience ? m.contacts_save_rules() : m.contacts_create_audience()}
              </Button>
            )}
          </div>
        </div>
        {!audience && (
          <div className="about">
            <Field
              label={m.contacts_audience_name()}
              error={nameError}
              value={name}
              maxLength={AUDIENCE_NAME_CHARACTERS}
              autoComplete="off"
              onChange={(event) => {
                setName(event.target.value);
                setTouched(true);
              }}
            />
            <div className="field">
              <span className="label">{m.contacts_filled()}</span>
              <div className="seg" role="group" aria-label={m.contacts_filled()}>
                <button type="button" aria-pressed={isDynamic} onClick={() => fill(true)}>
                  {m.contacts_filled_rules()}
                </button>
                <button type="button" aria-pressed={!isDynamic} onClick={() => fill(false)}>
                  {m.contacts_filled_hand()}
                </button>
              </div>
            </div>
          </div>
        )}
        {before && (
          <p className="note" role="status">
            <Glyph shape="attention" />
            <span>{m.contacts_rules_kept()}</span>
            <Button size="small" onClick={onDiscard}>
              {m.contacts_discard()}
            </Button>
          </p>
        )}
        {audience?.type === "STATIC" && (
          <p className="note wait">
            <Glyph shape="attention" />
            <span>{m.contacts_becomes_dynamic()}</span>
          </p>
        )}
        {withRules ? (
          <div className="rulesplit">
            <section className="sec" aria-labelledby="rules-title">
              <header>
                <h2 id="rules-title">{m.contacts_rules()}</h2>
                <div className="acts">
                  <div className="seg" role="group" aria-label={m.contacts_rules_view()}>
                    <button type="button" aria-pressed={source.view === "builder"} onClick={() => show("builder")}>
                      {m.contacts_view_builder()}
                    </button>
                    <button type="button" aria-pressed={source.view === "text"} onClick={() => show("text")}>
                      {m.contacts_view_text()}
                    </button>
                  </div>
                </div>
              </header>
              {source.view === "builder" ? (
                <RuleBuilder
                  tree={source.tree}
                  ownId={audience?.id}
                  attributes={attributes}
                  audiences={audiences}
                  types={types}
                  faults={faults}
                  onChange={(tree) => change({ view: "builder", tree })}
                />
              ) : (
                <>
                  {text && "reason" in treeOf(text.rules) && (
                    <p className="note">
                      <Glyph shape="attention" />
                      <span>{m.contacts_text_only()}</span>
                    </p>
                  )}
                  <Field
                    label={m.contacts_rules_text()}
                    hint={m.contacts_rules_text_hint()}
                    error={cannotShow ? REASONS[cannotShow]() : text ? undefined : m.contacts_fault_json()}
                  >
                    {(given) => (
                      <textarea
                        className="input mono"
                        rows={18}
                        spellCheck={false}
                        {...given}
                        value={source.text}
                        onChange={(event) => change({ view: "text", text: event.target.value })}
                      />
                    )}
                  </Field>
                </>
              )}
              {loose.map((message) => (
                <Wrong key={message}>{message}</Wrong>
              ))}
            </section>
            <WhoMatches preview={preview} isComplete={isComplete} isMarked={faults.size > 0 || loose.length > 0} />
          </div>
        ) : (
          <p className="muted byhand">{m.contacts_by_hand_lead()}</p>
        )}
        {!withRules && loose.length > 0 && <Wrong>{loose.join(" ")}</Wrong>}
      </form>
      {conflict && audience && (
        <ConflictDialog
          who={conflict.who}
          lead={m.contacts_conflict_lead()}
          rows={[{ name: m.contacts_rules(), theirs: words(conflict.theirs.rules, names), mine: words(rules, names) }]}
          onClose={() => setConflict(undefined)}
          onTheirs={() => void leaveTo(audience.id)}
          onMine={async () => {
            setConflict(undefined);
            await save(conflict.theirs);
          }}
        />
      )}
      <BeforeLeaving
        isUnsaved={isUnsaved}
        onLeave={() => {
          isSaved.current = true;
          drop(keptName);
        }}
      />
    </main>
  );
}

function words(rules: unknown, names: ReadonlyMap<string, string>): string {
  if (!rules) return m.contacts_filled_hand();
  const read = treeOf(rules);
  return "tree" in read ? groupWords(read.tree, names) : JSON.stringify(rules);
}
