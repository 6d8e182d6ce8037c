import type { SendAttempt } from "@postern/sdk";
import { m } from "../../messages/messages.js";

/** A server's reply for one recipient, as an attempt has it. */
export interface Reply {
  recipient: string;
  result: string;
  code: number;
  enhancedCode: string;
  text: string;
}

/** The replies of an attempt. What is not as expected is left out. */
export function repliesOf(attempt: SendAttempt): Reply[] {
  return attempt.results.map(({ recipient, result, code, enhancedCode, text }) => ({
    recipient: String(recipient ?? ""),
    result: String(result ?? ""),
    code: Number(code) || 0,
    enhancedCode: String(enhancedCode ?? ""),
    text: String(text ?? ""),
  }));
}

/** A reply as the server wrote it: `550 5.1.1 No such user here`. */
export function replyText({ code, enhancedCode, text }: Reply): string {
  return [code || "", enhancedCode, text].filter(Boolean).join(" ");
}

/**
 * What servers mean, in the order in which it is looked for: the words of the reply first, because many servers answer
 * everything with the same code, then the enhanced code (RFC 3463) without its class.
 */
const MEANINGS: { words?: RegExp; codes?: string[]; say: () => string }[] = [
  { words: /gr[ae]y-?list|come back in|try again in \d+/i, say: m.emails_why_greylisted },
  {
    words: /spamhaus|spamcop|barracuda|mailspike|surbl|uribl|\brbl\b|dnsbl|(block|black|deny)[- ]?list/i,
    say: m.emails_why_blocklisted,
  },
  { words: /reputation|unusual rate|user complaints/i, say: m.emails_why_reputation },
  {
    words: /\b(spf|dkim|dmarc)\b|unauthenticated|not authenticated|authentication (required|check|fail)|reverse dns/i,
    codes: ["7.20", "7.21", "7.22", "7.23", "7.24", "7.25", "7.26", "7.29", "7.30", "7.509", "7.515"],
    say: m.emails_why_authentication,
  },
  { words: /\bvirus|malware|\binfected\b|phish/i, say: m.emails_why_virus },
  { words: /\bspam\b|unsolicited|junk mail|bulk (e-?)?mail/i, say: m.emails_why_spam },
  {
    words: /relay(ing)? (access )?(is )?(denied|not permitted|not allowed)|unable to relay/i,
    codes: ["1.9"],
    say: m.emails_why_relaying,
  },
  { words: /quota|mailbox.{0,30}\bfull|insufficient (disk|storage)/i, codes: ["2.2", "3.1"], say: m.emails_why_full },
  {
    words: /inactive|disabled|suspended|no longer (active|in use)/i,
    codes: ["2.1", "7.13"],
    say: m.emails_why_inactive,
  },
  {
    words:
      /no such (user|recipient|mailbox|address)|(user|recipient|mailbox|address).{0,30}(unknown|not found|unavailable|does(n't| not) exist)|unknown (user|recipient)/i,
    codes: ["1.1", "1.3", "1.4"],
    say: m.emails_why_unknown,
  },
  {
    words: /(host|domain).{0,40}(not found|unknown|does(n't| not) exist)|nxdomain|null ?mx/i,
    codes: ["1.2", "1.10"],
    say: m.emails_why_domain,
  },
  { words: /message.{0,20}too (big|large)|size.{0,30}(exceed|limit)/i, codes: ["2.3", "3.4"], say: m.emails_why_large },
  { words: /too many|rate limit|throttl/i, codes: ["5.3", "7.28"], say: m.emails_why_many },
  { words: /sender.{0,30}(reject|denied|invalid|unknown)/i, codes: ["1.7", "1.8", "7.27"], say: m.emails_why_sender },
  {
    words: /tim(ed|e) ?out|connection (refused|reset|closed|lost)|unreachable|no route/i,
    codes: ["4.1", "4.2", "4.4"],
    say: m.emails_why_network,
  },
  { words: /busy|temporar|try again later|local error/i, codes: ["2.4", "3.2", "4.5"], say: m.emails_why_busy },
];

/** What a refusal or a deferral means, in plain words. `text` is a reply, or a reason that quotes one. */
export function reasonOf(text: string): string {
  // An address is not what the server says: `spam@example.com` would be taken for it.
  const words = text.replace(/<?[^\s<>]+@[^\s<>:;,]+>?/g, "");
  const code = /\b[245]\.(\d{1,3}\.\d{1,3})\b/.exec(text)?.[1];
  const found =
    MEANINGS.find((each) => each.words?.test(words)) ?? (code && MEANINGS.find((each) => each.codes?.includes(code)));
  return found ? found.say() : m.emails_why_unclear();
}

/** Why a machine was taken for one. */
export const MACHINES: Record<string, () => string> = {
  no_user_agent: m.emails_machine_no_agent,
  apple_mail_privacy_protection: m.emails_machine_apple,
  user_agent: m.emails_machine_agent,
  too_soon: m.emails_machine_soon,
  all_links_at_once: m.emails_machine_all,
};

const MAIL_PROGRAMS: [RegExp, string][] = [
  [/GoogleImageProxy|ggpht/i, "Gmail"],
  [/Yahoo/i, "Yahoo Mail"],
  [/DuckDuckGo/i, "DuckDuckGo"],
  [/Thunderbird/i, "Thunderbird"],
  [/Outlook|MSOffice|Microsoft Office/i, "Outlook"],
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/SamsungBrowser/, "Samsung Internet"],
  [/Chrome\//, "Chrome"],
  [/(iPhone|iPad|Macintosh).*AppleWebKit(?!.*Safari)/, "Apple Mail"],
  [/Safari\//, "Safari"],
];

const DEVICES: [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Macintosh/, "Mac"],
  [/Windows/, "Windows"],
  [/Linux/, "Linux"],
];

/** The mail program or browser and the device in a `User-Agent`, as far as they are known: `Firefox, Linux`. */
export function programOf(userAgent: string, isProxy: boolean): string {
  const program = MAIL_PROGRAMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  // An image proxy names a device that is not the reader's.
  const device = isProxy ? undefined : DEVICES.find(([pattern]) => pattern.test(userAgent))?.[1];
  return [program, device].filter(Boolean).join(", ");
}
