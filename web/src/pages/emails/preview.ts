import { API, send } from "../../session/server";

/** What to show: an e-mail of the log, or a captured message of the inbox. */
export type Previewed = { sendId: string } | { messageId: string };

/** The server gives no preview of this e-mail, and says why. */
export class NoPreview extends Error {}

/**
 * A short-lived URL of the e-mail's HTML, which forbids everything but looking at it. Images of other servers are
 * loaded only with `images`, because they tell the sender that someone looks.
 */
export async function previewUrl(
  projectId: string,
  of: Previewed,
  images: boolean,
  signal: AbortSignal,
): Promise<string> {
  const message = "sendId" in of ? `emails/logs/${of.sendId}` : `inbox/${of.messageId}`;
  const response = await send(`${API}/projects/${projectId}/${message}/preview`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ images }),
    signal,
  });
  const body = (await response.json().catch(() => ({}))) as { path?: string; detail?: string };
  if (!response.ok) throw new NoPreview(body.detail ?? response.statusText);
  // The frame shows nothing but previews of this server.
  if (!body.path?.startsWith("/dashboard/preview/")) throw new NoPreview();
  return body.path;
}
