import type { Page } from "@playwright/test";
import { Postern } from "@postern/sdk";
import { expect, expectAccessible, expectFits, expectHolds, SERVER, test } from "./fixtures";

/** The API as the developer: creates projects, which keys may not. */
const developer = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken });

/** A project that has nothing, not even a key. */
async function newProject(name: string): Promise<{ client: Postern; path: string; id: string }> {
  const { id } = await developer.projects.create({ name });
  const client = new Postern({ url: SERVER.baseUrl, key: SERVER.developerToken, project: id });
  return { client, path: `/dashboard/projects/${id}`, id };
}

const tour = (page: Page) => page.getByRole("complementary", { name: "Tour" });
const stop = (page: Page, title: string) => tour(page).getByRole("heading", { name: title, exact: true });
/** What the page marks as the thing to press. */
const marked = (page: Page, name: string) =>
  page.locator("[data-tour]:visible").filter({ hasText: name }).and(page.locator(`html[data-tour-at] [data-tour]`));

async function start(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Take the tour" }).click();
  await expect(stop(page, "Send an email")).toBeVisible();
}

test("five stops lead to the real pages, and each knows when it is done", async ({ signedIn: page }) => {
  const { client, path } = await newProject("First project");
  await page.goto(path);
  await start(page);
  await expect(tour(page)).toBeFocused();
  await expect(page.getByRole("button", { name: "Take the tour" })).toHaveCount(0);
  await expectAccessible(page);
  await tour(page).getByRole("button", { name: "Show me where" }).click();
  const send = page.getByRole("button", { name: "Send one for me" });
  await expect(send).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(tour(page).getByRole("status")).toHaveText("Done");
  await tour(page).getByRole("button", { name: "Next" }).click();

  await expect(stop(page, "Make a key")).toBeVisible();
  await tour(page).getByRole("link", { name: "Go to Developers" }).click();
  await expect(marked(page, "New key")).toBeVisible();
  // What the API has counts, whoever made it.
  await client.apiKeys.create({ name: "Made elsewhere" });
  await expect(tour(page).getByRole("status")).toHaveText("Done");
  await tour(page).getByRole("button", { name: "Next" }).click();

  await tour(page).getByRole("link", { name: "Go to Domains" }).click();
  await expect(marked(page, "Add domain")).toBeVisible();
  await tour(page).getByRole("button", { name: "Show me where" }).click();
  await expect(marked(page, "Add domain")).toBeFocused();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Add domain" });
  await dialog.getByLabel("Domain").fill(`tour-${Date.now().toString(36)}.example`);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/domains\/[0-9a-f-]{36}$/);
  await expect(tour(page).getByRole("status")).toHaveText("Done");
  await tour(page).getByRole("button", { name: "Next" }).click();

  await tour(page).getByRole("link", { name: "Go to Contacts" }).click();
  const downloading = page.waitForEvent("download");
  await tour(page).getByRole("button", { name: "Save a sample file" }).click();
  const sample = await (await downloading).path();
  await marked(page, "Import CSV").click();
  await expect(marked(page, "Choose a file")).toBeVisible();
  await page.locator("input[type=file]").setInputFiles({
    name: "contacts-sample.csv",
    mimeType: "text/csv",
    buffer: await (await import("node:fs/promises")).readFile(sample),
  });
  await marked(page, "Start the import").click();
  await expect(tour(page).getByRole("status")).toHaveText("Done");
  await tour(page).getByRole("button", { name: "Next" }).click();

  await tour(page).getByRole("link", { name: "Go to Templates" }).click();
  await expect(marked(page, "New template")).toBeVisible();
  await tour(page).getByRole("button", { name: "Skip" }).click();
  await expect(stop(page, "That is the tour")).toBeVisible();
  await expect(tour(page).getByRole("listitem").getByText("Make a template")).toBeVisible();
  await expectAccessible(page);
  await tour(page).getByRole("button", { name: "End the tour" }).click();
  await expect(tour(page)).toHaveCount(0);
  // The checklist is back, and the tour does not come by itself.
  await page.goto(path);
  await expect(page.getByRole("region", { name: "First steps" })).toBeVisible();
  await expect(tour(page)).toHaveCount(0);
});

test("the tour goes on where it was left, in its own project", async ({ signedIn: page }) => {
  const one = await newProject("One");
  const other = await newProject("Other");
  await page.goto(one.path);
  await start(page);
  await tour(page).getByRole("button", { name: "Skip" }).click();
  await tour(page).getByRole("button", { name: "Skip" }).click();
  await expect(stop(page, "Add your domain")).toBeVisible();
  await page.reload();
  await expect(stop(page, "Add your domain")).toBeVisible();
  // It does not take the focus of a page that someone opens.
  await expect(tour(page)).not.toBeFocused();
  await tour(page).getByRole("button", { name: "Back" }).click();
  await expect(stop(page, "Make a key")).toBeVisible();
  await expect(tour(page)).toBeFocused();
  await page.goto(other.path);
  await expect(page.getByRole("button", { name: "Take the tour" })).toBeVisible();
  await expect(tour(page)).toHaveCount(0);
  await page.goto(one.path);
  await tour(page).getByRole("button", { name: "Leave the tour" }).click();
  await expect(tour(page)).toHaveCount(0);
  await page.reload();
  await page.getByRole("button", { name: "Go on with the tour" }).click();
  await expect(stop(page, "Make a key")).toBeVisible();
});

test("keys alone fold the tour and show it again from the list of keys", async ({ signedIn: page }) => {
  const { path } = await newProject("Keys");
  await page.goto(`${path}/templates`);
  await expect(page.getByRole("heading", { name: "There is no template yet" })).toBeVisible();
  await page.keyboard.press("?");
  const again = page.getByRole("dialog").getByRole("button", { name: "Show the tour again" });
  // The dialog has taken the focus, and does not take it back.
  await expect(page.getByRole("dialog").locator(":focus")).toHaveCount(1);
  await again.focus();
  await page.keyboard.press("Enter");
  await expect(stop(page, "Send an email")).toBeVisible();
  await expect(tour(page)).toBeFocused();
  await tour(page).getByRole("button", { name: "Fold the tour" }).focus();
  await page.keyboard.press("Enter");
  const folded = tour(page).getByRole("button", { name: "Tour, 1 of 5" });
  await expect(folded).toBeVisible();
  await expectAccessible(page);
  await folded.focus();
  await page.keyboard.press("Enter");
  await tour(page).getByRole("button", { name: "Make a template" }).focus();
  await page.keyboard.press("Enter");
  await expect(stop(page, "Make a template")).toBeVisible();
  // The keys of the page still work beside it.
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await expect(page.getByRole("heading", { name: "No domain yet" })).toBeVisible();
  await page.goto(`${path}/settings/profile`);
  await page.getByRole("button", { name: "Show the tour again" }).click();
  await expect(stop(page, "Send an email")).toBeVisible();
});

test("a viewer is offered no tour", async ({ signedIn: page }) => {
  const { path } = await newProject("Viewer");
  await page.route("**/dashboard/api/account", async (route) => {
    const response = await route.fetch({ maxRetries: 3 });
    await route.fulfill({ response, json: { ...(await response.json()), role: "VIEWER" } });
  });
  await page.goto(path);
  await expect(page.getByRole("heading", { name: "Send your first email" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Take the tour" })).toHaveCount(0);
});

test("what the browser kept wrongly is no tour", async ({ signedIn: page }) => {
  const { path, id } = await newProject("Kept wrongly");
  const { id: person } = await developer.account.get();
  await page.addInitScript(
    ([key]) => localStorage.setItem(key ?? "", "<img src=x> open"),
    [`postern.tour.${id}.${person}`],
  );
  await page.goto(path);
  await expect(page.getByRole("button", { name: "Take the tour" })).toBeVisible();
  await expect(tour(page)).toHaveCount(0);
});

test("the tour leaves the page usable", async ({ signedIn: page }) => {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    const { path } = await newProject(`Tour, ${width}`);
    await page.goto(path);
    await start(page);
    await expectHolds(page, `tour at ${width}`);
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: "light" });
    // What is marked can be scrolled out from under the card, and be pressed.
    await tour(page).getByRole("button", { name: "Show me where" }).click();
    await page.getByRole("button", { name: "Send one for me" }).click();
    await expect(tour(page).getByRole("status")).toHaveText("Done");
    await expectAccessible(page);
    await expectFits(page, `tour at ${width}`);
  }
});
