import { m } from "../../messages/messages.js";
import { type Draft, type Field, linesOf } from "./signIn";

const FIELD_WORDS: Record<Field, () => string> = {
  methods: m.access_methods,
  passkeyDomain: m.access_passkey_domain,
  signUp: m.access_sign_up,
  verifyEmail: m.access_verify,
  contacts: m.access_contacts,
  requireMfa: m.access_mfa,
  requireSso: m.access_sso,
  redirectUrls: m.access_redirects,
  allowedOrigins: m.access_origins,
  mailFrom: m.access_mail_from,
  securityMails: m.access_mails,
  customerClaims: m.access_claims_customer,
  organizationClaims: m.access_claims_organization,
  appName: m.access_app_name,
  logoUrl: m.access_logo,
  accentColor: m.access_accent,
};

export const METHOD_WORDS: Record<string, { label: () => string; hint: () => string }> = {
  PASSWORD: { label: m.access_method_password, hint: m.access_method_password_hint },
  EMAIL_CODE: { label: m.access_method_code, hint: m.access_method_code_hint },
  EMAIL_LINK: { label: m.access_method_link, hint: m.access_method_link_hint },
  PASSKEY: { label: m.access_method_passkey, hint: m.access_method_passkey_hint },
};

export const MAIL_WORDS: Record<string, () => string> = {
  NEW_DEVICE: m.access_mail_new_device,
  PASSWORD_CHANGED: m.access_mail_password,
  EMAIL_CHANGED: m.access_mail_email,
  MFA_CHANGED: m.access_mail_mfa,
  IDENTITY_CHANGED: m.access_mail_identity,
  IMPERSONATED: m.access_mail_impersonated,
};

/** Words for the values of settings that are one of several. */
const CHOICE_WORDS: Partial<Record<Field, Record<string, () => string>>> = {
  signUp: { true: m.access_sign_up_open, false: m.access_sign_up_closed },
  verifyEmail: { REQUIRED: m.access_verify_required, LATER: m.access_verify_later },
  contacts: { NONE: m.access_contacts_none, LINK: m.access_contacts_link, CREATE: m.access_contacts_create },
  requireMfa: { true: m.settings_on, false: m.settings_off },
  requireSso: { true: m.settings_on, false: m.settings_off },
};

/** A setting in words. */
export function fieldWord(field: Field): string {
  return FIELD_WORDS[field]();
}

/** The value of a setting in words. */
export function valueWords(field: Field, draft: Draft): string {
  const value = draft[field];
  if (Array.isArray(value)) {
    const word = (key: string) => (METHOD_WORDS[key]?.label ?? MAIL_WORDS[key])?.() ?? key;
    return value.map(word).join(", ") || m.access_none();
  }
  const choice = CHOICE_WORDS[field]?.[String(value)];
  if (choice) return choice();
  return linesOf(String(value)).join(", ") || m.access_none();
}
