import type { JsonWebKeys, NewOAuthClient, OAuthClient } from "@postern/sdk";

export const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
/** The ways to get tokens, in the order of the form. */
export const GRANTS = ["authorization_code", "refresh_token", "client_credentials", DEVICE] as const;
export type Grant = (typeof GRANTS)[number];
/** The scopes of OpenID Connect; all others are permissions of the project. */
export const STANDARD_SCOPES = ["openid", "profile", "email", "phone", "offline_access"] as const;
export function isStandardScope(scope: string): boolean {
  return (STANDARD_SCOPES as readonly string[]).includes(scope);
}

export type Environment = "LIVE" | "TEST";
/** How a confidential app proves that it is itself: with a secret, or with keys whose public halves are here or there. */
export const AUTHENTICATIONS = ["SECRET", "JWKS", "JWKS_URI"] as const;
export type Authentication = (typeof AUTHENTICATIONS)[number];

/** How the ID tokens of an app can be signed. */
export const ID_TOKEN_ALGORITHMS = ["ES256", "RS256"] as const;
export type IdTokenAlgorithm = (typeof ID_TOKEN_ALGORITHMS)[number];

/** What the form of an app has; URIs are one a line. */
export interface AppDraft {
  name: string;
  isPublic: boolean;
  environment: Environment;
  firstParty: boolean;
  grantTypes: string[];
  redirectUris: string;
  postLogoutRedirectUris: string;
  scopes: string[];
  websiteUrl: string;
  privacyUrl: string;
  termsUrl: string;
  backchannelLogoutUri: string;
  authentication: Authentication;
  /** JSON. */
  jwks: string;
  jwksUri: string;
  requireDpop: boolean;
  /** Whether the app is held to the FAPI 2.0 Security Profile. */
  isFapi: boolean;
  idTokenSigningAlg: IdTokenAlgorithm;
}

export const NEW_APP: AppDraft = {
  name: "",
  isPublic: false,
  environment: "LIVE",
  firstParty: false,
  grantTypes: ["authorization_code", "refresh_token"],
  redirectUris: "",
  postLogoutRedirectUris: "",
  scopes: ["openid", "profile", "email", "offline_access"],
  websiteUrl: "",
  privacyUrl: "",
  termsUrl: "",
  backchannelLogoutUri: "",
  authentication: "SECRET",
  jwks: "",
  jwksUri: "",
  requireDpop: false,
  isFapi: false,
  idTokenSigningAlg: "ES256",
};

export function draftOfApp(app: OAuthClient): AppDraft {
  return {
    name: app.name,
    isPublic: app.type === "PUBLIC",
    environment: app.environment === "TEST" ? "TEST" : "LIVE",
    firstParty: app.firstParty,
    grantTypes: app.grantTypes,
    redirectUris: app.redirectUris.join("\n"),
    postLogoutRedirectUris: app.postLogoutRedirectUris.join("\n"),
    scopes: app.scopes,
    websiteUrl: app.websiteUrl ?? "",
    privacyUrl: app.privacyUrl ?? "",
    termsUrl: app.termsUrl ?? "",
    backchannelLogoutUri: app.backchannelLogoutUri ?? "",
    authentication: app.jwks ? "JWKS" : app.jwksUri ? "JWKS_URI" : "SECRET",
    jwks: app.jwks ? JSON.stringify(app.jwks, null, 2) : "",
    jwksUri: app.jwksUri ?? "",
    requireDpop: app.requireDpop,
    isFapi: app.securityProfile === "FAPI2",
    idTokenSigningAlg: app.idTokenSigningAlg === "RS256" ? "RS256" : "ES256",
  };
}

/** The key set of a text: that of a document, a list of keys, or one key. Undefined for what is none of these. */
export function keysOf(text: string): JsonWebKeys | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return { keys: value };
  if ("kty" in value) return { keys: [value as JsonWebKeys["keys"][number]] };
  return "keys" in value && Array.isArray(value.keys) ? { keys: value.keys } : undefined;
}

/** An entry of a text with one a line, and the number of its line, from 1. */
export interface Line {
  value: string;
  line: number;
}

/** The entries of a text, without empty lines and repetitions, as the API stores them. */
export function uniqueLines(text: string): Line[] {
  const lines = text.split("\n").map((line, index) => ({ value: line.trim(), line: index + 1 }));
  return lines.filter(({ value }, index) => value && lines.findIndex((each) => each.value === value) === index);
}

const values = (text: string) => uniqueLines(text).map(({ value }) => value);

/** What of an app can be changed later. */
export function changeOfApp(draft: AppDraft): Omit<NewOAuthClient, "type" | "environment"> & { name: string } {
  return {
    name: draft.name.trim(),
    firstParty: draft.firstParty,
    grantTypes: draft.grantTypes,
    redirectUris: values(draft.redirectUris),
    postLogoutRedirectUris: values(draft.postLogoutRedirectUris),
    scopes: draft.scopes,
    websiteUrl: draft.websiteUrl.trim() || null,
    privacyUrl: draft.privacyUrl.trim() || null,
    termsUrl: draft.termsUrl.trim() || null,
    backchannelLogoutUri: draft.backchannelLogoutUri.trim() || null,
    requireDpop: draft.requireDpop,
    jwks: (draft.authentication === "JWKS" && keysOf(draft.jwks)) || null,
    jwksUri: (draft.authentication === "JWKS_URI" && draft.jwksUri.trim()) || null,
    securityProfile: draft.isFapi ? "FAPI2" : "STANDARD",
    idTokenSigningAlg: draft.idTokenSigningAlg,
  };
}

/** The request that registers an app. What is left empty is left out. */
export function newAppOf(draft: AppDraft): NewOAuthClient {
  const { websiteUrl, privacyUrl, termsUrl, backchannelLogoutUri, jwks, jwksUri, ...others } = changeOfApp(draft);
  const { requireDpop, securityProfile, idTokenSigningAlg, ...rest } = others;
  return {
    ...rest,
    type: draft.isPublic ? "PUBLIC" : "CONFIDENTIAL",
    environment: draft.environment,
    ...(websiteUrl && { websiteUrl }),
    ...(privacyUrl && { privacyUrl }),
    ...(termsUrl && { termsUrl }),
    ...(backchannelLogoutUri && { backchannelLogoutUri }),
    ...(requireDpop && { requireDpop }),
    ...(jwks && { jwks }),
    ...(jwksUri && { jwksUri }),
    ...(draft.isFapi && { securityProfile }),
    ...(idTokenSigningAlg !== NEW_APP.idTokenSigningAlg && { idTokenSigningAlg }),
  };
}

/** Fields of the form that have another name in the API. */
const OTHER_NAMES: Record<string, string> = { type: "isPublic", securityProfile: "isFapi" };

/** What of a refusal decides where it is shown. */
interface Refusal {
  errors: { path: string; message: string }[];
}

/**
 * The sentences of a refusal by the field of the form; under the empty name what is about no field. Those about an entry
 * of a text have the number of its line in front, by `said`.
 */
export function refusedFields(
  { errors }: Refusal,
  draft: AppDraft,
  said: (line: number, message: string) => string,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const { path, message } of errors) {
    const [, name = "", index] = /^\/(\w+)(?:\/(\d+))?/.exec(path) ?? [];
    const text = name in draft ? draft[name as keyof AppDraft] : undefined;
    const field = text === undefined ? (OTHER_NAMES[name] ?? "") : name;
    const line = typeof text === "string" && index !== undefined ? uniqueLines(text)[Number(index)]?.line : undefined;
    const sentence = line === undefined ? message : said(line, message);
    result[field] = result[field] ? `${result[field]} ${sentence}` : sentence;
  }
  return result;
}

/** A list with one entry more or less; known entries keep the order of `order`. */
export function toggled(chosen: string[], entry: string, order: readonly string[]): string[] {
  const rank = (each: string) => (order.includes(each) ? order.indexOf(each) : order.length);
  return chosen.includes(entry)
    ? chosen.filter((each) => each !== entry)
    : [...chosen, entry].toSorted((first, second) => rank(first) - rank(second));
}

/** What a draft changes of another one: the rest stays as another person has stored it. */
export function changesOf(before: AppDraft, draft: AppDraft): Partial<ReturnType<typeof changeOfApp>> {
  const [from, to] = [changeOfApp(before), changeOfApp(draft)] as Record<string, unknown>[];
  const names = Object.keys(to ?? {}).filter((name) => JSON.stringify(from?.[name]) !== JSON.stringify(to?.[name]));
  return Object.fromEntries(names.map((name) => [name, to?.[name]]));
}
