import { type EditedBlock, type EditedDocument, inserted, placeOf, removed } from "./document.ts";

/** What an editor changes. */
export interface Content {
  name: string;
  subject: string;
  document: EditedDocument;
}

export type Side = "mine" | "theirs";

/** One part that was changed on either side since the version that both began with. */
export interface Difference {
  /** `block` and its id, or the name of the part. */
  key: string;
  part: "name" | "subject" | "settings" | "block" | "source" | "text";
  /** The kind of the block. */
  type: string;
  /** Who changed it; with both, a person chooses. */
  by: Side | "both";
  mine: string | undefined;
  theirs: string | undefined;
}

export interface Merge<T> {
  differences: Difference[];
  /** The content with these choices for what both changed. */
  result: (choices: Record<string, Side>) => T;
}

type Part = { value: unknown; shown: string; type: string };

/** The parts of a document that are compared. Blocks in columns belong to their columns. */
function partsOf({ name, subject, document }: Content): Map<string, Part> {
  const { blocks, ...settings } = document;
  const parts = new Map<string, Part>([
    ["name", { value: name, shown: name, type: "" }],
    ["subject", { value: subject, shown: subject, type: "" }],
    ["settings", { value: settings, shown: Object.values(settings).join(", "), type: "" }],
  ]);
  for (const block of blocks) parts.set(`block ${block.id}`, { value: block, shown: wordsIn(block), type: block.type });
  return parts;
}

/** What a block says, for a person who chooses between two. */
export function wordsIn(block: EditedBlock): string {
  if (block.columns)
    return block.columns.map((column) => column.blocks.map(wordsIn).filter(Boolean).join(" / ")).join(" | ");
  const { text, html, alt, url, height } = block;
  const said = [
    text ?? (typeof html === "string" ? html.replace(/<br\s*\/?>/g, " ").replace(/<[^>]*>/g, "") : alt),
    url,
  ];
  return said.filter((each) => typeof each === "string" && each).join(" → ") || (height ? `${String(height)} px` : "");
}

function same(a: Part | undefined, b: Part | undefined): boolean {
  return stable(a?.value) === stable(b?.value);
}

/** JSON in which the order of fields does not matter. */
export function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) =>
      typeof each === "object" && each !== null && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    ) ?? ""
  );
}

/** Bring together what two people made of the same version. The order of the blocks is mine. */
export function merge(base: Content, mine: Content, theirs: Content): Merge<Content> {
  const [before, own, other] = [partsOf(base), partsOf(mine), partsOf(theirs)];
  const keys = [...new Set([...own.keys(), ...other.keys(), ...before.keys()])];
  const differences = keys.flatMap((key): Difference[] => {
    const [was, me, they] = [before.get(key), own.get(key), other.get(key)];
    if (same(me, they)) return [];
    const by = same(was, me) ? "theirs" : same(was, they) ? "mine" : "both";
    const isBlock = key.startsWith("block ");
    return [
      {
        key,
        part: isBlock ? "block" : (key as "name" | "subject" | "settings"),
        type: (me ?? they ?? was)?.type ?? "",
        by,
        mine: me?.shown,
        theirs: they?.shown,
      },
    ];
  });
  const result = (choices: Record<string, Side>): Content => {
    let content = mine;
    for (const { key, by } of differences) {
      if ((by === "both" ? (choices[key] ?? "mine") : by) === "theirs") content = taken(content, theirs, key);
    }
    return content;
  };
  return { differences, result };
}

/** The content with one part as in the other. */
function taken(content: Content, theirs: Content, key: string): Content {
  if (key === "name" || key === "subject") return { ...content, [key]: theirs[key] };
  if (key === "settings") return { ...content, document: { ...theirs.document, blocks: content.document.blocks } };
  const id = key.slice("block ".length);
  const block = theirs.document.blocks.find((each) => each.id === id);
  const at = placeOf(content.document, id)?.index;
  const without = removed(content.document, id);
  if (!block) return { ...content, document: without };
  // A block that is new here goes after the one that it follows there.
  const order = theirs.document.blocks.map((each) => each.id);
  const previous = order.slice(0, order.indexOf(id)).reverse();
  const after = previous.map((each) => without.blocks.findIndex((own) => own.id === each)).find((each) => each >= 0);
  return { ...content, document: inserted(without, block, { index: at ?? (after === undefined ? 0 : after + 1) }) };
}

/** What is edited as source. */
export interface SourceContent {
  name: string;
  subject: string;
  /** HTML or MJML. */
  source: string;
  /** The text version; empty if it is made from the HTML. */
  text: string;
}

const SOURCE_PARTS = ["name", "subject", "source", "text"] as const;

/** As `merge`, for content that is edited as source: each part is one or the other. */
export function mergeSource(base: SourceContent, mine: SourceContent, theirs: SourceContent): Merge<SourceContent> {
  const differences = SOURCE_PARTS.filter((part) => mine[part] !== theirs[part]).map(
    (part): Difference => ({
      key: part,
      part,
      type: "",
      by: base[part] === mine[part] ? "theirs" : base[part] === theirs[part] ? "mine" : "both",
      mine: mine[part],
      theirs: theirs[part],
    }),
  );
  const result = (choices: Record<string, Side>): SourceContent => {
    const merged = { ...mine };
    for (const part of SOURCE_PARTS) {
      const by = differences.find((each) => each.part === part)?.by;
      if ((by === "both" ? (choices[part] ?? "mine") : by) === "theirs") merged[part] = theirs[part];
    }
    return merged;
  };
  return { differences, result };
}
