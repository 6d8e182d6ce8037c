import {
  IconArrowDown,
  IconArrowUp,
  IconBold,
  IconCopyPlus,
  IconGripVertical,
  IconItalic,
  IconLink,
  IconList,
  IconPhoto,
  IconPlus,
  IconTrash,
} from "@tabler/icons-react";
import {
  type CSSProperties,
  type DragEvent,
  Fragment,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";
import { m } from "../../messages/messages.js";
import { ICON } from "../../parts/parts";
import { ADDABLE, iconOfBlock, nameOfBlock, newBlock, titleOfBlock } from "./blocks";
import { type EditedBlock, type Place, placeOf, stepFrom } from "./document";
import { useEditing } from "./editing";
import { InsertVariable } from "./InsertVariable";
import { type Inline, parseLines, parseTags, storedText, variableOf, writtenHtml, writtenText } from "./inline";
import { wordsIn } from "./merge";
import { wordsOf } from "./sample";
import { insertAt, insertLink, toggleList, toggleMark } from "./typing";

const HEADING_SIZES = [30, 24, 20];

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

/** The e-mail as it is edited. The sizes are those with which the server renders the blocks. */
export function Canvas() {
  const { document } = useEditing();
  const [drop, setDrop] = useState<Place | undefined>();
  return (
    <div
      className="mailpaper"
      style={{
        maxWidth: number(document.width, 600),
        background: document.background || "#fff",
        fontFamily: document.font || "Arial, sans-serif",
      }}
    >
      <Blocks blocks={document.blocks} at={{}} drop={drop} onDrop={setDrop} />
    </div>
  );
}

function Blocks({
  blocks,
  at,
  drop,
  onDrop,
}: {
  blocks: EditedBlock[];
  at: Omit<Place, "index">;
  drop: Place | undefined;
  onDrop: (place: Place | undefined) => void;
}) {
  const { dragged, drag, document, insert, move } = useEditing();
  const isHere = drop?.parent === at.parent && drop?.column === at.column;
  const accepts = dragged && !(dragged.type === "columns" && at.parent !== undefined) && dragged.id !== at.parent;
  const over = (event: DragEvent, place: Place) => {
    if (!accepts) return;
    event.preventDefault();
    event.stopPropagation();
    if (drop?.index !== place.index || !isHere) onDrop(place);
  };
  const put = (event: DragEvent, place: Place) => {
    if (!accepts) return;
    event.preventDefault();
    event.stopPropagation();
    // Where the pointer is now: the line may be one event late.
    if (placeOf(document, dragged.id)) move(dragged.id, place);
    else insert(dragged, place);
    drag(undefined);
    onDrop(undefined);
  };
  const halfOf = (event: DragEvent, index: number): Place => {
    const { top, height } = event.currentTarget.getBoundingClientRect();
    return { ...at, index: event.clientY > top + height / 2 ? index + 1 : index };
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard moves blocks with buttons and keys.
    <div
      className={at.parent === undefined ? "stack" : "stack incolumn"}
      onDragOver={(event) => over(event, { ...at, index: blocks.length })}
      onDrop={(event) => put(event, { ...at, index: blocks.length })}
      onDragLeave={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && onDrop(undefined)}
    >
      {blocks.map((block, index) => (
        <Fragment key={block.id}>
          {dragged && isHere && drop?.index === index && <i className="dropline" />}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
          <div
            className={dragged?.id === block.id ? "dragged" : undefined}
            onDragOver={(event) => over(event, halfOf(event, index))}
            onDrop={(event) => put(event, halfOf(event, index))}
          >
            <BlockView block={block} drop={drop} onDrop={onDrop} />
          </div>
        </Fragment>
      ))}
      {dragged && isHere && drop?.index === blocks.length && <i className="dropline" />}
      {blocks.length === 0 && <EmptyPlace at={at} />}
    </div>
  );
}

function EmptyPlace({ at }: { at: Omit<Place, "index"> }) {
  const { insert } = useEditing();
  const [words] = ADDABLE.filter((each) => each.key === "text");
  return (
    <button type="button" className="emptyplace" onClick={() => words && insert(newBlock(words), { ...at, index: 0 })}>
      <IconPlus {...ICON} />
      {m.templates_add_text()}
    </button>
  );
}

function BlockView({
  block,
  drop,
  onDrop,
}: {
  block: EditedBlock;
  drop: Place | undefined;
  onDrop: (place: Place | undefined) => void;
}) {
  const { selected, select, drag } = useEditing();
  const isSelected = selected === block.id;
  const frame = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  // What was chosen is where typing goes; blocks without text take the keys of the block.
  useEffect(() => {
    if (!isSelected || frame.current?.contains(document.activeElement)) return;
    const active = document.activeElement;
    // Not while someone goes through the outline with the keyboard.
    if (active && active !== document.body && active.closest(".blocks, .props")) {
      frame.current?.scrollIntoView({ block: "nearest" });
      return;
    }
    (field.current ?? frame.current)?.focus({ preventScroll: true });
  }, [isSelected]);
  const label = `${nameOfBlock(block.type)}: ${titleOfBlock(block)}`;
  const Icon = iconOfBlock(block.type);
  const draggable = {
    draggable: true,
    onDragStart: (event: DragEvent) => {
      event.stopPropagation();
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
      drag(block);
    },
    onDragEnd: () => {
      drag(undefined);
      onDrop(undefined);
    },
  };
  return (
    <div
      ref={frame}
      className={`block ${isSelected ? "on" : ""} ${block.columns ? "columns" : ""}`}
      role="group"
      aria-label={label}
      tabIndex={isSelected ? -1 : undefined}
      data-block={block.id}
      style={{ background: block.columns ? text(block.background) || undefined : undefined }}
    >
      {isSelected && <BlockBar block={block} field={field} draggable={draggable} />}
      {block.columns ? (
        <>
          {!isSelected && (
            <button
              type="button"
              className="blocktag"
              aria-label={m.templates_select_block({ block: nameOfBlock("columns") })}
              onClick={() => select(block.id)}
              {...draggable}
            >
              <Icon {...ICON} />
              {nameOfBlock("columns")}
            </button>
          )}
          <div className="cols">
            {block.columns.map((column, index) => (
              <Blocks
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no ids, and do not move.
                key={index}
                blocks={column.blocks}
                at={{ parent: block.id, column: index }}
                drop={drop}
                onDrop={onDrop}
              />
            ))}
          </div>
        </>
      ) : (
        <>
          <Body block={block} isSelected={isSelected} field={field} />
          {!isSelected && (
            <button
              type="button"
              className="pick"
              aria-label={m.templates_select_block({ block: label })}
              onClick={() => select(block.id)}
              {...draggable}
            />
          )}
        </>
      )}
    </div>
  );
}

type Field = RefObject<HTMLTextAreaElement | null>;

/** Whether the text of a block can be edited in its place. */
function writtenOf(block: EditedBlock): string | undefined {
  if (typeof block.html === "string" && block.html) return writtenHtml(block.html);
  return writtenText(text(block.text));
}

function Body({ block, isSelected, field }: { block: EditedBlock; isSelected: boolean; field: Field }) {
  const { set, chooseImage } = useEditing();
  const style: CSSProperties = {
    textAlign: (text(block.align) || "left") as CSSProperties["textAlign"],
    color: text(block.color) || undefined,
  };
  const plain = (className: string, own: CSSProperties) =>
    isSelected ? (
      <Typed
        field={field}
        label={nameOfBlock(block.type)}
        className={className}
        style={own}
        value={text(block.text)}
        onChange={(value) => set(block.id, { text: value }, `${block.id} text`)}
      />
    ) : (
      <div className={className} style={own}>
        {text(block.text) ? <Tagged source={text(block.text)} /> : <Nothing />}
      </div>
    );
  switch (block.type) {
    case "heading": {
      const size = number(block.size, HEADING_SIZES[number(block.level, 1) - 1] ?? 30);
      return plain("w-heading", { ...style, fontSize: size });
    }
    case "text":
      return writtenOf(block) === undefined ? (
        <Source block={block} />
      ) : (
        <RichText
          block={block}
          isSelected={isSelected}
          field={field}
          style={{ ...style, fontSize: number(block.size, 16) }}
        />
      );
    case "button":
      return (
        <div className="w-button" style={{ textAlign: (text(block.align) || "center") as CSSProperties["textAlign"] }}>
          {plain("w-face", {
            background: text(block.background) || "#414141",
            color: text(block.color) || "#ffffff",
            fontSize: number(block.size, 16),
          })}
        </div>
      );
    case "image":
      return <Image block={block} isSelected={isSelected} onChoose={() => chooseImage(block.id)} />;
    case "divider":
      return (
        <div className="w-divider">
          <i style={{ borderTop: `${number(block.width, 1)}px solid ${text(block.color) || "#dddddd"}` }} />
        </div>
      );
    case "spacer":
      return <div style={{ height: number(block.height, 20) }} />;
    default:
      return <Source block={block} />;
  }
}

function Nothing() {
  return <span className="nothing">{m.templates_no_words()}</span>;
}

/** A field that is as high as its text, with the font of what it stands for. */
function Typed({
  field,
  label,
  className,
  style,
  value,
  onChange,
}: {
  field: Field;
  label: string;
  className: string;
  style: CSSProperties;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <div className={`${className} typed`} style={style} data-value={value}>
      <textarea
        ref={field}
        aria-label={label}
        rows={1}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

function RichText({
  block,
  isSelected,
  field,
  style,
}: {
  block: EditedBlock;
  isSelected: boolean;
  field: Field;
  style: CSSProperties;
}) {
  const { set } = useEditing();
  const key = JSON.stringify([block.text, block.html]);
  // What is typed stays as it is typed; it is read anew only when something else changed the block.
  const [own, setOwn] = useState({ key, written: writtenOf(block) ?? "" });
  if (own.key !== key) setOwn({ key, written: writtenOf(block) ?? "" });
  const type = (written: string) => {
    const stored = { text: undefined, html: undefined, ...storedText(written) };
    setOwn({ key: JSON.stringify([stored.text, stored.html]), written });
    set(block.id, stored, `${block.id} text`);
  };
  if (isSelected)
    return (
      <Typed
        field={field}
        label={m.templates_block_text()}
        className="w-text"
        style={style}
        value={own.written}
        onChange={type}
      />
    );
  return (
    <div className="w-text" style={style}>
      {own.written ? <Lines source={own.written} /> : <Nothing />}
    </div>
  );
}

/** Text as it will look, with the variables as words. */
function Lines({ source }: { source: string }) {
  const groups: { isList: boolean; lines: Inline[][] }[] = [];
  for (const { isItem, inside } of parseLines(source)) {
    const last = groups.at(-1);
    if (last && last.isList === isItem) last.lines.push(inside);
    else groups.push({ isList: isItem, lines: [inside] });
  }
  return groups.map(({ isList, lines }, number) => {
    const rows = lines.map((inside, index) => {
      const Line = isList ? "li" : "div";
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are read anew with each change.
      return <Line key={index}>{inside.length ? <InlineText inside={inside} /> : <br />}</Line>;
    });
    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
    return isList ? <ul key={number}>{rows}</ul> : <Fragment key={number}>{rows}</Fragment>;
  });
}

function InlineText({ inside }: { inside: Inline[] }): ReactNode {
  return inside.map((each, index) => {
    // biome-ignore-start lint/suspicious/noArrayIndexKey: as above.
    if (each.kind === "text") return <Fragment key={index}>{each.text}</Fragment>;
    if (each.kind === "tag") return <Tag key={index} source={each.source} />;
    if (each.kind === "link")
      return (
        <span key={index} className="link" title={each.url}>
          <InlineText inside={each.inside} />
        </span>
      );
    const Mark = each.kind === "bold" ? "b" : "i";
    return (
      <Mark key={index}>
        <InlineText inside={each.inside} />
      </Mark>
    );
    // biome-ignore-end lint/suspicious/noArrayIndexKey: as above.
  });
}

function Tagged({ source }: { source: string }) {
  return parseTags(source).map((each, index) =>
    each.kind === "tag" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above.
      <Tag key={index} source={each.source} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above.
      <Fragment key={index}>{each.text}</Fragment>
    ),
  );
}

function Tag({ source }: { source: string }) {
  const name = variableOf(source);
  return (
    <span className="var" title={source}>
      {name ? wordsOf(name) : source}
    </span>
  );
}

/** Content that can only be edited as HTML, in the settings. */
function Source({ block }: { block: EditedBlock }) {
  const words = wordsIn(block);
  return (
    <div className="w-source">
      <code>{nameOfBlock("html")}</code>
      <span>{words.length > 300 ? `${words.slice(0, 300)}…` : words}</span>
    </div>
  );
}

/** Whether a page of the dashboard may load an image from an address. */
export function isLoadable(url: string): boolean {
  return /^https:\/\/[^{}]+$/i.test(url) || (url.startsWith(`${location.origin}/`) && !url.includes("{"));
}

function Image({ block, isSelected, onChoose }: { block: EditedBlock; isSelected: boolean; onChoose: () => void }) {
  const url = text(block.url) || text(block.src);
  const width = block.width === undefined ? undefined : number(block.width, 600);
  const [broken, setBroken] = useState("");
  return (
    <div className="w-image" style={{ textAlign: (text(block.align) || "center") as CSSProperties["textAlign"] }}>
      {url && isLoadable(url) && broken !== url ? (
        <img
          src={url}
          alt={text(block.alt)}
          style={{ width: width ?? "100%" }}
          referrerPolicy="no-referrer"
          onError={() => setBroken(url)}
        />
      ) : (
        <span className="noimage">
          <IconPhoto {...ICON} />
          {url ? text(block.alt) || url : m.templates_no_image()}
          {isSelected && (
            <button type="button" className="btn small" onClick={onChoose}>
              {m.templates_choose_image()}
            </button>
          )}
        </span>
      )}
    </div>
  );
}

/** What is done with the selected block. */
function BlockBar({
  block,
  field,
  draggable,
}: {
  block: EditedBlock;
  field: Field;
  draggable: { draggable: boolean; onDragStart: (event: DragEvent) => void; onDragEnd: () => void };
}) {
  const { document, names, step, duplicate, remove } = useEditing();
  const isRich = block.type === "text" && writtenOf(block) !== undefined;
  const hasText = isRich || block.type === "heading" || block.type === "button";
  // The field tells React of its change itself.
  const write = () => void field.current?.dispatchEvent(new Event("input", { bubbles: true }));
  const tools = [
    [m.templates_bold(), IconBold, () => toggleMark(field.current, "**", write)],
    [m.templates_italic(), IconItalic, () => toggleMark(field.current, "*", write)],
    [m.templates_link(), IconLink, () => insertLink(field.current, "https://", write)],
    [m.templates_list(), IconList, () => toggleList(field.current, write)],
  ] as const;
  const doings = [
    [m.templates_move_up(), IconArrowUp, stepFrom(document, block.id, -1) && (() => step(block.id, -1))],
    [m.templates_move_down(), IconArrowDown, stepFrom(document, block.id, 1) && (() => step(block.id, 1))],
    [m.templates_duplicate(), IconCopyPlus, () => duplicate(block.id)],
    [m.templates_remove(), IconTrash, () => remove(block.id)],
  ] as const;
  return (
    <div className="blockbar" role="toolbar" aria-label={nameOfBlock(block.type)}>
      <span className="grip" title={m.templates_drag()} {...draggable}>
        <IconGripVertical {...ICON} />
      </span>
      {isRich &&
        tools.map(([label, Icon, run]) => (
          // The selection in the field stays.
          <button
            key={label}
            type="button"
            aria-label={label}
            title={label}
            onMouseDown={(event) => event.preventDefault()}
            onClick={run}
          >
            <Icon {...ICON} />
          </button>
        ))}
      {hasText && <InsertVariable names={names} onInsert={(tag) => insertAt(field.current, tag, write)} />}
      {hasText && <i />}
      {doings.map(([label, Icon, run]) => (
        <button
          key={label}
          type="button"
          aria-label={label}
          title={label}
          aria-disabled={!run || undefined}
          onClick={run || undefined}
        >
          <Icon {...ICON} />
        </button>
      ))}
    </div>
  );
}
