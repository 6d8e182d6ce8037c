import type { ProjectChange, SignInChange, SignInSettings } from "@postern/sdk";
import type { Places } from "../settings/placed.ts";

/** The sign-in settings as the forms hold them: lists of texts have one entry a line, and what is not set is empty. */
export interface Draft {
  methods: string[];
  passkeyDomain: string;
  signUp: boolean;
  verifyEmail: string;
  contacts: string;
  requireMfa: boolean;
  requireSso: boolean;
  redirectUrls: string;
  allowedOrigins: string;
  mailFrom: string;
  securityMails: string[];
  customerClaims: string;
  organizationClaims: string;
  appName: string;
  logoUrl: string;
  accentColor: string;
}

export type Field = keyof Draft;

export const METHODS = ["PASSWORD", "EMAIL_CODE", "EMAIL_LINK", "PASSKEY"];
export const SECURITY_MAILS = [
  "NEW_DEVICE",
  "PASSWORD_CHANGED",
  "EMAIL_CHANGED",
  "MFA_CHANGED",
  "IDENTITY_CHANGED",
  "IMPERSONATED",
];

/** What a new project has. */
export const DEFAULTS: Draft = {
  methods: METHODS,
  passkeyDomain: "",
  signUp: true,
  verifyEmail: "REQUIRED",
  contacts: "NONE",
  requireMfa: false,
  requireSso: false,
  redirectUrls: "",
  allowedOrigins: "",
  mailFrom: "",
  securityMails: SECURITY_MAILS,
  customerClaims: "",
  organizationClaims: "",
  appName: "",
  logoUrl: "",
  accentColor: "",
};

export const FIELDS = Object.keys(DEFAULTS) as Field[];
/** The settings that the hosted pages show; the others decide how people sign in. */
export const BRAND: Field[] = ["appName", "logoUrl", "accentColor"];
export const RULES = FIELDS.filter((field) => !BRAND.includes(field));

const PATHS: Partial<Record<Field, string>> = {
  customerClaims: "tokenClaims/customer",
  organizationClaims: "tokenClaims/organization",
};
/** Where the errors of the API are shown. */
export const PLACES: Places = {
  ...Object.fromEntries(FIELDS.map((field) => [field, [`/settings/signIn/${PATHS[field] ?? field}`]])),
  requireSso: ["/settings/signIn/requireSso", "sso_not_ready"],
};

export function draftOf(settings: SignInSettings): Draft {
  const inOrder = (all: string[], on: string[]) => [
    ...all.filter((each) => on.includes(each)),
    ...on.filter((each) => !all.includes(each)),
  ];
  return {
    methods: inOrder(METHODS, settings.methods),
    passkeyDomain: settings.passkeyDomain ?? "",
    signUp: settings.signUp,
    verifyEmail: settings.verifyEmail,
    contacts: settings.contacts,
    requireMfa: settings.requireMfa,
    requireSso: settings.requireSso,
    redirectUrls: settings.redirectUrls.join("\n"),
    allowedOrigins: settings.allowedOrigins.join("\n"),
    mailFrom: settings.mailFrom ?? "",
    securityMails: inOrder(SECURITY_MAILS, settings.securityMails),
    customerClaims: settings.tokenClaims.customer.join("\n"),
    organizationClaims: settings.tokenClaims.organization.join("\n"),
    appName: settings.appName ?? "",
    logoUrl: settings.logoUrl ?? "",
    accentColor: settings.accentColor ?? "",
  };
}

/** Whether two drafts have the same in a field. Space around the entries of a list does not matter. */
export function isSame(field: Field, one: Draft, other: Draft): boolean {
  return JSON.stringify(normal(one[field])) === JSON.stringify(normal(other[field]));
}

function normal(value: string | boolean | string[]): string | boolean | string[] {
  if (Array.isArray(value)) return value.toSorted();
  return typeof value === "string" ? linesOf(value) : value;
}

export function differences(one: Draft, other: Draft, among: Field[] = FIELDS): Field[] {
  return among.filter((field) => !isSame(field, one, other));
}

/** Take some fields of one draft over into another. */
export function takenOver(into: Draft, from: Draft, fields: Field[]): Draft {
  return { ...into, ...Object.fromEntries(fields.map((field) => [field, from[field]])) };
}

/** The entries of a text with one a line. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** The request that makes the settings like a draft: only what differs, so that nothing else is overwritten. */
export function changeOf(base: Draft, draft: Draft): ProjectChange {
  const change: SignInChange = {};
  for (const field of differences(base, draft)) {
    switch (field) {
      case "customerClaims":
        change.tokenClaims = { ...change.tokenClaims, customer: linesOf(draft[field]) };
        break;
      case "organizationClaims":
        change.tokenClaims = { ...change.tokenClaims, organization: linesOf(draft[field]) };
        break;
      case "redirectUrls":
      case "allowedOrigins":
        change[field] = linesOf(draft[field]);
        break;
      case "passkeyDomain":
      case "mailFrom":
      case "appName":
      case "logoUrl":
      case "accentColor":
        change[field] = draft[field].trim() || null;
        break;
      default:
        Object.assign(change, { [field]: draft[field] });
    }
  }
  return { settings: { signIn: change } };
}
