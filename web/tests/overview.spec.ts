import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

/** The API as the developer: creates projects, which keys may not. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });

/** A project of its own with a live key, for tests that need one without mail, or with mail of a known number. */
async function newProject(name: string): Promise<{ client: Postern; path: string; id: string }> {
  const { id } = await developer.projects.create({ name });
  const { key } = await developer.apiKeys.create({ name: "Test" }, { project: id });
  return {
    id,
    client: new Postern({ url: SERVER.baseUrl, key: key ?? "", project: id }),
    path: `/dashboard/projects/${id}`,
  };
}

const mailTo = (...to: string[]) => ({ from: "shop@example.com", to, subject: "Your order", text: "Thank you." });

/** Send mail with every outcome that a test address has. */
async function sendSome(client: Postern): Promise<void> {
  const { data } = await client.emails.sendBatch({
    emails: [
      ...Array.from({ length: 20 }, (_, number) => mailTo(`ada+${number}@example.com`)),
      mailTo("bounced@postern.test"),
      ...Array.from({ length: 10 }, (_, number) => mailTo(`deferred+${number}@postern.test`)),
    ],
  });
  expect(data.map((each) => each.status)).not.toContain("FAILED");
  await expect.poll(async () => (await client.analytics.get()).sends.delivered, { timeout: 30_000 }).toBe(20);
  await expect
    .poll(async () => (await client.emails.list({ status: ["DELAYED"] })).total, { timeout: 30_000 })
    .toBe(10);
}

const figure = (page: Page, name: string) =>
  page
    .locator(".ledger > div")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd")
    .first();

/** A project with mail. Each worker makes its own, because a test that fails begins a new one. */
let shop: { client: Postern; path: string };
const at = (search = "") => shop.path + search;

test.beforeAll(async () => {
  shop = await newProject("Northwind Coffee");
  await sendSome(shop.client);
});

test("the figures, the chart and its table have the numbers of the API", async ({ signedIn: page }) => {
  await page.goto(at());
  await expect(figure(page, "Sent")).toHaveText("20");
  await expect(figure(page, "Delivered")).toHaveText("20");
  await expect(figure(page, "Bounced")).toHaveText("1");
  await expect(page.locator(".chart .main .day")).toHaveCount(30);
  await expect(page.locator(".chart .main .day.partial")).toHaveCount(1);
  await page.getByRole("link", { name: "Show as table" }).click();
  await expect(page).toHaveURL(/view=table/);
  const today = page.getByRole("row", { name: /so far/ });
  await expect(today.getByRole("cell")).toHaveText(["20", "20", "0", "0", "1", "0", "0"]);
  await expect(page.locator(".numbers tbody tr")).toHaveCount(30);
  await expectAccessible(page);
});

test("arrow keys and the pointer read the chart", async ({ signedIn: page }) => {
  await page.goto(at());
  const chart = page.getByRole("slider", { name: "Mail by day" });
  await chart.focus();
  await page.keyboard.press("ArrowLeft");
  await expect(page.locator(".tip")).toContainText("Bounced1");
  await expect(chart).toHaveAttribute("aria-valuetext", /Sent 20, Delivered 20, .*Bounced 1/);
  await page.keyboard.press("Home");
  await expect(chart).toHaveAttribute("aria-valuenow", "0");
  await page.keyboard.press("End");
  await expect(chart).toHaveAttribute("aria-valuenow", "29");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.locator(".tip")).toHaveCount(0);
  const box = await chart.boundingBox();
  await page.mouse.move((box?.x ?? 0) + 5, (box?.y ?? 0) + 20);
  await expect(chart).toHaveAttribute("aria-valuenow", "0");
  await expect(page.locator(".tip")).toBeVisible();
  await page.mouse.move(0, 0);
  await expect(page.locator(".tip")).toHaveCount(0);
});

test("range and interval are in the address, and back returns to them", async ({ signedIn: page }) => {
  await page.goto(at("?range=90&by=week"));
  await expect(page.getByRole("button", { name: "Last 90 days" })).toBeVisible();
  const columns = page.locator(".chart .main .day");
  await expect.poll(() => columns.count()).toBeGreaterThan(12);
  expect(await columns.count()).toBeLessThan(15);
  await page.getByRole("button", { name: "By week" }).click();
  await expectAccessible(page);
  await page.getByRole("menuitemradio", { name: "By day" }).click();
  await expect(page).not.toHaveURL(/by=/);
  await expect(columns).toHaveCount(90);
  await page.getByRole("button", { name: "Last 90 days" }).click();
  await page.getByRole("menuitemradio", { name: "Last 7 days" }).click();
  await expect(page).toHaveURL(/range=7$/);
  await expect(columns).toHaveCount(7);
  await page.goto(at("?range=8&by=century"));
  await expect(columns).toHaveCount(30);
});

test("the numbers are exported as CSV", async ({ signedIn: page }) => {
  await page.goto(at("?range=7"));
  await expect(figure(page, "Sent")).toHaveText("20");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const stream = await (await downloading).createReadStream();
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().trim().split(/\r?\n/);
  expect(lines[0]).toBe("date,sent,delivered,opened,clicked,bounced,complained,failed");
  expect(lines).toHaveLength(8);
  expect(lines.at(-1)).toMatch(/,20,20,0,0,1,0,0$/);
});

test("trouble is said with its consequence, and leads to the e-mails", async ({ signedIn: page }) => {
  await page.goto(at());
  const attention = page.getByRole("region", { name: "Needs attention" });
  await expect(attention.getByText("10 emails are waiting.")).toBeVisible();
  await expect(attention.getByText("Mail is only captured.")).toBeVisible();
  await attention.getByRole("link", { name: "Show emails" }).click();
  await expect(page).toHaveURL(/\/emails\?status=DELAYED$/);
});

test("a step that is not done opens what does it; the checklist stays hidden once it was", async ({
  signedIn: page,
}) => {
  await page.goto(at());
  const steps = page.getByRole("region", { name: "First steps" });
  await expect(steps.getByText("2 of 5 done")).toBeVisible();
  const transport = steps.getByRole("button", { name: "Choose how mail leaves" });
  await transport.click();
  const dialog = page.getByRole("dialog", { name: "Choose how mail leaves" });
  await expect(dialog.getByText("POSTERN_TRANSPORT=relay")).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(transport).toBeFocused();

  await steps.getByRole("button", { name: "Ask a colleague to join" }).click();
  const invitation = page.getByRole("dialog", { name: "Ask a colleague to join" });
  await invitation.getByLabel("Email address").fill("grace@example.com");
  await invitation.getByLabel("Role").selectOption("VIEWER");
  await expectAccessible(page);
  await invitation.getByRole("button", { name: "Invite" }).click();
  await expect(invitation.getByText("The invitation to grace@example.com is on its way.")).toBeVisible();
  const { data } = await developer.account.invitations.list();
  expect(data.map(({ email, role }) => [email, role])).toEqual([["grace@example.com", "VIEWER"]]);
  await page.keyboard.press("Escape");

  await steps.getByRole("button", { name: "Hide first steps" }).click();
  await expect(steps).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("region", { name: "Needs attention" })).toBeVisible();
  await expect(steps).toHaveCount(0);
});

test("the copied command sends the first email, which arrives", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const { path, client } = await newProject("Harbour & Finch");
  await page.goto(path);
  await expect(page.getByRole("heading", { name: "Send your first email" })).toBeVisible();
  await expect(page.getByText("sk_test_…'")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create a key and copy" }).click();
  await expect(page.getByText("Copied, with the key.")).toBeVisible();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const key = /Bearer (sk_test_\w+)/.exec(command)?.[1] ?? "";
  await expect(page.locator("pre.code")).not.toContainText(key);

  // What a shell makes of the command is tested in snippets.test.ts.
  const url = /(http\S+)/.exec(command)?.[1] ?? "";
  const body = /-d '([^']+)'/.exec(command)?.[1] ?? "";
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  expect(response.status).toBe(201);
  await expect(page.getByText("It arrived")).toBeVisible();
  await expectAccessible(page);
  const [send] = (await client.emails.list()).data;
  expect(send?.test).toBe(true);
  await expect(page.getByRole("link", { name: "Show the email" })).toHaveAttribute(
    "href",
    new RegExp(`/emails/${send?.id}$`),
  );
  await page.getByRole("button", { name: "To the overview" }).click();
  await expect(page.getByText("No mail in the last 30 days")).toBeVisible();
  await expectAccessible(page);
});

test("one button sends the first email without any code", async ({ signedIn: page }) => {
  const { path, client } = await newProject("No code");
  await page.goto(`${path}?way=python`);
  await expect(page.locator("pre.code")).toContainText("pip install postern-sdk");
  await page.getByRole("link", { name: "TypeScript" }).click();
  await expect(page.locator(".seg [aria-current]")).toHaveText(["TypeScript"]);
  await expect(page.locator("pre.code")).toContainText("npm install @postern/sdk");
  await page.getByRole("button", { name: "Send one for me" }).click();
  await expect(page.getByText("It arrived")).toBeVisible();
  expect((await client.emails.list()).total).toBe(1);
});

test.describe("where live mail needs a verified domain", () => {
  test.use({ tolerated: /status of 403/ });

  test("the first email is sent with a test key", async ({ signedIn: page }) => {
    const { path, client, id } = await newProject("Relay");
    const relays = [{ host: "relay.invalid", tls: "none" }];
    await developer.projects.update({ settings: { transport: "relay", relays } }, { project: id });
    await page.goto(path);
    await page.getByRole("button", { name: "Send one for me" }).click();
    await expect(page.getByText("It arrived")).toBeVisible();
    const { data } = await client.emails.list();
    expect(data.map(({ test, status }) => [test, status])).toEqual([[true, "DELIVERED"]]);
  });
});

test.describe("when numbers cannot be read", () => {
  test.use({ tolerated: /status of 500/ });

  test("the part says so and is read again, and the rest is there", async ({ signedIn: page }) => {
    const failing = /\/analytics\/time-series/;
    await page.route(failing, (route) =>
      route.fulfill({ status: 500, contentType: "application/problem+json", body: '{"status":500,"title":"Away"}' }),
    );
    await page.goto(at());
    await expect(page.getByRole("heading", { name: "Reputation" })).toBeVisible();
    const retry = page.locator(".mail, main > [role=alert]").getByRole("button", { name: "Try again" });
    await expect(retry).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText("10 emails are waiting.")).toBeVisible();
    await page.unroute(failing);
    await retry.click();
    await expect(figure(page, "Sent")).toHaveText("20");
  });
});

test("names of domains and webhooks are never run as HTML", async ({ signedIn: page }) => {
  const { path, client } = await newProject("<img src=x onerror=alert(1)>");
  await client.emails.send({ ...mailTo("ada@example.com"), subject: "<img src=x onerror=alert(1)>" });
  await page.goto(path);
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await expect(page.locator("main img")).toHaveCount(0);
});

test("the numbers and the first steps hold", async ({ signedIn: page }) => {
  const { path } = await newProject("Empty");
  for (const [name, address] of [
    ["chart", at()],
    ["table", at("?view=table")],
    ["first steps", path],
  ] as const) {
    await page.goto(address);
    await expect(page.locator(address === path ? ".listen" : ".ledger dd b").first()).toBeVisible();
    await expectHolds(page, `overview ${name}`);
  }
});
