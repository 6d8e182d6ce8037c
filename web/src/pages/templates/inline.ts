/**
 * The text of a block as people write it: `**bold**`, `*italic*`, `[label](address)`, lines that begin with `- `, and
 * template tags such as `{{ firstName }}`. The server keeps it as HTML, or as text if it has no formatting.
 */
export type Inline =
  | { kind: "text"; text: string }
  | { kind: "tag"; source: string }
  | { kind: "bold" | "italic"; inside: Inline[] }
  | { kind: "link"; url: string; inside: Inline[] };

/** A paragraph line, or an entry of a list. */
export interface Line {
  isItem: boolean;
  inside: Inline[];
}

const TAG = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/y;

function tagAt(source: string, at: number): string | undefined {
  TAG.lastIndex = at;
  return TAG.exec(source)?.[0];
}

/** The lines of a text. A template tag can go over several lines. */
export function parseLines(source: string): Line[] {
  const lines: string[] = [""];
  for (let at = 0; at < source.length; ) {
    const tag = tagAt(source, at);
    if (tag === undefined && source[at] === "\n") lines.push("");
    else lines.push((lines.pop() ?? "") + (tag ?? source[at]));
    at += tag?.length ?? 1;
  }
  return lines.map((line) =>
    line.startsWith("- ")
      ? { isItem: true, inside: parseInline(line.slice(2)) }
      : { isItem: false, inside: parseInline(line) },
  );
}

/** The place after `at` where a mark closes, outside of template tags and escapes; -1 if it does not. */
function closing(source: string, mark: string, at: number): number {
  for (let i = at; i < source.length; ) {
    const tag = tagAt(source, i);
    if (tag) i += tag.length;
    else if (source[i] === "\\") i += 2;
    else if (mark === "*" && source.startsWith("**", i)) {
      const end = closing(source, "**", i + 2);
      i = end < 0 ? i + 2 : end + 2;
    } else if (source.startsWith(mark, i)) return i;
    else i++;
  }
  return -1;
}

export function parseInline(source: string): Inline[] {
  const result: Inline[] = [];
  const addText = (text: string) => {
    const last = result.at(-1);
    if (last?.kind === "text") last.text += text;
    else result.push({ kind: "text", text });
  };
  for (let at = 0; at < source.length; ) {
    const tag = tagAt(source, at);
    if (tag) {
      result.push({ kind: "tag", source: tag });
      at += tag.length;
      continue;
    }
    const char = source[at] ?? "";
    if (char === "\\" && /[*[\]\\-]/.test(source[at + 1] ?? "")) {
      addText(source[at + 1] ?? "");
      at += 2;
      continue;
    }
    if (char === "*") {
      const mark = source.startsWith("**", at) ? "**" : "*";
      const end = closing(source, mark, at + mark.length);
      if (end > at + mark.length) {
        const inside = parseInline(source.slice(at + mark.length, end));
        result.push({ kind: mark === "**" ? "bold" : "italic", inside });
        at = end + mark.length;
        continue;
      }
      addText(mark);
      at += mark.length;
      continue;
    }
    if (char === "[") {
      const end = closing(source, "]", at + 1);
      const url = end > at + 1 && source[end + 1] === "(" ? closing(source, ")", end + 2) : -1;
      if (url > end + 2) {
        result.push({ kind: "link", url: source.slice(end + 2, url), inside: parseInline(source.slice(at + 1, end)) });
        at = url + 1;
        continue;
      }
    }
    addText(char);
    at++;
  }
  return result;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function inlineHtml(inside: Inline[]): string {
  return inside
    .map((each) => {
      if (each.kind === "text") return escapeHtml(each.text);
      if (each.kind === "tag") return each.source;
      const content = inlineHtml(each.inside);
      if (each.kind === "link") return `<a href="${escapeUrl(each.url)}">${content}</a>`;
      return each.kind === "bold" ? `<b>${content}</b>` : `<i>${content}</i>`;
    })
    .join("");
}

/** An address in an attribute; template tags in it stay as they are. */
function escapeUrl(url: string): string {
  const inside = parseTags(url.trim());
  return inside
    .map((each) => (each.kind === "tag" ? each.source : escapeHtml(each.text).replaceAll('"', "&quot;")))
    .join("");
}

/** A text without formatting as text and template tags. */
export function parseTags(source: string): ({ kind: "text"; text: string } | { kind: "tag"; source: string })[] {
  const result: ({ kind: "text"; text: string } | { kind: "tag"; source: string })[] = [];
  for (let at = 0; at < source.length; ) {
    const tag = tagAt(source, at);
    const last = result.at(-1);
    if (tag) result.push({ kind: "tag", source: tag });
    else if (last?.kind === "text") last.text += source[at];
    else result.push({ kind: "text", text: source[at] ?? "" });
    at += tag?.length ?? 1;
  }
  return result;
}

const LIST_START = '<ul style="margin:0;padding-left:20px">';

/** What a block stores for a text: `text` without formatting, else `html`. */
export function storedText(source: string): { text: string } | { html: string } {
  const lines = parseLines(source);
  const isPlain = lines.every((line) => !line.isItem && line.inside.every((each) => /^(text|tag)$/.test(each.kind)));
  if (isPlain) return { text: lines.map((line) => line.inside.map(plain).join("")).join("\n") };
  let html = "";
  let before: Line | undefined;
  for (const line of lines) {
    const content = inlineHtml(line.inside);
    if (line.isItem) html += `${before?.isItem ? "" : LIST_START}<li>${content}</li>`;
    else html += `${before?.isItem ? "</ul>" : before ? "<br>" : ""}${content}`;
    before = line;
  }
  return { html: before?.isItem ? `${html}</ul>` : html };
}

function plain(each: Inline): string {
  return each.kind === "text" ? each.text : each.kind === "tag" ? each.source : each.inside.map(plain).join("");
}

/** Text that stands for itself. */
function escapeMarks(text: string): string {
  return text.replace(/[*[\]\\]/g, "\\$&").replace(/^- /gm, "\\- ");
}

/** What someone edits for the `text` of a block. */
export function writtenText(text: string): string {
  return parseTags(text)
    .map((each) => (each.kind === "tag" ? each.source : escapeMarks(each.text)))
    .join("");
}

const ELEMENT = /<(\/?)([a-z]+)((?:\s+[a-z-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/?>/iy;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

function unescapeHtml(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|[a-z]+);/gi, (entity, name: string) => {
    if (name[0] !== "#") return ENTITIES[name.toLowerCase()] ?? entity;
    const code = name[1]?.toLowerCase() === "x" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** What someone edits for the `html` of a text block; undefined if it has more in it than `storedText` writes. */
export function writtenHtml(html: string): string | undefined {
  let written = "";
  const open: string[] = [];
  for (let at = 0; at < html.length; ) {
    const tag = tagAt(html, at);
    if (tag) {
      written += tag;
      at += tag.length;
      continue;
    }
    if (html[at] === "<") {
      ELEMENT.lastIndex = at;
      const [whole, slash, name = "", attributes = ""] = ELEMENT.exec(html) ?? [];
      if (whole === undefined) return undefined;
      const piece = slash ? end(name.toLowerCase(), open) : start(name.toLowerCase(), attributes, open, written);
      if (piece === undefined) return undefined;
      written += piece;
      at += whole.length;
      // A list ends its line by itself.
      if (slash && name.toLowerCase() === "ul" && at < html.length) written += "\n";
      continue;
    }
    let next = at + 1;
    while (next < html.length && html[next] !== "<" && tagAt(html, next) === undefined) next++;
    const text = html.slice(at, next).replace(/\s*\n\s*/g, " ");
    written += escapeMarks(unescapeHtml(text));
    at = next;
  }
  return open.length ? undefined : written;
}

function start(name: string, attributes: string, open: string[], before: string): string | undefined {
  if (name === "br") return "\n";
  if (name === "ul" && !open.length && (!attributes || LIST_START === `<ul${attributes}>`)) {
    open.push("ul");
    return before && !before.endsWith("\n") ? "\n" : "";
  }
  if (name === "li" && open.at(-1) === "ul" && !attributes) {
    open.push("li");
    return before && !before.endsWith("\n") ? "\n- " : "- ";
  }
  const mark = { b: "**", strong: "**", i: "*", em: "*" }[name];
  if (mark && !attributes && !open.includes(mark)) {
    open.push(mark);
    return mark;
  }
  const url = /^\s+href\s*=\s*(?:"([^")]*)"|'([^')]*)')$/i.exec(attributes);
  if (name !== "a" || !url || open.some((each) => each.startsWith("("))) return undefined;
  open.push(`(${unescapeHtml(url[1] ?? url[2] ?? "")}`);
  return "[";
}

function end(name: string, open: string[]): string | undefined {
  const last = open.pop();
  if (name === "a" && last?.startsWith("(")) return `](${last.slice(1)})`;
  if ((name === "ul" || name === "li") && last === name) return "";
  const mark = { b: "**", strong: "**", i: "*", em: "*" }[name];
  return mark !== undefined && last === mark ? mark : undefined;
}

/** The name in a tag that inserts one value, such as `{{ firstName|default("you") }}`; undefined for other tags. */
export function variableOf(tag: string): string | undefined {
  return /^\{\{-?\s*([A-Za-z_][\w.-]*)\s*(?:\|[\s\S]*)?-?\}\}$/.exec(tag)?.[1];
}
