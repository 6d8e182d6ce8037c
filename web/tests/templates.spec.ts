import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { api, at, expect, expectAccessible, expectFits, expectHolds, SERVER, signIn, test } from "./fixtures";

/** Text that would run if any page took it for HTML. */
const ATTACK = "<img src=x onerror=window.hacked=1>";

/** A word that only this run has. */
function unique(name: string): string {
  return `${name}-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
}

async function newTemplate(name: string, subject = "Hello {{ firstName }}"): Promise<string> {
  const blocks = [
    { type: "heading", text: "Welcome", level: 2 },
    { type: "text", text: "Hello {{ firstName }}, your order {{ orderNumber }} left us." },
    { type: "button", text: "Follow it", url: "https://example.com/" },
  ];
  return (await api.templates.create({ name, subject, builderJson: { blocks } })).id;
}

/** Show the text instead of the frame: axe cannot look into a frame that runs no scripts. */
async function withoutFrames(page: Page): Promise<void> {
  await page.route("**/templates/render", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), html: null } });
  });
}

// The page may render once more while a test ends.
test.afterEach(({ page }) => page.unrouteAll({ behavior: "ignoreErrors" }));

/** Let requests of this method wait until the returned function is called. */
async function held(page: Page, url: string, method: string): Promise<() => void> {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    if (route.request().method() === method) await gate;
    await route.continue();
  });
  return release;
}

/** What the page gives to the frame next. */
async function nextFrame(page: Page): Promise<string> {
  const request = await page.waitForRequest("**/dashboard/preview");
  return new URLSearchParams(request.postData() ?? "").get("html") ?? "";
}

test("the list is searched and sorted in the URL, and opens a template", async ({ signedIn: page }) => {
  const word = unique("list");
  await newTemplate(`B ${word}`);
  await newTemplate(`A ${word}`);
  await page.goto(at(`/templates?q=${word}`));
  await expect(page.getByText("2 templates", { exact: true })).toBeVisible();
  await expect(page.getByRole("rowheader")).toHaveText([`A ${word}`, `B ${word}`]);
  await page.getByLabel("Order").selectOption("name");
  await expect(page).toHaveURL(/sort=name/);
  await api.templates.update(await newTemplate(`C ${word}`), { subject: "Later" });
  await page.reload();
  await expect(page.getByRole("rowheader")).toHaveText([`A ${word}`, `B ${word}`, `C ${word}`]);
  await page.getByLabel("Order").selectOption("-updatedAt");
  await expect(page.getByRole("rowheader").first()).toHaveText(`C ${word}`);
  await expectAccessible(page);
  await page.getByRole("searchbox").fill(`${word}-nothing`);
  await expect(page.getByText("No template matches")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Without the search" }).click();
  await expect(page.getByRole("rowheader").first()).toBeVisible();
});

test("pictures show the templates, and lead to them", async ({ signedIn: page }) => {
  const word = unique("picture");
  await newTemplate(word);
  await page.goto(at(`/templates?q=${word}`));
  const html = nextFrame(page);
  await page.getByRole("button", { name: "Pictures" }).click();
  expect(await html).toContain("Hello First name, your order Order number left us.");
  await expect(page).toHaveURL(/as=pictures/);
  await page.getByRole("link", { name: word }).click();
  await expect(page.getByRole("heading", { name: word, level: 1 })).toBeVisible();
});

test("keys move through the list and open a template", async ({ signedIn: page }) => {
  const word = unique("keys");
  await newTemplate(`second ${word}`);
  await newTemplate(`first ${word}`);
  await page.goto(at());
  await expect(page.getByRole("heading", { name: "Overview" })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await expect(page.getByRole("heading", { name: "Templates", level: 1 })).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.type(word);
  await expect(page.getByText("2 templates", { exact: true })).toBeVisible();
  await page.getByRole("searchbox").blur();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: `second ${word}`, level: 1 })).toBeVisible();
});

test("a project without templates says what they are for", async ({ signedIn: page }) => {
  const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });
  const { id } = await developer.projects.create({ name: "Empty" });
  await page.goto(`/dashboard/projects/${id}/templates`);
  await expect(page.getByRole("heading", { name: "There is no template yet" })).toBeVisible();
  await expectAccessible(page);
});

test("templates of the gallery can be created, and render", async ({ signedIn: page }) => {
  for (const [number, starter] of ["Welcome", "Order confirmation", "News"].entries()) {
    const name = unique(`gallery${number}`);
    await page.goto(at("/templates"));
    await page.getByRole("button", { name: "New template" }).click();
    await page.getByRole("radio", { name: starter }).check();
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue(starter);
    if (!number) await expectAccessible(page);
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("button", { name: "Create template" }).click();
    await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
    const [found] = (await api.templates.list({ q: name })).data;
    expect(found?.html).toContain("{{ company|default(");
    const variables = { items: [{ name: "Roast", quantity: 2, price: "€ 5" }] };
    const { problems } = await api.templates.render({ html: found?.html, subject: found?.subject, variables });
    expect(problems).toEqual([]);
  }
});

test.describe("with HTML that the server refuses", () => {
  test.use({ tolerated: /status of 400/ });

  test("pasted HTML is checked, and the reason stands at the field", async ({ signedIn: page }) => {
    const name = unique("pasted");
    await page.goto(at("/templates?new=html"));
    await page.getByRole("button", { name: "Create template" }).click();
    await expect(page.getByText("Give the template a name.")).toBeVisible();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("textbox", { name: "HTML" }).fill("<p>Hello {{ firstName</p>");
    await page.getByRole("button", { name: "Create template" }).click();
    await expect(page.getByRole("alert")).toContainText("Line 1");
    await expect(page.getByRole("textbox", { name: "HTML" })).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
    await page.getByRole("textbox", { name: "HTML" }).fill("<p>Hello {{ firstName }}</p>");
    // On a slow network, one press is one template.
    const release = await held(page, "**/dashboard/api/projects/*/templates", "POST");
    const create = page.getByRole("button", { name: "Create template" });
    await create.click();
    await expect(create).toBeDisabled();
    release();
    await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
    expect((await api.templates.list({ q: name })).data.map((each) => each.html)).toEqual([
      "<p>Hello {{ firstName }}</p>",
    ]);
  });
});

test("the preview follows the sample data, and the test sends what it shows", async ({ signedIn: page }) => {
  const name = unique("sample");
  const id = await newTemplate(name);
  const first = nextFrame(page);
  await page.goto(at(`/templates/${id}`));
  expect(await first).toContain("Hello Lena, your order 10482 left us.");
  const second = nextFrame(page);
  await page.getByLabel("First name").fill(ATTACK);
  expect(await second).toContain("Hello &lt;img src=x onerror=window.hacked=1&gt;");
  await expect(page.getByRole("heading", { name: `Hello ${ATTACK}` })).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await page.getByRole("button", { name: "Plain text" }).click();
  await expect(page.getByText(`Hello ${ATTACK}, your order 10482 left us.`)).toBeVisible();
  // The data is still there after a reload.
  await page.reload();
  await expect(page.getByLabel("First name")).toHaveValue(ATTACK);
  await page.getByRole("button", { name: "Send me a test" }).click();
  await page.getByLabel("From").fill("orders@northwind-coffee.example");
  const to = `${name}@example.com`;
  await page.getByLabel("To", { exact: true }).fill(to);
  await page.getByRole("button", { name: "Send the test" }).click();
  await expect(page.getByText(`The test to ${to} is on its way.`)).toBeVisible();
  const [sent] = (await api.emails.list({ recipient: to })).data;
  expect(sent?.subject).toBe(`Hello ${ATTACK}`);
});

test("a version shows what it changed, and comes back", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const id = await newTemplate(unique("versions"), "The first subject");
  await api.templates.update(id, { subject: "The second subject" });
  await page.goto(at(`/templates/${id}?tab=versions`));
  const differences = page.getByRole("group", { name: "Differences" });
  await expect(differences.locator("del")).toHaveText("Subject: The first subject");
  await expect(differences.locator("ins")).toHaveText("Subject: The second subject");
  await page.getByRole("link", { name: "Version 1" }).click();
  await expect(page).toHaveURL(/version=1/);
  await expect(differences.locator("ins")).toHaveText("Subject: The first subject");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect(page.getByText("Version 1 is back in use, as version 3")).toBeVisible();
  const restored = await api.templates.get(id);
  expect([restored.subject, restored.version]).toEqual(["The first subject", 3]);
});

test("a version with HTML of its own comes back as it was sent", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const builderJson = { blocks: [{ type: "text", text: "From blocks" }] };
  const { id } = await api.templates.create({ name: unique("own"), html: "<p>Own</p>", builderJson });
  await api.templates.update(id, { html: null });
  await page.goto(at(`/templates/${id}?tab=versions&version=1`));
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect.poll(async () => (await api.templates.get(id)).html).toBe("<p>Own</p>");
});

test.describe("with a template that is in use", () => {
  test.use({ tolerated: /status of (409|404)/ });

  test("the page says what uses it, and deletes it only without users", async ({ signedIn: page }) => {
    await withoutFrames(page);
    const id = await newTemplate(unique("used"));
    const automation = await api.automations.create({
      name: "After the order",
      trigger: { type: "EVENT", event: unique("order") },
      steps: [{ type: "SEND_EMAIL", templateId: id, fromEmail: "shop@example.com" }],
    });
    await page.goto(at(`/templates/${id}?tab=usage`));
    await expect(page.getByRole("row", { name: "After the order Automation Off" })).toBeVisible();
    await expectAccessible(page);
    await page.route(`**/templates/${id}`, async (route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      const problem = { type: "about:blank", status: 409, code: "template_in_use", title: "Conflict" };
      const errors = [{ path: "/id", code: "template_in_use", message: "The automation After the order uses it." }];
      await route.fulfill({
        status: 409,
        contentType: "application/problem+json",
        json: { ...problem, detail: "It is in use.", errors },
      });
    });
    await page.getByRole("button", { name: "Delete template" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toBeVisible();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Delete template" }).click();
    await expect(dialog.getByRole("alert")).toContainText("The automation After the order uses it.");
    await page.unroute(`**/templates/${id}`);
    await api.automations.delete(automation.id);
    await dialog.getByRole("button", { name: "Delete template" }).click();
    await expect(page).toHaveURL(/\/templates$/);
    await page.goto(at(`/templates/${id}`));
    await expect(page.getByRole("heading", { name: "There is no such template" })).toBeVisible();
  });
});

test("a duplicate is a template of its own", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const name = unique("original");
  await page.goto(at(`/templates/${await newTemplate(name)}`));
  await page.getByRole("button", { name: "Duplicate" }).click();
  await expect(page.getByRole("heading", { name: `${name} (copy)`, level: 1 })).toBeVisible();
});

test.describe("when the server fails", () => {
  test.use({ tolerated: /status of 500/ });

  test("list and page offer to try again", async ({ signedIn: page }) => {
    await withoutFrames(page);
    const id = await newTemplate(unique("failed"));
    const fail = { status: 500, json: { status: 500, code: "internal", detail: "It broke.", errors: [] } };
    await page.route(/\/api\/.*\/templates(\?|\/[0-9a-f-]{36}$)/, (route) => route.fulfill(fail));
    await page.goto(at("/templates"));
    await expect(page.getByRole("alert")).toContainText("It broke.", { timeout: 30_000 });
    await page.goto(at(`/templates/${id}`));
    await expect(page.getByRole("alert")).toContainText("It broke.", { timeout: 30_000 });
    await page.unroute(/\/api\/.*\/templates(\?|\/[0-9a-f-]{36}$)/);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  });
});

test("a viewer sees no actions", async ({ signedIn: page }) => {
  await withoutFrames(page);
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
  const id = await newTemplate(unique("viewer"));
  await api.templates.update(id, { subject: "Other" });
  await page.goto(at("/templates?new=html"));
  await expect(page.getByRole("rowheader").first()).toBeVisible();
  await expect(page.getByRole("button", { name: /New template|Create/ })).toHaveCount(0);
  await page.goto(at(`/templates/${id}?tab=versions&version=1`));
  await expect(page.getByRole("heading", { name: "Version 1" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Restore|Delete|Duplicate|Send me/ })).toHaveCount(0);
  await expect(page.getByRole("link", { name: "Edit" })).toHaveCount(0);
  await page.goto(at(`/templates/${id}/edit`));
  await expect(page).toHaveURL(new RegExp(`/templates/${id}$`));
});

/** The blocks of a template as they are stored, without their ids. */
async function storedBlocks(id: string): Promise<Record<string, unknown>[]> {
  const { builderJson } = await api.templates.get(id);
  return ((builderJson?.blocks ?? []) as Record<string, unknown>[]).map(({ id: _, ...block }) => block);
}

async function publish(page: Page, version: number): Promise<void> {
  await page.getByRole("button", { name: `Publish version ${version}` }).click();
  await expect(page.getByText(`Version ${version} is in use`, { exact: true })).toBeVisible();
}

test("blocks are written, added, moved and taken back, and published once", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const id = await newTemplate(unique("blocks"));
  await page.goto(at(`/templates/${id}`));
  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page.getByRole("button", { name: /Publish/ })).toBeDisabled();
  await page.getByRole("button", { name: "Edit Heading: Welcome" }).click();
  const heading = page.getByRole("textbox", { name: "Heading" });
  await expect(heading).toBeFocused();
  await heading.fill(`Hello ${ATTACK}`);
  await page.getByRole("button", { name: /^Edit Text: Hello/ }).click();
  const text = page.getByRole("textbox", { name: "Text", exact: true });
  await text.fill("Your order is here.");
  await text.selectText();
  await page.getByRole("button", { name: "Bold" }).click();
  await expect(text).toHaveValue("**Your order is here.**");
  // A variable with what stands there without a value.
  await text.press("End");
  await page.locator(".blockbar").getByRole("button", { name: "Insert" }).click();
  await page.getByLabel("Variable", { exact: true }).fill("firstName");
  await page.getByLabel("If there is none").fill("you");
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Insert" }).click();
  await expect(text).toHaveValue('**Your order is here.**{{ firstName|default("you", true) }}');
  await page.getByRole("button", { name: "Divider", exact: true }).click();
  await page.getByRole("button", { name: "Move down" }).click();
  await page.getByLabel("Thickness").fill("3");
  await expect(page.getByText(/Draft saved in this browser/)).toBeVisible();
  await expectAccessible(page);
  // Nobody gets any of it yet.
  expect((await storedBlocks(id)).map((each) => each.type)).toEqual(["heading", "text", "button"]);
  await page.reload();
  await expect(page.getByRole("button", { name: /^Edit Heading: Hello <img/ })).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  await page.getByRole("button", { name: "Edit Button: Follow it" }).click();
  await page.getByRole("button", { name: "Remove block" }).click();
  await expect(page.getByRole("button", { name: "Edit Button: Follow it" })).toHaveCount(0);
  await page.keyboard.press("Control+z");
  await expect(page.getByRole("button", { name: "Edit Button: Follow it" })).toBeVisible();
  await page.getByRole("button", { name: "Redo" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  const release = await held(page, `**/templates/${id}`, "PATCH");
  const button = page.getByRole("button", { name: /Publish/ });
  await button.click();
  await expect(button).toBeDisabled();
  release();
  await expect(page.getByText("Version 2 is in use", { exact: true })).toBeVisible();
  expect(await storedBlocks(id)).toEqual([
    { type: "heading", text: `Hello ${ATTACK}`, level: 2 },
    { type: "text", html: '<b>Your order is here.</b>{{ firstName|default("you", true) }}' },
    { type: "button", text: "Follow it", url: "https://example.com/" },
    { type: "divider", color: "#e0e6e7", width: 3 },
  ]);
  const { html } = await api.templates.render({
    html: (await api.templates.get(id)).html,
    variables: { firstName: "" },
  });
  expect(html).toContain("</b>you");
  await page.getByRole("link", { name: "Back to the template" }).click();
  await expect(page.getByRole("link", { name: "Edit", exact: true })).toBeVisible();
});

test("blocks are edited by keyboard alone", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const id = await newTemplate(unique("keyboard"));
  await page.goto(at(`/templates/${id}/edit`));
  const pick = page.getByRole("button", { name: "Edit Heading: Welcome" });
  await pick.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Heading" })).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Later");
  await page.keyboard.press("Alt+ArrowDown");
  await expect(page.getByRole("textbox", { name: "Heading" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Edit Heading: Later" })).toBeFocused();
  await page.getByRole("button", { name: "Columns", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Add text" }).first().focus();
  await page.keyboard.press("Enter");
  await publish(page, 2);
  const blocks = await storedBlocks(id);
  expect(blocks.map((each) => each.type)).toEqual(["text", "heading", "button", "columns"]);
  expect(blocks[3]?.columns).toMatchObject([{ blocks: [{ type: "text", text: "Write here." }] }, { blocks: [] }]);
});

test("a block is dragged to another place", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const id = await newTemplate(unique("drag"));
  await page.goto(at(`/templates/${id}/edit`));
  const heading = page.getByRole("button", { name: "Edit Heading: Welcome" });
  await page
    .getByRole("button", { name: "Edit Button: Follow it" })
    .dragTo(heading, { targetPosition: { x: 60, y: 4 } });
  const space = page.getByRole("navigation", { name: "Blocks" }).getByRole("button", { name: "Space" });
  await space.dragTo(heading, { targetPosition: { x: 60, y: 40 } });
  await publish(page, 2);
  expect((await storedBlocks(id)).map((each) => each.type)).toEqual(["button", "heading", "spacer", "text"]);
});

test("what two people changed comes together", async ({ signedIn: page }) => {
  await withoutFrames(page);
  const id = await newTemplate(unique("conflict"));
  await page.goto(at(`/templates/${id}/edit`));
  await page.getByRole("button", { name: "Edit Heading: Welcome" }).click();
  await page.getByRole("textbox", { name: "Heading" }).fill("My heading");
  await page.getByRole("button", { name: /^Edit Text: Hello/ }).click();
  await page.getByRole("textbox", { name: "Text", exact: true }).fill("My text");
  const blocks = await storedBlocks(id);
  await api.templates.update(id, {
    subject: "Their subject",
    builderJson: { blocks: [blocks[0], { type: "text", text: "Their text" }, blocks[2]] },
  });
  await page.getByRole("button", { name: "Publish version 2" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("published this template while you were writing");
  await expect(dialog.getByRole("radio")).toHaveCount(2);
  await expectAccessible(page);
  await dialog.getByRole("radio", { name: /Their text/ }).check();
  await dialog.getByRole("button", { name: "Publish version 3" }).click();
  await expect(page.getByText("Version 3 is in use", { exact: true })).toBeVisible();
  const merged = await api.templates.get(id);
  expect([merged.version, merged.subject]).toEqual([3, "Their subject"]);
  expect((await storedBlocks(id)).map((each) => each.text)).toEqual(["My heading", "Their text", "Follow it"]);
});

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test.describe("with an image that the server refuses", () => {
  test.use({ tolerated: /status of 4\d\d/ });

  test("an image is uploaded into its block", async ({ signedIn: page }) => {
    await withoutFrames(page);
    const id = await newTemplate(unique("image"));
    await page.goto(at(`/templates/${id}/edit`));
    await page.getByRole("navigation", { name: "Blocks" }).getByRole("button", { name: "Image" }).click();
    // Without an address the server says what is wrong, and where.
    await expect(page.getByText("1 image has no description")).toBeVisible();
    await page.getByRole("complementary").getByRole("button", { name: "Choose an image" }).click();
    const dialog = page.getByRole("dialog");
    const file = (name: string, buffer: Buffer) => ({ name, mimeType: "image/png", buffer });
    await dialog.getByLabel("Upload an image").setInputFiles(file("fake.png", Buffer.from("no image")));
    await expect(dialog.getByRole("alert")).toBeVisible();
    await expectAccessible(page);
    await dialog.getByLabel("Upload an image").setInputFiles(file("logo.png", PIXEL));
    await expect(dialog).toHaveCount(0);
    await page.getByLabel("Description").fill("Our logo");
    await expect(page.getByRole("img", { name: "Our logo" })).toBeVisible();
    await publish(page, 2);
    const [asset] = (await api.assets.list()).data;
    expect(asset?.name).toBe("logo.png");
    expect((await storedBlocks(id)).at(-1)).toEqual({ type: "image", url: asset?.url, alt: "Our logo", width: 1 });
  });
});

test.describe("with source that the server refuses", () => {
  test.use({ tolerated: /status of (400|500)/ });

  test("source is checked while it is written, and published", async ({ signedIn: page }) => {
    await withoutFrames(page);
    const { id } = await api.templates.create({ name: unique("source"), html: "<p>Hello</p>", subject: "Hello" });
    await page.goto(at(`/templates/${id}/edit`));
    const source = page.getByRole("textbox", { name: "HTML" });
    await source.fill("<p>Hello</p>\n<p>{{ firstName</p>");
    await expect(page.getByRole("alert")).toContainText("HTML:");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await expect(source).toBeFocused();
    await page.getByRole("button", { name: "Publish version 2" }).click();
    await expect(page.getByText("The draft was not published.")).toBeVisible();
    await source.fill("<p>Hello {{ firstName }}</p>");
    await page.route(`**/templates/${id}`, (route) =>
      route.request().method() === "PATCH"
        ? route.fulfill({ status: 500, json: { status: 500, code: "internal", detail: "It broke.", errors: [] } })
        : route.continue(),
    );
    await page.getByRole("button", { name: "Publish version 2" }).click();
    await expect(page.getByText("It broke.")).toBeVisible({ timeout: 30_000 });
    await page.unroute(`**/templates/${id}`);
    await publish(page, 2);
    expect((await api.templates.get(id)).html).toBe("<p>Hello {{ firstName }}</p>");
    await source.fill("<p>Other</p>");
    await page.getByRole("button", { name: "Discard draft" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard draft" }).click();
    await expect(source).toHaveValue("<p>Hello {{ firstName }}</p>");
  });
});

test("the pages hold", async ({ page }) => {
  await withoutFrames(page);
  await signIn(page);
  const word = unique("long");
  const name = `A name that is rather ${word} for the title of a page ${ATTACK}`;
  const id = await newTemplate(name);
  await api.templates.update(id, { subject: `${"Long subject ".repeat(12)}{{ firstName }}` });
  const source = (await api.templates.create({ name: "Source", html: "<p>Hello {{ firstName }}</p>" })).id;
  const pages = [
    ["list", `?q=${word}`],
    ["nothing", "?as=pictures&q=no-such-name"],
    ["gallery", "?q=none&new=gallery"],
    ["html", "?q=none&new=html"],
    ["template", `/${id}`],
    ["versions", `/${id}?tab=versions`],
    ["usage", `/${id}?tab=usage`],
    ["source", `/${source}/edit`],
    ["editor", `/${id}/edit`],
  ] as const;
  for (const [page_, path] of pages) {
    await page.goto(at(`/templates${path}`));
    await expect(page.locator("main h1, .ebar h1")).toBeVisible();
    if (path.includes("new=")) await expect(page.getByRole("dialog")).toBeVisible();
    await expectHolds(page, `templates ${page_}`);
  }
  // The bar of a block has room, on a phone, too.
  for (const width of [390, 900, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    await page.getByRole("button", { name: /^Edit Text: Hello/ }).click();
    await expect(page.getByRole("toolbar")).toBeInViewport({ ratio: 1 });
    await expectFits(page, `a block at ${width}`);
    await page.keyboard.press("Escape");
  }
});
