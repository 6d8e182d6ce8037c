import { m } from "../../messages/messages.js";

/** Why an address gets no mail, in words that go after "because". */
export const REASONS: Record<string, () => string> = {
  BOUNCE: m.emails_reason_bounce,
  COMPLAINT: m.emails_reason_complaint,
  UNSUBSCRIBE: m.emails_reason_unsubscribe,
  MANUAL: m.emails_reason_manual,
};

/** The same as one word. */
export const REASON_WORDS: Record<string, () => string> = {
  BOUNCE: m.status_bounced,
  COMPLAINT: m.status_complaint,
  UNSUBSCRIBE: m.emails_reason_word_unsubscribe,
  MANUAL: m.emails_reason_word_manual,
};

/** Who put it there. */
export const SOURCES: Record<string, () => string> = {
  api: m.emails_source_api,
  reply: m.emails_source_reply,
  unsubscribe: m.emails_source_unsubscribe,
};
