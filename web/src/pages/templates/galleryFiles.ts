import { api } from "../../session/server";
import type { BlockDocument, Language, Starter } from "./gallery";
import { picturesOf, withPictures } from "./gallery/pictures";

const PICTURES = import.meta.glob<string>("./gallery/pictures/*.png", {
  eager: true,
  query: "?url",
  import: "default",
});
const THUMBNAILS = import.meta.glob<string>("./gallery/thumbnails/*.webp", {
  eager: true,
  query: "?url",
  import: "default",
});

/** Where the small picture of a template of the gallery is. */
export function thumbnailOf({ key }: Starter, language: Language): string | undefined {
  return THUMBNAILS[`./gallery/thumbnails/${key}.${language}.webp`];
}

/** The document with its pictures of the gallery as images of the project; the server stores the same image once. */
export async function withUploadedPictures(document: BlockDocument, projectId: string): Promise<BlockDocument> {
  const uploaded = picturesOf(document).map(async (name) => {
    const response = await fetch(PICTURES[`./gallery/pictures/${name}.png`] ?? "");
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    const { url } = await api(projectId).assets.create(await response.blob(), { name: `${name}.png` });
    return [name, url] as const;
  });
  return withPictures(document, new Map(await Promise.all(uploaded)));
}
