import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });
/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";
/** A picture of one dot. */
const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

interface Place {
  client: Postern;
  path: string;
  domain: string;
}

/** A project with a domain that is ready. */
async function newPlace(name: string): Promise<Place> {
  const { id } = await developer.projects.create({ name });
  const { key } = await developer.apiKeys.create({ name: "Test" }, { project: id });
  const client = new Postern({ url: SERVER.baseUrl, key: key ?? "", project: id });
  const domain = await client.domains.create({ domain: `${name.toLowerCase()}-${Date.now().toString(36)}.example` });
  for (const { name, type, value } of domain.records)
    await fetch(`${SERVER.zoneUrl}/${name}/${type}`, { method: "PUT", body: JSON.stringify([value]) });
  expect((await client.domains.verify(domain.id)).status).toBe("VERIFIED");
  return { client, path: `/dashboard/projects/${id}/emails/received`, domain: domain.domain };
}

/** A message with HTML, a text, a picture within it and a file, which answers `inReplyTo`. */
function message(to: string, subject: string, inReplyTo?: string): string {
  return [
    "From: Lena Vogt <lena@kaffeehaus-linden.example>",
    `To: ${to}`,
    `Subject: ${subject}`,
    `Message-ID: <${subject.replace(/\W/g, "")}@kaffeehaus-linden.example>`,
    ...(inReplyTo ? [`In-Reply-To: ${inReplyTo}`] : []),
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="m"',
    "",
    "--m",
    'Content-Type: multipart/alternative; boundary="a"',
    "",
    "--a",
    "Content-Type: text/plain; charset=utf-8",
    "",
    "Yes, ten kilos please.",
    "",
    "On Mon, 23 Nov 2026, Northwind wrote:",
    "> How much do you need?",
    "--a",
    "Content-Type: text/html; charset=utf-8",
    "",
    `<p>Yes, ten kilos please.</p><img alt="logo" src="cid:logo"><img src=x onerror=window.top.hacked=1>`,
    "--a--",
    "--m",
    "Content-Type: image/gif",
    "Content-ID: <logo>",
    "Content-Disposition: inline; filename=logo.gif",
    "Content-Transfer-Encoding: base64",
    "",
    GIF,
    "--m",
    `Content-Type: text/csv; name="${ATTACK}.csv"`,
    `Content-Disposition: attachment; filename="order.csv"`,
    "",
    "kilos",
    "10",
    "--m--",
    "",
  ].join("\r\n");
}

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

test.describe("with addresses that the API refuses", () => {
  test.use({ tolerated: /status of (400|403|409|422)/ });

  test("an address is added from the empty list, paused, renamed and removed", async ({ signedIn: page }) => {
    const { client, path, domain } = await newPlace("Routes");
    await page.goto(path);
    await expect(page.getByRole("heading", { name: "No address receives mail yet" })).toBeVisible();
    await page.getByRole("main").getByRole("link", { name: "Add address" }).click();
    await expect(page).toHaveURL(/received\/addresses\?add=1$/);
    const dialog = page.getByRole("dialog", { name: "Add address" });
    await dialog.getByLabel("Address").fill("support@other.example");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Add address" }).click();
    await expect(dialog.getByRole("alert")).toBeVisible();
    await dialog.getByLabel("Address").fill(`support@${domain}`);
    await dialog.getByLabel("Name").fill("Support");
    await dialog.getByRole("button", { name: "Add address" }).click();
    await expect(dialog).toHaveCount(0);
    const row = page.getByRole("listitem").filter({ hasText: `support@${domain}` });
    await expect(row).toContainText("Not found yet");
    const [route] = (await client.inbound.routes.list()).data;
    await fetch(`${SERVER.zoneUrl}/${domain}/MX`, { method: "PUT", body: JSON.stringify([route?.record.value]) });
    await row.getByRole("button", { name: /^Check again/ }).click();
    await expect(row).toContainText(/Right|Other value|Not found yet/);
    await expectHolds(page, "received addresses");
    await page.setViewportSize({ width: 1440, height: 900 });
    await row.getByRole("button", { name: /^Pause/ }).click();
    await expect(row).toContainText("Paused: mail to it is refused.");
    await row.getByRole("button", { name: /^Rename/ }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Helpdesk");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expect(row).toContainText("Helpdesk");
    await row.getByRole("button", { name: /^Remove/ }).click();
    const confirm = page.getByRole("dialog", { name: `Remove support@${domain}?` });
    await confirm.getByRole("textbox").fill(`support@${domain}`);
    await confirm.getByRole("button", { name: "Remove" }).click();
    await expect(page.getByRole("heading", { name: "No address receives mail yet" })).toBeVisible();
    expect((await client.inbound.routes.list()).data).toEqual([]);
  });
});

test.describe("with a message that attacks", () => {
  test.use({ tolerated: /Blocked script|violates the following Content Security Policy|status of (404|500)/ });

  test("received mail is listed, filtered and read, and nothing in it is run", async ({ signedIn: page }) => {
    const { client, path, domain } = await newPlace("Mail");
    const route = await client.inbound.routes.create({ address: `*@${domain}` });
    await page.goto(path);
    await expect(page.getByRole("heading", { name: "Nothing was received yet" })).toBeVisible();
    await expect(page.getByRole("region", { name: "Command that submits a message" })).toContainText("/inbound");
    const sent = await client.emails.send({
      from: `shop@${domain}`,
      to: ["lena@kaffeehaus-linden.example"],
      subject: "How much?",
      text: "How much do you need?",
    });
    const to = `orders@${domain}`;
    await client.inbound.add(message(to, `Order ${ATTACK}`, sent.messageId ?? ""), { recipients: [to] });
    await client.inbound.add(message(`hello@${domain}`, "Other"), { recipients: [`hello@${domain}`] });
    const rows = page.getByRole("rowheader");
    await expect(rows).toHaveCount(2);
    await expect(page.getByRole("row").filter({ hasText: "Order <img" })).toContainText("Not authenticated");
    await expectAccessible(page);

    await page.getByLabel("Received at").selectOption(`*@${domain}`);
    await expect(page).toHaveURL(new RegExp(`routeId=${route.id}`));
    await page.getByRole("searchbox").fill("nobody@example.com");
    await expect(page.getByRole("heading", { name: "No message matches" })).toBeVisible();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.goto(`${path}?emailId=${sent.id}`);
    await expect(rows).toHaveCount(1);

    await rows.getByRole("link").click();
    const panel = page.getByRole("region", { name: `Order ${ATTACK}` });
    await expect(panel.getByRole("heading", { name: "Reply", exact: true })).toBeVisible();
    await expect(panel.locator(".replytext")).toHaveText("Yes, ten kilos please.");
    await expect(panel.frameLocator("iframe:not(.next)").getByText("Yes, ten kilos please.")).toBeVisible();
    await expect(panel.frameLocator("iframe:not(.next)").getByAltText("logo")).toHaveAttribute(
      "src",
      /^data:image\/gif/,
    );
    const download = page.waitForEvent("download");
    await panel.getByRole("listitem").filter({ hasText: "order.csv" }).getByRole("button", { name: "Save" }).click();
    expect(await readFile(await (await download).path(), "utf8")).toContain("kilos");
    await panel.getByRole("link", { name: "Checks" }).click();
    await expect(panel.getByRole("row", { name: /^SPF/ })).toContainText("none");
    await expect(panel.getByRole("region", { name: "Authentication-Results" })).toContainText("dmarc=");
    await expectHolds(page, "received checks");
    await page.setViewportSize({ width: 1440, height: 900 });
    await panel.getByRole("link", { name: "Source" }).click();
    await expect(panel.getByRole("region", { name: "Source" })).toContainText("multipart/mixed");
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await panel.getByRole("link", { name: "Show the email" }).click();
    await expect(page).toHaveURL(new RegExp(`/emails/${sent.id}`));

    await page.route(/\/inbound\?/, (route) => route.fulfill({ status: 500, json: { detail: "Broken" } }));
    await page.goto(path);
    await expect(page.getByRole("alert")).toContainText("could not be loaded", { timeout: 30_000 });
    await page.unroute(/\/inbound\?/);
    await page.getByRole("button", { name: "Try again" }).click();
    const problem = { status: 404, code: "message_gone", detail: "The content of this message is no longer stored." };
    await page.route(/\/inbound\/[^/?]+$/, (route) =>
      route.request().method() === "GET" ? route.fulfill({ status: 404, json: problem }) : route.fallback(),
    );
    await rows.last().getByRole("link").click();
    await expect(page.getByRole("heading", { name: "The content is no longer stored" })).toBeVisible();
    await expectHolds(page, "received without its content");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(rows).toHaveCount(1);
    await page.unroute(/\/inbound\/[^/?]+$/);
    await page.goto(path);
    await rows.getByRole("link").click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(page.getByRole("heading", { name: "Nothing was received yet" })).toBeVisible();
    expect((await client.inbound.list()).data).toEqual([]);
  });
});

test.describe("as a viewer", () => {
  test.use({ tolerated: /Blocked script|violates the following Content Security Policy/ });

  test("a viewer reads mail and changes nothing", async ({ signedIn: page }) => {
    const { client, path, domain } = await newPlace("Viewer");
    await client.inbound.routes.create({ address: `support@${domain}` });
    await client.inbound.add(message(`support@${domain}`, "Read"), { recipients: [`support@${domain}`] });
    await asViewer(page);
    await page.goto(path);
    await page.getByRole("rowheader").getByRole("link").click();
    await expect(page.getByRole("heading", { name: "Read" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Delete" })).toHaveCount(0);
    await page.goto(`${path}/addresses?add=1`);
    await expect(page.getByText(`support@${domain}`)).toBeVisible();
    await expect(page.getByRole("button", { name: /Add address|Pause|Remove/ })).toHaveCount(0);
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });
});
