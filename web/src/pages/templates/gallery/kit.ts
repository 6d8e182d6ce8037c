/** A block of a document, as the server takes it. */
export interface Block {
  type: string;
  id?: string;
  [field: string]: unknown;
}

/** A document of blocks, as the server takes it. */
export interface BlockDocument {
  blocks: Block[];
  title?: string;
  preview?: string;
  width?: number;
  background?: string;
  font?: string;
  lang?: string;
}

export type Language = "en" | "de";

/** Chooses the text of the language. */
export type Say = (en: string, de: string) => string;

/** What a template of the gallery begins with. */
export interface Beginning {
  subject: string;
  builderJson: BlockDocument;
}

/** Makes the content of a template of the gallery in one language. */
export type Make = (say: Say) => Beginning;

/** Colors and font of a template. */
export interface Look {
  accent: string;
  /** The ground around the content. */
  page: string;
  ink: string;
  /** Text that is less important. */
  soft: string;
  line: string;
  font: string;
}

/** How the address of a picture of the gallery begins in a template, until the picture is in the project. */
export const PICTURE = "gallery:";
const WHITE = "#ffffff";
const PLAIN: Look = {
  accent: "#0d6472",
  page: "#f1f5f5",
  ink: "#17272b",
  soft: "#526166",
  line: "#dde5e6",
  font: "Helvetica, Arial, sans-serif",
};

/** A template tag for a value that may be missing. */
export function value(name: string, otherwise: string): string {
  return `{{ ${name}|default("${otherwise}") }}`;
}

/** A template tag for an address that may be missing. */
export function address(name: string): string {
  return value(name, "https://www.example.com/");
}

/** The pieces that templates are made of, in one look. */
export function kit(say: Say, look: Partial<Look> = {}) {
  const { accent, page, ink, soft, line, font } = { ...PLAIN, ...look };
  const company = value("company", say("Your company", "Ihr Unternehmen"));
  const space = (height: number): Block => ({ type: "spacer", height });
  const divider: Block = { type: "divider", color: line, width: 1 };
  const heading = (text: string, level: 1 | 2 | 3 = 1, more: Partial<Block> = {}): Block => ({
    type: "heading",
    text,
    level,
    color: ink,
    ...more,
  });
  const text = (content: string, more: Partial<Block> = {}): Block => ({
    type: "text",
    text: content,
    color: ink,
    ...more,
  });
  /** A text with bold words, links or lists. */
  const rich = (html: string, more: Partial<Block> = {}): Block => ({ type: "text", html, color: ink, ...more });
  const small = (html: string, more: Partial<Block> = {}): Block => rich(html, { color: soft, size: 14, ...more });
  /** A few words above a heading. */
  const label = (content: string, more: Partial<Block> = {}): Block =>
    rich(`<b>${content}</b>`, { color: accent, size: 13, ...more });
  const link = (label: string, url: string, more: Partial<Block> = {}): Block =>
    rich(`<a href="${url}">${label}</a>`, { color: accent, ...more });
  const button = (content: string, url: string, more: Partial<Block> = {}): Block => ({
    type: "button",
    text: content,
    url,
    align: "left",
    background: accent,
    color: WHITE,
    size: 16,
    ...more,
  });
  const picture = (name: string, alt: string, more: Partial<Block> = {}): Block => ({
    type: "image",
    url: `${PICTURE}${name}`,
    alt,
    ...more,
  });
  /** Columns beside each other, on a ground of their own. */
  const row = (columns: Block[][], background = WHITE): Block => ({
    type: "columns",
    background,
    columns: columns.map((blocks) => ({ blocks })),
  });
  /** Columns on a colored ground. */
  const panel = (columns: Block[][], background: string): Block =>
    row(
      columns.map((blocks) => [space(8), ...blocks, space(8)]),
      background,
    );
  /** A bold line and a text below it. */
  const fact = (title: string, content: string, more: Partial<Block> = {}): Block =>
    rich(`<b>${title}</b><br>${content}`, { size: 15, ...more });
  /** Blocks on a ground of their own. */
  const band = (blocks: Block[], background = WHITE): Block => row([blocks], background);
  const closing = (html: string): Block[] => [space(8), small(html, { size: 13 }), space(24)];
  const where = `${company} · ${value("companyAddress", say("1 Example Street, Example City", "Beispielstraße 1, 12345 Beispielstadt"))}`;
  /** The end of an e-mail that people can unsubscribe from, with the address that the law asks for. */
  const marketing = (reason: string): Block[] =>
    closing(`${where}<br>${reason} <a href="{{ unsubscribe_url }}">${say("Unsubscribe", "Abmelden")}</a>`);
  /** The end of an e-mail that belongs to an order or an account. */
  const transactional = (reason: string): Block[] => closing(`${where}<br>${reason}`);
  const brand = (more: Partial<Block> = {}): Block[] => [
    space(20),
    rich(`<b>${company}</b>`, { size: 18, ...more }),
    space(4),
  ];
  const document = (preview: string, blocks: Block[], more: Partial<BlockDocument> = {}): BlockDocument => ({
    preview,
    width: 600,
    background: page,
    font,
    lang: say("en", "de"),
    blocks,
    ...more,
  });
  return {
    ...{ accent, page, ink, soft, line, company, space, divider, heading, text, rich, small, label, link, button },
    ...{ picture, row, panel, fact, band, marketing, transactional, brand, document },
  };
}

/** "Hello Ada," with words that also fit without a name. */
export function hello(say: Say): string {
  return say('Hello {{ firstName|default("there") }},', 'Hallo {{ firstName|default("und guten Tag") }},');
}

/** A table for HTML blocks: rows of cells, the last of which are amounts at the right edge. */
export function table(rows: string[]): string {
  return [
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="width:100%;font-size:15px;line-height:22px">',
    ...rows,
    "</table>",
  ].join("\n");
}

const CELL = "padding:12px 12px 12px 0;border-top:1px solid #c9d2d3";
const AMOUNT = "padding:12px 0;border-top:1px solid #c9d2d3;vertical-align:top";

/** A row of a table: what, and how much. */
export function line(what: string, amount: string): string {
  return `<tr><td style="${CELL}">${what}</td><td align="right" nowrap="nowrap" style="${AMOUNT}">${amount}</td></tr>`;
}
