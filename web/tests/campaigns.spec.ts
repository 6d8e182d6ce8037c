import type { Page } from "@playwright/test";
import { type CampaignChange, Postern } from "@postern/sdk";
import { expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";

/** The API as the developer: creates projects, which keys may not. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });

interface Shop {
  client: Postern;
  path: string;
  audienceId: string;
  templateId: string;
  domainId: string;
}

/** A project with an audience, a template and a domain. Its mail is captured, so the domain need not be ready. */
async function newShop(name: string, contacts: { email: string; attributes?: object }[]): Promise<Shop> {
  const { id } = await developer.projects.create({ name });
  const { key } = await developer.apiKeys.create({ name: "Test" }, { project: id });
  const client = new Postern({ url: SERVER.baseUrl, key: key ?? "", project: id });
  const audience = await client.audiences.create({ name: "Readers" });
  if (contacts.length) await client.audiences.contacts.addEmails(audience.id, { contacts: contacts as never });
  const template = await client.templates.create({
    name: "News",
    subject: "News for {{ name }}",
    html: '<p>Dear {{ name }}</p><p><a href="https://example.com/">More</a></p>',
    text: "Dear {{ name }}",
  });
  const domain = await client.domains.create({ domain: `news-${Date.now().toString(36)}.example` });
  return {
    client,
    path: `/dashboard/projects/${id}`,
    audienceId: audience.id,
    templateId: template.id,
    domainId: domain.id,
  };
}

const people = (number: number, word = "reader") =>
  Array.from({ length: number }, (_, index) => ({
    email: `${word}+${index}@example.com`,
    attributes: { name: `Reader ${index}` },
  }));

/** A draft that lacks nothing. */
async function draft({ client, audienceId, templateId, domainId }: Shop, more: CampaignChange = {}): Promise<string> {
  const { domain } = await client.domains.get(domainId);
  const created = await client.campaigns.create({
    name: "Spring",
    audienceId,
    templateId,
    domainId,
    fromEmail: `news@${domain}`,
    ...(more as object),
  });
  return created.id;
}

const VARIANTS: CampaignChange = {
  abTestEnabled: true,
  abTestSamplePercent: 50,
  abTestMetric: "OPEN_RATE",
  abTestDurationMinutes: 60,
  variants: [
    { name: "A", subject: "The first pick is yours", weight: 50 },
    { name: "B", subject: "Summer roast has landed", weight: 50 },
  ],
};

const pill = (page: Page, word: string) => page.locator(".head .pill", { hasText: word });
const saved = (page: Page) => page.locator(".saving", { hasText: /^Saved$/ });

/** Show text instead of frames: axe cannot look into a frame that runs no scripts. */
async function withoutFrames(page: Page): Promise<void> {
  await page.route("**/templates/render", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), html: null } });
  });
  await page.route(/\/emails\/logs\/[^/]+\/preview$/, (route) => route.fulfill({ json: {} }));
}

/** Give the campaign a past: what happened on five days, the last of which is today. */
async function withDays(page: Page): Promise<void> {
  const counts = [
    [12_400, 4_100, 830, 41],
    [60, 2_300, 410, 3],
    [8, 620, 95, 0],
    [0, 240, 31, 0],
    [0, 96, 8, 0],
  ];
  await page.route(/\/analytics\/time-series\?/, (route) =>
    route.fulfill({
      json: counts.map(([sent, opened, clicked, bounced], index) => ({
        date: new Date(Date.now() - (counts.length - 1 - index) * 86_400_000).toISOString().slice(0, 10),
        sent,
        delivered: sent,
        opened,
        clicked,
        bounced,
        complained: 0,
        failed: 0,
      })),
    }),
  );
}

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

test("a campaign is written, tested and sent, and its results lead to the e-mails", async ({ signedIn: page }) => {
  const shop = await newShop("Northwind Coffee", [
    { email: "ada@example.com", attributes: { name: "Ada" } },
    { email: "grace@example.com", attributes: { name: "Grace" } },
    { email: "bounced+spring@postern.test", attributes: { name: "Nobody" } },
  ]);
  await page.goto(`${shop.path}/campaigns`);
  await expect(page.getByRole("heading", { name: "No campaign yet" })).toBeVisible();
  await expectAccessible(page);
  await page.locator("main .empty").getByRole("button", { name: "New campaign" }).click();
  const create = page.getByRole("dialog", { name: "New campaign" });
  await expect(create.getByLabel("Name")).toBeFocused();
  await expectAccessible(page);
  await create.getByRole("button", { name: "Create draft" }).click();
  await expect(create.getByRole("alert")).toHaveText("Enter a name.");
  // A slow answer: the second press does nothing.
  let created = 0;
  await page.route(/\/campaigns$/, async (route) => {
    if (route.request().method() === "POST") created++;
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
  await create.getByLabel("Name").fill("Summer roast");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Summer roast", level: 1 })).toBeVisible();
  expect(created).toBe(1);
  const id = page.url().split("/").at(-1) ?? "";

  // What is missing is said, and leads to its field.
  await page.getByRole("button", { name: "Send…" }).click();
  const checks = page.getByRole("region", { name: "Before it is sent" });
  await expect(checks).toBeFocused();
  await expect(checks.getByRole("alert")).toHaveText("4 things are missing.");
  await expectAccessible(page);
  await checks.getByRole("button", { name: "Choose an audience." }).click();
  const audience = page.getByLabel("Send to");
  await expect(audience).toBeFocused();
  await audience.selectOption({ label: "Readers" });
  await expect(page.getByText("3 people", { exact: true }).first()).toBeVisible();
  await page.getByLabel("Name of the sender").fill("Northwind");
  await page.getByLabel("Domain", { exact: true }).selectOption(shop.domainId);
  await page.getByLabel("Address", { exact: true }).fill("news");
  const frame = page.waitForRequest("**/dashboard/preview");
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "News" });
  const html = new URLSearchParams((await frame).postData() ?? "").get("html") ?? "";
  expect(html).toMatch(/Dear (Ada|Grace|Nobody)/);
  await page.getByLabel("Subject", { exact: true }).fill("Hello {{ name }}");
  await page.getByLabel("Contact of the preview").selectOption({ label: "As ada@example.com sees it" });
  await expect(page.locator(".inboxline")).toContainText("Hello Ada");
  await expect(checks.getByText("Nothing is missing.")).toBeVisible();
  await expect(saved(page)).toBeVisible();
  expect(await shop.client.campaigns.get(id)).toMatchObject({
    subject: "Hello {{ name }}",
    fromName: "Northwind",
    audienceId: shop.audienceId,
    templateId: shop.templateId,
    fromEmail: expect.stringMatching(/^news@/),
  });

  // One copy first.
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Send a test" }).click();
  const copy = page.getByRole("dialog", { name: "Send a test" });
  await expect(copy.getByLabel("To")).toBeFocused();
  await copy.getByLabel("To").fill("me@example.com");
  await copy.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByText("A test is sent to me@example.com")).toBeVisible();
  await expect.poll(async () => (await shop.client.emails.list({ q: "[Test]" })).total).toBe(1);

  await page.getByRole("button", { name: "Send…" }).click();
  const confirm = page.getByRole("dialog", { name: "Send Summer roast now?" });
  await confirm.getByRole("textbox").fill("2");
  await confirm.getByRole("button", { name: "Send to 3 people" }).click();
  await expect(confirm.getByRole("alert")).toContainText("This is not 3");
  await confirm.getByRole("textbox").fill("3");
  await confirm.getByRole("button", { name: "Send to 3 people" }).click();
  await expect(pill(page, "Sent")).toBeVisible({ timeout: 30_000 });
  await expect.poll(async () => (await shop.client.campaigns.get(id)).stats.bounced).toBe(1);
  expect(await shop.client.campaigns.get(id)).toMatchObject({ status: "SENT", stats: { total: 3 } });
  await expect(page.locator(".legend > div", { hasText: "Bounced" })).toContainText("1", { timeout: 30_000 });
  await expect(page.locator(".progress .figure")).toHaveText("3 of 3");
  await withoutFrames(page);
  await expectAccessible(page);

  await page.getByRole("link", { name: /^Recipients/ }).click();
  await expect(page.getByRole("rowheader")).toHaveCount(3);
  await page.getByRole("button", { name: "Bounced", exact: true }).click();
  await expect(page).toHaveURL(/outcome=BOUNCED/);
  await expect(page.getByRole("rowheader")).toHaveText(["bounced+spring@postern.test"]);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Complaint", exact: true }).click();
  await expect(page.getByRole("heading", { name: "No recipient matches" })).toBeVisible();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByRole("link", { name: "ada@example.com" }).click();
  await expect(page).toHaveURL(new RegExp(`/emails/[0-9a-f-]+\\?campaignId=${id}`));
  await expect(page.getByRole("heading", { name: "Hello Ada" })).toBeVisible();
});

test("the days are a chart and a table", async ({ signedIn: page }) => {
  const shop = await newShop("Days", people(2));
  const id = await draft(shop);
  await shop.client.campaigns.send(id);
  await page.goto(`${shop.path}/campaigns/${id}`);
  await expect(page.getByText("All of it happened on one day.")).toBeVisible({ timeout: 30_000 });
  await withDays(page);
  await page.reload();
  await expect(page.locator(".chart .main .day")).toHaveCount(5);
  await page.getByRole("link", { name: "Show as table" }).click();
  await expect(page).toHaveURL(/view=table/);
  await expect(page.locator(".numbers tbody tr").last()).toContainText("12,400");
  await expectAccessible(page);
});

test("a campaign is scheduled, moved, made a draft again, and deleted with a way back", async ({ signedIn: page }) => {
  const shop = await newShop("Scheduled", people(2));
  const id = await draft(shop);
  await withoutFrames(page);
  await page.goto(`${shop.path}/campaigns/${id}`);
  await page.getByLabel("At a time").check();
  const at = page.getByLabel("Day and time");
  await at.fill("2020-01-01T10:00");
  await expect(page.getByText("This time has passed.", { exact: true })).toBeVisible();
  const year = new Date().getFullYear() + 1;
  await at.fill(`${year}-06-09T10:30`);
  await expect(saved(page)).toBeVisible();
  await page.getByRole("button", { name: "Schedule…" }).click();
  const confirm = page.getByRole("dialog", { name: "Schedule Spring?" });
  await expectAccessible(page);
  await confirm.getByRole("textbox").fill("2");
  await page.keyboard.press("Enter");
  await expect(pill(page, "Scheduled")).toBeVisible();
  // The browser of the tests is in Berlin.
  const planned = `${year}-06-09T08:30:00`;
  expect((await shop.client.campaigns.get(id)).scheduledAt).toContain(planned);
  await expectAccessible(page);

  await page.getByRole("button", { name: "Change time" }).click();
  const move = page.getByRole("dialog", { name: "Change time" });
  await move.getByLabel("Day and time").fill("2020-01-01T10:00");
  await move.getByRole("button", { name: "Change time" }).click();
  await expect(move.getByRole("alert")).toHaveText("This time has passed.");
  await move.getByLabel("Day and time").fill(`${year}-06-10T10:30`);
  await move.getByRole("button", { name: "Change time" }).click();
  await expect(move).toBeHidden();
  expect((await shop.client.campaigns.get(id)).scheduledAt).toContain(`${year}-06-10T08:30:00`);

  await page.getByRole("button", { name: "Make it a draft" }).click();
  await expect(pill(page, "Draft")).toBeVisible();
  expect((await shop.client.campaigns.get(id)).status).toBe("DRAFT");

  const remove = async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete campaign" }).click();
    await expect(page).toHaveURL(/\/campaigns$/);
    await expect(page.getByText("Spring is deleted")).toBeVisible();
    await expect(page.getByRole("rowheader", { name: "Spring" })).toHaveCount(0);
  };
  await remove();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: "Spring" }).click();
  await expect(pill(page, "Draft")).toBeVisible();
  await remove();
  await expect
    .poll(
      () =>
        shop.client.campaigns.get(id).then(
          () => "there",
          () => "gone",
        ),
      { timeout: 20_000 },
    )
    .toBe("gone");
});

test("variants are tested, paused, and a winner is chosen", async ({ signedIn: page }) => {
  const shop = await newShop("Variants", people(8));
  const id = await draft(shop);
  await withoutFrames(page);
  await page.goto(`${shop.path}/campaigns/${id}`);
  await page.getByRole("checkbox", { name: "A/B test" }).check();
  const first = page.getByRole("group", { name: "Variant A" });
  const second = page.getByRole("group", { name: "Variant B" });
  await first.getByLabel("Subject").fill("The first pick is yours");
  await second.getByLabel("Subject").fill("Summer roast has landed");
  await second.getByLabel("Share in %").fill("30");
  await expect(page.getByText("The shares sum to 80 %.")).toBeVisible();
  await page.getByRole("button", { name: "Add variant" }).click();
  await page.getByRole("button", { name: "Remove variant C" }).click();
  await expect(second.getByLabel("Share in %")).toHaveValue("50");
  await page.getByLabel("Part of the audience, in %").fill("50");
  await expect(page.getByText("4 people in the test.")).toBeVisible();
  await expect(saved(page)).toBeVisible();
  await expect(page.getByText("With fewer than 30 for each variant")).toBeVisible();
  await expectAccessible(page);
  expect(await shop.client.campaigns.get(id)).toMatchObject({
    abTestEnabled: true,
    abTestSamplePercent: 50,
    abTestDurationMinutes: 240,
    variants: [
      { name: "A", weight: 50 },
      { name: "B", weight: 50 },
    ],
  });
  await page.getByRole("button", { name: "Send…" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("8");
  await page.keyboard.press("Enter");
  await expect(pill(page, "Testing")).toBeVisible();
  await expect(page.locator(".legend > div", { hasText: "Not sent yet" })).toContainText("4", { timeout: 30_000 });
  await expectAccessible(page);

  await page.getByRole("button", { name: "Pause" }).click();
  await expect(pill(page, "Paused")).toBeVisible();
  expect((await shop.client.campaigns.get(id)).status).toBe("PAUSED");
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(pill(page, "Testing")).toBeVisible();
  await page.getByRole("button", { name: "Choose B" }).click();
  const dialog = page.getByRole("dialog", { name: "End the test with B?" });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Choose B" }).click();
  await expect(pill(page, "Sent")).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("B was chosen by hand.")).toBeVisible();
  const { variants, stats } = await shop.client.campaigns.get(id);
  expect(variants.map((each) => each.isWinner)).toEqual([false, true]);
  expect(stats.total).toBe(8);
});

test("a running campaign is cancelled after a warning, and copied", async ({ signedIn: page }) => {
  const shop = await newShop("Cancelled", people(6));
  const id = await draft(shop, VARIANTS);
  await shop.client.campaigns.send(id);
  await withoutFrames(page);
  await page.goto(`${shop.path}/campaigns/${id}`);
  await page.getByRole("button", { name: "Cancel…" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel Spring?" });
  await expect(dialog.getByRole("button", { name: "Keep it" })).toBeFocused();
  await dialog.getByRole("button", { name: "Cancel campaign" }).click();
  await expect(pill(page, "Cancelled")).toBeVisible();
  expect((await shop.client.campaigns.get(id)).status).toBe("CANCELLED");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect(page.getByRole("heading", { name: "Copy of Spring", level: 1 })).toBeVisible();
  await expect(page.getByRole("group", { name: "Variant B" }).getByLabel("Subject")).toHaveValue(
    "Summer roast has landed",
  );
});

test.describe("with others who write, and a server that refuses", () => {
  test.use({ tolerated: /status of (400|409|412)/ });

  test("two versions of a draft are shown, and one is chosen", async ({ signedIn: page }) => {
    const shop = await newShop("Conflict", people(1));
    const id = await draft(shop);
    await withoutFrames(page);
    await page.goto(`${shop.path}/campaigns/${id}`);
    const subject = page.getByLabel("Subject", { exact: true });
    await expect(subject).toBeVisible();
    await shop.client.campaigns.update(id, { subject: "Theirs" });
    await subject.fill("Mine");
    const dialog = page.getByRole("dialog", { name: "Someone changed this meanwhile" });
    await expect(dialog.getByRole("row", { name: "Subject" })).toContainText("Theirs");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Take theirs" }).click();
    await expect(subject).toHaveValue("Theirs");
    await shop.client.campaigns.update(id, { subject: "Theirs again" });
    await subject.fill("Mine again");
    await dialog.getByRole("button", { name: "Keep mine" }).click();
    await expect(saved(page)).toBeVisible();
    expect((await shop.client.campaigns.get(id)).subject).toBe("Mine again");
  });

  test("what is refused stands at its field, or in the dialog", async ({ signedIn: page }) => {
    const shop = await newShop("Refused", people(1));
    const id = await draft(shop);
    await withoutFrames(page);
    await page.goto(`${shop.path}/campaigns/${id}`);
    const subject = page.getByLabel("Subject", { exact: true });
    await subject.fill("Hello {{ name");
    await expect(subject).toHaveAttribute("aria-invalid", "true");
    await expect(page.locator(".saving")).toHaveText("Not saved");
    await subject.fill("Hello");
    await expect(saved(page)).toBeVisible();
    await page.route(/\/send$/, (route) =>
      route.fulfill({
        status: 409,
        json: {
          status: 409,
          code: "campaign_incomplete",
          detail: "The campaign cannot be sent yet.",
          errors: [{ path: "/domainId", code: "missing", message: "The sending domain must be verified first." }],
        },
      }),
    );
    await page.getByRole("button", { name: "Send…" }).click();
    const dialog = page.getByRole("dialog", { name: "Send Spring now?" });
    await dialog.getByRole("textbox").fill("1");
    await page.keyboard.press("Enter");
    await expect(dialog.getByRole("alert")).toContainText("The sending domain must be verified first.");
    await expectAccessible(page);
    expect((await shop.client.campaigns.get(id)).status).toBe("DRAFT");
  });
});

test.describe("with a message that receivers object to", () => {
  test.use({ tolerated: /status of (429|409)/ });

  test("it is checked on demand and before it is sent", async ({ signedIn: page }) => {
    const shop = await newShop("Objections", people(2));
    await shop.client.templates.update(shop.templateId, {
      html: '<p>Dear reader</p><a href="http://192.0.2.1/<b>">More</a><img src="/logo.png">',
    });
    const empty = await shop.client.campaigns.create({ name: "Empty" });
    await page.goto(`${shop.path}/campaigns/${empty.id}`);
    const part = page.getByRole("region", { name: "What receivers would object to" });
    await part.getByRole("button", { name: "Check the message" }).click();
    await expect(part.getByRole("alert")).toHaveText("The check needs sender, template and subject.");

    await page.goto(`${shop.path}/campaigns/${await draft(shop, { subject: "Spring news" })}`);
    await part.getByRole("checkbox", { name: "Open its links, too" }).check();
    const sent = page.waitForRequest(/\/preflight$/);
    await part.getByRole("button", { name: "Check the message" }).click();
    expect((await sent).postDataJSON()).toMatchObject({ checkLinks: true });
    const found = part.getByRole("list", { name: "What receivers would object to" });
    await expect(found).toContainText("Links lead to an IP address");
    await expect(found.getByRole("listitem").filter({ hasText: "IP address" })).toContainText("In the message");
    await expect(part.getByRole("status")).toContainText("mistakes");
    await expectHolds(page, "campaigns preflight");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByLabel("Subject", { exact: true }).fill("SPRING NEWS FOR EVERYBODY");
    await expect(part.getByRole("status")).toHaveText("The draft has changed since this check.");
    await page.getByRole("button", { name: "Send…" }).click();
    const dialog = page.getByRole("dialog", { name: "Send Spring now?" });
    await expect(dialog.getByText("Large providers would object to this message:")).toBeVisible();
    await expect(dialog.getByRole("list").filter({ hasText: "IP address" })).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect(part.getByText("The subject is written in capitals")).toBeVisible();

    // Without the check, the campaign can be sent all the same.
    const limit = { status: 429, code: "too_many_requests", detail: "Too many requests." };
    await page.route(/\/preflight$/, (route) => route.fulfill({ status: 429, json: limit }));
    await page.reload();
    await part.getByRole("button", { name: "Check the message" }).click();
    await expect(part.getByRole("alert")).toContainText("Too many requests");
    await page.getByRole("button", { name: "Send…" }).click();
    await expect(dialog).toBeVisible();
  });
});

test("the list is searched, filtered and sorted in the URL", async ({ signedIn: page }) => {
  const shop = await newShop("List", people(1));
  await draft(shop, { name: "Winter" });
  await draft(shop, { name: "Autumn" });
  const sent = await draft(shop, { name: "Summer" });
  await shop.client.campaigns.send(sent);
  await expect.poll(async () => (await shop.client.campaigns.get(sent)).status).toBe("SENT");
  await page.goto(`${shop.path}/campaigns`);
  await expect(page.getByRole("rowheader")).toHaveText(["Summer", "Autumn", "Winter"]);
  await expect(page.getByText("3 campaigns", { exact: true })).toBeVisible();
  await expect(page.getByRole("row", { name: "Summer" })).toContainText("Sent");
  await expectAccessible(page);
  await page.getByLabel("Order").selectOption("name");
  await expect(page).toHaveURL(/sort=name/);
  await expect(page.getByRole("rowheader")).toHaveText(["Autumn", "Summer", "Winter"]);
  await page.getByRole("button", { name: "Drafts" }).click();
  await expect(page.getByRole("rowheader")).toHaveText(["Autumn", "Winter"]);
  await page.getByRole("searchbox").fill("winter");
  await expect(page.getByRole("rowheader")).toHaveText(["Winter"]);
  await page.getByRole("searchbox").fill("nothing");
  await expect(page.getByRole("heading", { name: "No campaign matches" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(page.getByRole("rowheader")).toHaveText(["Autumn", "Summer", "Winter"]);
});

test.describe("with a list that fails", () => {
  test.use({ tolerated: /status of (404|500)/ });

  test("the list and a campaign say so, and are tried again", async ({ signedIn: page }) => {
    const shop = await newShop("Fails", []);
    await draft(shop);
    const list = /\/campaigns\?/;
    await page.route(list, (route) => route.fulfill({ status: 500, json: { detail: "Broken" } }));
    await page.goto(`${shop.path}/campaigns`);
    await expect(page.getByRole("alert")).toContainText("The list could not be loaded", { timeout: 30_000 });
    await page.unroute(list);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("rowheader", { name: "Spring" })).toBeVisible();
    await page.goto(`${shop.path}/campaigns/00000000-0000-7000-8000-000000000000`);
    await expect(page.getByRole("heading", { name: "There is no such campaign" })).toBeVisible();
    await expectAccessible(page);
  });
});

test("keys alone make a draft and open one", async ({ signedIn: page }) => {
  const shop = await newShop("Keys", []);
  await page.goto(shop.path);
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeAttached();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await expect(page).toHaveURL(/\/campaigns$/);
  const add = page.getByRole("button", { name: "New campaign" }).first();
  await add.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByLabel("Name")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(add).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByLabel("Name")).toBeFocused();
  await page.keyboard.type("By keys");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "By keys", level: 1 })).toBeVisible();
  await page.getByRole("link", { name: "Campaigns", exact: true }).last().focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("rowheader", { name: "By keys" })).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "By keys", level: 1 })).toBeVisible();
});

test("names are text, and a viewer sees no actions", async ({ signedIn: page }) => {
  const shop = await newShop("Viewer", [{ email: "ada@example.com", attributes: { name: ATTACK } }]);
  await shop.client.audiences.update(shop.audienceId, { name: ATTACK });
  const id = await draft(shop, { name: ATTACK, subject: ATTACK });
  const running = await draft(shop, { ...VARIANTS, name: `Runs ${ATTACK}` });
  await shop.client.audiences.contacts.addEmails(shop.audienceId, { contacts: people(5) as never });
  await shop.client.campaigns.send(running);
  await asViewer(page);
  await withoutFrames(page);
  await page.goto(`${shop.path}/campaigns`);
  await expect(page.getByRole("rowheader", { name: ATTACK }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "New campaign" })).toHaveCount(0);
  await page.goto(`${shop.path}/campaigns?add=1`);
  await expect(page.getByRole("rowheader").first()).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.goto(`${shop.path}/campaigns/${id}`);
  await expect(page.getByRole("heading", { name: ATTACK, level: 1 })).toBeVisible();
  await expect(page.getByLabel("Send to")).toBeDisabled();
  await expect(page.getByRole("button", { name: "Send…" })).toHaveCount(0);
  await page.getByRole("button", { name: "More actions" }).click();
  await expect(page.getByRole("menuitem")).toHaveText(["Copy as curl"]);
  await page.keyboard.press("Escape");
  await page.goto(`${shop.path}/campaigns/${running}`);
  await expect(pill(page, "Testing")).toBeVisible();
  await expect(page.getByRole("button", { name: /Pause|Cancel…|Choose|End the test/ })).toHaveCount(0);
  await page.goto(`${shop.path}/campaigns/${running}?tab=content`);
  await expect(page.getByText(ATTACK).first()).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
});

test.describe("in every shape", () => {
  let shop: Shop;
  let ids: { written: string; tested: string; planned: string; sent: string };

  test.beforeAll(async () => {
    shop = await newShop("Shapes", [
      ...people(12),
      { email: "bounced+shape@postern.test" },
      { email: "deferred+shape@postern.test" },
    ]);
    const planned = await draft(shop, {
      name: "The autumn letter to everybody who has ever bought something from us",
      scheduledAt: new Date(Date.now() + 86_400_000).toISOString(),
    });
    const tested = await draft(shop, { ...VARIANTS, name: "Summer roast: the first pick" });
    const sent = await draft(shop, { name: "Spring news" });
    for (const id of [planned, tested, sent]) await shop.client.campaigns.send(id);
    const written = await draft(shop, { ...VARIANTS, name: "Winter", previewText: "What is new in winter" });
    ids = { written, tested, planned, sent };
    await expect.poll(async () => (await shop.client.campaigns.get(sent)).status, { timeout: 30_000 }).toBe("SENT");
  });

  test("list, draft and results hold", async ({ signedIn: page }) => {
    await withoutFrames(page);
    await withDays(page);
    for (const [name, path, shown] of [
      ["list", "/campaigns", ".log tbody .row"],
      ["draft", `/campaigns/${ids.written}`, ".checks .g.yes"],
      ["planned", `/campaigns/${ids.planned}`, ".planned .figure"],
      ["tested", `/campaigns/${ids.tested}`, ".ab tbody tr"],
      ["sent", `/campaigns/${ids.sent}`, ".chart .day >> nth=4"],
      ["recipients", `/campaigns/${ids.sent}?tab=recipients`, ".recipients tbody .row"],
      ["content", `/campaigns/${ids.sent}?tab=content`, ".facts dd"],
    ] as const) {
      await page.goto(shop.path + path);
      await expect(page.locator(shown).first()).toBeVisible();
      await expectHolds(page, `campaigns ${name}`);
    }
  });
});
