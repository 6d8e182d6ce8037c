import type { InboundMessage, InboundSummary, MailContact } from "@postern/sdk";
import { queryOptions } from "@tanstack/react-query";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import type { Tone } from "../../parts/parts";
import { api } from "../../session/server";

/** As many routes as a project can have. */
const MOST_ROUTES = 1_000;

/** The addresses that receive mail. */
export function routesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["emails", projectId, "routes"],
    queryFn: async ({ signal }) => (await api(projectId).inbound.routes.list({ limit: MOST_ROUTES }, { signal })).data,
  });
}

/** A sender as lists show it: the name, or the address without one. */
export function senderOf(contact: MailContact | null): string {
  return contact ? contact.name || contact.email : m.received_no_sender();
}

/** Whether the domain of the sender is proven. */
export function authenticityOf({ dmarc }: Pick<InboundSummary, "dmarc">): {
  shape: Shape;
  tone: Tone;
  word: () => string;
} {
  if (dmarc === "pass") return { shape: "yes", tone: "", word: m.received_proven };
  if (dmarc === "fail") return { shape: "attention", tone: "bad", word: m.received_forged };
  return { shape: "no", tone: "", word: m.received_unproven };
}

/** The types of images that are shown within a message. */
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Octets of all images of a message that are shown within it. */
const IMAGE_OCTETS = 4_194_304;

/** The images that the HTML of a message shows from its attachments, as `data:` URLs by their content ids. */
export async function inlineImages(
  projectId: string,
  { id, html, attachments }: InboundMessage,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const images = new Map<string, string>();
  let octets = 0;
  for (const { id: number, contentId, contentType, size } of attachments) {
    if (!contentId || !IMAGES.includes(contentType) || !html?.includes(`cid:${contentId}`)) continue;
    octets += size;
    if (octets > IMAGE_OCTETS) break;
    const content = await api(projectId).inbound.getAttachment(id, number, { signal });
    images.set(contentId, `data:${contentType};base64,${base64(content)}`);
  }
  return images;
}

function base64(octets: Uint8Array): string {
  let text = "";
  for (const octet of octets) text += String.fromCharCode(octet);
  return btoa(text);
}

/** HTML with the images of its attachments in place of their `cid:` URLs (RFC 2392). */
export function withImages(html: string, images: ReadonlyMap<string, string>): string {
  let shown = html;
  for (const [contentId, url] of images) shown = shown.replaceAll(`cid:${contentId}`, url);
  return shown;
}
