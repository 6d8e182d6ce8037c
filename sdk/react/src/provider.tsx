"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import {
  type ActiveOrganization,
  type Customer,
  currentPath,
  fetchSession,
  identityOf,
  type OrganizationSummary,
  pathTo,
  type SessionDocument,
  SIGNED_OUT,
  submitForm,
} from "./session.js";
import { STYLES } from "./styles.js";

/** How old the session may be when the window is shown again before it is read again, in milliseconds. */
const STALE_MS = 30_000;
/** The tabs of the application tell each other what `identityOf` returns for the session that they read, and SIGN_OUT. */
const CHANNEL = "postern-session";
const SIGN_OUT = "signed-out";

/** `auto` follows the system's preference. */
export type Theme = "auto" | "light" | "dark";

export interface PosternProviderProps {
  children?: ReactNode;
  /** Where the application has the routes of the sign-in; default `/auth`. */
  authPath?: string;
  /** Colors of the components; default `auto`. */
  theme?: Theme;
  /**
   * What `GET /auth/session` returns for this browser, so that the first rendering already shows the customer. Default:
   * the browser reads the session after the first rendering.
   */
  initialSession?: SessionDocument;
  /** `false` if the application includes `@postern/react/styles.css` itself. */
  styles?: boolean;
  /** The nonce of the application's Content Security Policy. */
  nonce?: string;
  /**
   * Called after another organization became active, in an application that renders in the browser only. Default: the
   * page is loaded again, because the server's part of it may depend on the organization.
   */
  onSwitch?: (organization: ActiveOrganization | null) => void;
}

/** The customer of this browser, and what the components do with the session. */
export interface CustomerState {
  /** False until the session was read for the first time. */
  isLoaded: boolean;
  isSignedIn: boolean;
  /** Why the session could not be read the last time; null if it was. */
  error: Error | null;
  customer: Customer | null;
  /** The active organization. */
  organization: ActiveOrganization | null;
  organizations: readonly OrganizationSummary[];
  permissions: readonly string[];
  /** Whether the customer has a permission. For what is shown only: the server must check it, too. */
  has(permission: string): boolean;
  /** Goes to the sign-in page, and then to `returnTo` (default: this page). */
  signIn(returnTo?: string): void;
  /** Goes to the sign-up page, and then to `returnTo` (default: this page). */
  signUp(returnTo?: string): void;
  /** Ends the session, and goes to `returnTo`. */
  signOut(returnTo?: string): void;
  /** Makes another organization active; null for none. */
  switchOrganization(id: string | null): Promise<void>;
  /** Reads the session again. */
  reload(): Promise<void>;
}

interface ContextValue extends CustomerState {
  authPath: string;
  theme: Theme;
  switchesInPlace: boolean;
  /** Makes other tabs show at once that the customer signs out. */
  announceSignOut(): void;
}

const PosternContext = createContext<ContextValue | null>(null);

/** Makes the session available to all components below it. */
export function PosternProvider({
  children,
  authPath = "/auth",
  theme = "auto",
  initialSession,
  styles = true,
  nonce,
  onSwitch,
}: PosternProviderProps): ReactNode {
  const [session, setSession] = useState<SessionDocument | null>(initialSession ?? null);
  const [error, setError] = useState<Error | null>(null);
  const readAt = useRef(0);
  /** Counts what changes the session, so that the answer to an earlier request does not replace a later one. */
  const reads = useRef(0);
  const channel = useRef<BroadcastChannel | null>(null);
  const announced = useRef(false);
  const shown = useRef<SessionDocument | null>(session);
  shown.current = session;
  const switched = useRef(onSwitch);
  switched.current = onSwitch;

  const reload = useCallback(async () => {
    readAt.current = Date.now();
    const number = ++reads.current;
    try {
      const current = await fetchSession(authPath);
      if (number !== reads.current) return;
      setSession(current);
      setError(null);
      if (announced.current) return;
      // The page may have been loaded because of a sign-in, or because the organization was switched.
      announced.current = true;
      channel.current?.postMessage(identityOf(current));
    } catch (failure) {
      if (number === reads.current) setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
  }, [authPath]);

  useEffect(() => {
    void reload();
    const show = () => {
      if (document.visibilityState === "visible" && Date.now() - readAt.current > STALE_MS) void reload();
    };
    document.addEventListener("visibilitychange", show);
    if (typeof BroadcastChannel === "function") {
      channel.current = new BroadcastChannel(CHANNEL);
      channel.current.onmessage = ({ data }) => {
        if (data !== SIGN_OUT) {
          if (shown.current === null || data !== identityOf(shown.current)) void reload();
          return;
        }
        // The other tab says this before its request ends the session: the server would still answer with it.
        reads.current += 1;
        readAt.current = Date.now();
        setSession(SIGNED_OUT);
        setError(null);
      };
    }
    return () => {
      document.removeEventListener("visibilitychange", show);
      channel.current?.close();
      channel.current = null;
    };
  }, [reload]);

  const switchesInPlace = onSwitch !== undefined;
  const value = useMemo<ContextValue>(() => {
    const permissions = session?.permissions ?? [];
    const announceSignOut = () => channel.current?.postMessage(SIGN_OUT);
    return {
      authPath,
      theme,
      switchesInPlace,
      announceSignOut,
      error,
      isLoaded: session !== null,
      isSignedIn: session?.customer != null,
      customer: session?.customer ?? null,
      organization: session?.organization ?? null,
      organizations: session?.organizations ?? [],
      permissions,
      has: (permission) => permissions.includes(permission),
      signIn: (returnTo) => location.assign(pathTo(authPath, "sign-in", returnTo ?? currentPath())),
      signUp: (returnTo) => location.assign(pathTo(authPath, "sign-up", returnTo ?? currentPath())),
      signOut: (returnTo) => {
        announceSignOut();
        submitForm(`${authPath}/sign-out`, returnTo ? { return_to: returnTo } : {});
      },
      switchOrganization: async (id) => {
        if (!switchesInPlace) {
          submitForm(`${authPath}/switch-organization`, { organization_id: id ?? "", return_to: currentPath() });
          return;
        }
        const response = await fetch(`${authPath}/switch-organization`, {
          method: "POST",
          headers: { accept: "application/json" },
          body: new URLSearchParams({ organization_id: id ?? "" }),
          credentials: "same-origin",
        });
        if (!response.ok) throw new Error(`The organization was not switched: status ${response.status}.`);
        const number = ++reads.current;
        const next = await fetchSession(authPath);
        if (number === reads.current) setSession(next);
        channel.current?.postMessage(identityOf(next));
        switched.current?.(next.organization);
      },
      reload,
    };
  }, [authPath, theme, switchesInPlace, session, error, reload]);

  return (
    <PosternContext.Provider value={value}>
      {styles ? (
        <style href="postern-react" precedence="postern" nonce={nonce}>
          {STYLES}
        </style>
      ) : null}
      {children}
    </PosternContext.Provider>
  );
}

/** The customer of this browser. Throws outside a `PosternProvider`. */
export function useCustomer(): CustomerState {
  return usePostern();
}

export function usePostern(): ContextValue {
  const value = useContext(PosternContext);
  if (!value) throw new Error("This component must be inside a <PosternProvider>.");
  return value;
}
