"use client";

import type { AnchorHTMLAttributes, ButtonHTMLAttributes, MouseEvent, ReactNode } from "react";
import { usePostern } from "./provider.js";
import { currentPath, pathTo } from "./session.js";

/** Shows its children to signed-in customers only. */
export function SignedIn({ children }: { children?: ReactNode }): ReactNode {
  return usePostern().isSignedIn ? children : null;
}

/** Shows its children to visitors who are not signed in. */
export function SignedOut({ children }: { children?: ReactNode }): ReactNode {
  const { isLoaded, isSignedIn } = usePostern();
  return isLoaded && !isSignedIn ? children : null;
}

export interface SignInButtonProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  /** Where the browser goes afterwards; default: this page. */
  returnTo?: string;
}

/** A link to the sign-in page. */
export function SignInButton({ children = "Sign in", ...props }: SignInButtonProps): ReactNode {
  return (
    <PageLink page="sign-in" kind="primary" {...props}>
      {children}
    </PageLink>
  );
}

/** A link to the sign-up page. */
export function SignUpButton({ children = "Sign up", ...props }: SignInButtonProps): ReactNode {
  return (
    <PageLink page="sign-up" kind="secondary" {...props}>
      {children}
    </PageLink>
  );
}

interface PageLinkProps extends SignInButtonProps {
  page: "sign-in" | "sign-up";
  kind: "primary" | "secondary";
}

function PageLink({ page, kind, returnTo, className, onClick, ...props }: PageLinkProps): ReactNode {
  const { authPath, theme } = usePostern();
  const begin = (event: MouseEvent<HTMLAnchorElement>) => {
    // Not before: the server does not know on which page the link is.
    event.currentTarget.href = pathTo(authPath, page, returnTo ?? currentPath());
    onClick?.(event);
  };
  return (
    <span className="postern" data-theme={theme}>
      <a
        {...props}
        className={className ?? "postern-button"}
        data-kind={kind}
        href={pathTo(authPath, page, returnTo)}
        onClick={begin}
      />
    </span>
  );
}

export interface SignOutButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Where the browser goes afterwards; default: what the application's sign-in says, usually `/`. */
  returnTo?: string;
}

/** A button that ends the session. */
export function SignOutButton({ returnTo, className, children = "Sign out", ...props }: SignOutButtonProps): ReactNode {
  const { authPath, theme, announceSignOut } = usePostern();
  return (
    <span className="postern" data-theme={theme}>
      <form method="post" action={`${authPath}/sign-out`} onSubmit={announceSignOut}>
        {returnTo ? <input type="hidden" name="return_to" value={returnTo} /> : null}
        <button {...props} type="submit" className={className ?? "postern-button"} data-kind="secondary">
          {children}
        </button>
      </form>
    </span>
  );
}
