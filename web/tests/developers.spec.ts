import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { Postern, verifyWebhook } from "@postern/sdk";
import { expect, expectAccessible, expectHolds, SERVER, signIn, test } from "./fixtures";

/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";
const FROM = "Northwind Coffee <orders@northwind-coffee.example>";

/** The API as the developer: creates projects and keys, which keys may not. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });

interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** An endpoint of webhooks that answers 200, or what its path asks for: `/503`. */
const received: Received[] = [];
let endpoint: Server;
let endpointUrl = "";
/** Whether the endpoint is up again. */
let isMended = false;

interface Project {
  id: string;
  client: Postern;
  at: (path?: string) => string;
}

/** A project of its own with a live key. */
async function newProject(name: string): Promise<Project> {
  const { id } = await developer.projects.create({ name });
  const { key } = await developer.apiKeys.create({ name: "Spec" }, { project: id });
  return {
    id,
    client: new Postern({ url: SERVER.baseUrl, key: key ?? "", project: id }),
    at: (path = "") => `/dashboard/projects/${id}/developers${path}`,
  };
}

function sendMail(client: Postern, subject = "Order 10482 is on its way", to = "lena@kaffeehaus-linden.example") {
  return client.emails.send({ from: FROM, to: [to], subject, text: "Hello", engine: "none" });
}

const dialog = (page: Page) => page.getByRole("dialog");
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

let shop: Project;

test.beforeAll(async () => {
  endpoint = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const path = request.url ?? "";
      received.push({ path, headers: request.headers as Record<string, string>, body });
      const status = isMended ? 200 : Number(/\d{3}/.exec(path)?.[0] ?? 200);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(status === 200 ? '{"received":true}' : `{"error":"${ATTACK}"}`);
    });
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  endpointUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  shop = await newProject("Northwind Coffee");
});

test.afterAll(() => endpoint.close());

test("a key is created, shown once with its first call, and works as it says", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(shop.at());
  await page.getByRole("button", { name: "New key" }).click();
  await expectAccessible(page);
  const form = dialog(page);
  await form.getByRole("button", { name: "Create key" }).click();
  await expect(form.getByText("Give the key a name")).toBeVisible();
  await form.getByLabel("Name", { exact: true }).fill("Warehouse");
  await form.getByRole("button", { name: "Test", exact: true }).click();
  await form.getByLabel("May do").selectOption("Only send email");
  await form.getByLabel("Expires").selectOption("30");
  await form.getByRole("button", { name: "Create key" }).click();

  const made = page.getByRole("dialog", { name: "Save the key now" });
  await expectAccessible(page);
  const key = (await made.locator(".secret code").textContent()) ?? "";
  expect(key).toMatch(/^sk_test_/);
  await made.getByRole("button", { name: "Copy the key" }).click();
  expect(await clipboard(page)).toBe(key);
  for (const [language, part] of [
    ["TypeScript", "await postern.emails.send({"],
    ["Python", "postern.emails.send("],
    ["curl", "curl -sS"],
  ] as const) {
    await made.getByRole("button", { name: language }).click();
    await expect(made.locator("pre")).toContainText(part);
    await expect(made.locator("pre")).toContainText(key);
  }
  // It does not vanish by a slip.
  await page.keyboard.press("Escape");
  await expect(made).toBeVisible();
  await made.getByRole("button", { name: "I have saved it" }).click();
  await expect(made).toBeHidden();

  const client = new Postern({ url: SERVER.baseUrl, key, project: shop.id });
  const sent = await sendMail(client);
  expect(sent.id).toBeTruthy();
  await expect(client.contacts.list()).rejects.toThrow(/permission|contacts:read/);
  const created = (await developer.apiKeys.list({}, { project: shop.id })).data.find(
    (each) => each.name === "Warehouse",
  );
  expect(created?.environment).toBe("TEST");
  expect(Date.parse(created?.expiresAt ?? "") - Date.now()).toBeGreaterThan(29 * 86_400_000);

  await page.reload();
  const row = page.getByRole("row", { name: /Warehouse/ });
  await expect(row).toContainText("Only send email");
  await expect(row).not.toContainText("Never");
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await expect(row).toHaveCount(0);
  await expect(page).toHaveURL(/mode=LIVE/);
});

test("a key in use is deleted after its name was typed, and a replacement has its settings", async ({
  signedIn: page,
}) => {
  const { id, key } = await developer.apiKeys.create(
    { name: "Old shop", permissions: ["emails:send", "contacts:read"], ipAllowList: ["127.0.0.0/8"] },
    { project: shop.id },
  );
  const client = new Postern({ url: SERVER.baseUrl, key, project: shop.id });
  await client.contacts.list();
  await page.goto(shop.at(`/keys/${id}`));
  const panel = page.getByRole("region", { name: "Old shop" });
  await expect(panel.getByText("127.0.0.0/8")).toBeVisible();
  await panel.getByRole("button", { name: "Replace…" }).click();
  await dialog(page).getByLabel("Name", { exact: true }).fill("New shop");
  await dialog(page).getByRole("button", { name: "Create key" }).click();
  await expect(dialog(page).getByText("delete the old one, “Old shop”")).toBeVisible();
  await dialog(page).getByRole("button", { name: "I have saved it" }).click();
  const made = (await developer.apiKeys.list({}, { project: shop.id })).data.find((each) => each.name === "New shop");
  expect(made?.permissions).toEqual(["emails:send", "contacts:read"]);
  expect(made?.ipAllowList).toEqual(["127.0.0.0/8"]);

  await expect(async () => {
    await page.reload();
    await expect(panel.getByText(/Today/).first()).toBeVisible({ timeout: 2_000 });
    await expect(panel.locator("dd").nth(2)).toContainText("Today", { timeout: 2_000 });
  }).toPass();
  await panel.getByRole("button", { name: "Delete…" }).click();
  await expectAccessible(page);
  const remove = dialog(page).getByRole("button", { name: "Delete key" });
  await dialog(page).getByLabel("Type Old shop to confirm").fill("New shop");
  await remove.click();
  await expect(dialog(page).getByText("This is not Old shop.")).toBeVisible();
  await client.contacts.list();
  await dialog(page).getByLabel("Type Old shop to confirm").fill("Old shop");
  await remove.click();
  await expect(page.getByText("The key “Old shop” is deleted.")).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`${shop.at()}$`));
  await expect(client.contacts.list()).rejects.toMatchObject({ status: 401 });
});

test.describe("with a request that is refused", () => {
  test.use({ tolerated: /status of 4\d\d|status of 5\d\d/ });

  test("what is wrong about a key and a webhook stands at its field", async ({ signedIn: page }) => {
    await page.goto(shop.at());
    await page.getByRole("button", { name: "New key" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).fill("Wrong");
    await dialog(page).getByLabel("Works from").fill("nowhere");
    await dialog(page).getByRole("button", { name: "Create key" }).click();
    await expect(dialog(page).getByRole("alert")).toContainText("This is not an IP address");
    await expect(dialog(page).getByLabel("Works from")).toHaveAttribute("aria-invalid", "true");

    await page.goto(shop.at("/webhooks"));
    await page.getByRole("button", { name: "New webhook" }).first().click();
    await dialog(page).getByLabel("URL").fill("http://10.0.0.1/hook");
    await dialog(page).getByRole("button", { name: "Create webhook" }).click();
    await expect(dialog(page).getByLabel("URL")).toHaveAttribute("aria-invalid", "true");
    await dialog(page).getByLabel("URL").fill("https://example.com/hook");
    await dialog(page).getByLabel("Email: all").uncheck();
    await dialog(page).getByRole("button", { name: "Create webhook" }).click();
    await expect(dialog(page).getByText("Choose at least one event.")).toBeVisible();
    expect((await shop.client.webhooks.list()).data).toEqual([]);
  });

  test("lists that cannot be loaded say so and try again", async ({ signedIn: page }) => {
    const failing = (url: URL) => /^\/dashboard\/api\/.*\/(api-keys|webhooks|events)$/.test(url.pathname);
    await page.route(failing, (route) =>
      route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"status":503,"title":"Away"}' }),
    );
    for (const path of ["", "/webhooks", "/events"]) {
      await page.goto(shop.at(path));
      await expect(page.getByRole("button", { name: "Try again" })).toBeVisible({ timeout: 30_000 });
      await expectAccessible(page);
    }
    await page.unroute(failing);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.locator(".events .row").first()).toBeVisible();
  });

  test("a webhook that was changed meanwhile is not overwritten unseen", async ({ signedIn: page }) => {
    const { id } = await shop.client.webhooks.create({ url: "https://example.com/a", events: ["email.sent"] });
    await page.goto(shop.at(`/webhooks/${id}`));
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog(page).getByLabel("Description").fill("Mine");
    await shop.client.webhooks.update(id, { description: "Theirs" });
    await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
    await expect(dialog(page).getByText("Spec changed this webhook")).toBeVisible();
    await expect(dialog(page).getByRole("row", { name: "Description Theirs Mine" })).toBeVisible();
    await expectAccessible(page);
    expect((await shop.client.webhooks.get(id)).description).toBe("Theirs");
    await dialog(page).getByRole("button", { name: "Save mine" }).click();
    await expect(page.getByRole("heading", { name: "Mine", level: 1 })).toBeVisible();
    expect((await shop.client.webhooks.get(id)).description).toBe("Mine");

    // A new secret does not touch what is edited.
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog(page).getByLabel("Description").fill("Mine again");
    await shop.client.webhooks.rotateSecret(id);
    await dialog(page).getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Mine again", level: 1 })).toBeVisible();
    await expect(page.getByRole("button", { name: "Edit" })).toBeFocused();
    await shop.client.webhooks.delete(id);
  });
});

test("a webhook is created, gets signed events, and shows what was answered", async ({ signedIn: page }) => {
  const project = await newProject("Signed");
  await page.goto(project.at("/webhooks"));
  await page.getByRole("button", { name: "New webhook" }).first().click();
  const form = dialog(page);
  await form.getByLabel("URL").fill(`${endpointUrl}/signed`);
  await form.getByLabel("Description").fill("Shop");
  await form.getByLabel("Email: all").uncheck();
  await form.getByRole("searchbox").fill("delivered");
  await form.getByLabel("Email delivered").check();
  await form.getByRole("searchbox").fill("");
  await form.getByText("Your own events", { exact: true }).click();
  await form.getByLabel(/Name of an event of yours/).fill("email.placed");
  await page.keyboard.press("Enter");
  await expect(form.getByText("One to five words")).toBeVisible();
  await form.getByLabel(/Name of an event of yours/).fill("order.placed");
  await page.keyboard.press("Enter");
  await expectAccessible(page);
  let requests = 0;
  await page.route("**/dashboard/api/**/webhooks", async (route) => {
    if (route.request().method() === "POST") {
      requests += 1;
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    await route.continue();
  });
  await form.getByRole("button", { name: "Create webhook" }).dblclick();
  const saved = page.getByRole("dialog", { name: "Save the signing secret now" });
  const secret = (await saved.locator(".secret code").textContent()) ?? "";
  expect(requests).toBe(1);
  expect(secret).toMatch(/^whsec_/);
  await expectAccessible(page);
  await saved.getByRole("button", { name: "Python" }).click();
  await expect(saved.locator("pre")).toContainText("webhooks.verify(");
  await saved.getByRole("button", { name: "curl" }).click();
  await saved.getByRole("button", { name: "I have saved it" }).click();
  await expect(page.getByRole("heading", { name: "Shop", level: 1 })).toBeVisible();
  await expect(page.getByText("Nothing was sent to it yet")).toBeVisible();

  await page.getByRole("button", { name: "Send a test" }).first().click();
  await expect(page.getByText(/It answered 200 after/)).toBeVisible();

  // Deliveries appear by themselves.
  await sendMail(project.client);
  await project.client.events.record({ name: "order.placed", email: "ada@example.com", data: { total: 42.5 } });
  await expect(page.getByRole("row", { name: /Email delivered/ })).toContainText("Delivered", { timeout: 30_000 });
  await page.getByRole("link", { name: "order.placed" }).click();
  const panel = page.getByRole("region", { name: "order.placed" });
  await expect(panel.getByText('{"received":true}')).toBeVisible();
  await expect(panel.getByRole("region", { name: "Content of the request" })).toContainText('"total": 42.5');
  await expectAccessible(page);
  const mine = () => received.filter((each) => each.path === "/signed" && each.body.includes("order.placed"));
  const [first] = mine();
  const event = await verifyWebhook(first?.body ?? "", first?.headers ?? {}, secret);
  expect(event.type).toBe("order.placed");
  await expect(panel.getByRole("region", { name: "Headers of the request" })).toContainText(
    first?.headers["webhook-id"] ?? "no id",
  );

  await panel.getByRole("button", { name: "Send again" }).click();
  await expect.poll(() => mine().length).toBe(2);
  expect(mine()[1]?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);

  await panel.getByRole("link", { name: "Show event" }).click();
  const eventPanel = page.getByRole("region", { name: "order.placed" });
  await expect(eventPanel.getByText("An API key")).toBeVisible();
  await expect(eventPanel.getByRole("link", { name: "Shop" })).toBeVisible();
  await expect(eventPanel.getByRole("listitem").getByText("Delivered")).toBeVisible();
  await expectAccessible(page);
});

test("failures are seen on the overview and in the list, and sent again when the server is back", async ({
  signedIn: page,
}) => {
  const project = await newProject("Failing");
  const hook = await project.client.webhooks.create({ url: `${endpointUrl}/503`, events: ["email.*"] });
  await sendMail(project.client, ATTACK);
  await expect
    .poll(async () => (await project.client.webhooks.get(hook.id)).failingSince, { timeout: 20_000 })
    .not.toBeNull();
  await page.goto(`/dashboard/projects/${project.id}`);
  await page.getByRole("link", { name: "Show answers" }).click();
  await expect(page).toHaveURL(new RegExp(`/developers/webhooks/${hook.id}\\?status=PENDING$`));
  await expect(page.locator(".head .pill").getByText(/Failing since/)).toBeVisible();
  await page.getByRole("link", { name: /Email accepted/ }).click();
  const panel = page.getByRole("region", { name: /Email accepted/ });
  await expect(panel.getByText("The endpoint responded with 503.")).toBeVisible();
  await expect(panel.getByRole("region", { name: "Answer" })).toContainText(ATTACK);
  await expect(panel.getByText("Next attempt")).toBeVisible();
  await expect(page.locator("main img")).toHaveCount(0);

  await page.goto(project.at("/webhooks"));
  await expect(page.getByRole("row", { name: /Failing since/ })).toBeVisible();
  await page
    .getByRole("row", { name: /Failing since/ })
    .getByRole("link")
    .click();
  await page.getByRole("button", { name: "Send again…" }).click();
  await dialog(page).getByLabel("Outcome").selectOption("Waiting: try them now");
  await expectAccessible(page);
  isMended = true;
  await dialog(page).getByRole("button", { name: "Send again", exact: true }).click();
  await expect(page.getByText(/deliveries are being sent again/)).toBeVisible();
  await expect(page.locator(".head .pill").getByText("Working")).toBeVisible({ timeout: 30_000 });
  isMended = false;
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await expect(page.getByText("No such delivery")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page.getByRole("row", { name: /Email delivered/ })).toBeVisible();
});

test("a secret is replaced, and a webhook is switched off, on, and deleted", async ({ signedIn: page }) => {
  const hook = await shop.client.webhooks.create({ url: `${endpointUrl}/life`, events: ["audience.*"] });
  await page.goto(shop.at(`/webhooks/${hook.id}`));
  const menu = page.getByRole("button", { name: "More actions" });
  await menu.click();
  await page.getByRole("menuitem", { name: "Replace the secret" }).click();
  await dialog(page)
    .getByLabel(/also signs for/)
    .selectOption("1 hour");
  await dialog(page).getByRole("button", { name: "Replace the secret" }).click();
  await expect(dialog(page).locator(".secret code")).toContainText("whsec_");
  await expect(dialog(page).locator(".secret code")).not.toHaveText(hook.secret);
  await dialog(page).getByRole("button", { name: "I have saved it" }).click();
  await expect(page.getByText(/also signs until/)).toBeVisible();

  await menu.click();
  await page.getByRole("menuitem", { name: "Verify the signature" }).click();
  await expect(page.getByRole("dialog", { name: "Verify the signature" })).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");

  await menu.click();
  await page.getByRole("menuitem", { name: "Switch off" }).click();
  await dialog(page).getByRole("button", { name: "Switch off" }).click();
  await expect(page.locator(".head .pill")).toHaveText("Off");
  expect((await shop.client.webhooks.get(hook.id)).active).toBe(false);
  await page.locator(".about").getByRole("button", { name: "Switch on" }).click();
  await expect.poll(async () => (await shop.client.webhooks.get(hook.id)).active).toBe(true);

  await menu.click();
  await page.getByRole("menuitem", { name: "Delete webhook" }).click();
  await dialog(page).getByRole("button", { name: "Delete webhook" }).click();
  await expect(page).toHaveURL(new RegExp(`${shop.at("/webhooks")}$`));
  await expect(shop.client.webhooks.get(hook.id)).rejects.toMatchObject({ status: 404 });
});

test("events arrive as they happen, also the project's own, and wait while paused", async ({ signedIn: page }) => {
  const project = await newProject("Live");
  await page.goto(project.at("/events"));
  await expect(page.getByText("Nothing has happened yet")).toBeVisible();
  await expectAccessible(page);
  const contact = await project.client.contacts.create({ email: "ada@example.com" });
  await expect(page.getByRole("row", { name: /Contact created/ })).toContainText("ada@example.com");
  await project.client.events.record({ name: "order.placed", email: "ada@example.com", data: { note: ATTACK } });
  await expect(page.getByRole("link", { name: "order.placed" })).toBeVisible({ timeout: 20_000 });

  await page.getByRole("button", { name: "Live", exact: true }).click();
  await project.client.contacts.create({ email: "grace@example.com" });
  await page.getByRole("button", { name: "1 new row" }).click();
  await expect(page.getByRole("row", { name: /grace@example.com/ })).toBeVisible();
  await page.getByRole("button", { name: "Live", exact: true }).click();

  await page.getByRole("button", { name: "Event", exact: true }).click();
  await page.getByRole("menuitem", { name: "Contacts", exact: true }).click();
  await page.getByRole("menuitem", { name: "Contacts: all" }).click();
  await expect(page).toHaveURL(/type=contact\.\*/);
  await expect(page.locator(".events .row")).toHaveCount(2);
  await page.getByRole("searchbox").fill(contact.id);
  await expect(page).toHaveURL(new RegExp(`subject=${contact.id}`));
  await expect(page.locator(".events .row")).toHaveCount(1);
  await page.reload();
  await expect(page.locator(".events .row")).toHaveCount(1);
  await page.getByRole("button", { name: "Remove Event" }).click();
  await expect(page.locator(".events .row")).toHaveCount(2);
  await page.getByRole("link", { name: "order.placed" }).click();
  const panel = page.getByRole("region", { name: "order.placed" });
  await expect(panel.getByRole("region", { name: "Data" })).toContainText(ATTACK);
  await expect(page.locator("main img")).toHaveCount(0);
  await expect(panel.getByText("No webhook subscribes to this event.")).toBeVisible();
  await page.getByRole("searchbox").fill("not an id");
  await expect(page.getByText("This is not an ID.")).toBeVisible();
});

test("older events are read as the list is scrolled", async ({ signedIn: page }) => {
  const project = await newProject("Long");
  const events = Array.from({ length: 130 }, (_, number) => ({ name: `step.n${number}`, email: "ada@example.com" }));
  await project.client.events.recordBatch({ events });
  await page.goto(project.at("/events"));
  await expect(page.getByRole("link", { name: "step.n129" })).toBeVisible();
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await expect(page.getByRole("link", { name: "step.n0", exact: true })).toBeVisible({ timeout: 500 });
  }).toPass();
});

test("a page is copied in the language that was chosen last", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(shop.at("/webhooks"));
  await page.getByRole("button", { name: "Copy in another language" }).click();
  await expectAccessible(page);
  await page.getByRole("menuitem", { name: "Copy as Python" }).click();
  await expect(page.getByText("The Python program is in the clipboard.")).toBeVisible();
  expect(await clipboard(page)).toContain("page = postern.webhooks.list()");
  await page.goto(shop.at("/events?type=email.*"));
  await expect(page.getByRole("heading", { name: "Developers" })).toBeVisible();
  await page.keyboard.press("c");
  await expect.poll(() => clipboard(page)).toContain('page = postern.events.list(type="email.*", limit=100)');
  await page.keyboard.press("Control+k");
  await page.keyboard.type("as typescr");
  await expect(page.getByRole("option", { name: "Copy as TypeScript" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect.poll(() => clipboard(page)).toContain('postern.events.list({ type: "email.*", limit: 100 })');
  await page.reload();
  await expect(page.getByRole("button", { name: "Copy as TypeScript" })).toBeVisible();
  await page.goto(shop.at());
  await page.getByRole("button", { name: "Copy as TypeScript" }).click();
  await expect(page.getByText("no API key may do this")).toBeVisible();
  expect(await clipboard(page)).toContain("key: process.env.POSTERN_TOKEN");
});

test("the page about the API leads to what this server serves", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(shop.at("/api"));
  await page.getByRole("button", { name: "Copy the base URL" }).click();
  expect(await clipboard(page)).toBe(SERVER.baseUrl);
  const links = await page
    .locator("main a[target=_blank]")
    .evaluateAll((all) => all.map((each) => each.getAttribute("href")));
  expect(links.length).toBeGreaterThan(8);
  for (const link of links) expect((await page.request.get(link ?? "")).status(), link ?? "").toBe(200);
});

test("keys alone go through the tabs, open a webhook and a delivery, and return", async ({ signedIn: page }) => {
  const project = await newProject("Keyboard");
  const hook = await project.client.webhooks.create({ url: `${endpointUrl}/keys`, events: ["contact.*"] });
  await project.client.contacts.create({ email: "ada@example.com" });
  await expect
    .poll(async () => (await project.client.webhooks.deliveries.list(hook.id)).data[0]?.status)
    .toBe("SUCCEEDED");
  await page.goto(`/dashboard/projects/${project.id}`);
  await expect(page.locator("main h1")).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await expect(page).toHaveURL(new RegExp(`${project.at()}$`));
  await page.getByRole("link", { name: "Webhooks", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".hooks .row")).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(hook.id));
  await expect(page.locator(".dels .row")).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Contact created" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(".dels .row")).toBeFocused();
});

test("a viewer sees no action that the server would refuse", async ({ signedIn: page }) => {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
  const project = await newProject("Viewer");
  const hook = await project.client.webhooks.create({ url: `${endpointUrl}/viewer`, events: ["contact.*"] });
  await project.client.contacts.create({ email: "ada@example.com" });
  await expect.poll(async () => (await project.client.webhooks.deliveries.list(hook.id)).data.length).toBe(1);
  const [delivery] = (await project.client.webhooks.deliveries.list(hook.id)).data;
  const [key] = (await developer.apiKeys.list({}, { project: project.id })).data;
  for (const path of ["", `/keys/${key?.id}`, "/webhooks", `/webhooks/${hook.id}/${delivery?.id}`, "/events"]) {
    await page.goto(project.at(path));
    await expect(page.locator("main").getByRole("link").first()).toBeVisible();
    await expect(page.getByRole("table")).toBeVisible();
    await expect(
      page.getByRole("button", { name: /New key|New webhook|Replace|Delete|Edit|Send a test|Send again/ }),
    ).toHaveCount(0);
  }
  await page.goto(project.at(`/webhooks/${hook.id}`));
  await page.getByRole("button", { name: "More actions" }).click();
  await expect(page.getByRole("menuitem")).toHaveText(["Verify the signature"]);
});

test("names are never run as HTML, and what is gone says so", async ({ signedIn: page }) => {
  const project = await newProject(ATTACK);
  const { id } = await developer.apiKeys.create({ name: ATTACK }, { project: project.id });
  const hook = await project.client.webhooks.create({
    url: "https://example.com/?q=%3Cimg%3E",
    events: ["*"],
    description: ATTACK,
    active: false,
  });
  for (const path of [`/keys/${id}`, "/webhooks", `/webhooks/${hook.id}`, "/api"]) {
    await page.goto(project.at(path));
    await expect(page.locator("main h1, main h2").first()).toBeAttached();
    if (path !== "/api") await expect(page.locator("main").getByText(ATTACK).first()).toBeAttached();
    await expect(page.locator("main img")).toHaveCount(0);
  }
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  await project.client.events.record({ name: "constructor", email: "ada@example.com" });
  await page.goto(project.at("/events"));
  await expect(page.getByRole("link", { name: "constructor" })).toBeVisible();
  await page.goto(project.at("/keys/00000000-0000-7000-8000-000000000000"));
  await expect(page.getByText("There is no such key")).toBeVisible();
  await page.goto(project.at("/events/00000000-0000-7000-8000-000000000000"));
  await expect(page.getByText("There is no such event")).toBeVisible();
  await page.goto(project.at("?mode=TEST"));
  await expect(page.getByText("No such key")).toBeVisible();
});

test.describe("with an id that nothing has", () => {
  test.use({ tolerated: /status of 404/ });

  test("a webhook and a delivery that are gone say so", async ({ signedIn: page }) => {
    const hook = await shop.client.webhooks.create({ url: "https://example.com/gone", events: ["email.sent"] });
    await page.goto(shop.at("/webhooks/00000000-0000-7000-8000-000000000000"));
    await expect(page.getByText("There is no such webhook")).toBeVisible();
    await expectAccessible(page);
    await page.goto(shop.at(`/webhooks/${hook.id}/00000000-0000-7000-8000-000000000000`));
    await expect(page.getByText("There is no such delivery")).toBeVisible();
    await shop.client.webhooks.delete(hook.id);
  });
});

test.describe("in every shape", () => {
  let paths: string[];
  let full: Project;

  test.beforeAll(async () => {
    full = await newProject("Shapes");
    const { id } = await developer.apiKeys.create(
      { name: "Shop server with a name that is rather long for a column", permissions: ["emails:*", "contacts:read"] },
      { project: full.id },
    );
    const hook = await full.client.webhooks.create({
      url: `${endpointUrl}/503/with/a/path/that/is/long/enough/to/be/cut/somewhere`,
      events: ["email.*", "contact.*", "customer.signed_up", "domain.degraded", "custom.order.placed"],
    });
    await sendMail(full.client);
    const waiting = () => full.client.webhooks.deliveries.list(hook.id);
    await expect.poll(async () => (await waiting()).data.some((each) => each.attempts > 0)).toBe(true);
    const delivered = () => full.client.events.list({ type: "email.delivered" });
    await expect.poll(async () => (await delivered()).data.length).toBe(1);
    const [event] = (await delivered()).data;
    paths = [
      "",
      `/keys/${id}`,
      "/webhooks",
      `/webhooks/${hook.id}`,
      `/webhooks/${hook.id}/${(await waiting()).data[0]?.id}`,
      "/events",
      `/events/${event?.id}`,
      "/api",
    ];
  });

  test("pages and panels hold", async ({ page }) => {
    await signIn(page);
    for (const path of paths) {
      await page.goto(full.at(path));
      await expect(page.locator("main .row, main .subject, main .sec").first()).toBeAttached();
      await expectHolds(page, path);
    }
  });
});
