import type { ProviderSettings, SignInProvider } from "@postern/sdk";

export type Kind = "GOOGLE" | "MICROSOFT" | "APPLE" | "GITHUB" | "OIDC";
export const KINDS: Kind[] = ["GOOGLE", "MICROSOFT", "APPLE", "GITHUB", "OIDC"];

/** The names of the kinds of providers, and the page where an application is registered there. */
export const PROVIDERS: Record<Kind, { name: string; console?: string }> = {
  GOOGLE: { name: "Google", console: "https://console.cloud.google.com/apis/credentials" },
  MICROSOFT: { name: "Microsoft", console: "https://entra.microsoft.com/" },
  APPLE: { name: "Apple", console: "https://developer.apple.com/account/resources/identifiers/list/serviceId" },
  GITHUB: { name: "GitHub", console: "https://github.com/settings/developers" },
  OIDC: { name: "OpenID Connect" },
};

/** A provider as the form holds it. An empty secret keeps the stored one. */
export interface ProviderDraft {
  kind: Kind;
  key: string;
  name: string;
  clientId: string;
  clientSecret: string;
  issuer: string;
  scopes: string;
  trustedEmailDomains: string;
  teamId: string;
  keyId: string;
  acrValues: string;
  maxAgeSeconds: string;
  holds: boolean;
  enabled: boolean;
}

export function emptyProvider(kind: Kind): ProviderDraft {
  return {
    kind,
    key: kind === "OIDC" ? "" : kind,
    name: "",
    clientId: "",
    clientSecret: "",
    issuer: "",
    scopes: "",
    trustedEmailDomains: "",
    teamId: "",
    keyId: "",
    acrValues: "",
    maxAgeSeconds: "",
    holds: false,
    enabled: true,
  };
}

export function draftOfProvider(provider: SignInProvider): ProviderDraft {
  return {
    kind: KINDS.find((each) => each === provider.kind) ?? "OIDC",
    key: provider.key,
    name: provider.name,
    clientId: provider.clientId,
    clientSecret: "",
    issuer: provider.issuer,
    scopes: provider.scopes,
    trustedEmailDomains: provider.trustedEmailDomains.join("\n"),
    teamId: provider.teamId ?? "",
    keyId: provider.keyId ?? "",
    acrValues: provider.acrValues.join("\n"),
    maxAgeSeconds: provider.maxAgeSeconds === null ? "" : String(provider.maxAgeSeconds),
    holds: provider.onNewSubject === "HOLD",
    enabled: provider.enabled,
  };
}

/** The request that stores a provider. It replaces all settings but the secret. */
export function settingsOf(draft: ProviderDraft): ProviderSettings {
  const lines = (text: string) =>
    text
      .split(/[\s,]+/)
      .map((each) => each.trim())
      .filter(Boolean);
  const age = draft.maxAgeSeconds.trim();
  return {
    kind: draft.kind,
    clientId: draft.clientId.trim(),
    ...(draft.clientSecret.trim() && { clientSecret: draft.clientSecret.trim() }),
    name: draft.name.trim() || null,
    ...(draft.kind === "OIDC" && draft.issuer.trim() && { issuer: draft.issuer.trim() }),
    scopes: draft.scopes.trim() || null,
    trustedEmailDomains: lines(draft.trustedEmailDomains),
    ...(draft.kind === "APPLE" && { teamId: draft.teamId.trim() || null, keyId: draft.keyId.trim() || null }),
    ...(draft.kind !== "GITHUB" && { acrValues: lines(draft.acrValues) }),
    ...(draft.kind !== "GITHUB" && age && { maxAgeSeconds: Number(age) }),
    onNewSubject: draft.holds ? "HOLD" : "REFUSE",
    enabled: draft.enabled,
  };
}

/** A key for a provider of a name: `Acme directory` becomes `ACME_DIRECTORY`. */
export function keyOf(name: string): string {
  return name
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^[^A-Z]+|_+$/g, "")
    .slice(0, 40);
}
