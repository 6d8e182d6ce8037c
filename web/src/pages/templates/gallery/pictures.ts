import { type Block, type BlockDocument, PICTURE } from "./kit.ts";

/** The blocks of a list, with those in columns. */
function allBlocks(blocks: Block[]): Block[] {
  return blocks.flatMap((block) => [block, ...columnsOf(block).flatMap((column) => allBlocks(column.blocks))]);
}

function columnsOf(block: Block): { blocks: Block[] }[] {
  return block.type === "columns" ? (block.columns as { blocks: Block[] }[]) : [];
}

function pictureOf({ url }: Block): string | undefined {
  return typeof url === "string" && url.startsWith(PICTURE) ? url.slice(PICTURE.length) : undefined;
}

/** The blocks of a document with pictures of the gallery. */
export function pictureBlocks(document: BlockDocument): Block[] {
  return allBlocks(document.blocks).filter((block) => pictureOf(block) !== undefined);
}

/** The names of the pictures of the gallery in a document. */
export function picturesOf(document: BlockDocument): string[] {
  return [...new Set(pictureBlocks(document).flatMap((block) => pictureOf(block) ?? []))];
}

/** The document with addresses in the place of the names of pictures. */
export function withPictures(document: BlockDocument, urls: Map<string, string>): BlockDocument {
  const replaced = (block: Block): Block => {
    const picture = pictureOf(block);
    if (picture !== undefined) return { ...block, url: urls.get(picture) ?? block.url };
    if (block.type !== "columns") return block;
    return {
      ...block,
      columns: columnsOf(block).map((column) => ({ ...column, blocks: column.blocks.map(replaced) })),
    };
  };
  return { ...document, blocks: document.blocks.map(replaced) };
}

/** The document without the pictures of the gallery. */
export function withoutPictures(document: BlockDocument): BlockDocument {
  const kept = (blocks: Block[]): Block[] =>
    blocks.flatMap((block) => {
      if (pictureOf(block) !== undefined) return [];
      if (block.type !== "columns") return [block];
      return [{ ...block, columns: columnsOf(block).map((column) => ({ ...column, blocks: kept(column.blocks) })) }];
    });
  return { ...document, blocks: kept(document.blocks) };
}
