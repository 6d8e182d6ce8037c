import type { EmailWaiting } from "@postern/sdk";
import { m } from "../../messages/messages.js";

/** What an e-mail waits for, in a sentence; nothing for what ends within moments, or stands elsewhere. */
export function waitSentence({ cause, site }: EmailWaiting): string | undefined {
  const named = { site: site ?? m.emails_wait_its_server() };
  switch (cause) {
    case "CAMPAIGN_PAUSED":
      return m.emails_wait_campaign();
    case "WARM_UP":
      return m.emails_wait_warm_up();
    case "REPUTATION":
      return m.emails_wait_reputation();
    case "SITE_SUSPENDED":
      return m.emails_wait_suspended(named);
    case "SITE_SLOWED":
      return m.emails_wait_slowed(named);
    case "SITE_UNREACHABLE":
      return m.emails_wait_unreachable(named);
    case "CAPACITY":
      return m.emails_wait_capacity();
    case "TLS":
      return m.emails_wait_tls();
    case "SETUP":
      return m.emails_wait_setup();
    default:
      return undefined;
  }
}

/** Causes whose `reason` says more, such as the rate, the ceiling, or who suspended the site. */
export const EXPLAINED: EmailWaiting["cause"][] = ["WARM_UP", "REPUTATION", "SITE_SUSPENDED", "TLS", "SETUP"];
