import type { ProviderSettings, SignInProvider } from "@postern/sdk";

export const KINDS = [
  "GOOGLE",
  "MICROSOFT",
  "APPLE",
  "GITHUB",
  "GITLAB",
  "DISCORD",
  "SLACK",
  "LINKEDIN",
  "FACEBOOK",
  "X",
  "OIDC",
] as const;
export type Kind = (typeof KINDS)[number];
/** The kinds of providers that issue no ID tokens, and so have no authentication contexts. */
export const WITHOUT_ID_TOKENS: Kind[] = ["GITHUB", "DISCORD", "FACEBOOK", "X"];

/** The names of the kinds of providers, and the page where an application is registered there. */
export const PROVIDERS: Record<Kind, { name: string; console?: string }> = {
  GOOGLE: { name: "Google", console: "https://console.cloud.google.com/apis/credentials" },
  MICROSOFT: { name: "Microsoft", console: "https://entra.microsoft.com/" },
  APPLE: { name: "Apple", console: "https://developer.apple.com/account/resources/identifiers/list/serviceId" },
  GITHUB: { name: "GitHub", console: "https://github.com/settings/developers" },
  GITLAB: { name: "GitLab", console: "https://gitlab.com/-/user_settings/applications" },
  DISCORD: { name: "Discord", console: "https://discord.com/developers/applications" },
  SLACK: { name: "Slack", console: "https://api.slack.com/apps" },
  LINKEDIN: { name: "LinkedIn", console: "https://www.linkedin.com/developers/apps" },
  FACEBOOK: { name: "Facebook", console: "https://developers.facebook.com/apps" },
  X: { name: "X", console: "https://developer.x.com/en/portal/dashboard" },
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
  const hasContexts = !WITHOUT_ID_TOKENS.includes(draft.kind);
  return {
    kind: draft.kind,
    clientId: draft.clientId.trim(),
    ...(draft.clientSecret.trim() && { clientSecret: draft.clientSecret.trim() }),
    name: draft.name.trim() || null,
    ...(draft.kind === "OIDC" && draft.issuer.trim() && { issuer: draft.issuer.trim() }),
    scopes: draft.scopes.trim() || null,
    trustedEmailDomains: lines(draft.trustedEmailDomains),
    ...(draft.kind === "APPLE" && { teamId: draft.teamId.trim() || null, keyId: draft.keyId.trim() || null }),
    ...(hasContexts && { acrValues: lines(draft.acrValues) }),
    ...(hasContexts && age && { maxAgeSeconds: Number(age) }),
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
