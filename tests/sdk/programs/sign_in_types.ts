// Compiled with tsc --strict: the adapters fit the types of their frameworks.
import { createSignIn as createExpressSignIn } from "@postern/sdk/express";
import { createSignIn as createHonoSignIn, type CustomerVariables } from "@postern/sdk/hono";
import { createSignIn as createNextSignIn } from "@postern/sdk/next";
import { type CustomerSession, PermissionDenied, SessionVerifier, TokenInvalid } from "@postern/sdk/sessions";
import { SignIn } from "@postern/sdk/sign-in";
import express from "express";
import { Hono } from "hono";
import type { NextRequest } from "next/server.js";

const expressSignIn = createExpressSignIn({ appUrl: "https://app.example.com", trustedOrigins: ["https://example.com"] });
const app = express();
app.use(expressSignIn.router, expressSignIn.middleware);
app.get("/reports", expressSignIn.requirePermission("reports:read"), (request, response) => {
  const customer: CustomerSession | null | undefined = request.customer;
  response.send(customer?.organization?.name ?? "no organization");
});
app.post("/account", expressSignIn.requireCustomer, (request, response) => {
  response.json({ email: request.customer?.email });
});

const honoSignIn = createHonoSignIn({ visitorAddress: (request) => request.headers.get("cf-connecting-ip") });
const hono = new Hono<{ Variables: CustomerVariables }>();
hono.use(honoSignIn.middleware);
hono.get("/reports", honoSignIn.requirePermission("reports:read"), (c) => c.text(c.var.customer?.email ?? ""));
new Hono().use("/private/*", honoSignIn.requireCustomer).get("/", (c) => c.text("plain"));

const next = createNextSignIn({ forbiddenPath: "/forbidden" });
export const { GET, POST } = next.handlers;
export async function proxy(request: NextRequest): Promise<Response> {
  return next.proxy(request, (_request, customer) => (customer ? undefined : Response.redirect("https://example.com")));
}
export const exported: (request: NextRequest, event: { waitUntil(promise: Promise<unknown>): void }) => Promise<Response> =
  next.proxy;
export const api = next.withPermission<{ params: Promise<{ id: string }> }>("reports:read", async (_request, customer, { params }) =>
  Response.json({ id: (await params).id, email: customer.email }),
);
export async function page(): Promise<string> {
  const customer = await next.requirePermission("reports:read");
  const perhaps: CustomerSession | null = await next.currentCustomer();
  return `${customer.organization?.permissions.join()} ${perhaps?.expiresAt.toISOString()}`;
}

export async function byHand(token: string): Promise<boolean> {
  const verifier = new SessionVerifier({ url: "https://id.example.com", project: "project" });
  try {
    return (await verifier.authenticate(token)).has("reports:read");
  } catch (error) {
    if (error instanceof PermissionDenied || error instanceof TokenInvalid) return false;
    throw error;
  }
}
export const core: Promise<Response | null> = new SignIn().handle(new Request("https://app.example.com/auth/session"));
