/** What the first command sends, and where. */
export interface FirstSend {
  /** Base URL of the server. */
  url: string;
  projectId: string;
  /** A secret key, or what stands for it. */
  key: string;
  to: string;
  subject: string;
  text: string;
}

export const WAYS = ["curl", "typescript", "python"] as const;
export type Way = (typeof WAYS)[number];

/** Mail of a TEST key may come from any address, because it never leaves the server. */
export const FROM = "hello@example.com";

/** What stands for the key until there is one. */
export const KEY_PLACEHOLDER = "sk_test_…";

export function snippetOf(way: Way, send: FirstSend): string {
  return { curl, typescript, python }[way](send);
}

/** The beginning and the end of a key, as lists of keys show it. */
export function masked(key: string): string {
  return `${key.slice(0, 12)}…${key.slice(-4)}`;
}

/** A value as one word of a POSIX shell. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

function curl({ url, projectId, key, to, subject, text }: FirstSend): string {
  const json = JSON.stringify;
  const body = `{
    "from": ${json(FROM)},
    "to": [${json(to)}],
    "subject": ${json(subject)},
    "text": ${json(text)}
  }`;
  return `curl -sS \\
  ${url}/projects/${projectId}/emails \\
  -H ${quoted(`Authorization: Bearer ${key}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(body)}`;
}

/** Whether the clients refuse to send a key to this URL unless told to. */
function needsPermission(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol !== "https:" && !isLoopback(hostname);
}

/** Whether a host name is the machine itself. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}

function typescript({ url, projectId, key, to, subject, text }: FirstSend): string {
  const json = JSON.stringify;
  return `// npm install @postern/sdk
import { Postern } from "@postern/sdk";

const postern = new Postern({
  url: ${json(url)},
  project: ${json(projectId)},
  key: ${json(key)},${needsPermission(url) ? "\n  insecure: true," : ""}
});

const sent = await postern.emails.send({
  from: ${json(FROM)},
  to: [${json(to)}],
  subject: ${json(subject)},
  text: ${json(text)},
});
console.log(sent.id, sent.status);`;
}

function python({ url, projectId, key, to, subject, text }: FirstSend): string {
  const json = JSON.stringify;
  return `# pip install postern-sdk
from postern_sdk import Postern

postern = Postern(
    ${json(url)},
    key=${json(key)},
    project=${json(projectId)},${needsPermission(url) ? "\n    insecure=True," : ""}
)
sent = postern.emails.send(
    from_=${json(FROM)},
    to=[${json(to)}],
    subject=${json(subject)},
    text=${json(text)},
)
print(sent.id, sent.status)`;
}
