/** The environment variable with the credential of a request: a secret key, or the access token of a developer. */
export type Credential = "POSTERN_KEY" | "POSTERN_TOKEN";

/** What only developers may call: the account, their own sign-in, projects as such, and API keys. */
const DEVELOPER_ONLY = /^\/(account|auth)(\/|$)|^\/projects$|^\/projects\/[^/]+\/api-keys(\/|$)/;
const PROJECT = /^\/projects\/[^/]+$/;

/** Which credential the API accepts for a request. */
export function credentialOf({ method, path }: { method: string; path: string }): Credential {
  const [location = ""] = path.split("?", 1);
  const isDeveloperOnly = DEVELOPER_ONLY.test(location) || (method !== "GET" && PROJECT.test(location));
  return isDeveloperOnly ? "POSTERN_TOKEN" : "POSTERN_KEY";
}
