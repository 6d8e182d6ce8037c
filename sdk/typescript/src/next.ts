/**
 * Sign-in for Next.js with the App Router.
 *
 * ```ts
 * // sign-in.ts
 * export const { handlers, proxy, currentCustomer, requireCustomer, requirePermission } = createSignIn();
 * // proxy.ts
 * export { proxy } from "./sign-in";
 * // app/auth/[route]/route.ts
 * export const { GET, POST } = handlers;
 * ```
 */

import { type CustomerSession, PermissionDenied, SessionError } from "./sessions.js";
import {
  addCookies,
  type Authentication,
  cookiesAfter,
  CrossOriginRequest,
  type RequestHead,
  SignIn,
  type SignInOptions,
  variesByCustomer,
} from "./sign-in.js";

/** The request header that carries the path of a page from the proxy to server components. */
const PATH_HEADER = "x-postern-path";

export interface NextSignInOptions extends SignInOptions {
  /** A page to which `requirePermission` sends customers without the permission; default: it throws PermissionDenied. */
  forbiddenPath?: string | undefined;
}

/** A route handler of the App Router. */
export type RouteHandler = (request: Request) => Promise<Response>;

/** Answers a request in the proxy; undefined to continue with the page. */
export type ProxyResponder = (
  request: Request,
  customer: CustomerSession | null,
) => Response | undefined | Promise<Response | undefined>;

/** The sign-in of a Next.js application. */
export interface NextSignIn {
  readonly signIn: SignIn;
  /** The route handlers of `app/auth/[route]/route.ts`. */
  readonly handlers: { readonly GET: RouteHandler; readonly POST: RouteHandler };
  /**
   * The function of `proxy.ts` (`middleware.ts` before Next.js 16): refreshes sessions, because server components
   * cannot set cookies. `respond` may answer a request itself, for example with a redirect.
   */
  proxy(request: Request, respond?: ProxyResponder | object): Promise<Response>;
  /** The signed-in customer in server components, server actions and route handlers; null without one. */
  currentCustomer(): Promise<CustomerSession | null>;
  /** The signed-in customer; a browser without one is sent to the sign-in page, and comes back. */
  requireCustomer(): Promise<CustomerSession>;
  /**
   * The signed-in customer, who has the permission. One without it is sent to `forbiddenPath`, or PermissionDenied is
   * thrown.
   */
  requirePermission(permission: string): Promise<CustomerSession>;
  /**
   * A route handler for customers with the permission (any customer if it is null): other requests get 401 or 403 as a
   * problem document. Accepts bearer tokens, too.
   */
  withPermission<Context>(
    permission: string | null,
    handler: (request: Request, customer: CustomerSession, context: Context) => Response | Promise<Response>,
  ): (request: Request, context: Context) => Promise<Response>;
}

/**
 * Makes the sign-in of a Next.js application. Settings that are not given come from the environment, which is read at
 * the first request, so that `next build` needs none.
 */
export function createSignIn(options: NextSignInOptions = {}): NextSignIn {
  let created: SignIn | undefined;
  const signIn = () => (created ??= new SignIn({ visitorAddress: forwardedFor, ...options }));

  /** The request of a server component, as far as it is known there. */
  async function currentRequest(): Promise<{ head: RequestHead; path: string | null }> {
    const { headers } = await import("next/headers.js");
    const received = new Headers(await headers());
    return {
      // Next.js does not say the method. Browsers send `Origin` with every POST, so that server actions are checked.
      head: { url: "http://localhost/", method: received.has("origin") ? "POST" : "GET", headers: received },
      path: received.get(PATH_HEADER),
    };
  }

  async function authenticate(): Promise<{ authentication: Authentication; path: string | null }> {
    const { head, path } = await currentRequest();
    // Without refresh: the cookies could not be set, and a refresh token works only once.
    return { authentication: await signIn().authenticate(head, { refresh: false }), path };
  }

  async function requirePermission(permission?: string): Promise<CustomerSession> {
    const { authentication, path } = await authenticate();
    const { redirect } = await import("next/navigation.js");
    if (!authentication.session && authentication.error === null) redirect(signIn().signInPath(path));
    try {
      return signIn().require(authentication, permission);
    } catch (error) {
      if (error instanceof PermissionDenied && options.forbiddenPath) redirect(options.forbiddenPath);
      throw error;
    }
  }

  async function handle(request: Request): Promise<Response> {
    return (await signIn().handle(request)) ?? new Response(null, { status: 404 });
  }

  return {
    get signIn() {
      return signIn();
    },
    handlers: { GET: handle, POST: handle },
    async proxy(request, respond) {
      const { NextResponse } = await import("next/server.js");
      const headers = new Headers(request.headers);
      const url = new URL(request.url);
      headers.set(PATH_HEADER, url.pathname + url.search);
      // The routes of the sign-in refresh the session themselves.
      if (signIn().isOwnRoute(request)) return NextResponse.next({ request: { headers } });
      const { session, error, cookies } = await signIn().authenticate(request);
      const isForeign = error instanceof CrossOriginRequest;
      headers.set("cookie", isForeign ? signIn().cookiesWithout(request) : cookiesAfter(headers.get("cookie"), cookies));
      // Next.js passes its event here if the function is exported itself.
      const answered = typeof respond === "function" ? await (respond as ProxyResponder)(request, session) : undefined;
      const response = answered ?? NextResponse.next({ request: { headers } });
      addCookies(response.headers, cookies);
      response.headers.set("vary", variesByCustomer(response.headers.get("vary")));
      return response;
    },
    async currentCustomer() {
      return (await authenticate()).authentication.session;
    },
    requireCustomer: () => requirePermission(),
    requirePermission,
    withPermission: (permission, handler) => async (request, context) => {
      const authentication = await signIn().authenticate(request, { refresh: false });
      let customer: CustomerSession;
      try {
        customer = signIn().require(authentication, permission ?? undefined);
      } catch (error) {
        if (!(error instanceof SessionError)) throw error;
        return signIn().refuse(request, error);
      }
      return handler(request, customer, context);
    },
  };
}

/** The address that the nearest proxy, or Next.js itself, has seen. */
function forwardedFor(request: RequestHead): string | null {
  return request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() || null;
}
