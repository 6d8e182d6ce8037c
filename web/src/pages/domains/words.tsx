import type { DnsRecord, Domain } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { shortTime } from "../../parts/format";
import type { Tone } from "../../parts/parts";
import { type State, stateOf } from "./records";

interface Look {
  shape: Shape;
  tone: Tone;
  word: () => string;
}

/** How states of domains look. */
export const STATES: Record<State, Look> = {
  stopped: { shape: "failed", tone: "fail", word: m.domains_state_stopped },
  given_up: { shape: "failed", tone: "fail", word: m.domains_state_given_up },
  failing: { shape: "attention", tone: "bad", word: m.domains_state_failing },
  wrong: { shape: "attention", tone: "bad", word: m.domains_state_wrong },
  pending: { shape: "waiting", tone: "wait", word: m.domains_state_pending },
  ready: { shape: "yes", tone: "", word: m.domains_state_ready },
};

/** What a record is for, in plain words, with the name that the trade has for it. */
export const PURPOSES: Record<string, { what: () => string; term: () => string; why: () => string }> = {
  DKIM: { what: m.domains_dkim, term: m.domains_dkim_term, why: m.domains_dkim_why },
  DKIM_NEXT: { what: m.domains_dkim_next, term: m.domains_dkim_next_term, why: m.domains_dkim_next_why },
  DKIM_ED25519: { what: m.domains_ed25519, term: m.domains_ed25519_term, why: m.domains_ed25519_why },
  SPF: { what: m.domains_spf, term: m.domains_spf_term, why: m.domains_spf_why },
  RETURN_PATH: { what: m.domains_return_path, term: m.domains_return_path_term, why: m.domains_return_path_why },
  DMARC: { what: m.domains_dmarc, term: m.domains_dmarc_term, why: m.domains_dmarc_why },
  TRACKING: { what: m.domains_tracking, term: m.domains_tracking_term, why: m.domains_tracking_why },
};

const CERTIFICATE_STATES: Record<string, Look> = {
  PENDING: { shape: "waiting", tone: "", word: m.certificates_pending },
  ISSUED: { shape: "yes", tone: "", word: m.certificates_issued },
  RENEWING: { shape: "waiting", tone: "", word: m.certificates_renewing },
  FAILED: { shape: "attention", tone: "bad", word: m.certificates_failed },
};

/** How the state of a certificate looks. */
export function certificateLook(status: string): Look {
  return CERTIFICATE_STATES[status] ?? { shape: "no", tone: "", word: () => status };
}

/** The name of a record for a sentence: `Permission to send (SPF)`. */
export function nameOf({ purpose }: DnsRecord): string {
  const { what, term } = PURPOSES[purpose] ?? {};
  return what && term ? `${what()} (${term()})` : purpose;
}

/** How the state of a record looks. */
export function recordLook({ status }: DnsRecord, checked: boolean): Look {
  if (status === "VERIFIED") return { shape: "yes", tone: "", word: m.domains_record_right };
  if (status === "WRONG") return { shape: "attention", tone: "bad", word: m.domains_record_wrong };
  if (status === "UNKNOWN") return { shape: "no", tone: "", word: m.domains_record_unknown };
  return { shape: "waiting", tone: "", word: checked ? m.domains_record_missing : m.domains_record_new };
}

/** What is to be done about a domain, in one sentence; empty if nothing is. */
export function todoOf(domain: Domain): string {
  const wrong = domain.records.filter((each) => each.status === "WRONG");
  const missing = domain.records.filter((each) => each.status === "PENDING");
  switch (stateOf(domain)) {
    case "stopped":
      return m.domains_todo_stopped({ since: shortTime(domain.failingSince ?? domain.updatedAt) });
    case "given_up":
      return m.domains_todo_given_up();
    case "failing":
      return m.domains_todo_failing({ since: shortTime(domain.failingSince ?? domain.updatedAt) });
    case "wrong":
      return wrong.length === 1 && wrong[0]
        ? m.domains_todo_wrong_one({ record: nameOf(wrong[0]) })
        : m.domains_todo_wrong({ count: wrong.length });
    case "pending":
      if (wrong.some((each) => each.required)) return m.domains_todo_wrong_one({ record: m.domains_dkim() });
      return missing.length === 1 ? m.domains_todo_publish_one() : m.domains_todo_publish({ count: missing.length });
    case "ready": {
      const mistakes = domain.findings.filter((each) => each.severity === "ERROR").length;
      if (mistakes) return mistakes === 1 ? m.domains_todo_mistake() : m.domains_todo_mistakes({ count: mistakes });
      return missing.length
        ? m.domains_todo_optional({ records: missing.map((each) => shortNameOf(each)).join(", ") })
        : "";
    }
  }
}

function shortNameOf({ purpose }: DnsRecord): string {
  return PURPOSES[purpose]?.what() ?? purpose;
}

/** Whether someone should do something about a domain, other than what is only recommended. */
export function needsAttention(domain: Domain): boolean {
  return stateOf(domain) !== "ready" || domain.findings.some((each) => each.severity === "ERROR");
}
