import type { Webhook, WebhookDelivery } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { shortTime } from "../../parts/format";
import type { Tone } from "../../parts/parts";

export interface State {
  shape: Shape;
  tone: Tone;
  word: string;
}

/** How a webhook is at a glance. `last` is its newest delivery: undefined while unknown, null if there is none. */
export function healthOf(webhook: Webhook, last?: WebhookDelivery | null): State {
  if (!webhook.active)
    return webhook.disabledReason
      ? { shape: "failed", tone: "fail", word: m.developers_hook_disabled() }
      : { shape: "off", tone: "", word: m.developers_hook_off() };
  if (webhook.failingSince)
    return {
      shape: "bounced",
      tone: "bad",
      word: m.developers_hook_failing({ since: shortTime(webhook.failingSince) }),
    };
  if (last === null) return { shape: "off", tone: "", word: m.developers_hook_unused() };
  return { shape: "yes", tone: "", word: m.developers_hook_working() };
}

/** The tone of a state as the one of its page: what is well is tinted, too. */
export function pillTone({ shape, tone }: State): "" | "good" | "wait" | "bad" | "fail" {
  if (tone && tone !== "comp") return tone;
  return shape === "yes" || shape === "delivered" ? "good" : "";
}

/** A webhook's description, else its URL without the scheme: `example.com/hooks`. */
export function nameOf({ description, url }: Pick<Webhook, "description" | "url">): string {
  return description || url.replace(/^https?:\/\//, "").replace(/\/$/, "");
}

/** The result of a delivery in words. */
export function outcomeOf({ status, attempts }: Pick<WebhookDelivery, "status" | "attempts">): State {
  if (status === "SUCCEEDED") return { shape: "delivered", tone: "", word: m.developers_del_delivered() };
  if (status === "FAILED") return { shape: "failed", tone: "fail", word: m.developers_del_failed() };
  return attempts > 0
    ? { shape: "waiting", tone: "wait", word: m.developers_del_retrying() }
    : { shape: "waiting", tone: "", word: m.developers_del_waiting() };
}

/** What the endpoint answered, or why it did not. */
export function answerOf({ responseStatus, errorMessage, attempts }: WebhookDelivery): string {
  if (responseStatus !== null) return m.developers_answered({ status: responseStatus });
  return errorMessage ?? (attempts ? "" : m.developers_not_called());
}
