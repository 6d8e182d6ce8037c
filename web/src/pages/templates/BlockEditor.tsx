import { useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import type { Asset, Template, TemplateFault } from "@postern/sdk";
import {
  IconAdjustmentsHorizontal,
  IconDeviceMobile,
  IconListTree,
  IconMoon,
  IconPencil,
  IconPlus,
  IconX,
} from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { bytes } from "../../parts/format";
import { ICON } from "../../parts/parts";
import { BlockSettings, EmailSettings } from "./BlockSettings";
import { ADDABLE, iconOfBlock, nameOfBlock, newBlock, titleOfBlock } from "./blocks";
import { Canvas } from "./Canvas";
import { ConflictDialog } from "./ConflictDialog";
import {
  allBlocks,
  blockAt,
  changed,
  copied,
  type EditedBlock,
  type EditedDocument,
  findBlock,
  inserted,
  moved,
  type Place,
  placeOf,
  removed,
  spreadStyle,
  stepFrom,
  withoutUndefined,
} from "./document";
import { useDraft } from "./drafts";
import { EditorBar } from "./EditorBar";
import { EditorPreview, Failure, RenderingFailed } from "./EditorPreview";
import { type Editing, EditingProvider } from "./editing";
import { ImagesDialog } from "./ImagesDialog";
import { InsertVariable } from "./InsertVariable";
import { BLOCKS } from "./kinds";
import { MailFrame } from "./MailFrame";
import { type Content, merge } from "./merge";
import { Faults, useRendered, type View, Views } from "./Preview";
import { SampleData } from "./SampleData";
import { keepSample, keptSample, variablesOf } from "./sample";
import { insertAt } from "./typing";

/** Bytes of HTML after which Gmail cuts a message. */
const GMAIL_BYTES = 102_400;
/** Where the phone has room beside the e-mail. */
const HAS_PHONE = "(min-width: 1360px)";

/** Edits a template that is a document of blocks. */
export function BlockEditor({ template }: { template: Template }) {
  const draft = useDraft<Content>(template, BLOCKS);
  const { content, change } = draft;
  const { document } = content;
  const [selected, setSelected] = useState<string | undefined>();
  const [dragged, drag] = useState<EditedBlock | undefined>();
  const [view, setView] = useState<View | "edit">("edit");
  const [tab, setTab] = useState<"block" | "email">("email");
  const [sheet, setSheet] = useState<"" | "add" | "order" | "settings">("");
  const [imageFor, setImageFor] = useState<string | undefined>();
  const [isPhoneDark, setPhoneDark] = useState(false);
  const [typed, setTyped] = useState(() => keptSample(template.id));
  const [names, setNames] = useState(template.variables);
  const subject = useRef<HTMLInputElement>(null);
  const hasPhone = useMediaQuery(HAS_PHONE, false, { getInitialValueInEffect: false });
  const written = BLOCKS.write(content);
  const rendered = useRendered({
    subject: written.subject,
    builderJson: written.builderJson,
    text: template.text,
    engine: template.engine,
    variables: variablesOf(names, typed),
  });
  const used = rendered.data?.variables;
  if (used && used.join() !== names.join()) setNames(used);
  const block = findBlock(document, selected);

  const edit = (next: (document: EditedDocument) => EditedDocument, mark?: string) =>
    change((before) => {
      const document = next(before.document);
      return document === before.document ? before : { ...before, document };
    }, mark);
  const select = (id: string | undefined) => {
    setSelected(id);
    setTab(id === undefined ? "email" : "block");
    setSheet("");
  };
  const editing: Editing = {
    document,
    selected: block?.id,
    select,
    set: (id, fields, mark) =>
      edit((before) => changed(before, id, (own) => withoutUndefined({ ...own, ...fields } as EditedBlock)), mark),
    insert: (added, place) => {
      edit((before) => inserted(before, added, place));
      select(added.id);
    },
    move: (id, place) => edit((before) => moved(before, id, place)),
    step: (id, step) => {
      const label = window.document.activeElement?.closest("[data-block] [aria-label]")?.getAttribute("aria-label");
      edit((before) => {
        const place = stepFrom(before, id, step);
        return place ? moved(before, id, place) : before;
      });
      // Moving it in the page takes the keyboard away from it.
      if (label) requestAnimationFrame(() => labelled(id, label)?.focus());
    },
    duplicate: (id) => {
      const [source, place] = [findBlock(document, id), placeOf(document, id)];
      if (!source || !place) return;
      const copy = copied(source);
      edit((before) => inserted(before, copy, { ...place, index: place.index + 1 }));
      select(copy.id);
    },
    remove: (id) => {
      const place = placeOf(document, id);
      edit((before) => removed(before, id));
      // The block before it, so that the keyboard stays in the e-mail.
      const beside = place && place.parent === undefined ? document.blocks : [];
      const next = place ? (beside[place.index - 1] ?? beside[place.index + 1]) : undefined;
      select(next?.id ?? place?.parent);
    },
    dragged,
    drag,
    names,
    chooseImage: setImageFor,
  };
  const add = (added: EditedBlock) => editing.insert(added, placeAfter(document, block?.id, added.type));
  const show = (fault: TemplateFault) => {
    setView("edit");
    if (fault.path.startsWith("/subject")) return subject.current?.focus();
    select(blockAt(document, fault.path));
  };
  const publish = async (run: () => Promise<Template | undefined>) => {
    const stored = await run();
    if (stored) notifications.show({ message: m.templates_published({ number: stored.version }) });
  };
  useBlockKeys(editing);

  const setDocument = (fields: Partial<EditedDocument>, mark: string) =>
    edit(
      (before) => withoutUndefined({ ...before, ...fields } as unknown as EditedBlock) as unknown as EditedDocument,
      mark,
    );
  const setSubject = (value: string) => change((before) => ({ ...before, subject: value }), "subject");
  const nameless = allBlocks(document).filter((each) => each.type === "image" && !each.alt);
  const size = rendered.data?.html ? new TextEncoder().encode(rendered.data.html).length : 0;

  return (
    <EditingProvider value={editing}>
      <div className="emaileditor" data-sheet={sheet || undefined}>
        <EditorBar
          template={template}
          draft={draft}
          body={written}
          rendered={rendered.data}
          onPublish={() => void publish(() => draft.publish())}
          onSettings={() => setSheet(sheet === "settings" ? "" : "settings")}
        />
        <nav className="blocks" aria-label={m.templates_blocks()}>
          <Close onClose={() => setSheet("")} />
          <section className="adds">
            <h2>{m.templates_add()}</h2>
            <ul className="palette">
              {ADDABLE.map((each) => (
                <li key={each.key}>
                  <button
                    type="button"
                    draggable
                    onClick={() => add(newBlock(each))}
                    onDragStart={(event) => {
                      event.dataTransfer.effectAllowed = "copyMove";
                      event.dataTransfer.setData("text/plain", "");
                      drag(newBlock(each));
                    }}
                    onDragEnd={() => drag(undefined)}
                  >
                    <each.icon {...ICON} />
                    {each.label()}
                  </button>
                </li>
              ))}
            </ul>
          </section>
          <section className="order">
            <h2>{m.templates_in_this_email()}</h2>
            <Outline blocks={document.blocks} selected={block?.id} onSelect={select} />
          </section>
        </nav>
        <main id="main" className="canvas">
          <h2 className="sr">{m.templates_the_email()}</h2>
          <div className="envelope">
            <label htmlFor="template-subject">{m.templates_subject()}</label>
            <span className="withinsert">
              <input
                id="template-subject"
                className="input"
                ref={subject}
                value={content.subject}
                autoComplete="off"
                onChange={({ target }) => setSubject(target.value)}
              />
              <InsertVariable names={names} onInsert={(tag) => insertAt(subject.current, tag, setSubject)} />
            </span>
            <div className="modes">
              <button
                type="button"
                className="btn small"
                aria-pressed={view === "edit"}
                onClick={() => setView("edit")}
              >
                <IconPencil {...ICON} />
                {m.templates_edit()}
              </button>
              <Views view={view === "edit" ? undefined : view} onView={setView} />
            </div>
          </div>
          {view === "edit" ? (
            <>
              <Failure failure={draft.error} />
              <RenderingFailed rendered={rendered} />
              {rendered.data && <Faults faults={rendered.data.problems} onShow={show} />}
              <div className="frames">
                <section className="frame" aria-label={m.templates_the_email()}>
                  <Canvas />
                </section>
                {hasPhone && rendered.data?.html && (
                  <section className="frame phone" aria-label={m.templates_view_phone()}>
                    <MailFrame
                      html={rendered.data.html}
                      title={m.templates_preview_of({ name: content.name })}
                      look={isPhoneDark ? "dark" : "phone"}
                    />
                    <button
                      type="button"
                      className="btn bare small cap"
                      aria-pressed={isPhoneDark}
                      onClick={() => setPhoneDark(!isPhoneDark)}
                    >
                      {isPhoneDark ? <IconMoon {...ICON} /> : <IconDeviceMobile {...ICON} />}
                      {isPhoneDark ? m.templates_phone_dark() : m.templates_phone_light()}
                    </button>
                  </section>
                )}
              </div>
              <div className="checks">
                {size > 0 && (
                  <span>
                    <Glyph shape={size > GMAIL_BYTES ? "attention" : "yes"} />
                    {size > GMAIL_BYTES
                      ? m.templates_too_long({ size: bytes(size) })
                      : m.templates_size_fits({ size: bytes(size) })}
                  </span>
                )}
                {nameless[0] && (
                  <span>
                    <Glyph shape="attention" />
                    <button type="button" className="linklike" onClick={() => select(nameless[0]?.id)}>
                      {nameless.length === 1
                        ? m.templates_no_alt_one()
                        : m.templates_no_alt({ count: nameless.length })}
                    </button>
                  </span>
                )}
              </div>
            </>
          ) : (
            <EditorPreview rendered={rendered} view={view} name={content.name} failure={draft.error} onShow={show} />
          )}
        </main>
        <aside className="props" aria-label={m.templates_settings()}>
          <Close onClose={() => setSheet("")} />
          <header>
            <h2>{tab === "block" && block ? nameOfBlock(block.type) : m.templates_settings_email()}</h2>
            {block && (
              <div className="seg" role="group" aria-label={m.templates_settings_of()}>
                <button type="button" aria-pressed={tab === "block"} onClick={() => setTab("block")}>
                  {m.templates_block()}
                </button>
                <button type="button" aria-pressed={tab === "email"} onClick={() => setTab("email")}>
                  {m.templates_settings_email()}
                </button>
              </div>
            )}
          </header>
          {tab === "block" && block ? (
            <BlockSettings
              key={block.id}
              block={block}
              onSpread={() => edit((before) => spreadStyle(before, block.id))}
            />
          ) : (
            <>
              <EmailSettings
                document={document}
                name={content.name}
                onName={(name) => change((before) => ({ ...before, name }), "name")}
                onDocument={setDocument}
              />
              <fieldset>
                <legend>{m.templates_sample()}</legend>
                <SampleData
                  names={names}
                  typed={typed}
                  onType={(next) => {
                    setTyped(next);
                    keepSample(template.id, next);
                  }}
                />
              </fieldset>
            </>
          )}
        </aside>
        <nav className="etools" aria-label={m.templates_tools()}>
          {(
            [
              ["add", IconPlus, m.templates_add()],
              ["order", IconListTree, m.templates_order()],
              ["settings", IconAdjustmentsHorizontal, m.templates_settings()],
            ] as const
          ).map(([name, Icon, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={sheet === name}
              onClick={() => setSheet(sheet === name ? "" : name)}
            >
              <Icon {...ICON} />
              <span>{label}</span>
            </button>
          ))}
        </nav>
        {imageFor && (
          <ImagesDialog
            onClose={() => setImageFor(undefined)}
            onChoose={(image) => {
              editing.set(imageFor, withImage(findBlock(document, imageFor), image));
              setImageFor(undefined);
            }}
          />
        )}
        {draft.conflict && (
          <ConflictDialog
            theirs={draft.conflict}
            merge={merge(draft.base.content, content, BLOCKS.read(draft.conflict))}
            isBusy={draft.isBusy}
            onClose={draft.giveUp}
            onResolve={(merged) => {
              const { conflict } = draft;
              if (conflict) void publish(() => draft.resolve(conflict, merged));
            }}
          />
        )}
      </div>
    </EditingProvider>
  );
}

/** The control of a block in the e-mail that has this label. */
function labelled(id: string, label: string): HTMLElement | undefined {
  const controls = window.document.querySelectorAll<HTMLElement>(`[data-block="${CSS.escape(id)}"] [aria-label]`);
  return [...controls].find((each) => each.getAttribute("aria-label") === label);
}

/** A new block goes after the selected one; columns, which cannot be in columns, after those. */
function placeAfter(document: EditedDocument, id: string | undefined, type: string): Place {
  const at = id === undefined ? undefined : placeOf(document, id);
  if (!at) return { index: document.blocks.length };
  if (type === "columns" && at.parent !== undefined) {
    const outer = placeOf(document, at.parent);
    return { index: (outer?.index ?? document.blocks.length) + 1 };
  }
  return { ...at, index: at.index + 1 };
}

/** The fields of an image block with another image. Its own width only if it is smaller than the e-mail. */
function withImage(block: EditedBlock | undefined, image: Asset): Record<string, unknown> {
  const own = block?.width === undefined && image.width < 600 ? { width: image.width } : {};
  return { url: image.url, src: undefined, ...own };
}

function Close({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" className="iconbtn closesheet" aria-label={m.close()} onClick={onClose}>
      <IconX {...ICON} />
    </button>
  );
}

function Outline({
  blocks,
  selected,
  onSelect,
}: {
  blocks: EditedBlock[];
  selected: string | undefined;
  onSelect: (id: string) => void;
}) {
  return (
    <ol className="outline">
      {blocks.map((block) => {
        const Icon = iconOfBlock(block.type);
        const inside = block.columns?.flatMap((column) => column.blocks) ?? [];
        return (
          <li key={block.id}>
            <button type="button" aria-pressed={selected === block.id} onClick={() => onSelect(block.id)}>
              <Icon {...ICON} size={16} />
              <span className="cut">{titleOfBlock(block)}</span>
            </button>
            {inside.length > 0 && <Outline blocks={inside} selected={selected} onSelect={onSelect} />}
          </li>
        );
      })}
    </ol>
  );
}

/** Alt with an arrow moves the selected block, Delete removes it, Escape leaves it. */
function useBlockKeys(editing: Editing): void {
  const latest = useRef(editing);
  useEffect(() => {
    latest.current = editing;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { selected, step, remove, select } = latest.current;
      if (!selected || event.ctrlKey || event.metaKey || window.document.querySelector("[role=dialog], [role=menu]"))
        return;
      const target = event.target instanceof HTMLElement ? event.target : undefined;
      const isTyping = target && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
        event.preventDefault();
        step(selected, event.key === "ArrowUp" ? -1 : 1);
      } else if (event.key === "Escape") {
        // The block stays where the keyboard is.
        const pick = () => window.document.querySelector<HTMLElement>(`[data-block="${CSS.escape(selected)}"] .pick`);
        select(undefined);
        requestAnimationFrame(() => pick()?.focus());
      } else if ((event.key === "Delete" || event.key === "Backspace") && !isTyping && target?.matches(".block")) {
        event.preventDefault();
        remove(selected);
      }
    };
    window.document.addEventListener("keydown", pressed);
    return () => window.document.removeEventListener("keydown", pressed);
  }, []);
}
