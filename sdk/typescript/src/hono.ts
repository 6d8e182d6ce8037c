/**
 * Sign-in for Hono, on every platform that it runs on.
 *
 * ```ts
 * const signIn = createSignIn();
 * const app = new Hono<{ Variables: CustomerVariables }>();
 * app.use(signIn.middleware);
 * app.get("/reports", signIn.requirePermission("reports:read"), (c) => c.text(`${c.var.customer?.email}`));
 * ```
 */

import { type CustomerSession, SessionError } from "./sessions.js";
import { addCookies, type Authentication, NOT_CACHED, SignIn, type SignInOptions, variesByCustomer } from "./sign-in.js";

/** What the middleware adds to the context: `c.var.customer`. */
export interface CustomerVariables {
  /** The signed-in customer; null without one. */
  customer: CustomerSession | null;
}

/** What is used of a context of Hono. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  // Hono declares this with overloads that depend on the application's types.
  set(key: any, value: any): void;
  readonly res: Response;
  header(name: string, value?: string, options?: { append?: boolean }): void;
}

/** A middleware of Hono. */
export type HonoMiddleware = (context: HonoContext, next: () => Promise<void>) => Promise<Response | void>;

/** The sign-in of a Hono application. */
export interface HonoSignIn {
  readonly signIn: SignIn;
  /** Answers the routes of the sign-in; for other paths sets `c.var.customer`, and refreshes the session. */
  readonly middleware: HonoMiddleware;
  /** Lets only signed-in customers pass; others are sent to the sign-in page, or get 401. */
  readonly requireCustomer: HonoMiddleware;
  /** Lets only customers pass who have the permission; others get 403. */
  requirePermission(permission: string): HonoMiddleware;
}

/** Makes the sign-in of a Hono application. Settings that are not given come from the environment. */
export function createSignIn(options: SignInOptions = {}): HonoSignIn {
  const signIn = new SignIn(options);
  const authentications = new WeakMap<Request, Authentication>();

  /** Authenticates a request once, and continues with it. */
  async function authenticated(
    context: HonoContext,
    proceed: (authentication: Authentication) => Promise<Response | void>,
  ): Promise<Response | void> {
    const request = context.req.raw;
    const known = authentications.get(request);
    if (known) return proceed(known);
    const authentication = await signIn.authenticate(request);
    authentications.set(request, authentication);
    context.set("customer", authentication.session);
    const response = await proceed(authentication);
    if (response) return personalised(response, authentication.cookies);
    context.header("vary", variesByCustomer(context.res.headers.get("vary")));
    for (const cookie of authentication.cookies) context.header("set-cookie", cookie, { append: true });
    if (authentication.cookies.length) context.header("cache-control", NOT_CACHED);
  }

  function guard(permission?: string): HonoMiddleware {
    return (context, next) =>
      authenticated(context, async (authentication) => {
        try {
          signIn.require(authentication, permission);
        } catch (error) {
          if (error instanceof SessionError) return signIn.refuse(context.req.raw, error);
          throw error;
        }
        await next();
      });
  }

  return {
    signIn,
    middleware: async (context, next) => {
      const response = await signIn.handle(context.req.raw);
      if (response) return response;
      return authenticated(context, async () => {
        await next(); // Hono's own result of `next` is no response.
      });
    },
    requireCustomer: guard(),
    requirePermission: guard,
  };
}

/** The response with the session's cookies, and headers that keep caches from giving it to another person. */
function personalised(response: Response, cookies: readonly string[]): Response {
  const headers = new Headers(response.headers);
  headers.set("vary", variesByCustomer(headers.get("vary")));
  addCookies(headers, cookies);
  return new Response(response.body, { status: response.status, headers });
}
