import type { OAuthClient } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import type { Flow } from "./appCode";
import { type Authentication, DEVICE, type Grant, type IdTokenAlgorithm } from "./apps";

/** What an app does, by the way in which it gets tokens, and what that means. */
export const GRANT_WORDS: Record<Grant, { label: () => string; hint: () => string }> = {
  authorization_code: { label: m.access_app_grant_code, hint: m.access_app_grant_code_hint },
  refresh_token: { label: m.access_app_grant_refresh, hint: m.access_app_grant_refresh_hint },
  client_credentials: { label: m.access_app_grant_machine, hint: m.access_app_grant_machine_hint },
  [DEVICE]: { label: m.access_app_grant_device, hint: m.access_app_grant_device_hint },
};

export function grantWord(grant: string): string {
  return GRANT_WORDS[grant as Grant]?.label() ?? grant;
}

const SCOPE_WORDS: Record<string, () => string> = {
  openid: m.access_app_scope_openid,
  profile: m.access_app_scope_profile,
  email: m.access_app_scope_email,
  phone: m.access_app_scope_phone,
  offline_access: m.access_app_scope_offline,
};

/** What a standard scope gives; undefined for a permission of the project. */
export function scopeWord(scope: string): string | undefined {
  return SCOPE_WORDS[scope]?.();
}

export const FLOW_WORDS: Record<Flow, () => string> = {
  browser: m.access_app_code_browser,
  machine: m.access_app_code_machine,
  device: m.access_app_code_device,
};

/** Whether customers of the app are real ones, as shape and word. */
export function environmentLook({ environment }: Pick<OAuthClient, "environment">): { shape: Shape; word: string } {
  return environment === "TEST"
    ? { shape: "off", word: m.access_app_test() }
    : { shape: "yes", word: m.access_app_live() };
}

export function typeWord({ type }: Pick<OAuthClient, "type">): string {
  return type === "PUBLIC" ? m.access_app_public() : m.access_app_confidential();
}

export const AUTHENTICATION_WORDS: Record<Authentication, { label: () => string; hint: () => string }> = {
  SECRET: { label: m.access_app_auth_secret, hint: m.access_app_auth_secret_hint },
  JWKS: { label: m.access_app_auth_jwks, hint: m.access_app_auth_jwks_hint },
  JWKS_URI: { label: m.access_app_auth_jwks_uri, hint: m.access_app_auth_jwks_uri_hint },
};

/** The label and the hint of a signature of ID tokens. */
export function idTokenWord(algorithm: IdTokenAlgorithm): { label: string; hint: string } {
  const isRsa = algorithm === "RS256";
  return {
    label: algorithm,
    hint: isRsa ? m.access_app_id_tokens_rs256_hint() : m.access_app_id_tokens_es256_hint(),
  };
}
