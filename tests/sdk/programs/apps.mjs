// An Express and a Hono application with the same pages. Prints their ports; ends with its standard input.
import { serve } from "@hono/node-server";
import { createSignIn as createExpressSignIn } from "@postern/sdk/express";
import { createSignIn as createHonoSignIn } from "@postern/sdk/hono";
import express from "express";
import { Hono } from "hono";
import { addComponents } from "./components.mjs";

const shown = (customer) =>
  customer && { id: customer.customerId, email: customer.email, organization: customer.organization?.name ?? null };

function expressApp(options) {
  const app = express();
  const signIn = createExpressSignIn(options);
  app.use(express.urlencoded());
  app.use(signIn.router, signIn.middleware);
  app.get("/", (request, response) => response.json(shown(request.customer)));
  app.all("/account", signIn.requireCustomer, (request, response) => response.json(shown(request.customer)));
  app.get("/cached", (request, response) => {
    response.setHeader("set-cookie", "theme=dark");
    response.writeHead(200, { "Cache-Control": "public, max-age=60", Vary: "Accept" }).end("everybody's");
  });
  app.get("/reports", signIn.requirePermission("reports:read"), (request, response) => response.send("the reports"));
  return app;
}

const components = express();
const componentsSignIn = createExpressSignIn();
components.use(componentsSignIn.router, componentsSignIn.middleware);
await addComponents(components);

const hono = new Hono();
const honoSignIn = createHonoSignIn({ visitorAddress: (request) => request.headers.get("x-visitor") });
hono.use(honoSignIn.middleware);
hono.get("/", (c) => c.json(shown(c.get("customer"))));
hono.all("/account", honoSignIn.requireCustomer, (c) => c.json(shown(c.get("customer"))));
hono.get("/cached", (c) => {
  c.header("set-cookie", "theme=dark", { append: true });
  return c.text("everybody's", 200, { "cache-control": "public, max-age=60", vary: "Accept" });
});
hono.get("/reports", honoSignIn.requirePermission("reports:read"), (c) => c.text("the reports"));

const listen = (app) =>
  new Promise((resolve) => {
    const server = app.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
const ports = {
  express: await listen(expressApp({})),
  hono: await new Promise((resolve) => serve({ fetch: hono.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => resolve(port))),
  components: await listen(components),
  // Reaches the server at a port where nothing listens.
  alone: await listen(expressApp({ internalUrl: "http://127.0.0.1:1" })),
};
console.log(JSON.stringify(ports));
process.stdin.resume().on("end", () => process.exit());
