"use client";

import type { ReactNode } from "react";
import { usePostern } from "./provider.js";
import type { Customer } from "./session.js";

export interface ImpersonationBannerProps {
  /** The text; default `You are signed in as Ada Lovelace (by grace@example.com).` */
  children?: (customer: Customer, actor: string) => ReactNode;
  /** The label of the button that ends the session; default `End`. */
  endLabel?: ReactNode;
  /** Where the browser goes after the end. */
  signOutReturnTo?: string;
}

/**
 * Says that a member of the application's team acts as the customer, with a button that ends the session. Shows nothing
 * to the customer. Put it at the top of every page.
 */
export function ImpersonationBanner({ children, endLabel = "End", signOutReturnTo }: ImpersonationBannerProps): ReactNode {
  const { customer, authPath, theme, announceSignOut } = usePostern();
  const actor = customer?.impersonatedBy;
  if (!customer || !actor) return null;
  const name = customer.name ?? customer.email ?? customer.id;
  return (
    <div className="postern postern-wide" data-theme={theme}>
      <div className="postern-banner">
        <p role="status">{children ? children(customer, actor) : `You are signed in as ${name} (by ${actor}).`}</p>
        <form method="post" action={`${authPath}/sign-out`} onSubmit={announceSignOut}>
          {signOutReturnTo ? <input type="hidden" name="return_to" value={signOutReturnTo} /> : null}
          <button className="postern-button" type="submit">
            {endLabel}
          </button>
        </form>
      </div>
    </div>
  );
}
