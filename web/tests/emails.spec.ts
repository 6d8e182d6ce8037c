import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import type { EmailWaiting } from "@postern/sdk";
import { api, at, expect, expectAccessible, expectHolds, SERVER, signIn, test } from "./fixtures";

/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";
const FROM = "Northwind Coffee <orders@northwind-coffee.example>";

/** A word that only this run has. */
function unique(name: string): string {
  return `${name}-${Date.now().toString(36)}`;
}

interface Message {
  to?: string[];
  subject?: string;
  html?: string;
  text?: string;
  tags?: string[];
  scheduledAt?: string;
}

async function sendMail(message: Message = {}): Promise<string> {
  const { id } = await api.emails.send({
    from: FROM,
    to: ["lena@kaffeehaus-linden.example"],
    subject: "Order 10482 is on its way",
    text: "Hello",
    engine: "none",
    ...message,
  });
  return id;
}

/** Show no previews: axe cannot look into a frame that runs no scripts. */
async function withoutPreview(page: Page): Promise<void> {
  await page.route(/\/preview$/, (route) => route.fulfill({ json: {} }));
}

test("an attempt says by which transport it left, and how it was encrypted", async ({ signedIn: page }) => {
  const sent = await api.emails.send({
    from: "a@acme.example",
    to: ["ways@example.com"],
    subject: "Ways",
    text: "Hello",
  });
  const attempt = {
    attempt: 1,
    outcome: "ACCEPTED",
    transport: "direct",
    host: "mx1.example.com:25",
    results: [{ recipient: "ways@example.com", result: "ACCEPTED", code: 250, enhancedCode: "2.0.0", text: "Ok" }],
    dialogue: ["S: 220 mx1", "C: STARTTLS", "S: 220 go", "TLS: TLSv1.3, TLS_AES_256_GCM_SHA384; certificate checked"],
    durationMs: 840,
    finishedAt: new Date().toISOString(),
  };
  const failed = {
    ...attempt,
    outcome: "DEFERRED",
    transport: "ses",
    host: "email.eu-central-1",
    dialogue: ["S: 429"],
  };
  await page.route(/\/attempts$/, (route) => route.fulfill({ json: [failed, { ...attempt, attempt: 2 }] }));
  await page.goto(at(`/emails/${sent.id}`));
  const timeline = page.getByRole("list", { name: "What happened to this email" });
  await expect(timeline.getByText("through Amazon SES")).toBeVisible();
  await timeline.getByText(/directly, encrypted with TLS 1\.3/).click();
  await expect(timeline.locator(".smtp .tls")).toContainText("certificate checked");
});

test("filters stand in the URL, survive a reload, and can be changed and removed", async ({ signedIn: page }) => {
  const tag = unique("order");
  await sendMail({ tags: [tag], subject: "Order one" });
  await sendMail({ tags: [tag], subject: "Order two", to: ["bounced+filter@postern.test"] });
  await page.goto(at("/emails"));

  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "Tag" }).click();
  await page.getByLabel("Tag", { exact: true }).fill(tag);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`tag=${tag}`));
  await expect(page.getByText("2 emails", { exact: true })).toBeVisible();
  await expect(page.getByRole("rowheader")).toHaveCount(2);

  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "Status" }).click();
  await page.getByLabel("Bounced").check();
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page).toHaveURL(/status=BOUNCED/);
  await expect(page.getByText("1 email", { exact: true })).toBeVisible();

  await page.reload();
  await expect(page.getByRole("button", { name: "Status Bounced", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: `Tag ${tag}`, exact: true })).toBeVisible();
  await expect(page.getByRole("rowheader")).toHaveText(["bounced+filter@postern.test"]);

  await page.getByRole("searchbox").fill("Order one");
  await expect(page).toHaveURL(/q=Order/);
  await expect(page.getByText("No email matches")).toBeVisible();
  await expectAccessible(page);
  await expect(page.getByText("Without “Status” there is 1.")).toBeVisible();
  await page.getByRole("button", { name: "Show that one" }).click();
  await expect(page.getByRole("rowheader")).toHaveText(["lena@kaffeehaus-linden.example"]);
  await page.getByRole("button", { name: `Remove filter: Tag ${tag}` }).click();
  await expect(page).not.toHaveURL(/tag=/);
  await page.getByRole("searchbox").fill("");
  await expect(page).toHaveURL(new RegExp(`${at("/emails")}$`));
});

test.describe("with a filter that the API refuses", () => {
  test.use({ tolerated: /status of 400/ });

  test("the reason stands at the filter", async ({ signedIn: page }) => {
    await sendMail();
    await page.goto(at("/emails?status=NOPE"));
    await expect(page.getByRole("alert")).toContainText("Status: ");
    await expect(page.getByRole("alert")).toContainText("NOPE");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Remove filter: Status NOPE" }).click();
    await expect(page.getByRole("rowheader").first()).toBeVisible();
  });
});

test("keys move through the list, open an e-mail, and return to its row", async ({ signedIn: page }) => {
  const tag = unique("keys");
  for (const subject of ["third", "second", "first"]) await sendMail({ tags: [tag], subject });
  await page.goto(at(`/emails?tag=${tag}`));
  await expect(page.getByRole("rowheader")).toHaveCount(3);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "second" })).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`/emails/[0-9a-f-]{36}\\?tag=${tag}`));
  await expect(page.getByRole("region", { name: "second" })).toBeFocused();
  await page.keyboard.press("j");
  await expect(page.getByRole("heading", { name: "third" })).toBeVisible();
  await page.getByRole("button", { name: "The one above" }).click();
  await expect(page.getByRole("heading", { name: "second" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(new RegExp(`${at("/emails")}\\?tag=${tag}$`));
  await expect(page.getByRole("row", { name: "second" }).getByRole("link")).toBeFocused();
  await page.keyboard.press("k");
  await expect(page.getByRole("row", { name: "first" }).getByRole("link")).toBeFocused();
});

test("the panel says what happened, and shows every part", async ({ signedIn: page }) => {
  await withoutPreview(page);
  const id = await sendMail({ to: ["bounced+panel@postern.test"], subject: "Stock report" });
  await page.goto(at(`/emails/${id}`));
  await expect(page.getByRole("heading", { name: "Why it bounced" })).toBeVisible();
  await expect(page.getByText("There is no such mailbox at the receiving server.").first()).toBeVisible();
  await expect(page.getByText("550 5.1.1 No such user here")).toBeVisible();
  await page.getByRole("link", { name: "Headers" }).click();
  await expect(page).toHaveURL(/tab=headers/);
  await expect(page.getByText("Message-ID", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Source" }).click();
  await expect(page.getByRole("region", { name: "Source" })).toContainText("Subject: Stock report");
  await page.getByRole("link", { name: "Request" }).click();
  await expect(page.getByRole("region", { name: "Response" })).toContainText(`"id": "${id}"`);
  await expectAccessible(page);
});

test.describe("with an e-mail that attacks", () => {
  // What the frame's policy stops is noted on the console.
  test.use({ tolerated: /Blocked (script|form)|violates the following Content Security Policy|Refused to execute/ });

  test("nothing that a sender or recipient wrote is run", async ({ signedIn: page }) => {
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    const id = await sendMail({
      to: [`"${ATTACK}" <xss@example.com>`],
      subject: `${ATTACK}<script>alert(1)</script>`,
      html: `<h1>Hello</h1>${ATTACK}<script>top.hacked = 1; alert(2)</script><a href="javascript:alert(3)">x</a>
      <form action="https://evil.example"><input name="password"></form><meta http-equiv="refresh" content="0;url=https://evil.example">`,
      text: undefined,
    });
    for (const path of [
      `/emails/${id}`,
      `/emails/${id}?tab=headers`,
      `/emails/${id}?tab=source`,
      `/emails/${id}?tab=preview`,
    ]) {
      await page.goto(at(path));
      await expect(page.getByRole("heading", { name: ATTACK })).toBeVisible();
      await page.waitForTimeout(300);
    }
    const frame = page.locator("iframe");
    await expect(frame).toHaveAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
    await expect(frame.contentFrame().getByRole("heading", { name: "Hello" })).toBeVisible();
    await page.goto(at("/emails/inbox?q=xss@example.com"));
    await page.getByRole("rowheader").first().getByRole("link").click();
    await expect(page.getByRole("heading", { name: ATTACK })).toBeVisible();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(dialogs).toBe(0);
    expect(page.url()).toContain(SERVER.baseUrl);
  });
});

test("a bounced e-mail is sent again", async ({ signedIn: page }) => {
  const id = await sendMail({ to: ["bounced+again@postern.test"] });
  await page.goto(at(`/emails/${id}`));
  await page.getByRole("button", { name: "Send again" }).click();
  await expect(page.getByText("The email is being sent again")).toBeVisible();
  await expect.poll(async () => (await api.emails.listAttempts(id)).length).toBe(2);
  await expect(page.getByText("Refused")).toHaveCount(2);
});

test("a scheduled e-mail gets another time, and is cancelled", async ({ signedIn: page }) => {
  await withoutPreview(page);
  const soon = new Date(Date.now() + 3_600_000);
  const id = await sendMail({ subject: unique("Scheduled"), scheduledAt: soon.toISOString() });
  await page.goto(at("/emails/scheduled"));
  const { subject } = await api.emails.get(id);
  await page.getByRole("row", { name: subject }).getByRole("link").click();
  await page.getByRole("button", { name: "Change the time" }).click();
  const dialog = page.getByRole("dialog", { name: "When to send it" });
  await expect(dialog.getByText("Europe/Berlin")).toBeVisible();
  await expect(page.getByRole("menu", { includeHidden: true })).toHaveCount(0);
  await expectAccessible(page);
  await dialog.getByLabel("Will be sent").fill("2020-01-01T10:00");
  await dialog.getByRole("button", { name: "Change the time" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("This time has passed.");
  const later = new Date(Date.now() + 48 * 3_600_000);
  const local = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "short" });
  await dialog.getByLabel("Will be sent").fill(local.format(later).replace(" ", "T"));
  await dialog.getByRole("button", { name: "Change the time" }).click();
  await expect(dialog).toHaveCount(0);
  const planned = Date.parse((await api.emails.get(id)).scheduledAt ?? "");
  expect(Math.abs(planned - later.getTime())).toBeLessThan(61_000);

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Cancel the email" }).click();
  const confirm = page.getByRole("dialog", { name: "Cancel this email?" });
  await expectAccessible(page);
  await confirm.getByRole("button", { name: "Keep it" }).click();
  expect((await api.emails.get(id)).status).toBe("SCHEDULED");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Cancel the email" }).click();
  await confirm.getByRole("button", { name: "Cancel the email" }).click();
  await expect(page.getByText("The email is cancelled")).toBeVisible();
  expect((await api.emails.get(id)).status).toBe("CANCELLED");
  await expect(page.getByRole("row", { name: subject })).toHaveCount(0);
});

test.describe("with a recipient that the API refuses", () => {
  test.use({ tolerated: /status of 400/ });

  test("a test is sent, and opens; what is refused stands at its field", async ({ signedIn: page }) => {
    await page.goto(at("/emails"));
    await page.getByRole("button", { name: "Send a test" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Send a test" });
    await expect(dialog.getByLabel("To", { exact: true })).toHaveValue(SERVER.developerEmail);
    await expectAccessible(page);
    await dialog.getByLabel("To", { exact: true }).fill("nobody");
    await dialog.getByRole("button", { name: "Send it" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await expect(dialog.getByLabel("To", { exact: true })).toHaveAttribute("aria-invalid", "true");
    const subject = unique("Test");
    await dialog.getByLabel("To", { exact: true }).fill("delivered@postern.test");
    await dialog.getByLabel("Subject").fill(subject);
    await dialog.getByRole("button", { name: "Send it" }).click();
    await expect(page.getByRole("heading", { name: subject })).toBeVisible();
    await expect(page).toHaveURL(/\/emails\/[0-9a-f-]{36}$/);
  });
});

test("new e-mails appear at the top, or wait while the list is scrolled", async ({ signedIn: page }) => {
  const tag = unique("live");
  for (let sent = 0; sent < 40; sent++) await sendMail({ tags: [tag] });
  await page.goto(at(`/emails?tag=${tag}`));
  await expect(page.getByText("40 emails", { exact: true })).toBeVisible();
  await sendMail({ tags: [tag], subject: "The newest" });
  await expect(page.getByRole("row").nth(1)).toContainText("The newest", { timeout: 20_000 });
  await page.mouse.wheel(0, 600);
  await sendMail({ tags: [tag], subject: "Newer still" });
  const waiting = page.getByRole("button", { name: "1 new row" });
  await expect(waiting).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole("row", { name: "Newer still" })).toHaveCount(0);
  await waiting.click();
  await expect(page.getByRole("row").nth(1)).toContainText("Newer still");
});

test.describe("with rows that the server does not know", () => {
  test.use({ tolerated: /status of 404/ });

  test("ten thousand rows are a table of which only the visible part exists", async ({ signedIn: page }) => {
    const template = (await api.emails.list({ limit: 1 })).data[0] ?? (await api.emails.get(await sendMail()));
    const ROWS = 10_000;
    const PAGE = 1_000;
    await page.route(/\/emails\/logs\?/, async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const from = Number(query.get("cursor") ?? 0);
      const data = Array.from({ length: PAGE }, (_, number) => ({
        ...template,
        id: `ffffffff-0000-7000-8000-${String(ROWS - from - number).padStart(12, "0")}`,
        subject: `Row ${from + number + 1}`,
      }));
      const next = from + PAGE;
      await route.fulfill({
        json: { data, total: ROWS, page: 1, pages: ROWS / PAGE, nextCursor: next < ROWS ? String(next) : null },
      });
    });
    await page.goto(at("/emails"));
    await expect(page.getByText("10,000 emails")).toBeVisible();
    await expect(async () => {
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      await expect(page.getByText("Row 10000", { exact: true })).toBeVisible({ timeout: 200 });
    }).toPass({ timeout: 50_000 });
    expect(await page.getByRole("row").count()).toBeLessThan(120);
    await expect(page.getByRole("table")).toHaveAttribute("aria-rowcount", "10001");
    const link = page.getByRole("row", { name: "Row 9990" }).getByRole("link");
    await link.click();
    // Escape closes the e-mail only once it is open, which is a little after its link is current.
    await expect(page.getByText("There is no such email")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(link).toBeFocused();
  });
});

test("the list is exported as it is filtered", async ({ signedIn: page }) => {
  const tag = unique("export");
  await sendMail({ tags: [tag], subject: "Exported" });
  await page.goto(at(`/emails?tag=${tag}`));
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("emails.csv");
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("Exported");
});

test("a captured message shows up, its attachment is saved, and deleting it can be undone", async ({
  signedIn: page,
}) => {
  await withoutPreview(page);
  const subject = unique("Caught");
  await page.goto(at("/emails/inbox"));
  await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
  await api.emails.send({
    from: FROM,
    to: ["inbox@example.com"],
    subject,
    text: "Plain words",
    attachments: [{ filename: "invoice.txt", content: btoa("The invoice") }],
  });
  await page.getByRole("row", { name: subject }).getByRole("link").click({ timeout: 20_000 });
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("invoice.txt");
  expect(await readFile(await download.path(), "utf8")).toBe("The invoice");
  await page.getByRole("button", { name: "Plain text" }).click();
  await expect(page.getByText("Plain words")).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("row", { name: subject })).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("row", { name: subject })).toBeVisible();
  expect((await api.inbox.list({ q: subject })).data).toHaveLength(1);
  await page.getByRole("row", { name: subject }).getByRole("link").click();
  await page.getByRole("button", { name: "Delete" }).click();
  await expect.poll(async () => (await api.inbox.list({ q: subject })).data.length, { timeout: 20_000 }).toBe(0);
});

test("addresses are suppressed, explained, and removed after a warning", async ({ signedIn: page }) => {
  const [one, two] = [`${unique("one")}@example.com`, `${unique("two")}@example.com`];
  await page.goto(at("/emails/suppressions"));
  await page.getByRole("button", { name: "Add an address" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Add an address" });
  await expectAccessible(page);
  await dialog.getByLabel("Addresses").fill(`${one}\n${two}`);
  await dialog.getByRole("button", { name: "Add 2 addresses" }).click();
  await expect(page.getByText("2 addresses added")).toBeVisible();
  await page.getByRole("searchbox").fill(one);
  await expect(page.getByRole("rowheader")).toHaveText([one]);
  await page.getByRole("link", { name: one }).click();
  await expect(page.getByRole("heading", { name: one })).toBeVisible();
  await expect(page.getByText("A member of the team put it there")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove from the list" }).click();
  const warning = page.getByRole("dialog", { name: `Remove ${one} from the list?` });
  await expect(warning).toContainText("Mail to it is sent again.");
  await warning.getByRole("button", { name: "Remove from the list" }).click();
  await expect(page.getByText("No address matches")).toBeVisible();
  expect((await api.suppressions.list({ q: two })).data).toHaveLength(1);
});

test("a project that has sent nothing says what will be here", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const created = await page.request.post("/dashboard/api/projects", {
    headers: { "x-postern-dashboard": "1", "sec-fetch-site": "same-origin" },
    data: { name: "Empty" },
  });
  const { id } = (await created.json()) as { id: string };
  for (const [path, title] of [
    ["emails", "No email has been sent yet"],
    ["emails/scheduled", "No email is scheduled"],
    ["emails/inbox", "No message has been captured yet"],
    ["emails/suppressions", "No address is suppressed"],
  ]) {
    await page.goto(`/dashboard/projects/${id}/${path}`);
    await expect(page.getByRole("heading", { name: title })).toBeVisible();
    await expectAccessible(page);
  }
  await page.goto(`/dashboard/projects/${id}/emails`);
  await page.getByRole("button", { name: "Copy the curl command" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`/projects/${id}/emails`);
});

test.describe("when the server fails", () => {
  test.use({ tolerated: /status of 500/ });

  test("a list says so, and is tried again", async ({ signedIn: page }) => {
    await sendMail();
    const lists = /\/(logs|inbox|suppressions)\?/;
    await page.route(lists, (route) =>
      route.fulfill({ status: 500, json: { title: "Broken", status: 500, detail: "It broke." } }),
    );
    await page.goto(at("/emails"));
    await expect(page.getByRole("heading", { name: "The list could not be loaded" })).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText("It broke.")).toBeVisible();
    await expectAccessible(page);
    await page.unroute(lists);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("rowheader").first()).toBeVisible();
  });
});

test.describe("with something that is gone", () => {
  test.use({ tolerated: /status of 404/ });

  test("the panel says so beside the list", async ({ signedIn: page }) => {
    await page.goto(at("/emails/00000000-0000-4000-8000-000000000000"));
    await expect(page.getByText("There is no such email")).toBeVisible();
    await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
  });
});

test("a viewer sees no actions", async ({ signedIn: page }) => {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
  const id = await sendMail({ to: ["bounced+viewer@postern.test"] });
  await page.goto(at(`/emails/${id}`));
  await expect(page.getByRole("heading", { name: "Why it bounced" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Send again|Send a test/ })).toHaveCount(0);
  await page.goto(at("/emails/suppressions"));
  await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
  await expect(page.getByRole("button", { name: "Add an address" })).toHaveCount(0);
});

test("on a phone, an e-mail is a page, and Back leads to its row", async ({ signedIn: page }) => {
  await withoutPreview(page);
  await page.setViewportSize({ width: 390, height: 844 });
  const tag = unique("phone");
  for (let sent = 0; sent < 30; sent++) await sendMail({ tags: [tag], subject: `Order ${sent}` });
  await page.goto(at(`/emails?tag=${tag}`));
  const row = page.getByRole("row", { name: "Order 12" }).getByRole("link");
  await row.scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => window.scrollY);
  expect(before).toBeGreaterThan(100);
  await row.click();
  await expect(page.getByRole("heading", { name: "Order 12" })).toBeInViewport();
  await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeHidden();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Back to the list" }).click();
  await expect(row).toBeFocused();
  expect(await page.evaluate(() => window.scrollY)).toBe(before);
});

test("lists and panels hold", async ({ page }) => {
  await withoutPreview(page);
  await signIn(page);
  const id = await sendMail({
    to: ["ada@example.com", "bounced+shape@postern.test"],
    tags: ["a-tag-that-is-rather-long-for-a-column"],
  });
  for (const [name, path] of [
    ["log", "/emails?status=DELIVERED&sent=7d"],
    ["detail", `/emails/${id}`],
    ["scheduled", "/emails/scheduled"],
    ["inbox", "/emails/inbox"],
    ["suppressions", "/emails/suppressions"],
  ] as const) {
    await page.goto(at(path));
    await expect(page.locator("main").getByRole("table").or(page.locator("main h2")).first()).toBeVisible();
    await expectHolds(page, `emails ${name}`);
  }
});

test("an email that waits says what for, and until when", async ({ signedIn: page }) => {
  const sent = await sendMail({ scheduledAt: new Date(Date.now() + 86_400_000).toISOString() });
  const record = await api.emails.get(sent);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const waits: [Partial<EmailWaiting>, string, RegExp][] = [
    [{ cause: "WARM_UP" }, "Warm-up: 50 messages on 2026-11-26 (UTC).", /warm-up limit of today/],
    [{ cause: "REPUTATION" }, "Held: bounce rate 6.1 %.", /bounced or were reported as spam/],
    [
      { cause: "SITE_SUSPENDED", site: "bigmail", until: null },
      "The site is suspended: <b>x",
      /Sending to bigmail is suspended/,
    ],
    [{ cause: "SITE_SLOWED", site: "bigmail" }, "", /bigmail limits how much mail it accepts/],
    [{ cause: "SITE_UNREACHABLE", site: "mx.b.example" }, "", /mx\.b\.example could not be reached/],
    [{ cause: "TLS" }, "4.7.5 TLS with mx.b.example:25: certificate has expired", /does not support it as required/],
    [{ cause: "CAPACITY" }, "", /same site is at its limit/],
    [{ cause: "CAMPAIGN_PAUSED", until: null }, "", /campaign is paused/],
    [{ cause: "SETUP" }, "The server has no relay.", /not set up to send it at present/],
  ];
  let waiting: Partial<EmailWaiting> = {};
  let reason = "";
  await withoutPreview(page);
  await page.route(new RegExp(`/emails/logs/${sent}$`), (route) =>
    route.fulfill({
      json: { ...record, status: "QUEUED", requireTls: true, reason, waiting: { until, site: null, ...waiting } },
    }),
  );
  for (const [field, text, sentence] of waits) {
    [waiting, reason] = [field, text];
    await page.goto(at(`/emails/${sent}`));
    const why = page.getByRole("region", { name: "Why it waits" });
    await expect(why).toContainText(sentence);
    await expect(why).toContainText(text);
    await expect(why.getByText("Next attempt:")).toHaveCount(field.until === null ? 0 : 1);
    await expect(why.getByRole("link", { name: "Show the delivery site" })).toHaveCount(field.site ? 1 : 0);
    await expect(page.getByText("TLS is required on the whole path")).toBeVisible();
    if (field.cause === "WARM_UP" || field.cause === "SITE_SUSPENDED") await expectHolds(page, `waits ${field.cause}`);
  }
});
