import type {
  DirectoryConnection,
  DirectoryError,
  OrganizationDomain,
  OrganizationInvitation,
  SetupLink,
  SsoConnection,
} from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import type { Tone } from "../../parts/parts";
import type { Sort, Status } from "./routes";
import { isRefused, wasSeen } from "./values";

export interface Look {
  shape: Shape;
  tone: Tone;
  word: () => string;
}

export const STATES: Record<Status, Look> = {
  ACTIVE: { shape: "yes", tone: "", word: m.organizations_active },
  SUSPENDED: { shape: "failed", tone: "bad", word: m.organizations_suspended },
};

export function stateOf(status: string): Look {
  return STATES[status as Status] ?? { shape: "off", tone: "", word: () => status };
}

export const SORT_WORDS: Record<Sort, () => string> = {
  createdAt: m.organizations_sort_oldest,
  name: m.organizations_sort_name,
  "-name": m.organizations_sort_name_down,
  "-updatedAt": m.organizations_sort_changed,
};

/** How a member came to belong to the organization. */
export const SOURCES: Record<string, () => string> = {
  API: m.organizations_source_api,
  INVITATION: m.organizations_source_invitation,
  DOMAIN: m.organizations_source_domain,
  SSO: m.organizations_source_sso,
  SCIM: m.organizations_source_scim,
};

export function invitationLook({ status }: OrganizationInvitation): Look {
  switch (status) {
    case "PENDING":
      return { shape: "waiting", tone: "", word: m.organizations_inv_pending };
    case "ACCEPTED":
      return { shape: "yes", tone: "", word: m.organizations_inv_accepted };
    case "REVOKED":
      return { shape: "off", tone: "", word: m.organizations_inv_revoked };
    case "EXPIRED":
      return { shape: "no", tone: "", word: m.organizations_inv_expired };
    default:
      return { shape: "off", tone: "", word: () => status };
  }
}

export function setupLinkLook({ status }: SetupLink): Look {
  switch (status) {
    case "PENDING":
      return { shape: "waiting", tone: "", word: m.organizations_setup_pending };
    case "OPENED":
      return { shape: "waiting", tone: "wait", word: m.organizations_setup_opened };
    case "COMPLETED":
      return { shape: "yes", tone: "", word: m.organizations_setup_completed };
    case "REVOKED":
      return { shape: "off", tone: "", word: m.organizations_inv_revoked };
    case "EXPIRED":
      return { shape: "no", tone: "", word: m.organizations_inv_expired };
    default:
      return { shape: "off", tone: "", word: () => status };
  }
}

export function domainLook({ status }: OrganizationDomain): Look {
  switch (status) {
    case "PENDING":
      return { shape: "waiting", tone: "wait", word: m.organizations_dom_pending };
    case "VERIFIED":
      return { shape: "yes", tone: "", word: m.organizations_dom_verified };
    case "FAILED":
      return { shape: "failed", tone: "fail", word: m.organizations_dom_failed };
    case "LAPSED":
      return { shape: "attention", tone: "bad", word: m.organizations_dom_lapsed };
    default:
      return { shape: "off", tone: "", word: () => status };
  }
}

/** What the last check of a domain found, as a sentence. */
export function domainFinding({ status, reason, domain, recordName }: OrganizationDomain): string {
  if (reason === "DNS_UNAVAILABLE") return m.organizations_dom_unavailable({ domain });
  if (reason === "VERIFIED_BY_ANOTHER_ORGANIZATION") return m.organizations_dom_taken({ domain });
  if (status === "LAPSED") return m.organizations_dom_lapsed_lead();
  if (status === "FAILED") return m.organizations_dom_failed_lead({ name: recordName });
  if (status === "VERIFIED" && reason) return m.organizations_dom_missing({ name: recordName });
  if (status === "VERIFIED") return m.organizations_dom_found();
  return reason ? m.organizations_dom_not_found({ name: recordName }) : m.organizations_dom_not_looked();
}

/** A connection's state: also why an active one does not work. */
export function connectionLook({ status, held }: Pick<SsoConnection, "status" | "held">): Look {
  if (status === "ACTIVE" && held) return { shape: "attention", tone: "bad", word: m.organizations_sso_held };
  if (status === "ACTIVE") return { shape: "yes", tone: "", word: m.organizations_sso_active };
  if (status === "DRAFT") return { shape: "scheduled", tone: "", word: m.organizations_sso_draft };
  if (status === "INACTIVE") return { shape: "off", tone: "", word: m.organizations_sso_inactive };
  return { shape: "off", tone: "", word: () => status };
}

/** How a directory is: off, not seen yet, in trouble or well. */
export function directoryLook(directory: DirectoryConnection, now: number): Look {
  if (directory.status === "DISABLED") return { shape: "off", tone: "", word: m.organizations_dir_off };
  if (isRefused(directory, now)) return { shape: "attention", tone: "bad", word: m.organizations_dir_refused };
  if (!wasSeen(directory)) return { shape: "waiting", tone: "wait", word: m.organizations_dir_waiting };
  return { shape: "yes", tone: "", word: m.organizations_dir_connected };
}

/** What a refused request of a directory means, and what to do about it; undefined if only the server's words say it. */
export function directoryAdvice({ status, scimType }: DirectoryError): string | undefined {
  if (status === 403) return m.organizations_dir_why_off();
  if (status === 409) return scimType ? m.organizations_dir_why_taken() : m.organizations_dir_why_owner();
  if (status === 412) return m.organizations_dir_why_version();
  if (status === 429) return m.organizations_dir_why_slow();
  if (scimType === "tooMany") return m.organizations_dir_why_many();
  return scimType === "invalidValue" ? m.organizations_dir_why_value() : undefined;
}

/** Why an active connection does not work. */
export function heldWords({ held, domain }: SsoConnection): string {
  if (held === "DOMAIN_NOT_VERIFIED") return m.organizations_sso_held_domain({ domain });
  if (held === "ORGANIZATION_SUSPENDED") return m.organizations_sso_held_suspended();
  return held ?? "";
}

/** The connection that says most about an organization: a working one, else the one that is furthest. */
export function mainConnection<T extends Pick<SsoConnection, "status" | "held">>(connections: T[]): T | undefined {
  const rank = ({ status, held }: T) => (status === "ACTIVE" ? (held ? 1 : 0) : status === "INACTIVE" ? 2 : 3);
  return connections.toSorted((first, second) => rank(first) - rank(second))[0];
}

const KINDS: Record<string, () => string> = {
  SIGN_ON: m.organizations_trace_sign_on,
  TEST: m.organizations_trace_test,
  LOGOUT: m.organizations_trace_logout,
};

export function kindWord(kind: string): string {
  return KINDS[kind]?.() ?? kind;
}

const STEPS: Record<string, () => string> = {
  size: m.organizations_step_size,
  markup: m.organizations_step_markup,
  xml: m.organizations_step_xml,
  message: m.organizations_step_message,
  status: m.organizations_step_status,
  response: m.organizations_step_response,
  "response signature": m.organizations_step_response_signature,
  "assertion signature": m.organizations_step_assertion_signature,
  assertion: m.organizations_step_assertion,
  issuer: m.organizations_step_issuer,
  "response issuer": m.organizations_step_issuer,
  "assertion issuer": m.organizations_step_issuer,
  destination: m.organizations_step_destination,
  "issue instant": m.organizations_step_issued,
  "response issue instant": m.organizations_step_issued,
  "assertion issue instant": m.organizations_step_issued,
  subject: m.organizations_step_subject,
  audience: m.organizations_step_audience,
  conditions: m.organizations_step_conditions,
  times: m.organizations_step_times,
  confirmation: m.organizations_step_confirmation,
  recipient: m.organizations_step_recipient,
  "in response to": m.organizations_step_in_response_to,
  authentication: m.organizations_step_authentication,
  attributes: m.organizations_step_attributes,
  connection: m.organizations_step_connection,
  domain: m.organizations_step_domain,
  organization: m.organizations_step_organization,
  person: m.organizations_step_person,
  email: m.organizations_step_email,
  "sign-on": m.organizations_step_sign_on,
};

/** A check in words; one that is newer than this page as the server names it. */
export function stepWord(step: string): string {
  return STEPS[step]?.() ?? step;
}

const REASONS: Record<string, () => string> = {
  REPLAYED: m.organizations_why_replayed,
  NOT_ACTIVE: m.organizations_why_not_active,
  DOMAIN_NOT_VERIFIED: m.organizations_why_domain,
  ORGANIZATION_SUSPENDED: m.organizations_why_suspended,
  TRANSIENT_SUBJECT: m.organizations_why_subject,
  EMAIL_MISSING: m.organizations_why_email_missing,
  EMAIL_OUTSIDE: m.organizations_why_email_outside,
  ACCOUNT_NOT_LINKED: m.organizations_why_not_linked,
  IDENTITY_CONFLICT: m.organizations_why_conflict,
  IDENTITY_HELD: m.organizations_why_held,
  SIGN_UP_CLOSED: m.organizations_why_sign_up,
  SIGN_IN_BLOCKED: m.organizations_why_blocked,
  UNKNOWN_CERTIFICATE: m.organizations_why_certificate,
  CERTIFICATE_EXPIRED: m.organizations_why_expired,
  SIGNATURE_INVALID: m.organizations_why_signature,
  UNSIGNED: m.organizations_why_unsigned,
  WRONG_ISSUER: m.organizations_why_issuer,
  WRONG_AUDIENCE: m.organizations_why_audience,
  WRONG_DESTINATION: m.organizations_why_destination,
  WRONG_RECIPIENT: m.organizations_why_destination,
  EXPIRED: m.organizations_why_times,
  NOT_YET_VALID: m.organizations_why_times,
  STATUS_NOT_SUCCESS: m.organizations_why_status,
  UNSOLICITED: m.organizations_why_unsolicited,
  NOT_CONFIGURED: m.organizations_why_not_configured,
  TOO_MANY_MEMBERS: m.organizations_why_too_many,
  NOWHERE_TO_GO: m.organizations_why_nowhere,
};

/** Why an attempt was refused and what to do about it; undefined if only the server's words say it. */
export function reasonWord(reason: string | null): string | undefined {
  return reason ? REASONS[reason]?.() : undefined;
}
