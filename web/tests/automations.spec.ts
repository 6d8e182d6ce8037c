import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
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
  sender: string;
}

/** A project with an audience, a template and a domain. Its mail is captured, so the domain need not be ready. */
async function newShop(name: string): Promise<Shop> {
  const { id } = await developer.projects.create({ name });
  const { key } = await developer.apiKeys.create({ name: "Test" }, { project: id });
  const client = new Postern({ url: SERVER.baseUrl, key: key ?? "", project: id });
  const audience = await client.audiences.create({ name: "Readers" });
  const template = await client.templates.create({
    name: "Hello",
    subject: "Hello {{ name }}",
    html: "<p>Dear {{ name }}</p>",
    text: "Dear {{ name }}",
  });
  const domain = await client.domains.create({ domain: `flow-${Date.now().toString(36)}.example` });
  return {
    client,
    path: `/dashboard/projects/${id}`,
    audienceId: audience.id,
    templateId: template.id,
    sender: `hello@${domain.domain}`,
  };
}

const mail = ({ templateId, sender }: Shop) => ({ type: "SEND_EMAIL", templateId, fromEmail: sender });

/** An automation with a branch of each kind. */
async function branching(shop: Shop, name = "Orders", active = false): Promise<string> {
  const { id } = await shop.client.automations.create({
    name,
    active,
    trigger: { type: "EVENT", event: "order.placed", once: false },
    steps: [
      {
        type: "CONDITION",
        rules: { match: "all", conditions: [{ field: "attributes.plan", operator: "eq", value: "pro" }] },
        then: [mail(shop)],
        else: [{ type: "UPDATE_CONTACT", attributes: { plan: "free" } }],
      },
      {
        type: "WAIT_FOR_EVENT",
        event: "order.paid",
        timeout: { days: 2 },
        then: [{ type: "EXIT" }],
        else: [mail(shop)],
      },
    ] as never,
  });
  return id;
}

async function asViewer(page: Page): Promise<void> {
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
}

/** The sentences of the steps, in the order of the page. */
const sentences = (page: Page) => page.locator(".steps .says");
const stepButton = (page: Page, words: RegExp) => page.locator(".stepbtn", { hasText: words });

test.use({ tolerated: /status of (400|409|412)/ });

test("a recipe becomes an active automation, and its runs are followed", async ({ signedIn: page }) => {
  const shop = await newShop("Recipes");
  await page.goto(`${shop.path}/automations`);
  await expect(page.getByRole("heading", { name: "No automations yet" })).toBeVisible();
  await expectAccessible(page);
  await page.locator("main .empty").getByRole("button", { name: "New from recipe" }).click();
  const recipes = page.getByRole("dialog", { name: "New from recipe" });
  await expect(recipes.getByRole("link")).toHaveCount(9);
  await expectAccessible(page);
  await recipes.getByRole("link", { name: /Welcome series/ }).click();

  // What is missing is said, and leads to its field.
  const checks = page.getByRole("region", { name: "Before it can run" });
  await expect(checks.getByText("3 things are missing.")).toBeVisible();
  await expectAccessible(page);
  await checks.getByRole("button", { name: "Choose an audience." }).click();
  const audience = page.getByLabel("Audience", { exact: true });
  await expect(audience).toBeFocused();
  await audience.selectOption({ label: "Readers" });
  await expect(checks.getByText("2 things are missing.")).toBeVisible();
  await page.getByRole("button", { name: "Create automation" }).click();
  await expect(page.getByRole("button", { name: "Activate" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Welcome series", level: 1 })).toBeVisible();
  const id = page.url().split("/").at(-1) ?? "";

  // What is missing to activate it leads to the step.
  await page.getByRole("button", { name: "Activate" }).click();
  const problems = page.getByRole("alert", { name: "It cannot be activated yet" });
  await expect(problems.getByRole("link")).toHaveCount(2);
  await expectAccessible(page);
  await problems.getByRole("link").first().click();
  const template = page.getByLabel("Template", { exact: true });
  await expect(template).toBeFocused();
  await template.selectOption({ label: "Hello" });
  await stepButton(page, /Send \(not chosen\)/).click();
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "Hello" });
  await expect(checks.getByText("Nothing is missing here.")).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Activate" }).click();
  await expect(page.locator(".head .pill")).toHaveText("Active");
  expect(await shop.client.automations.get(id)).toMatchObject({ active: true, version: 2 });

  const contacts = ["ada", "grace"].map((name) => ({ email: `${name}@example.com`, attributes: { name } }));
  await shop.client.audiences.contacts.addEmails(shop.audienceId, { contacts: contacts as never });
  await expect(page.getByText("2 runs here now")).toBeVisible({ timeout: 30_000 });
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("link", { name: "ada@example.com" }).click();
  const panel = page.getByRole("region", { name: "Run of ada@example.com" });
  await expect(panel.getByText("Done")).toBeVisible();
  await expect(panel.getByRole("link", { name: "Open the email" })).toBeVisible();
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Cancel run" }).click();
  const cancel = page.getByRole("dialog", { name: "Cancel the run of ada@example.com?" });
  await expectAccessible(page);
  await cancel.getByRole("button", { name: "Cancel run" }).click();
  await expect(panel.getByText("Cancelled")).toBeVisible();
  await expect(cancel).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  await page.getByRole("group", { name: "State" }).getByRole("button", { name: "Cancelled" }).click();
  await expect(page.locator("tr[data-row]")).toHaveCount(1);
  await expect(page).toHaveURL(/status=CANCELLED/);

  // Runs that have begun keep their steps.
  const automation = await shop.client.automations.get(id);
  await shop.client.automations.update(id, { steps: [...automation.steps, { type: "EXIT" }] as never });
  await page.getByRole("link", { name: "Steps" }).click();
  await page.reload();
  await expect(page.getByText("1 run still follows the previous steps.")).toBeVisible();
  await page.getByRole("button", { name: "Deactivate" }).click();
  await expect(page.locator(".head .pill")).toHaveText("Inactive");
});

test("steps are added, moved with the keyboard, and taken back", async ({ signedIn: page }) => {
  const shop = await newShop("Steps");
  const id = await branching(shop);
  await page.goto(`${shop.path}/automations/${id}/edit`);
  await expect(sentences(page)).toHaveText([
    /^Check: plan is pro/,
    "Send Hello",
    "Change the contact: plan = free",
    "Wait up to 2 days for: order.paid",
    "End here",
    "Send Hello",
  ]);
  await page.getByRole("button", { name: "Add step: If not" }).click();
  await page.getByRole("menuitem", { name: "Wait", exact: true }).click();
  const added = stepButton(page, /^Wait 1 day$/);
  await expect(added).toBeFocused();
  await page.getByRole("textbox", { name: "days" }).fill("4");
  await stepButton(page, /^Wait 4 days$/).focus();
  // Out of the branch, past the waiting step, and into its branch.
  await page.keyboard.press("Alt+ArrowLeft");
  await expect(sentences(page).nth(3)).toHaveText("Wait 4 days");
  await page.keyboard.press("Alt+ArrowDown");
  await expect(sentences(page).nth(6)).toHaveText("Wait 4 days");
  await page.keyboard.press("Alt+ArrowRight");
  await expect(sentences(page).nth(5)).toHaveText("Wait 4 days");
  await expect(stepButton(page, /^Wait 4 days$/)).toBeFocused();
  await page.keyboard.press("Control+z");
  await expect(sentences(page).nth(6)).toHaveText("Wait 4 days");
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(sentences(page).nth(5)).toHaveText("Wait 4 days");
  await page.getByRole("button", { name: "Duplicate: Wait 4 days" }).click();
  await expect(sentences(page)).toHaveCount(8);
  await page.getByRole("button", { name: "Delete: Wait 4 days" }).last().click();
  await expect(sentences(page)).toHaveCount(7);
  await stepButton(page, /^Check/).click();
  await expect(page.getByRole("group", { name: "Condition 1" })).toBeVisible();
  await expectAccessible(page);

  // The draft survives a reload, and who leaves is asked.
  await page.reload();
  await expect(page.getByText("This is your draft, which this browser has kept.")).toBeVisible();
  await expect(sentences(page)).toHaveCount(7);
  await page.getByRole("link", { name: "Automations", exact: true }).last().click();
  const leave = page.getByRole("dialog", { name: "Leave without saving?" });
  await expectAccessible(page);
  await leave.getByRole("button", { name: "Keep editing" }).click();

  // What the API refuses is shown at its step.
  await stepButton(page, /^Wait up to/).click();
  await page.getByLabel("Event", { exact: true }).last().fill("automation.started");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.locator(".step.on .wrong")).toContainText("could loop");
  await page.getByLabel("Event", { exact: true }).last().fill("order.paid");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  const { steps } = await shop.client.automations.get(id);
  expect(steps[1]).toMatchObject({ then: [{ type: "EXIT" }, { type: "DELAY", days: 4 }] });
  await expect(page.getByText("has a draft")).toBeHidden();
});

test("two people edit the same automation", async ({ signedIn: page }) => {
  const shop = await newShop("Conflict");
  const id = await branching(shop);
  await page.goto(`${shop.path}/automations/${id}/edit`);
  await page.getByLabel("Name", { exact: true }).fill("Mine");
  const { steps } = await shop.client.automations.get(id);
  await shop.client.automations.update(id, {
    steps: [...steps, { type: "WEBHOOK", url: "https://example.com/" }] as never,
  });
  await page.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("dialog", { name: /changed/i });
  await expect(conflict.getByRole("listitem").filter({ hasText: "Call https://example.com/" })).toHaveClass("old");
  await expect(conflict.getByRole("listitem").filter({ hasText: "Mine" })).toHaveClass("new");
  await expectAccessible(page);
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await expect(page.getByRole("heading", { name: "Mine", level: 1 })).toBeVisible();
  await expect.poll(() => shop.client.automations.get(id)).toMatchObject({ name: "Mine", steps: { length: 2 } });
});

test("a dry run says what would happen, and does nothing", async ({ signedIn: page }) => {
  const shop = await newShop("Dry");
  const id = await branching(shop);
  await shop.client.contacts.create({ email: "ada@example.com", attributes: { name: ATTACK, plan: "pro" } });
  await page.goto(`${shop.path}/automations/${id}`);
  await page.getByRole("button", { name: "Dry run" }).click();
  const dialog = page.getByRole("dialog", { name: "Dry run: what would happen" });
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Choose a contact.");
  await dialog.getByLabel("ada@example.com").check();
  await dialog.getByLabel("Data of the event").fill("{");
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("This is not a JSON object.");
  await dialog.getByLabel("Data of the event").fill('{"total": 42}');
  const frame = page.waitForRequest("**/dashboard/preview");
  await dialog.getByRole("button", { name: "Dry run" }).click();
  const result = dialog.getByRole("region", { name: "With ada@example.com" });
  await expect(result.locator(".history > li > div > b")).toHaveText([
    /^Check/,
    "Send Hello",
    /^Wait up to/,
    "Send Hello",
  ]);
  await expect(result.locator(".whys")).toContainText("plan is pro holds (is pro)");
  await expectAccessible(page);
  const html = new URLSearchParams((await frame).postData() ?? "").get("html") ?? "";
  expect(html).toContain("Dear &lt;img");
  await result.locator("summary").first().click();
  await expect(result.locator("iframe").first()).toBeVisible();
  await dialog.getByLabel(/^The event comes/).check();
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await expect(result.locator(".history > li > div > b").last()).toHaveText("End here");
  expect((await shop.client.emails.list({})).total).toBe(0);
  expect((await shop.client.automations.runs.list(id)).data).toEqual([]);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
});

test("the list is searched, filtered and sorted; a copy and the end of one", async ({ signedIn: page }) => {
  const shop = await newShop("List");
  await branching(shop, ATTACK, true);
  const id = await branching(shop, "Second");
  await page.goto(`${shop.path}/automations`);
  const rows = page.locator("tr[data-row]");
  await expect(rows).toHaveCount(2);
  await expect(page.getByText("2 automations")).toBeVisible();
  await expect(page.getByRole("link", { name: ATTACK })).toBeVisible();
  await page.getByRole("button", { name: "Inactive", exact: true }).click();
  await expect(rows).toHaveCount(1);
  await expect(page).toHaveURL(/show=inactive/);
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(2);
  await page.getByLabel("Order").selectOption({ label: "By name" });
  await expect(page).toHaveURL(/sort=name/);
  await expect(rows.first().getByRole("link")).toHaveText(ATTACK);
  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await expect(rows.first().getByRole("link")).toBeFocused();

  await page.goto(`${shop.path}/automations/${id}?tab=settings`);
  await page.getByLabel("Runs of one contact within an hour").fill("0");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toHaveText("Enter a whole number from 1 to 1,000.");
  await page.getByLabel("Runs of one contact within an hour").fill("5");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Saved.")).toBeVisible();
  expect(await shop.client.automations.get(id)).toMatchObject({ maxRunsPerHour: 5 });
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect(page.getByRole("heading", { name: "Second (copy)" })).toBeVisible();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete automation" }).click();
  const remove = page.getByRole("dialog", { name: "Delete Second (copy)?" });
  await remove.getByRole("textbox").fill("second (copy)");
  await expectAccessible(page);
  await remove.getByRole("button", { name: "Delete automation" }).click();
  await expect(rows).toHaveCount(2);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
});

test("who may only read sees no actions that write", async ({ signedIn: page }) => {
  const shop = await newShop("Viewer");
  const id = await branching(shop);
  await asViewer(page);
  await page.goto(`${shop.path}/automations`);
  await expect(page.locator("tr[data-row]")).toHaveCount(1);
  await expect(page.getByRole("button", { name: "New automation" })).toBeHidden();
  await page.goto(`${shop.path}/automations/${id}`);
  await expect(sentences(page)).toHaveCount(6);
  await expect(page.getByRole("button", { name: "Dry run" })).toBeVisible();
  for (const name of ["Activate", "More actions"]) await expect(page.getByRole("button", { name })).toBeHidden();
  await expect(page.getByRole("link", { name: "Edit" })).toBeHidden();
  await page.goto(`${shop.path}/automations/${id}/edit`);
  await expect(page.getByRole("heading", { name: "You cannot change automations" })).toBeVisible();
});

test.describe("when the server fails", () => {
  test.use({ tolerated: /status of 500|status of 404/ });

  test("loading that failed can be tried again, and what is missing is said", async ({ signedIn: page }) => {
    const shop = await newShop("Failures");
    const id = await branching(shop);
    let fails = true;
    await page.route(/\/automations\?/, (route) =>
      fails ? route.fulfill({ status: 500, json: { detail: "Out of order." } }) : route.continue(),
    );
    await page.goto(`${shop.path}/automations`);
    await expect(page.getByRole("alert")).toContainText("Out of order.", { timeout: 30_000 });
    fails = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.locator("tr[data-row]")).toHaveCount(1);
    await page.goto(`${shop.path}/automations/${id.replace(/.{4}$/, "0000")}`);
    await expect(page.getByRole("heading", { name: "There is no such automation" })).toBeVisible();
  });
});

test("the pages hold in every size and colour", async ({ signedIn: page }) => {
  const shop = await newShop("Shapes");
  const id = await branching(shop, "Orders", true);
  await shop.client.contacts.create({ email: "ada@example.com", attributes: { plan: "pro" } });
  await shop.client.events.record({ name: "order.placed", email: "ada@example.com" });
  await expect
    .poll(async () => (await shop.client.automations.runs.list(id)).data[0]?.status, { timeout: 30_000 })
    .toBe("WAITING");
  for (const [path, ready] of [
    ["", "tr[data-row]"],
    [`/${id}`, ".step .here"],
    [`/${id}?tab=runs`, "tr[data-row] >> text=ada@example.com"],
    [`/${id}/edit`, ".stepbtn"],
  ] as const) {
    await page.goto(`${shop.path}/automations${path}`);
    await expect(page.locator(ready).first()).toBeVisible();
    await expectHolds(page, `automations ${path.replace(id, "one")}`);
  }
});
