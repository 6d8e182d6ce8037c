import type { Locator, Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { api, at, expect, SERVER, signIn, test } from "./fixtures";

/** The API as the developer, who owns the account. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });

/** A word that only this run has. */
const unique = (name: string) => `${name}-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;

const pill = (page: Page, word: string) => page.locator(".head .pill", { hasText: word });

/** Publish records in the DNS that the server asks. */
async function publish(name: string, type: string, value: string): Promise<void> {
  const response = await fetch(`${SERVER.zoneUrl}/${name}/${type}`, { method: "PUT", body: JSON.stringify([value]) });
  expect(response.status).toBe(204);
}

/** Where the first link of a captured message with this prefix leads, as path and query. */
async function linkIn(subject: string, prefix: string): Promise<string> {
  const [captured] = (await api.inbox.list({ q: subject })).data;
  const { html } = await api.inbox.get(captured?.id ?? "");
  const hrefs = [...(html ?? "").matchAll(/href="([^"]+)"/g)].map(([, href]) => (href ?? "").replaceAll("&amp;", "&"));
  const found = hrefs.map((href) => new URL(href, SERVER.baseUrl)).find(({ pathname }) => pathname.startsWith(prefix));
  if (!found) throw new Error(hrefs.join());
  return found.pathname + found.search;
}

const READER = {
  "user-agent":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
};

test("the first hour: from the one-time link to a campaign and a colleague", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const domain = `${unique("shop")}.example`;
  let key = "";

  await test.step("sign in with the one-time link", async () => {
    const { pathname, hash } = new URL(SERVER.dashboardUrl);
    await page.goto(pathname + hash);
    await expect(page.getByRole("heading", { name: "Send your first email" })).toBeVisible();
    expect(page.url()).not.toContain(hash.slice(1));
  });

  await test.step("verify a domain", async () => {
    await page.getByRole("link", { name: "Add domain" }).click();
    await page.getByRole("dialog", { name: "Add domain" }).getByLabel("Domain").fill(domain);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: domain, level: 1 })).toBeVisible();
    const { records } = await api.domains.get(page.url().split("/").at(-1) ?? "");
    for (const { name, type, value } of records) await publish(name, type, value);
    await page.getByRole("button", { name: "Check again" }).click();
    await expect(page.getByText("All are right.")).toBeVisible();
  });

  await test.step("make a key", async () => {
    await page.getByRole("link", { name: "Developers" }).click();
    await page.getByRole("button", { name: "New key" }).first().click();
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Web shop");
    await page.getByRole("button", { name: "Create key" }).click();
    const made = page.getByRole("dialog", { name: "Save the key now" });
    await made.getByRole("button", { name: "Copy the key" }).click();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(copied).toMatch(/^sk_live_/);
    key = await copied();
    await made.getByRole("button", { name: "I have saved it" }).click();
  });

  await test.step("send a mail with it, and see it arrive", async () => {
    await page.getByRole("link", { name: "Emails", exact: true }).first().click();
    await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
    const shop = new Postern({ url: SERVER.baseUrl, key, project: SERVER.projectId });
    const subject = unique("Order");
    const message = { from: `orders@${domain}`, to: ["ada@example.com"], subject, text: "Thank you." };
    await shop.emails.send(message);
    // Nobody loads the page again: the list follows the events of the project.
    const row = page.getByRole("row").filter({ hasText: subject });
    await expect(row).toContainText("Delivered");
  });

  await test.step("import contacts from a CSV file", async () => {
    await page.getByRole("link", { name: "Contacts", exact: true }).first().click();
    await page.getByRole("link", { name: "Import CSV" }).first().click();
    const lines = [
      "email,name,plan",
      "ada@example.com,Ada,pro",
      "grace@example.com,Grace,pro",
      "alan@example.com,Alan,free",
    ];
    const buffer = Buffer.from(lines.join("\n"));
    await page.locator("input[type=file]").setInputFiles({ name: "readers.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Start the import" }).click();
    await expect(page.getByRole("heading", { name: "Import of" })).toBeVisible();
    await expect(page.getByText("Done").first()).toBeVisible();
    await page.getByRole("link", { name: "Audiences" }).first().click();
    await page.getByRole("link", { name: "New audience" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Pro readers");
    const condition = page.getByRole("group", { name: "Condition 1" });
    await condition.getByLabel("Field").selectOption({ label: "plan" });
    await condition.getByLabel("Value").fill("pro");
    await expect(page.getByText("2 contacts", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Create the audience" }).click();
    await expect(page.getByRole("heading", { name: "Pro readers" })).toBeVisible();
  });

  await test.step("make a template in the editor", async () => {
    await page.getByRole("link", { name: "Templates", exact: true }).first().click();
    await page.getByRole("button", { name: "New template" }).first().click();
    await page.getByRole("radio", { name: "News" }).check();
    await page.getByLabel("Name", { exact: true }).fill("Monthly news");
    await page.getByRole("button", { name: "Create template" }).click();
    await expect(page.getByRole("heading", { name: "Monthly news", level: 1 })).toBeVisible();
    // A template of the gallery is there to be changed: the editor opens at once.
    await page.getByRole("textbox", { name: "Subject" }).fill("What is new, {{ name }}");
    await page.getByRole("button", { name: "Publish version 2" }).click();
    await expect(page.getByText("Version 2 is in use", { exact: true })).toBeVisible();
  });

  let campaign = "";
  await test.step("write a campaign and send it", async () => {
    await page.goto(at("/campaigns"));
    await page.getByRole("button", { name: "New campaign" }).first().click();
    await page.getByRole("dialog").getByLabel("Name").fill("Spring");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "Spring", level: 1 })).toBeVisible();
    campaign = page.url().split("/").at(-1) ?? "";
    await page.getByLabel("Send to").selectOption({ label: "Pro readers" });
    await page.getByLabel("Domain", { exact: true }).selectOption({ label: domain });
    await page.getByLabel("Address", { exact: true }).fill("news");
    await page.getByLabel("Template", { exact: true }).selectOption({ label: "Monthly news" });
    await page.getByLabel("Subject", { exact: true }).fill("Spring is here, {{ name }}");
    await expect(page.getByText("Nothing is missing.")).toBeVisible();
    await page.getByRole("button", { name: "Send…" }).click();
    const confirm = page.getByRole("dialog", { name: "Send Spring now?" });
    await confirm.getByRole("textbox").fill("2");
    await confirm.getByRole("button", { name: "Send to 2 people" }).click();
    await expect(pill(page, "Sent")).toBeVisible({ timeout: 30_000 });
    await expect(page.locator(".progress .figure")).toHaveText("2 of 2");
  });

  await test.step("a reader opens and clicks, and the page says who", async () => {
    const sends = (await api.campaigns.listSends(campaign)).data;
    const send = sends.find(({ to }) => to.includes("ada@example.com"));
    const click = await linkIn("Spring is here, Ada", "/t/c/");
    // Who looks within seconds of the delivery counts as a machine, so this reader looks again.
    await expect
      .poll(
        async () => {
          await fetch(`${SERVER.baseUrl}/t/o/${send?.id}`, { headers: READER });
          await fetch(SERVER.baseUrl + click, { headers: READER, redirect: "manual" });
          const { opened, clicked } = (await api.campaigns.get(campaign)).stats;
          return [opened, clicked];
        },
        { timeout: 30_000, intervals: [1_000] },
      )
      .toEqual([1, 1]);
    const clicked = page
      .getByRole("region", { name: "Results" })
      .locator("div")
      .filter({ hasText: /^Clicked/ })
      .first();
    await expect(clicked).toContainText("50", { timeout: 30_000 });
    await page.getByRole("link", { name: /^Recipients/ }).click();
    await expect(page.getByRole("row").filter({ hasText: "ada@example.com" })).toContainText("Clicked");
    await expect(page.getByRole("row").filter({ hasText: "grace@example.com" })).toContainText("Delivered");
  });

  await test.step("invite a colleague", async () => {
    await page.getByRole("link", { name: "Settings" }).first().click();
    await page.getByRole("link", { name: "Team" }).click();
    await page.getByRole("button", { name: "Invite someone" }).first().click();
    const email = `${unique("colleague")}@agency.example`;
    await page.getByRole("dialog").getByLabel("Email address").fill(email);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(page.getByText(email).first()).toBeVisible();
  });
});

/** Press Tab until the element has the focus, as someone without a mouse does, and see that the focus shows. */
async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 150; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return expectVisibleFocus(page);
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${target}`);
}

async function expectVisibleFocus(page: Page): Promise<void> {
  const shown = await page.evaluate(() => {
    const focused = document.activeElement ?? document.body;
    // The link of a row shows the focus around the whole row, with a pseudo-element.
    return [undefined, "::after"].some((part) => {
      const { outlineStyle, outlineWidth, boxShadow, content } = getComputedStyle(focused, part);
      if (part && content === "none") return false;
      return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    });
  });
  expect(shown, await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200))).toBe(true);
}

/** Choose an option by its name, as the keyboard does in a list: typing the beginning of its name. */
async function choose(page: Page, list: Locator, option: string): Promise<void> {
  await expect(list.locator("option", { hasText: option }).first()).toBeAttached();
  await tabTo(page, list);
  await page.keyboard.type(option);
  await expect(list.locator("option:checked")).toHaveText(new RegExp(option));
}

test.describe("with keys alone", () => {
  // Any use of the mouse fails the test.
  test.beforeEach(async ({ page }) => {
    await signIn(page);
    await page.addInitScript(() => {
      addEventListener("pointerdown", () => {
        throw new Error("the mouse was used");
      });
    });
  });

  test("an email is found and its timeline read", async ({ page }) => {
    const subject = unique("Lost parcel");
    const other = unique("Other parcel");
    for (const each of [subject, other])
      await api.emails.send({ from: "shop@example.com", to: ["ada@example.com"], subject: each, text: "Where is it?" });
    await page.goto(at());
    await expect(page.locator("main h1").first()).toBeAttached();
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await expect(page.getByRole("heading", { name: "Emails", level: 1 })).toBeVisible();
    await page.keyboard.press("/");
    await expect(page.getByRole("searchbox")).toBeFocused();
    await expectVisibleFocus(page);
    await page.keyboard.type(subject);
    await expect(page.getByRole("rowheader")).toHaveCount(1);
    await page.keyboard.press("Tab");
    await page.keyboard.press("j");
    const row = page.getByRole("row").filter({ hasText: subject }).getByRole("link");
    await expect(row).toBeFocused();
    await expectVisibleFocus(page);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: subject })).toBeVisible();
    const panel = page.getByRole("complementary").or(page.locator(".panel")).first();
    await expect(panel).toContainText("Delivered");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("heading", { name: subject })).toHaveCount(0);
    await expect(row).toBeFocused();
  });

  test("a key is made and copied", async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(at("/developers"));
    const opener = page.getByRole("button", { name: "New key" }).first();
    await tabTo(page, opener);
    await page.keyboard.press("Enter");
    const form = page.getByRole("dialog");
    const name = unique("Without a mouse");
    await tabTo(page, form.getByLabel("Name", { exact: true }));
    await page.keyboard.type(name);
    await tabTo(page, form.getByRole("button", { name: "Create key" }));
    await page.keyboard.press("Enter");
    const made = page.getByRole("dialog", { name: "Save the key now" });
    await tabTo(page, made.getByRole("button", { name: "Copy the key" }));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^sk_live_/);
    await tabTo(page, made.getByRole("button", { name: "I have saved it" }));
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(page.getByRole("rowheader", { name })).toBeVisible();
    await expect(opener).toBeFocused();
  });

  test("a campaign is written and sent", async ({ page }) => {
    const { id } = await developer.projects.create({ name: "Keys alone" });
    const { key } = await developer.apiKeys.create({ name: "Test" }, { project: id });
    const client = new Postern({ url: SERVER.baseUrl, key: key ?? "", project: id });
    const audience = await client.audiences.create({ name: "Readers" });
    await client.audiences.contacts.addEmails(audience.id, { emails: ["ada@example.com", "grace@example.com"] });
    await client.templates.create({ name: "News", subject: "News", html: "<p>Hello</p>" });
    const domain = `${unique("keys")}.example`;
    await client.domains.create({ domain });

    await page.goto(`/dashboard/projects/${id}/campaigns`);
    await tabTo(page, page.getByRole("button", { name: "New campaign" }).first());
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog").getByLabel("Name")).toBeFocused();
    await page.keyboard.type("By hand");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { name: "By hand", level: 1 })).toBeVisible();
    await choose(page, page.getByLabel("Send to"), "Readers");
    await choose(page, page.getByLabel("Domain", { exact: true }), domain);
    await tabTo(page, page.getByLabel("Address", { exact: true }));
    await page.keyboard.type("news");
    await choose(page, page.getByLabel("Template", { exact: true }), "News");
    await tabTo(page, page.getByLabel("Subject", { exact: true }));
    await page.keyboard.type("Written without a mouse");
    await expect(page.getByText("Nothing is missing.")).toBeVisible();
    const send = page.getByRole("button", { name: "Send…" });
    // Backwards: on the way forwards is the frame of the preview, which loads again after typing, and a browser can lose
    // the focus in a frame that loads.
    await tabTo(page, send, "Shift+Tab");
    await page.keyboard.press("Enter");
    const confirm = page.getByRole("dialog", { name: "Send By hand now?" });
    await expect(confirm.getByRole("textbox")).toBeFocused();
    // Esc takes back the dialog, and gives the focus back to what opened it.
    await page.keyboard.press("Escape");
    await expect(confirm).toHaveCount(0);
    await expect(send).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(confirm.getByRole("textbox")).toBeFocused();
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await expect(pill(page, "Sent")).toBeVisible({ timeout: 30_000 });
    const [campaign] = (await client.campaigns.list()).data;
    expect(campaign).toMatchObject({ status: "SENT", subject: "Written without a mouse" });
  });
});
