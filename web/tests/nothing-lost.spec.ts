import type { Page, Request } from "@playwright/test";
import { api, at, expect, expectAccessible, SERVER, test } from "./fixtures";

// What fails while a session has ended or a server is away is noted on the console.
test.use({ tolerated: /status of (401|409|412|503)|ERR_|Failed to fetch/ });

let number = 0;
/** A word that only this run has. */
const unique = (name: string) => `${name}-${Date.now().toString(36)}${number++}`;

// The page may ask once more while a test ends.
test.afterEach(async ({ page }) => {
  if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
});

/** Let requests of this method wait until the returned function is called, and collect them. */
async function held(page: Page, url: string | RegExp, method: string) {
  const requests: Request[] = [];
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    if (route.request().method() === method) {
      requests.push(route.request());
      await gate;
    }
    await route.fallback();
  });
  return { requests, release };
}

/** Requests of this method to a path, as the page sends them. */
function sent(page: Page, path: RegExp, method: string): Request[] {
  const requests: Request[] = [];
  page.on("request", (request) => {
    if (request.method() === method && path.test(new URL(request.url()).pathname)) requests.push(request);
  });
  return requests;
}

async function signInAgain(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("Password").fill(SERVER.developerPassword);
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(dialog).toHaveCount(0);
}

/** Close the page as a browser that crashes does, and open another one with the same storage. */
async function reopened(page: Page, path: string): Promise<Page> {
  const context = page.context();
  await page.close();
  const next = await context.newPage();
  await next.goto(path);
  return next;
}

const saved = (page: Page) => page.locator(".saving", { hasText: /^Saved$/ });

test.describe("two people write", () => {
  test("the same source: the choice shows where it differs, and either goes on", async ({ signedIn: page }) => {
    const head = "<p>The same line</p>\n".repeat(60);
    const { id } = await api.templates.create({ name: unique("source"), html: `${head}<p>First</p>` });
    await page.goto(at(`/templates/${id}/edit`));
    const source = page.getByRole("textbox", { name: "HTML" });
    const dialog = page.getByRole("dialog");
    for (const [number, side] of (["Theirs", "Mine"] as const).entries()) {
      await source.fill(`${head}<p>Mine ${number}</p>`);
      await api.templates.update(id, { html: `${head}<p>Theirs ${number}</p>` });
      await page.getByRole("button", { name: /^Publish version/ }).click();
      await expect(dialog.getByRole("radio", { name: `<p>Theirs ${number}</p>` })).toBeVisible();
      await dialog.getByRole("radio", { name: `<p>${side} ${number}</p>` }).check();
      if (!number) await expectAccessible(page);
      await dialog.getByRole("button", { name: /^Publish version/ }).click();
      await expect(dialog).toHaveCount(0);
      await expect.poll(async () => (await api.templates.get(id)).html).toContain(`<p>${side} ${number}</p>`);
      await expect(source).toHaveValue(`${head}<p>${side} ${number}</p>`);
      await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
    }
    expect((await api.templates.get(id)).version).toBe(4);
  });

  test("the same contact: theirs can stay", async ({ signedIn: page }) => {
    const { id } = await api.contacts.create({
      email: `${unique("both")}@example.com`,
      attributes: { city: "Berlin" },
    });
    await page.goto(at(`/contacts/${id}`));
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const form = page.getByRole("form", { name: "Edit" });
    await form.getByLabel("city", { exact: true }).fill("Lisbon");
    await api.contacts.update(id, { attributes: { city: "Kyoto" } });
    await form.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: /changed this meanwhile/ });
    await expect(dialog.getByRole("row", { name: "city Kyoto Lisbon" })).toBeVisible();
    await dialog.getByRole("button", { name: "Take theirs" }).click();
    await expect(form).toHaveCount(0);
    await expect(page.getByRole("region", { name: "Attributes" }).getByText("Kyoto")).toBeVisible();
    expect((await api.contacts.get(id)).attributes).toEqual({ city: "Kyoto" });
  });
});

test.describe("the browser closes in the middle", () => {
  test("the draft of a template is there again", async ({ signedIn: page }) => {
    const { id } = await api.templates.create({ name: unique("closed"), html: "<p>Before</p>" });
    await page.goto(at(`/templates/${id}/edit`));
    await page.getByRole("textbox", { name: "HTML" }).fill("<p>Typed</p>");
    await expect(page.getByText(/Draft saved in this browser/)).toBeVisible();
    const next = await reopened(page, at(`/templates/${id}/edit`));
    await expect(next.getByRole("textbox", { name: "HTML" })).toHaveValue("<p>Typed</p>");
    expect((await api.templates.get(id)).html).toBe("<p>Before</p>");
  });

  test("the draft of a campaign is there again, and is stored", async ({ signedIn: page }) => {
    const { id } = await api.campaigns.create({ name: unique("closed") });
    await page.goto(at(`/campaigns/${id}`));
    await held(page, `**/campaigns/${id}`, "PATCH");
    await page.getByLabel("Subject", { exact: true }).fill("Typed before the crash");
    await page.getByLabel("Name of the sender").fill("Northwind");
    const next = await reopened(page, at(`/campaigns/${id}`));
    await expect(next.getByLabel("Subject", { exact: true })).toHaveValue("Typed before the crash");
    await expect(saved(next)).toBeVisible();
    await expect
      .poll(async () => {
        const { subject, fromName } = await api.campaigns.get(id);
        return [subject, fromName];
      })
      .toEqual(["Typed before the crash", "Northwind"]);

    // Meanwhile, another person has written the same part.
    await held(next, `**/campaigns/${id}`, "PATCH");
    await next.getByLabel("Subject", { exact: true }).fill("Mine");
    await api.campaigns.update(id, { subject: "Theirs", previewText: "Theirs, too" });
    const last = await reopened(next, at(`/campaigns/${id}`));
    const dialog = last.getByRole("dialog", { name: "Someone changed this meanwhile" });
    await expect(dialog.getByRole("row", { name: "Subject" })).toHaveText("SubjectTheirsMine");
    await expect(dialog.getByRole("row")).toHaveCount(2);
    await dialog.getByRole("button", { name: "Keep mine" }).click();
    await expect(saved(last)).toBeVisible();
    const stored = await api.campaigns.get(id);
    expect([stored.subject, stored.previewText]).toEqual(["Mine", "Theirs, too"]);
    await last.reload();
    await expect(last.getByLabel("Subject", { exact: true })).toHaveValue("Mine");
    await expect(dialog).toHaveCount(0);
  });

  test("rules are there again, can be discarded, and overwrite nothing unseen", async ({ signedIn: page }) => {
    const rules = (value: string) => ({ match: "all", conditions: [{ field: "plan", operator: "eq", value }] });
    const { id } = await api.audiences.create({ name: unique("closed"), rules: rules("free") as never });
    const path = at(`/contacts/audiences/${id}/rules`);
    await page.goto(path);
    await page.getByRole("group", { name: "Condition 1" }).getByLabel("Value").fill("typed");
    await page.getByRole("button", { name: "Add a condition" }).click();
    const next = await reopened(page, path);
    await expect(next.getByText("You typed this before, and did not save it.")).toBeVisible();
    const first = next.getByRole("group", { name: "Condition 1" }).getByLabel("Value");
    await expect(first).toHaveValue("typed");
    await expect(next.getByRole("group", { name: "Condition 2" })).toBeVisible();
    await expectAccessible(next);
    await next
      .getByRole("group", { name: "Condition 2" })
      .getByRole("button", { name: /Remove/ })
      .click();
    await api.audiences.setRules(id, rules("theirs") as never);
    const last = await reopened(next, path);
    await last.getByRole("button", { name: "Save the rules" }).click();
    const dialog = last.getByRole("dialog", { name: /changed this meanwhile/ });
    await expect(dialog.getByRole("row", { name: "Rules" })).toContainText("theirs");
    await dialog.getByRole("button", { name: "Keep mine" }).click();
    await expect(last).toHaveURL(new RegExp(`/audiences/${id}$`));
    expect((await api.audiences.get(id)).rules).toMatchObject(rules("typed"));
    await last.goto(path);
    const value = last.getByRole("group", { name: "Condition 1" }).getByLabel("Value");
    await expect(value).toHaveValue("typed");
    await expect(last.getByText("You typed this before, and did not save it.")).toHaveCount(0);

    await value.fill("not this");
    const again = await reopened(last, path);
    await again.getByRole("button", { name: "Discard the changes" }).click();
    await expect(again.getByRole("group", { name: "Condition 1" }).getByLabel("Value")).toHaveValue("typed");
    await again.reload();
    await expect(again.getByRole("group", { name: "Condition 1" }).getByLabel("Value")).toHaveValue("typed");
  });
});

test.describe("the session ends in the middle", () => {
  test("the waiting save happens once after the sign-in, where one was", async ({ signedIn: page }) => {
    const { id } = await api.campaigns.create({ name: unique("session") });
    await page.goto(at(`/campaigns/${id}`));
    const subject = page.getByLabel("Subject", { exact: true });
    await expect(subject).toBeVisible();
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.request().method() === "PATCH") statuses.push(response.status());
    });
    await page.context().clearCookies();
    await subject.fill("Typed without a session");
    await expect(page.getByRole("dialog", { name: "Your session has ended" })).toBeVisible();
    expect((await api.campaigns.get(id)).subject).toBeNull();
    await expect.poll(() => statuses).toEqual([401]);
    await signInAgain(page);
    await expect(saved(page)).toBeVisible();
    await expect(subject).toHaveValue("Typed without a session");
    expect((await api.campaigns.get(id)).subject).toBe("Typed without a session");
    expect(statuses).toEqual([401, 200]);
    await expect(page).toHaveURL(new RegExp(`/campaigns/${id}$`));

    // A template that is published meanwhile gets one version.
    const template = await api.templates.create({ name: unique("session"), html: "<p>Before</p>" });
    await page.goto(at(`/templates/${template.id}/edit`));
    await page.getByRole("textbox", { name: "HTML" }).fill("<p>After</p>");
    await page.context().clearCookies();
    // The dialog may already be there, because the preview has asked for something.
    await page.getByRole("button", { name: "Publish version 2" }).dispatchEvent("click");
    await signInAgain(page);
    await expect(page.getByText("Version 2 is in use", { exact: true })).toBeVisible();
    const published = await api.templates.get(template.id);
    expect([published.version, published.html]).toEqual([2, "<p>After</p>"]);
  });

  test("what waits is not sent in the name of another person", async ({ signedIn: page }) => {
    const { id } = await api.campaigns.create({ name: unique("other") });
    await page.goto(at(`/campaigns/${id}`));
    await expect(page.getByLabel("Subject", { exact: true })).toBeVisible();
    await page.route("**/dashboard/api/auth/sign-in", async (route) => {
      const response = await route.fetch({ maxRetries: 3 });
      const body = (await response.json()) as { developer: object };
      await route.fulfill({ response, json: { ...body, developer: { ...body.developer, id: "somebody-else" } } });
    });
    // The browser asks before it leaves what is not stored.
    page.on("dialog", (dialog) => void dialog.accept());
    await page.context().clearCookies();
    const patches = sent(page, new RegExp(`/campaigns/${id}$`), "PATCH");
    await page.getByLabel("Subject", { exact: true }).fill("Mine");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await expect(dialog).toBeVisible();
    await expect.poll(() => patches.length).toBe(1);
    await dialog.getByLabel("Password").fill(SERVER.developerPassword);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page).toHaveURL(new RegExp(`${at()}/?$`));
    await expect(page.locator("main h1").first()).toBeVisible();
    expect(patches).toHaveLength(1);
    expect((await api.campaigns.get(id)).subject).toBeNull();
  });
});

test.describe("the server restarts in the middle", () => {
  const control = (deed: "stop" | "start") => fetch(`${SERVER.controlUrl}/${deed}`, { method: "POST" });

  test("the page says so and goes on, its stream too, and nothing is sent twice", async ({ signedIn: page }) => {
    const tag = unique("restart");
    await page.goto(at(`/emails?tag=${tag}`));
    await expect(page.getByText("No email matches")).toBeVisible();
    const mail = (subject: string) =>
      api.emails.send({
        from: "shop@example.com",
        to: ["live@example.com"],
        subject,
        text: "Hello",
        tags: [tag],
        engine: "none",
      });
    await mail("Before the restart");
    await expect(page.getByRole("row", { name: "Before the restart" })).toBeVisible();

    // The server takes an e-mail, and is gone before it has answered.
    const subject = unique("Once");
    await page.getByRole("button", { name: "Send a test" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Send a test" });
    await dialog.getByLabel("To", { exact: true }).fill("delivered@postern.test");
    await dialog.getByLabel("Subject").fill(subject);
    const emails = new RegExp(`/dashboard/api/projects/${SERVER.projectId}/emails$`);
    const keys = new Set<string | undefined>();
    let isAway = false;
    await page.route(emails, async (route) => {
      keys.add(route.request().headers()["idempotency-key"]);
      if (!isAway) {
        await route.fetch({ maxRetries: 3 });
        isAway = true;
        await control("stop");
      }
      await route.abort("connectionreset");
    });
    await dialog.getByRole("button", { name: "Send it" }).click();
    const banner = page.getByText("The server does not answer.");
    await expect(banner).toBeVisible();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await page.unroute(emails);
    await control("start");
    await expect(banner).toBeHidden();
    // The person sends it again, as the page says.
    const again = page.waitForRequest((request) => emails.test(request.url()) && request.method() === "POST");
    await dialog.getByRole("button", { name: "Send it" }).click();
    keys.add((await again).headers()["idempotency-key"]);
    await expect(page.getByRole("heading", { name: subject })).toBeVisible();
    expect(keys.size).toBe(1);
    expect((await api.emails.list({ q: subject })).data).toHaveLength(1);

    await page.goBack();
    await expect(page.getByRole("row", { name: "Before the restart" })).toBeVisible();
    await mail("After the restart");
    await expect(page.getByRole("row", { name: "After the restart" })).toBeVisible({ timeout: 20_000 });
  });

  test("a stream that was open goes on by itself", async ({ signedIn: page }) => {
    const tag = unique("stream");
    const streams = sent(page, /\/events\/stream$/, "GET");
    await page.goto(at(`/emails?tag=${tag}`));
    await expect(page.getByText("No email matches")).toBeVisible();
    await expect.poll(() => streams.length).toBeGreaterThan(0);
    await control("stop");
    await control("start");
    await api.emails.send({
      from: "shop@example.com",
      to: ["live@example.com"],
      subject: "While nobody listened",
      text: "Hello",
      tags: [tag],
      engine: "none",
    });
    await expect(page.getByRole("row", { name: "While nobody listened" })).toBeVisible({ timeout: 30_000 });
  });
});

test.describe("on a slow network", () => {
  test("pages show that they load, and neither that there is nothing nor that it failed", async ({
    signedIn: page,
  }) => {
    const parts = ["", "/emails", "/campaigns", "/templates", "/contacts", "/contacts/audiences", "/customers"];
    for (const part of [...parts, "/domains", "/developers", "/developers/webhooks", "/settings/audit-log"]) {
      const { release } = await held(page, /\/dashboard\/api\/(projects|account\/audit-log)/, "GET");
      await page.goto(at(part));
      await expect(page.locator("main [aria-busy=true], main[aria-busy=true]").first(), part).toBeAttached();
      await expect(page.locator("main .empty"), part).toHaveCount(0);
      await expect(page.getByRole("alert"), part).toHaveCount(0);
      release();
      await expect(page.locator("[aria-busy=true]"), part).toHaveCount(0);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
  });

  test("a second press sends nothing", async ({ signedIn: page }) => {
    const dialog = page.getByRole("dialog");
    const twice = async (url: RegExp, button: string) => {
      const { requests, release } = await held(page, url, "POST");
      const deed = dialog.getByRole("button", { name: button, exact: true });
      await deed.dblclick();
      await expect(deed).toBeDisabled();
      await page.keyboard.press("Enter");
      release();
      return requests;
    };

    await page.goto(at("/developers"));
    await page.getByRole("button", { name: "New key" }).click();
    const name = unique("Key");
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    const keys = await twice(/\/api-keys$/, "Create key");
    await expect(page.getByRole("dialog", { name: "Save the key now" })).toBeVisible();
    expect(keys).toHaveLength(1);

    await page.goto(at("/emails"));
    await page.getByRole("button", { name: "Send a test" }).first().click();
    const subject = unique("Test");
    await dialog.getByLabel("To", { exact: true }).fill("delivered@postern.test");
    await dialog.getByLabel("Subject").fill(subject);
    const mails = await twice(/\/emails$/, "Send it");
    await expect(page.getByRole("heading", { name: subject })).toBeVisible();
    expect(mails).toHaveLength(1);

    await page.goto(at("/settings/team"));
    await page.getByRole("button", { name: "Invite someone" }).first().click();
    await dialog.getByLabel("Email address").fill(`${unique("guest")}@agency.example`);
    const invitations = await twice(/\/account\/invitations$/, "Send the invitation");
    await expect(dialog).toHaveCount(0);
    expect(invitations).toHaveLength(1);

    const audience = await api.audiences.create({ name: unique("Readers") });
    await api.audiences.contacts.addEmails(audience.id, { contacts: [{ email: `${unique("reader")}@example.com` }] });
    const template = await api.templates.create({ name: unique("News"), subject: "News", html: "<p>News</p>" });
    const domain = await api.domains.create({ domain: `${unique("news")}.example` });
    const campaign = await api.campaigns.create({
      name: "Spring",
      audienceId: audience.id,
      templateId: template.id,
      domainId: domain.id,
      fromEmail: `news@${domain.domain}`,
    });
    await page.goto(at(`/campaigns/${campaign.id}`));
    await page.getByRole("button", { name: "Send…" }).click();
    await dialog.getByRole("textbox").fill("1");
    const sends = await twice(/\/campaigns\/[^/]+\/send$/, "Send to 1 person");
    await expect(dialog).toHaveCount(0);
    expect(sends).toHaveLength(1);
  });
});
