import { m } from "../../messages/messages.js";
import { type Language, languageName } from "./mailText";
import {
  type CORNERS,
  type ColorField,
  type ColorName,
  type Draft,
  type Field,
  linesOf,
  type Scheme,
  type TextField,
  type TextName,
} from "./signIn";

const FIELD_WORDS: Record<Exclude<Field, ColorField | TextField>, () => string> = {
  methods: m.access_methods,
  passkeyDomain: m.access_passkey_domain,
  pagesDomain: m.access_pages_domain,
  signUp: m.access_sign_up,
  verifyEmail: m.access_verify,
  contacts: m.access_contacts,
  requireMfa: m.access_mfa,
  requireSso: m.access_sso,
  rememberedDeviceDays: m.access_devices,
  requireTerms: m.access_require_terms,
  termsVersion: m.access_terms_version,
  redirectUrls: m.access_redirects,
  allowedOrigins: m.access_origins,
  mailFrom: m.access_mail_from,
  securityMails: m.access_mails,
  customerClaims: m.access_claims_customer,
  organizationClaims: m.access_claims_organization,
  appName: m.access_app_name,
  logoUrl: m.access_logo,
  accentColor: m.access_accent,
  corners: m.access_corners,
  font: m.access_font,
  headingFont: m.access_heading_font,
  pictureUrl: m.access_picture,
  defaultLanguage: m.access_default_language,
  privacyUrl: m.access_privacy,
  termsUrl: m.access_terms,
  helpUrl: m.access_help,
  accountDeletion: m.access_deletion,
  organizationSetup: m.access_organization_setup,
  clientRegistration: m.access_registration,
  clientMetadataDocuments: m.access_documents,
};

export const SCHEME_WORDS: Record<Scheme, () => string> = { light: m.light, dark: m.dark };

export const COLOR_WORDS: Record<ColorName, { label: () => string; hint: () => string }> = {
  accent: { label: m.access_color_accent, hint: m.access_color_accent_hint },
  page: { label: m.access_color_page, hint: m.access_color_page_hint },
  card: { label: m.access_color_card, hint: m.access_color_card_hint },
  ink: { label: m.access_color_ink, hint: m.access_color_ink_hint },
  muted: { label: m.access_color_muted, hint: m.access_color_muted_hint },
  line: { label: m.access_color_line, hint: m.access_color_line_hint },
};

export const CORNER_WORDS: Record<(typeof CORNERS)[number], () => string> = {
  SQUARE: m.access_corners_square,
  SMALL: m.access_corners_small,
  MEDIUM: m.access_corners_medium,
  LARGE: m.access_corners_large,
};

export const FONT_WORDS: Record<string, () => string> = {
  SYSTEM: m.access_font_system,
  SERIF: m.access_font_serif,
  HUMANIST: m.access_font_humanist,
  GEOMETRIC: m.access_font_geometric,
  ROUNDED: m.access_font_rounded,
  MONOSPACE: m.access_font_monospace,
};

export const TEXT_WORDS: Record<TextName, () => string> = {
  signInTitle: m.access_text_sign_in_title,
  signInLead: m.access_text_sign_in_lead,
  signInButton: m.access_text_sign_in_button,
  signUpTitle: m.access_text_sign_up_title,
  signUpLead: m.access_text_sign_up_lead,
  signUpButton: m.access_text_sign_up_button,
  footer: m.access_text_footer,
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
  accountDeletion: { true: m.settings_on, false: m.settings_off },
  organizationSetup: { true: m.settings_on, false: m.settings_off },
  requireTerms: { true: m.settings_on, false: m.settings_off },
  clientMetadataDocuments: { true: m.settings_on, false: m.settings_off },
  clientRegistration: {
    OFF: m.access_registration_off,
    TOKEN: m.access_registration_token,
    OPEN: m.access_registration_open,
  },
  corners: CORNER_WORDS,
  font: FONT_WORDS,
  headingFont: FONT_WORDS,
};

/** A setting in words. */
export function fieldWord(field: Field): string {
  const [area, part = "", name = ""] = field.split("/");
  if (area === "theme")
    return m.access_color_of({
      name: COLOR_WORDS[name as ColorName].label(),
      scheme: SCHEME_WORDS[part as Scheme](),
    });
  if (area === "pageTexts")
    return m.access_text_of({ name: TEXT_WORDS[name as TextName](), language: languageName(part as Language) });
  return FIELD_WORDS[field as keyof typeof FIELD_WORDS]();
}

/** The value of a setting in words. */
export function valueWords(field: Field, draft: Draft): string {
  const value = draft[field];
  if (Array.isArray(value)) {
    const word = (key: string) => (METHOD_WORDS[key]?.label ?? MAIL_WORDS[key])?.() ?? key;
    return value.map(word).join(", ") || m.access_none();
  }
  if (field === "defaultLanguage") return languageName(String(value) || "en");
  const choice = CHOICE_WORDS[field]?.[String(value)];
  if (choice) return choice();
  return linesOf(String(value)).join(", ") || m.access_none();
}
