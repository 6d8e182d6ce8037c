import { notifications } from "@mantine/notifications";
import type { Template, TemplateFault } from "@postern/sdk";
import { useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { Field } from "../../parts/parts";
import { ConflictDialog } from "./ConflictDialog";
import { useDraft } from "./drafts";
import { EditorBar } from "./EditorBar";
import { EditorPreview } from "./EditorPreview";
import { InsertVariable } from "./InsertVariable";
import { HTML, isMjml, MJML } from "./kinds";
import { mergeSource, type SourceContent } from "./merge";
import { useRendered, type View, Views } from "./Preview";
import { SampleData } from "./SampleData";
import { keepSample, keptSample, variablesOf } from "./sample";
import { insertAt } from "./typing";

/** Edits a template as HTML or MJML, with what becomes of it beside. */
export function SourceEditor({ template }: { template: Template }) {
  // A template that becomes a document of blocks elsewhere is another one for this editor.
  const [isMarkup] = useState(() => isMjml(template));
  const kind = isMarkup ? MJML : HTML;
  const draft = useDraft<SourceContent>(template, kind);
  const { content, change } = draft;
  const [part, setPart] = useState<"source" | "text" | "sample">("source");
  const [view, setView] = useState<View>("computer");
  const [typed, setTyped] = useState(() => keptSample(template.id));
  const [names, setNames] = useState(template.variables);
  const area = useRef<HTMLTextAreaElement>(null);
  const subject = useRef<HTMLInputElement>(null);
  const { subject: written, html, builderJson, text } = kind.write(content);
  const rendered = useRendered({
    subject: written,
    html,
    builderJson,
    text,
    engine: template.engine,
    variables: variablesOf(names, typed),
  });
  const used = rendered.data?.variables;
  if (used && used.join() !== names.join()) setNames(used);

  const set = (field: keyof SourceContent) => (value: string) =>
    change((before) => ({ ...before, [field]: value }), field);
  const publish = async (run: () => Promise<Template | undefined>) => {
    const stored = await run();
    if (stored) notifications.show({ message: m.templates_published({ number: stored.version }) });
  };
  const show = (fault: TemplateFault) => {
    if (fault.path.startsWith("/subject")) return subject.current?.focus();
    setPart(fault.path.startsWith("/text") ? "text" : "source");
    // The field is there after the next render.
    requestAnimationFrame(() => {
      const field = area.current;
      if (!field) return;
      const lines = field.value.split("\n").slice(0, (fault.line ?? 1) - 1);
      const at = lines.join("\n").length + (lines.length ? 1 : 0) + (fault.column ?? 1) - 1;
      field.focus();
      field.setSelectionRange(at, at);
    });
  };
  const label = part === "text" ? m.templates_text() : isMarkup ? "MJML" : m.templates_html();
  return (
    <div className="emaileditor source">
      <EditorBar
        template={template}
        draft={draft}
        body={kind.write(content)}
        rendered={rendered.data}
        onPublish={() => void publish(() => draft.publish())}
      />
      <main id="main" className="written">
        <div className="two">
          <Field
            label={m.templates_name()}
            value={content.name}
            maxLength={200}
            autoComplete="off"
            onChange={({ target }) => set("name")(target.value)}
          />
          <Field label={m.templates_subject()}>
            {(attributes) => (
              <span className="withinsert">
                <input
                  className="input"
                  ref={subject}
                  value={content.subject}
                  autoComplete="off"
                  onChange={({ target }) => set("subject")(target.value)}
                  {...attributes}
                />
                <InsertVariable names={names} onInsert={(tag) => insertAt(subject.current, tag, set("subject"))} />
              </span>
            )}
          </Field>
        </div>
        <div className="sourcebar">
          <div className="seg" role="group" aria-label={m.templates_source_part()}>
            {(
              [
                ["source", isMarkup ? "MJML" : m.templates_html()],
                ["text", m.templates_text()],
                ["sample", m.templates_sample()],
              ] as const
            ).map(([name, title]) => (
              <button key={name} type="button" aria-pressed={part === name} onClick={() => setPart(name)}>
                {title}
              </button>
            ))}
          </div>
          {part !== "sample" && (
            <InsertVariable names={names} onInsert={(tag) => insertAt(area.current, tag, set(part))} />
          )}
        </div>
        {part === "sample" ? (
          <SampleData
            names={names}
            typed={typed}
            onType={(next) => {
              setTyped(next);
              keepSample(template.id, next);
            }}
          />
        ) : (
          <textarea
            key={part}
            ref={area}
            className="input mono"
            aria-label={label}
            spellCheck={part === "text"}
            placeholder={part === "text" ? m.templates_text_derived() : undefined}
            value={content[part]}
            onChange={({ target }) => set(part)(target.value)}
          />
        )}
      </main>
      <section className="shown" aria-label={m.templates_preview()}>
        <header>
          <h2 className="cut">{rendered.data?.subject || m.templates_no_subject()}</h2>
          <Views view={view} onView={setView} />
        </header>
        <EditorPreview rendered={rendered} view={view} name={content.name} failure={draft.error} onShow={show} />
      </section>
      {draft.conflict && (
        <ConflictDialog
          theirs={draft.conflict}
          merge={mergeSource(draft.base.content, content, kind.read(draft.conflict))}
          isBusy={draft.isBusy}
          onClose={draft.giveUp}
          onResolve={(merged) => {
            const { conflict } = draft;
            if (conflict) void publish(() => draft.resolve(conflict, merged));
          }}
        />
      )}
    </div>
  );
}
