// Sends a mail and verifies a webhook in any JavaScript run-time; prints what it found.
import { ConnectionFailed, Postern } from "@postern/sdk";
import { signWebhook } from "@postern/sdk/testing";
import { verify } from "@postern/sdk/webhooks";

const postern = new Postern();
const sent = await postern.emails.send({
  from: "hello@example.org",
  to: ["ada@example.com"],
  subject: "Hello",
  text: "Hi",
});
const entries = [];
for await (const entry of postern.emails.list({ limit: 1 })) entries.push(entry.id);

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
const body = JSON.stringify({ type: "email.delivered", timestamp: "2026-01-31T12:00:00Z", data: {} });
const event = await verify(body, new Headers(await signWebhook(body, secret)), secret);

const csv = new Blob(["email\nsmoke@example.com\n"]).stream();
const contactImport = await postern.contacts.imports.create(csv);

const nobody = new Postern({ url: globalThis.process.env.REFUSED, retries: 0 });
const refused = await nobody.audiences.create({ name: "x" }).catch((error) => error);
const aborted = await postern.emails.list({}, { signal: AbortSignal.abort(new Error("stop")) }).catch((error) => error);

console.log(
  JSON.stringify({
    listed: entries.includes(sent.id),
    event: event.type,
    import: typeof contactImport.id,
    refused: refused instanceof ConnectionFailed && !refused.mayHaveBeenExecuted ? "not executed" : String(refused),
    aborted: aborted.message,
  }),
);
