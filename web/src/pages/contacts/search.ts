import { text } from "../../parts/search";

export type SubscriptionState = "subscribed" | "unsubscribed";

/** The filters of the contacts as they stand in the URL. Within an audience, the API has no others. */
export interface ContactsSearch {
  q?: string;
  state?: SubscriptionState;
  audience?: string;
}

export function readContactsSearch(search: Record<string, unknown>): ContactsSearch {
  const audience = text(search.audience);
  if (audience) return { audience };
  const q = text(search.q);
  const { state } = search;
  return { ...(q && { q }), ...((state === "subscribed" || state === "unsubscribed") && { state }) };
}

/** The state as the parameter `unsubscribed` of the API. */
export function unsubscribedIn(state: SubscriptionState | undefined): boolean | undefined {
  return state && state === "unsubscribed";
}

export type AudienceType = "DYNAMIC" | "STATIC";

export interface AudiencesSearch {
  q?: string;
  type?: AudienceType;
}

export function readAudiencesSearch(search: Record<string, unknown>): AudiencesSearch {
  const q = text(search.q);
  const { type } = search;
  return { ...(q && { q }), ...((type === "DYNAMIC" || type === "STATIC") && { type }) };
}
