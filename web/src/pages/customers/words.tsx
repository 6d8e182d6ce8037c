import type { Customer, TimelineEntry } from "@postern/sdk";
import {
  type Icon,
  IconAppWindow,
  IconBan,
  IconBrandApple,
  IconBrandDiscord,
  IconBrandFacebook,
  IconBrandGithub,
  IconBrandGitlab,
  IconBrandGoogle,
  IconBrandLinkedin,
  IconBrandSlack,
  IconBrandWindows,
  IconBrandX,
  IconFileCheck,
  IconFingerprint,
  IconKey,
  IconLink,
  IconLock,
  IconLogin2,
  IconLogout,
  IconMail,
  IconShieldLock,
  IconUserCheck,
  IconUserEdit,
  IconUserPlus,
  IconUserX,
} from "@tabler/icons-react";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import type { Tone } from "../../parts/parts";
import type { State } from "./history";
import type { Status } from "./routes";

interface Look {
  shape: Shape;
  tone: Tone;
  word: () => string;
}

/** How states of customers look. */
export const STATES: Record<State, Look> = {
  blocked: { shape: "failed", tone: "fail", word: m.customers_state_blocked },
  locked: { shape: "attention", tone: "bad", word: m.customers_state_locked },
  unconfirmed: { shape: "waiting", tone: "", word: m.customers_state_unconfirmed },
  active: { shape: "yes", tone: "", word: m.customers_state_active },
};

/** The states by which the list can be filtered, in words. */
export const STATUS_WORDS: Record<Status, () => string> = {
  active: m.customers_status_active,
  banned: m.customers_state_blocked,
  locked: m.customers_state_locked,
  unverified: m.customers_state_unconfirmed,
  mfa: m.customers_second_factor,
};

/** What a customer is called: by name, else by what identifies it. */
export function nameOf({ name, email, externalUserId, phone, id }: Customer): string {
  return name || email || externalUserId || phone || id;
}

/** Two letters for a round mark. */
export function initialsOf(customer: Customer): string {
  const words = nameOf(customer)
    .split(/[\s@._-]+/)
    .filter(Boolean);
  return ([...(words[0] ?? "")][0] ?? "").toUpperCase() + ([...(words[1] ?? "")][0] ?? "").toUpperCase();
}

const METHODS: Record<string, { word: () => string; icon: Icon }> = {
  PASSWORD: { word: m.customers_method_password, icon: IconLock },
  EMAIL_CODE: { word: m.customers_method_code, icon: IconMail },
  PASSKEY: { word: m.customers_method_passkey, icon: IconFingerprint },
  SAML: { word: m.customers_method_sso, icon: IconShieldLock },
  GOOGLE: { word: () => "Google", icon: IconBrandGoogle },
  GITHUB: { word: () => "GitHub", icon: IconBrandGithub },
  GITLAB: { word: () => "GitLab", icon: IconBrandGitlab },
  DISCORD: { word: () => "Discord", icon: IconBrandDiscord },
  SLACK: { word: () => "Slack", icon: IconBrandSlack },
  LINKEDIN: { word: () => "LinkedIn", icon: IconBrandLinkedin },
  FACEBOOK: { word: () => "Facebook", icon: IconBrandFacebook },
  X: { word: () => "X", icon: IconBrandX },
  APPLE: { word: () => "Apple", icon: IconBrandApple },
  MICROSOFT: { word: () => "Microsoft", icon: IconBrandWindows },
};

/** The ways to sign in that need no provider. */
export const OWN_METHODS = ["PASSWORD", "EMAIL_CODE", "PASSKEY"];

/** A way to sign in, in words; a provider that is not known by its key. */
export function methodWord(key: string): string {
  return METHODS[key]?.word() ?? key;
}

export function methodIcon(key: string): Icon {
  return METHODS[key]?.icon ?? IconKey;
}

const FACTORS: Record<string, () => string> = {
  pwd: m.customers_amr_pwd,
  otp: m.customers_amr_otp,
  totp: m.customers_amr_totp,
  recovery: m.customers_amr_recovery,
  hwk: m.customers_amr_hwk,
  fed: m.customers_amr_fed,
};
/** Methods that say nothing beside the others: that a passkey asked for the person, and that there were two factors. */
const SILENT = ["user", "mfa"];

/** How someone signed in: `password, authenticator app`. */
export function methodsWord(methods: unknown): string {
  if (!Array.isArray(methods)) return "";
  return methods
    .filter((each) => !SILENT.includes(String(each)))
    .map((each) => FACTORS[String(each)]?.() ?? String(each))
    .join(", ");
}

interface Said {
  word: () => string;
  icon: Icon;
  /** Something that a person should look at. */
  isTrouble?: boolean;
}

/** What happened to a customer, by the type of the event or of the entry in the audit log. */
const HAPPENED: Record<string, Said> = {
  "session.started": { word: m.customers_did_signed_in, icon: IconLogin2 },
  "customer.signed_up": { word: m.customers_did_signed_up, icon: IconUserPlus },
  "customer.created": { word: m.customers_did_created, icon: IconUserPlus },
  "customer.signed_in": { word: m.customers_did_signed_in, icon: IconLogin2 },
  "customer.sign_in_failed": { word: m.customers_did_sign_in_failed, icon: IconLock, isTrouble: true },
  "customer.signed_out": { word: m.customers_did_signed_out, icon: IconLogout },
  "customer.stepped_up": { word: m.customers_did_stepped_up, icon: IconShieldLock },
  "customer.locked": { word: m.customers_did_locked, icon: IconLock, isTrouble: true },
  "customer.unlocked": { word: m.customers_did_unlocked, icon: IconLock },
  "customer.email_verified": { word: m.customers_did_email_verified, icon: IconUserCheck },
  "customer.password_changed": { word: m.customers_did_password_changed, icon: IconLock },
  "customer.mfa_enabled": { word: m.customers_did_mfa_enabled, icon: IconShieldLock },
  "customer.mfa_disabled": { word: m.customers_did_mfa_disabled, icon: IconShieldLock },
  "customer.mfa_reset": { word: m.customers_did_mfa_reset, icon: IconShieldLock },
  "customer.passkey_added": { word: m.customers_did_passkey_added, icon: IconFingerprint },
  "customer.passkey_removed": { word: m.customers_did_passkey_removed, icon: IconFingerprint },
  "customer.session_revoked": { word: m.customers_did_session_revoked, icon: IconLogout },
  "customer.sessions_revoked": { word: m.customers_did_sessions_revoked, icon: IconLogout },
  "customer.sign_in_denied": { word: m.customers_did_sign_in_denied, icon: IconBan, isTrouble: true },
  "customer.terms_accepted": { word: m.customers_did_terms_accepted, icon: IconFileCheck },
  "customer.impersonated": { word: m.customers_did_impersonated, icon: IconUserCheck },
  "customer.impersonation_ended": { word: m.customers_did_impersonation_ended, icon: IconLogout },
  "customer.banned": { word: m.customers_did_banned, icon: IconBan, isTrouble: true },
  "customer.unbanned": { word: m.customers_did_unbanned, icon: IconUserCheck },
  "customer.updated": { word: m.customers_did_updated, icon: IconUserEdit },
  "customer.metadata_updated": { word: m.customers_did_metadata_updated, icon: IconUserEdit },
  "customer.roles_updated": { word: m.customers_did_roles_updated, icon: IconUserCheck },
  "customer.linked": { word: m.customers_did_linked, icon: IconLink },
  "customer.unlinked": { word: m.customers_did_unlinked, icon: IconLink },
  "customer.identity_held": { word: m.customers_did_identity_held, icon: IconLink, isTrouble: true },
  "customer.identity_approved": { word: m.customers_did_identity_approved, icon: IconLink },
  "customer.identity_rejected": { word: m.customers_did_identity_rejected, icon: IconLink },
  "customer.mail_failed": { word: m.customers_did_mail_failed, icon: IconMail, isTrouble: true },
  "customer.mail_text_failed": { word: m.customers_did_mail_text_failed, icon: IconMail, isTrouble: true },
  "oauth_consent.revoked": { word: m.customers_did_consent_revoked, icon: IconAppWindow },
  "customer.deleted": { word: m.customers_did_deleted, icon: IconUserX },
};

/** What happened, in words: the server's own where it is something newer than this page. */
export function happened({ type, title }: Pick<TimelineEntry, "type" | "title">): Said {
  return HAPPENED[type] ?? { word: () => title, icon: IconUserEdit };
}

/** The languages of pages and mails to customers. */
const LANGUAGES = ["en", "de", "es", "fr", "pt", "ja"];

/** The languages to choose from: those of pages and mails, and the one that a customer has, which can be any other. */
export function languagesWith(stored: string): string[] {
  return LANGUAGES.includes(stored) || !stored ? LANGUAGES : [...LANGUAGES, stored];
}

/** The name of a language by its tag, in the language of the dashboard; the tag, if the browser does not know it. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames([document.documentElement.lang || "en"], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

const FIELDS: Record<string, () => string> = {
  email: m.customers_field_email,
  emailVerifiedAt: m.customers_field_email_verified,
  name: m.customers_field_name,
  language: m.customers_field_language,
  phone: m.customers_field_phone,
  phoneVerifiedAt: m.customers_field_phone_verified,
};

/** What the data of an entry say beside its title, quietly; empty if nothing. */
export function detailOf({ type, data }: Pick<TimelineEntry, "type" | "data">): string {
  const texts = (name: string) => (Array.isArray(data[name]) ? data[name].map(String) : []);
  const said = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  switch (type) {
    case "customer.updated":
      return texts("changed")
        .map((each) => FIELDS[each]?.() ?? each)
        .join(", ");
    case "customer.metadata_updated":
      return texts("keys").join(", ");
    case "customer.roles_updated":
      return texts("roles").join(", ") || m.customers_no_roles();
    case "customer.signed_in":
      return methodsWord(data.methods);
    case "customer.signed_up":
      return said("method") === "API" ? m.customers_by_api() : methodWord(said("method"));
    case "customer.sign_in_failed":
    case "customer.locked":
      return [said("method") && methodWord(said("method")), said("ipAddress")].filter(Boolean).join(", ");
    case "customer.banned":
      return said("reason");
    case "customer.mail_failed":
    case "customer.mail_text_failed":
      return said("reason");
    case "customer.linked":
      return said("mergedCustomerId") ? m.customers_did_merged() : methodWord(said("provider"));
    case "customer.unlinked":
    case "customer.identity_held":
    case "customer.identity_approved":
    case "customer.identity_rejected":
      return methodWord(said("provider"));
    case "customer.passkey_added":
      return said("name");
    default:
      return "";
  }
}

/** Where an entitlement comes from, in words. */
export const SOURCES: Record<string, () => string> = {
  OVERRIDE: m.customers_source_override,
  PLAN: m.customers_source_plan,
  DEFAULT: m.customers_source_default,
};
