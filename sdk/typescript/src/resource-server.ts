/**
 * Lets OAuth clients call your API with access tokens of your project, for example MCP clients.
 *
 * ```ts
 * const resource = new ResourceServer("https://notes.example.com/mcp", { scopes: ["notes:read"] });
 * const answer = await resource.handle(request); // a Request of the Fetch API
 * if (answer instanceof Response) return answer; // metadata, or a refusal
 * answer.require("notes:read");
 * ```
 *
 * Declare the API with the same identifier in the project (`oauth-resources`). Clients find the project by the metadata
 * of RFC 9728. Tokens are verified offline; a revoked sign-in is noticed when the token expires, at most ten minutes
 * later.
 */

import { ConfigurationError } from "./errors.js";
import { isRecord } from "./internal.js";
import {
  PermissionDenied,
  ServerUnavailable,
  SessionError,
  SessionVerifier,
  type SessionVerifierOptions,
  TokenInvalid,
} from "./sessions.js";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

export interface ResourceServerOptions extends SessionVerifierOptions {
  /** The scopes that the metadata show. */
  scopes?: readonly string[] | undefined;
  /** The scopes that each request to `handle` needs. */
  requires?: readonly string[] | undefined;
}

/** What a valid access token allows a client. */
export class ClientAccess {
  /** The id of the customer; that of the client if it acts for itself. */
  readonly subject: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The active organization of the customer; null without one. */
  readonly organizationId: string | null;
  /** Permissions that the customer has in this organization, and only for its data. */
  readonly organizationPermissions: readonly string[];
  readonly expiresAt: Date;
  readonly #claims: Readonly<Record<string, unknown>>;

  constructor(claims: Readonly<Record<string, unknown>>) {
    const organization = isRecord(claims.org) ? claims.org : null;
    this.subject = String(claims.sub);
    this.clientId = String(claims.client_id);
    this.scopes = Object.freeze(String(claims.scope ?? "").split(" ").filter(Boolean));
    this.organizationId = organization ? String(organization.id) : null;
    const permissions = organization && Array.isArray(organization.permissions) ? organization.permissions : [];
    this.organizationPermissions = Object.freeze(permissions.map(String));
    this.expiresAt = new Date(Number(claims.exp) * 1000);
    this.#claims = claims;
  }

  /** All claims of the token. */
  get claims(): Readonly<Record<string, unknown>> {
    return this.#claims;
  }

  /** Whether the client acts for a customer, and not for itself. */
  get isCustomer(): boolean {
    return this.subject !== this.clientId;
  }

  /** Whether the token has a scope. */
  has(scope: string): boolean {
    return this.scopes.includes(scope);
  }

  /** Throws PermissionDenied unless the token has the scope. */
  require(scope: string): void {
    if (!this.has(scope)) throw new PermissionDenied(scope);
  }
}

/** An API that accepts the access tokens of one project that are for it. Create one for the whole process. */
export class ResourceServer {
  /** The `identifier` of the API, which is the audience of the tokens. */
  readonly resource: string;
  /** The path at which the metadata must be served. */
  readonly metadataPath: string;
  /** The URL of the metadata (RFC 9728 §3.1). */
  readonly metadataUrl: string;
  readonly #verifier: SessionVerifier;
  readonly #scopes: readonly string[];
  readonly #requires: readonly string[];

  constructor(resource: string, options: ResourceServerOptions = {}) {
    const url = URL.canParse(resource) ? new URL(resource) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
      throw new ConfigurationError(`${resource} is not the identifier of an API.`);
    }
    // The identifier has no slash after the host.
    this.resource = url.pathname === "/" ? resource.replace(/\/$/, "") : resource;
    this.metadataPath = WELL_KNOWN + (url.pathname === "/" ? "" : url.pathname);
    this.metadataUrl = url.origin + this.metadataPath;
    this.#verifier = new SessionVerifier(options);
    this.#scopes = options.scopes ?? [];
    this.#requires = options.requires ?? [];
  }

  /** The metadata, to serve as JSON at `metadataPath` (RFC 9728 §2). */
  get metadata(): Record<string, unknown> {
    return {
      resource: this.resource,
      authorization_servers: [this.#verifier.issuer],
      bearer_methods_supported: ["header"],
      ...(this.#scopes.length && { scopes_supported: this.#scopes }),
    };
  }

  /** What an access token allows. Throws TokenInvalid, TokenExpired and SigningKeysUnavailable. */
  async authenticate(token: string): Promise<ClientAccess> {
    const claims = await this.#verifier.verifyFor(token, this.resource);
    if (typeof claims.client_id !== "string") throw new TokenInvalid("a claim is missing or has the wrong type");
    // Whoever has copied it must not be able to use it as a Bearer token.
    if (claims.cnf !== undefined) {
      throw new TokenInvalid("it is bound to a key of the client, which this version cannot check (`cnf`)");
    }
    return new ClientAccess(claims);
  }

  /** The response with the metadata, or the one that refuses the request; otherwise what its token allows. */
  async handle(request: Request): Promise<Response | ClientAccess> {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (isRead && new URL(request.url).pathname === this.metadataPath) {
      const headers = { "access-control-allow-origin": "*", "cache-control": "public, max-age=300" };
      return Response.json(this.metadata, { headers });
    }
    const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return this.refuse(null);
    try {
      const access = await this.authenticate(token);
      for (const scope of this.#requires) access.require(scope);
      return access;
    } catch (error) {
      if (error instanceof SessionError) return this.refuse(error);
      throw error;
    }
  }

  /** The response that refuses a request (RFC 9728 §5.1). `error` is what was thrown; null without a token. */
  refuse(error: SessionError | null): Response {
    if (error instanceof ServerUnavailable) {
      return Response.json({ error: "temporarily_unavailable" }, { status: 503, headers: { "retry-after": "5" } });
    }
    const isDenied = error instanceof PermissionDenied;
    const code = isDenied ? "insufficient_scope" : "invalid_token";
    const scopes = isDenied ? [...new Set([...this.#requires, error.permission])] : error ? [] : this.#requires;
    const challenge = [
      ...(error ? [`error="${code}"`] : []),
      ...(scopes.length ? [`scope="${scopes.join(" ")}"`] : []),
      `resource_metadata="${this.metadataUrl}"`,
    ];
    const text = error?.message ?? "Send an access token in the Authorization header.";
    return Response.json(
      { error: code, error_description: text },
      {
        status: isDenied ? 403 : 401,
        headers: { "www-authenticate": `Bearer ${challenge.join(", ")}`, "cache-control": "no-store" },
      },
    );
  }
}
