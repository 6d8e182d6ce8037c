import type { PageTexts, ProjectChange, SignInSettings, ThemeColors } from "@postern/sdk";
import type { Places } from "../settings/placed.ts";
import { LANGUAGES, type Language } from "./mailText.ts";

export const SCHEMES = ["light", "dark"] as const;
export type Scheme = (typeof SCHEMES)[number];
export const COLORS = ["accent", "page", "card", "ink", "muted", "line"] as const satisfies (keyof ThemeColors)[];
export type ColorName = (typeof COLORS)[number];
/** The texts of the hosted pages that a project can write. */
export const TEXTS = [
  "signInTitle",
  "signInLead",
  "signInButton",
  "signUpTitle",
  "signUpLead",
  "signUpButton",
  "footer",
] as const satisfies (keyof PageTexts)[];
export type TextName = (typeof TEXTS)[number];
/** Fields that exist several times are named by their place in the settings. */
export type ColorField = `theme/${Scheme}/${ColorName}`;
export type TextField = `pageTexts/${Language}/${TextName}`;

/** The sign-in settings as the forms hold them: lists of texts have one entry a line, and what is not set is empty. */
export interface Draft extends Record<ColorField | TextField, string> {
  methods: string[];
  passkeyDomain: string;
  pagesDomain: string;
  signUp: boolean;
  verifyEmail: string;
  contacts: string;
  requireMfa: boolean;
  requireSso: boolean;
  /** A number of days, or empty. */
  rememberedDeviceDays: string;
  requireTerms: boolean;
  termsVersion: string;
  redirectUrls: string;
  allowedOrigins: string;
  mailFrom: string;
  securityMails: string[];
  customerClaims: string;
  organizationClaims: string;
  appName: string;
  logoUrl: string;
  accentColor: string;
  corners: string;
  font: string;
  headingFont: string;
  pictureUrl: string;
  defaultLanguage: string;
  privacyUrl: string;
  termsUrl: string;
  helpUrl: string;
  accountDeletion: boolean;
  organizationSetup: boolean;
  clientRegistration: string;
  clientMetadataDocuments: boolean;
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

export const CORNERS = ["SQUARE", "SMALL", "MEDIUM", "LARGE"] as const;
export const COLOR_FIELDS = SCHEMES.flatMap((scheme) => COLORS.map((name): ColorField => `theme/${scheme}/${name}`));
export const TEXT_FIELDS = LANGUAGES.flatMap((language) =>
  TEXTS.map((name): TextField => `pageTexts/${language}/${name}`),
);

/** What a new project has. */
export const DEFAULTS: Draft = {
  methods: METHODS,
  passkeyDomain: "",
  pagesDomain: "",
  signUp: true,
  verifyEmail: "REQUIRED",
  contacts: "NONE",
  requireMfa: false,
  requireSso: false,
  rememberedDeviceDays: "",
  requireTerms: false,
  termsVersion: "",
  redirectUrls: "",
  allowedOrigins: "",
  mailFrom: "",
  securityMails: SECURITY_MAILS,
  customerClaims: "",
  organizationClaims: "",
  appName: "",
  logoUrl: "",
  accentColor: "",
  corners: "MEDIUM",
  font: "SYSTEM",
  headingFont: "SYSTEM",
  pictureUrl: "",
  defaultLanguage: "",
  privacyUrl: "",
  termsUrl: "",
  helpUrl: "",
  accountDeletion: true,
  organizationSetup: false,
  clientRegistration: "OFF",
  clientMetadataDocuments: false,
  ...(Object.fromEntries([...COLOR_FIELDS, ...TEXT_FIELDS].map((field) => [field, ""])) as Record<
    ColorField | TextField,
    string
  >),
};

export const FIELDS = Object.keys(DEFAULTS) as Field[];
/** The settings that the hosted pages show; the others decide how people sign in. */
export const BRAND: Field[] = [
  "appName",
  "logoUrl",
  "accentColor",
  ...COLOR_FIELDS,
  "corners",
  "font",
  "headingFont",
  "pictureUrl",
  ...TEXT_FIELDS,
  "defaultLanguage",
  "privacyUrl",
  "termsUrl",
  "helpUrl",
];
/** The settings that concern apps. */
export const REGISTRATION: Field[] = ["clientRegistration", "clientMetadataDocuments"];
export const RULES = FIELDS.filter((field) => !BRAND.includes(field) && !REGISTRATION.includes(field));

const PATHS: Partial<Record<Field, string>> = {
  customerClaims: "tokenClaims/customer",
  organizationClaims: "tokenClaims/organization",
  corners: "theme/corners",
  font: "theme/font",
  headingFont: "theme/headingFont",
  pictureUrl: "theme/pictureUrl",
};
const NUMBERS: Field[] = ["rememberedDeviceDays"];
const LISTS: Field[] = ["redirectUrls", "allowedOrigins", "customerClaims", "organizationClaims"];

/** The place of a field within the sign-in settings of the API. */
export function pathOf(field: Field): string {
  return PATHS[field] ?? field;
}

/** Where the errors of the API are shown. */
export const PLACES: Places = {
  ...Object.fromEntries(FIELDS.map((field) => [field, [`/settings/signIn/${pathOf(field)}`]])),
  requireSso: ["/settings/signIn/requireSso", "sso_not_ready"],
};

export function draftOf(settings: SignInSettings): Draft {
  const inOrder = (all: string[], on: string[]) => [
    ...all.filter((each) => on.includes(each)),
    ...on.filter((each) => !all.includes(each)),
  ];
  const held = (field: Field) => {
    let value: unknown = settings;
    for (const name of pathOf(field).split("/")) value = (value as Record<string, unknown> | null)?.[name];
    if (NUMBERS.includes(field)) return String(value ?? "");
    return Array.isArray(value) ? value.join("\n") : (value ?? "");
  };
  return {
    ...(Object.fromEntries(FIELDS.map((field) => [field, held(field)])) as unknown as Draft),
    methods: inOrder(METHODS, settings.methods),
    securityMails: inOrder(SECURITY_MAILS, settings.securityMails),
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
  const signIn: Record<string, unknown> = {};
  for (const field of differences(base, draft)) {
    const names = pathOf(field).split("/");
    const last = names.pop() ?? "";
    let place = signIn;
    for (const name of names) {
      place[name] ??= {};
      place = place[name] as Record<string, unknown>;
    }
    const value = draft[field];
    if (LISTS.includes(field)) place[last] = linesOf(String(value));
    else if (NUMBERS.includes(field)) place[last] = value ? Number(value) : null;
    else place[last] = typeof value === "string" ? value.trim() || null : value;
  }
  return { settings: { signIn } };
}
