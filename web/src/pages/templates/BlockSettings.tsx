import { IconAlignCenter, IconAlignLeft, IconAlignRight } from "@tabler/icons-react";
import { type ReactNode, useId } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import { nameOfBlock } from "./blocks";
import { contrast, sixDigits } from "./contrast";
import { type EditedBlock, type EditedDocument, MOST_COLUMNS } from "./document";
import { useEditing } from "./editing";
import { writtenHtml } from "./inline";

/** The contrast of text that people can read, as WCAG 2 has it. */
const READABLE = 4.5;

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function Row({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="prow">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

/** A whole number with its unit; empty is what the server takes by itself. */
function NumberRow({
  label,
  value,
  most,
  least = 1,
  usual,
  onChange,
}: {
  label: string;
  value: unknown;
  least?: number;
  most: number;
  /** What an empty field means. */
  usual: number | string;
  onChange: (value: number | undefined) => void;
}) {
  return (
    <Row label={label}>
      {(id) => (
        <span className="num-in">
          <input
            id={id}
            className="input"
            inputMode="numeric"
            autoComplete="off"
            placeholder={String(usual)}
            value={typeof value === "number" ? value : ""}
            onChange={({ target }) => {
              const digits = target.value.replace(/\D/g, "").slice(0, 4);
              onChange(digits ? Math.min(Number(digits), most) : undefined);
            }}
            onBlur={({ target }) => target.value && Number(target.value) < least && onChange(least)}
          />
          <span>px</span>
        </span>
      )}
    </Row>
  );
}

function ColorRow({
  label,
  value,
  usual,
  onChange,
}: {
  label: string;
  value: unknown;
  usual: string;
  onChange: (value: string | undefined) => void;
}) {
  const shown = text(value);
  return (
    <Row label={label}>
      {(id) => (
        <span className="colorin">
          <input
            type="color"
            aria-label={m.templates_pick({ what: label })}
            value={sixDigits(shown || usual) ?? "#000000"}
            onChange={({ target }) => onChange(target.value)}
          />
          <input
            id={id}
            className="input mono"
            spellCheck={false}
            autoComplete="off"
            placeholder={usual}
            value={shown}
            onChange={({ target }) => onChange(target.value.trim() || undefined)}
          />
        </span>
      )}
    </Row>
  );
}

function TextRow({
  label,
  value,
  placeholder,
  isUrl,
  onChange,
}: {
  label: string;
  value: unknown;
  placeholder?: string;
  isUrl?: boolean;
  onChange: (value: string) => void;
}) {
  return (
    <Row label={label}>
      {(id) => (
        <input
          id={id}
          className="input"
          value={text(value)}
          placeholder={placeholder}
          inputMode={isUrl ? "url" : undefined}
          spellCheck={!isUrl}
          autoComplete="off"
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Row>
  );
}

const ALIGNS = [
  ["left", IconAlignLeft, m.templates_left],
  ["center", IconAlignCenter, m.templates_center],
  ["right", IconAlignRight, m.templates_right],
] as const;

function AlignRow({ value, usual, onChange }: { value: unknown; usual: string; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <div className="prow">
      <span className="plabel" id={id}>
        {m.templates_align()}
      </span>
      <div className="seg" role="group" aria-labelledby={id}>
        {ALIGNS.map(([name, Icon, label]) => (
          <button
            key={name}
            type="button"
            aria-pressed={(text(value) || usual) === name}
            aria-label={label()}
            title={label()}
            onClick={() => onChange(name)}
          >
            <Icon {...ICON} />
          </button>
        ))}
      </div>
    </div>
  );
}

/** Whether text in one colour can be read on another. */
function Readable({ color, ground }: { color: string; ground: string }) {
  const ratio = contrast(color, ground);
  if (ratio === undefined) return null;
  const is = ratio >= READABLE;
  return (
    <p className="ok">
      <Glyph shape={is ? "yes" : "attention"} />
      {is
        ? m.templates_readable({ ratio: ratio.toFixed(1) })
        : m.templates_unreadable({ ratio: ratio.toFixed(1), least: READABLE })}
    </p>
  );
}

/** The settings of the selected block. */
export function BlockSettings({ block, onSpread }: { block: EditedBlock; onSpread: () => void }) {
  const { set, document, chooseImage } = useEditing();
  const put = (name: string) => (value: unknown) =>
    set(block.id, { [name]: value === "" ? undefined : value }, `${block.id} ${name}`);
  // The server wants these, even empty.
  const keep = (name: string) => (value: string) => set(block.id, { [name]: value }, `${block.id} ${name}`);
  const paper = text(document.background) || "#ffffff";
  const align = <AlignRow value={block.align} usual={USUAL_ALIGN[block.type] ?? "left"} onChange={put("align")} />;
  const isSource = block.type === "html" || (text(block.html) !== "" && writtenHtml(text(block.html)) === undefined);
  const spread = (
    <Button size="small" onClick={onSpread}>
      {m.templates_spread({ block: nameOfBlock(block.type) })}
    </Button>
  );
  switch (block.type) {
    case "heading":
    case "text":
      return (
        <>
          <fieldset>
            <legend>{m.templates_settings_type()}</legend>
            {block.type === "heading" && (
              <Row label={m.templates_level()}>
                {(id) => (
                  <select
                    id={id}
                    className="input"
                    value={typeof block.level === "number" ? block.level : 1}
                    onChange={({ target }) => put("level")(Number(target.value))}
                  >
                    <option value={1}>{m.templates_level_1()}</option>
                    <option value={2}>{m.templates_level_2()}</option>
                    <option value={3}>{m.templates_level_3()}</option>
                  </select>
                )}
              </Row>
            )}
            <NumberRow
              label={m.templates_font_size()}
              value={block.size}
              least={8}
              most={96}
              usual={block.type === "text" ? 16 : ([30, 24, 20][Number(block.level ?? 1) - 1] ?? 30)}
              onChange={put("size")}
            />
            {align}
            <ColorRow label={m.templates_color()} value={block.color} usual="#000000" onChange={put("color")} />
            <Readable color={text(block.color) || "#000000"} ground={paper} />
            {spread}
          </fieldset>
          {isSource && <HtmlField block={block} />}
        </>
      );
    case "button":
      return (
        <>
          <fieldset>
            <legend>{m.templates_link()}</legend>
            <TextRow label={m.templates_address()} value={block.url ?? block.href} isUrl onChange={keep("url")} />
          </fieldset>
          <fieldset>
            <legend>{m.templates_settings_type()}</legend>
            <NumberRow
              label={m.templates_font_size()}
              value={block.size}
              least={8}
              most={96}
              usual={16}
              onChange={put("size")}
            />
            {align}
            <ColorRow
              label={m.templates_background()}
              value={block.background}
              usual="#414141"
              onChange={put("background")}
            />
            <ColorRow label={m.templates_color()} value={block.color} usual="#ffffff" onChange={put("color")} />
            <Readable color={text(block.color) || "#ffffff"} ground={text(block.background) || "#414141"} />
            {spread}
          </fieldset>
        </>
      );
    case "image":
      return (
        <>
          <fieldset>
            <legend>{m.templates_block_image()}</legend>
            <Button size="small" onClick={() => chooseImage(block.id)}>
              {m.templates_choose_image()}
            </Button>
            <TextRow label={m.templates_address()} value={block.url ?? block.src} isUrl onChange={keep("url")} />
            <TextRow
              label={m.templates_alt()}
              value={block.alt}
              placeholder={m.templates_alt_hint()}
              onChange={keep("alt")}
            />
            <TextRow
              label={m.templates_link()}
              value={block.href}
              placeholder="https://"
              isUrl
              onChange={put("href")}
            />
          </fieldset>
          <fieldset>
            <legend>{m.templates_settings_size()}</legend>
            <NumberRow
              label={m.templates_width()}
              value={block.width}
              most={1200}
              usual={m.templates_full_width()}
              onChange={put("width")}
            />
            {align}
          </fieldset>
        </>
      );
    case "divider":
      return (
        <fieldset>
          <legend>{m.templates_block_divider()}</legend>
          <NumberRow label={m.templates_thickness()} value={block.width} most={20} usual={1} onChange={put("width")} />
          <ColorRow label={m.templates_color()} value={block.color} usual="#dddddd" onChange={put("color")} />
        </fieldset>
      );
    case "spacer":
      return (
        <fieldset>
          <legend>{m.templates_block_spacer()}</legend>
          <NumberRow label={m.templates_height()} value={block.height} most={400} usual={20} onChange={put("height")} />
        </fieldset>
      );
    case "columns":
      return <ColumnSettings block={block} />;
    default:
      return <HtmlField block={block} />;
  }
}

const USUAL_ALIGN: Record<string, string> = { button: "center", image: "center" };

function HtmlField({ block }: { block: EditedBlock }) {
  const { set } = useEditing();
  const id = useId();
  return (
    <fieldset>
      <legend>
        <label htmlFor={id}>{m.templates_html()}</label>
      </legend>
      <textarea
        id={id}
        className="input mono"
        rows={14}
        spellCheck={false}
        value={text(block.html)}
        onChange={({ target }) => set(block.id, { html: target.value }, `${block.id} html`)}
      />
    </fieldset>
  );
}

function ColumnSettings({ block }: { block: EditedBlock }) {
  const { set } = useEditing();
  const id = useId();
  const columns = block.columns ?? [];
  const resize = (count: number) => {
    const kept = columns.slice(0, count);
    // What was in columns that go stands below the rest of the last one.
    const rest = columns.slice(count).flatMap((column) => column.blocks);
    const next = Array.from({ length: count }, (_, index) => ({
      blocks: [...(kept[index]?.blocks ?? []), ...(index === count - 1 ? rest : [])],
    }));
    set(block.id, { columns: next });
  };
  return (
    <fieldset>
      <legend>{m.templates_block_columns()}</legend>
      <div className="prow">
        <span className="plabel" id={id}>
          {m.templates_column_count()}
        </span>
        <div className="seg" role="group" aria-labelledby={id}>
          {Array.from({ length: MOST_COLUMNS }, (_, index) => index + 1).map((count) => (
            <button key={count} type="button" aria-pressed={columns.length === count} onClick={() => resize(count)}>
              {count}
            </button>
          ))}
        </div>
      </div>
      <ColorRow
        label={m.templates_background()}
        value={block.background}
        usual="#ffffff"
        onChange={(background) => set(block.id, { background }, `${block.id} background`)}
      />
    </fieldset>
  );
}

const FONTS = [
  ["Arial, sans-serif", "Arial"],
  ["Helvetica, Arial, sans-serif", "Helvetica"],
  ["Verdana, Geneva, sans-serif", "Verdana"],
  ["Georgia, 'Times New Roman', serif", "Georgia"],
  ["'Courier New', Courier, monospace", "Courier"],
] as const;

/** The settings of the whole e-mail. */
export function EmailSettings({
  document,
  name,
  onDocument,
  onName,
}: {
  document: EditedDocument;
  name: string;
  onDocument: (fields: Partial<EditedDocument>, mark: string) => void;
  onName: (name: string) => void;
}) {
  const put = (field: keyof EditedDocument) => (value: unknown) =>
    onDocument({ [field]: value === "" ? undefined : value }, `document ${field}`);
  const font = document.font ?? FONTS[0][0];
  const isKnown = FONTS.some(([family]) => family === font);
  return (
    <>
      <fieldset>
        <legend>{m.templates_facts()}</legend>
        <TextRow label={m.templates_name()} value={name} onChange={onName} />
        <TextRow
          label={m.templates_preview_text()}
          value={document.preview}
          placeholder={m.templates_preview_text_hint()}
          onChange={put("preview")}
        />
      </fieldset>
      <fieldset>
        <legend>{m.templates_settings_look()}</legend>
        <NumberRow
          label={m.templates_width()}
          value={document.width}
          least={320}
          most={1200}
          usual={600}
          onChange={put("width")}
        />
        <ColorRow
          label={m.templates_background()}
          value={document.background}
          usual="#ffffff"
          onChange={put("background")}
        />
        <Row label={m.templates_font()}>
          {(id) => (
            <select id={id} className="input" value={font} onChange={({ target }) => put("font")(target.value)}>
              {!isKnown && <option value={font}>{font}</option>}
              {FONTS.map(([family, title]) => (
                <option key={family} value={family}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Row>
      </fieldset>
    </>
  );
}
