import type { Block, BlockDocument } from "./gallery";

/** Columns of one block; the server refuses more. */
export const MOST_COLUMNS = 4;

/** A column of a block of columns. */
export interface Column {
  blocks: Block[];
}

/** A block of a document that is being edited: it has an id, and its columns are objects. */
export interface EditedBlock extends Block {
  id: string;
  columns?: { blocks: EditedBlock[] }[];
}

/** A document that is being edited. */
export interface EditedDocument extends Omit<BlockDocument, "blocks"> {
  blocks: EditedBlock[];
}

/** Where a block can be put: in the document (`column` is undefined) or in a column, before the block at `index`. */
export interface Place {
  parent?: string;
  column?: number;
  index: number;
}

export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A document of the server for editing. Blocks without ids get those of their places, so that two versions of a
 * document that had none can be compared.
 */
export function edited(source: Record<string, unknown> | null): EditedDocument {
  const taken = new Set<string>();
  const blocks = (list: unknown, path: string): EditedBlock[] =>
    (Array.isArray(list) ? list : []).flatMap((block: unknown, index) => {
      if (typeof block !== "object" || block === null) return [];
      const fields = block as Block;
      let id = typeof fields.id === "string" && fields.id ? fields.id : `${path}${index}`;
      if (taken.has(id)) id = newId();
      taken.add(id);
      if (fields.type !== "columns") return [{ ...fields, id } as EditedBlock];
      const columns = (Array.isArray(fields.columns) ? fields.columns : []).map((column: unknown, number) => ({
        blocks: blocks(
          Array.isArray(column) ? column : (column as Column | null)?.blocks,
          `${path}${index}.${number}.`,
        ),
      }));
      return [{ ...fields, id, columns } as EditedBlock];
    });
  return { ...source, blocks: blocks(source?.blocks, "b") };
}

/** All blocks, those in columns after the block that they are in. */
export function allBlocks(document: EditedDocument): EditedBlock[] {
  return document.blocks.flatMap((block) => [block, ...(block.columns ?? []).flatMap((column) => column.blocks)]);
}

export function findBlock(document: EditedDocument, id: string | undefined): EditedBlock | undefined {
  return id === undefined ? undefined : allBlocks(document).find((block) => block.id === id);
}

/** Where a block is. */
export function placeOf(document: EditedDocument, id: string): Place | undefined {
  const index = document.blocks.findIndex((block) => block.id === id);
  if (index >= 0) return { index };
  for (const block of document.blocks)
    for (const [column, { blocks }] of (block.columns ?? []).entries()) {
      const inner = blocks.findIndex((each) => each.id === id);
      if (inner >= 0) return { parent: block.id, column, index: inner };
    }
  return undefined;
}

/** The blocks beside each other at a place. */
function siblings(document: EditedDocument, { parent, column }: Place): EditedBlock[] {
  if (parent === undefined) return document.blocks;
  return findBlock(document, parent)?.columns?.[column ?? 0]?.blocks ?? [];
}

function withSiblings(document: EditedDocument, { parent, column }: Place, blocks: EditedBlock[]): EditedDocument {
  if (parent === undefined) return { ...document, blocks };
  return changed(document, parent, (block) => ({
    ...block,
    columns: (block.columns ?? []).map((each, number) => (number === column ? { blocks } : each)),
  }));
}

/** The document with one block changed. */
export function changed(
  document: EditedDocument,
  id: string,
  change: (block: EditedBlock) => EditedBlock,
): EditedDocument {
  const blocks = document.blocks.map((block) => {
    if (block.id === id) return change(block);
    if (!block.columns?.some((column) => column.blocks.some((each) => each.id === id))) return block;
    const columns = block.columns.map((column) => ({
      blocks: column.blocks.map((each) => (each.id === id ? change(each) : each)),
    }));
    return { ...block, columns };
  });
  return { ...document, blocks };
}

export function removed(document: EditedDocument, id: string): EditedDocument {
  const place = placeOf(document, id);
  if (!place) return document;
  return withSiblings(
    document,
    place,
    siblings(document, place).filter((block) => block.id !== id),
  );
}

/** The document with a block put at a place. Columns are not put into columns. */
export function inserted(document: EditedDocument, block: EditedBlock, place: Place): EditedDocument {
  if (block.type === "columns" && place.parent !== undefined) return document;
  const blocks = [...siblings(document, place)];
  blocks.splice(place.index, 0, block);
  return withSiblings(document, place, blocks);
}

/** The document with a block moved to a place, which is one in the document before. */
export function moved(document: EditedDocument, id: string, place: Place): EditedDocument {
  const block = findBlock(document, id);
  const from = placeOf(document, id);
  if (!block || !from || place.parent === id || (block.type === "columns" && place.parent !== undefined))
    return document;
  const isSameList = from.parent === place.parent && from.column === place.column;
  const index = isSameList && from.index < place.index ? place.index - 1 : place.index;
  if (isSameList && index === from.index) return document;
  return inserted(removed(document, id), block, { ...place, index });
}

/**
 * Where a block goes with "Move up" (-1) or "Move down" (1): past its neighbour; from one column to the next; at the
 * edge of the columns, out of them.
 */
export function stepFrom(document: EditedDocument, id: string, step: -1 | 1): Place | undefined {
  const at = placeOf(document, id);
  if (!at) return undefined;
  const count = siblings(document, at).length;
  if (step < 0 && at.index > 0) return { ...at, index: at.index - 1 };
  if (step > 0 && at.index < count - 1) return { ...at, index: at.index + 2 };
  if (at.parent === undefined) return undefined;
  const column = (at.column ?? 0) + step;
  const columns = findBlock(document, at.parent)?.columns ?? [];
  const next = columns[column];
  if (next) return { parent: at.parent, column, index: step < 0 ? next.blocks.length : 0 };
  const outer = document.blocks.findIndex((block) => block.id === at.parent);
  return { index: step < 0 ? outer : outer + 1 };
}

/** A copy of a block with ids of its own. */
export function copied(block: EditedBlock): EditedBlock {
  const columns = block.columns?.map((column) => ({ blocks: column.blocks.map(copied) }));
  return { ...block, id: newId(), ...(columns && { columns }) };
}

/** The id of the block that a JSON pointer of the server leads into, such as `/builderJson/blocks/2/url`. */
export function blockAt(document: EditedDocument, pointer: string): string | undefined {
  const [, top, inner] = /^\/builderJson\/blocks\/(\d+)(?:\/columns\/(\d+\/blocks\/\d+))?/.exec(pointer) ?? [];
  const block = top === undefined ? undefined : document.blocks[Number(top)];
  if (!inner) return block?.id;
  const [column, , index] = inner.split("/");
  return block?.columns?.[Number(column)]?.blocks[Number(index)]?.id ?? block?.id;
}

/** The fields that say what a block looks like. */
const STYLE = ["size", "align", "color", "background"];

/** The document with the style of one block on all of its kind. */
export function spreadStyle(document: EditedDocument, id: string): EditedDocument {
  const source = findBlock(document, id);
  if (!source) return document;
  const style = Object.fromEntries(STYLE.map((name) => [name, source[name]]));
  const apply = (block: EditedBlock): EditedBlock => {
    const same = block.type === source.type && (block.type !== "heading" || block.level === source.level);
    const columns = block.columns?.map((column) => ({ blocks: column.blocks.map(apply) }));
    const fields = same ? { ...block, ...style } : block;
    return { ...fields, ...(columns && { columns }) } as EditedBlock;
  };
  return { ...document, blocks: document.blocks.map(apply).map(withoutUndefined) };
}

/** A block without fields that have no value: the server refuses null. */
export function withoutUndefined(block: EditedBlock): EditedBlock {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined)) as EditedBlock;
}
