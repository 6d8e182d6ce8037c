import type { Page } from "@playwright/test";
import { STARTERS } from "../src/pages/templates/gallery";
import { api, at, expect, expectAccessible, expectHolds, SERVER, test } from "./fixtures";

/** A name that only this run has. */
function unique(name: string): string {
  return `${name}-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
}

async function openGallery(page: Page): Promise<void> {
  await page.goto(at("/templates?new=gallery"));
  await expect(page.getByRole("dialog").getByRole("radio")).toHaveCount(STARTERS.length + 1);
}

/** Whether the small pictures that are in sight are loaded. */
async function expectPictures(page: Page): Promise<void> {
  const pictures = page.getByRole("dialog").locator("img");
  await expect
    .poll(() => pictures.first().evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth))
    .toBe(400);
}

// The page may render once more while a test ends.
test.afterEach(({ page }) => page.unrouteAll({ behavior: "ignoreErrors" }));

test("the gallery is searched by words and by purpose", async ({ signedIn: page }) => {
  await openGallery(page);
  await expectPictures(page);
  const dialog = page.getByRole("dialog");
  const search = dialog.getByRole("searchbox", { name: "Search the gallery" });
  await search.fill("nps");
  await expect(dialog.getByRole("radio")).toHaveCount(2);
  await expect(dialog.getByRole("radio", { name: "Survey" })).toBeVisible();
  // Enter does not create the template.
  await search.press("Enter");
  await expect(dialog).toBeVisible();
  await search.fill("nothing like this");
  await expect(dialog.getByText("Nothing else in the gallery matches.")).toBeVisible();
  await search.fill("");
  await dialog.getByRole("button", { name: "Product", exact: true }).click();
  await expect(dialog.getByRole("radio", { name: "Release notes" })).toBeVisible();
  await expect(dialog.getByRole("radio", { name: "Invoice" })).toHaveCount(0);
  // What is chosen stays in sight, whatever is searched.
  await dialog.getByRole("radio", { name: "Release notes" }).check();
  await dialog.getByRole("button", { name: "Marketing", exact: true }).click();
  await expect(dialog.getByRole("radio", { name: "Release notes" })).toBeChecked();
  await expect(dialog.getByLabel("Name", { exact: true })).toHaveValue("Release notes");
  await dialog.getByRole("radio", { name: "Weekly digest" }).check();
  await expect(dialog.getByLabel("Name", { exact: true })).toHaveValue("Weekly digest");
});

test("a template with pictures brings them along, is edited and published", async ({ signedIn: page }) => {
  const name = unique("launch");
  await openGallery(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Product launch" }).check();
  await expect(dialog.getByText("Its pictures are added to the images of this project.")).toBeVisible();
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Create template" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  const [created] = (await api.templates.list({ q: name })).data;
  const url = /src="([^"]+)"/.exec(created?.html ?? "")?.[1] ?? "";
  const response = await page.request.get(url);
  expect([response.status(), response.headers()["content-type"]]).toEqual([200, "image/png"]);
  expect(created?.html).not.toContain("gallery:");
  const picture = page.getByRole("group", { name: /Image/ }).locator("img");
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1100);
  // The heading is changed in its place.
  await page.getByRole("button", { name: "Edit Heading: The hand brewer" }).click();
  await page.getByRole("textbox", { name: "Heading" }).fill("The better hand brewer");
  await page.getByRole("button", { name: "Publish" }).click();
  await expect.poll(async () => (await api.templates.get(created?.id ?? "")).html).toContain("The better hand brewer");
  // The same picture is stored once.
  const before = (await api.assets.list()).data.filter((image) => image.name === "brewer.png");
  await openGallery(page);
  await dialog.getByRole("radio", { name: "Product launch" }).check();
  await dialog.getByLabel("Name", { exact: true }).fill(unique("again"));
  await dialog.getByRole("button", { name: "Create template" }).click();
  await expect(page).toHaveURL(/\/edit$/);
  const after = (await api.assets.list()).data.filter((image) => image.name === "brewer.png");
  expect([before.length, after.length]).toEqual([1, 1]);
});

test.describe("with pictures that the server refuses", () => {
  test.use({ tolerated: /status of 422/ });

  test("no template is created, and the reason stands in the dialog", async ({ signedIn: page }) => {
    const name = unique("refused");
    await openGallery(page);
    const dialog = page.getByRole("dialog");
    await page.route("**/assets?*", (route) =>
      route.fulfill({
        status: 422,
        contentType: "application/problem+json",
        json: {
          ...{ type: "about:blank", status: 422, code: "too_many_assets", title: "Too many" },
          detail: "A project can have at most 2,000 images.",
        },
      }),
    );
    await dialog.getByRole("radio", { name: "Product grid" }).check();
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByRole("button", { name: "Create template" }).click();
    await expect(dialog.getByRole("alert")).toContainText("at most 2,000 images");
    expect((await api.templates.list({ q: name })).data).toEqual([]);
    await page.unroute("**/assets?*");
    await dialog.getByRole("button", { name: "Create template" }).click();
    await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  });
});

test("in German, names, search and content are German", async ({ signedIn: page }) => {
  const name = unique("rechnung");
  await page.addInitScript(() => {
    // The frame with the e-mail is sandboxed and has no storage.
    if (window === top) localStorage.setItem("PARAGLIDE_LOCALE", "de");
  });
  await openGallery(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("searchbox", { name: "Galerie durchsuchen" }).fill("zahlung");
  await dialog.getByRole("radio", { name: "Rechnung" }).check();
  await expectAccessible(page);
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByRole("button", { name: "Vorlage anlegen" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  const [created] = (await api.templates.list({ q: name })).data;
  expect(created?.subject).toContain("Rechnung");
  expect(created?.html).toContain('lang="de"');
  expect(created?.html).toContain("PDF herunterladen");
});

test("the command for curl has what is chosen, without pictures", async ({ signedIn: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: SERVER.baseUrl });
  await openGallery(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Announcement" }).check();
  await dialog.getByRole("button", { name: "Copy as curl" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("second shop");
  expect(await page.evaluate(() => navigator.clipboard.readText())).not.toContain("gallery:");
});

test("the gallery is accessible and fits", async ({ signedIn: page }) => {
  await openGallery(page);
  await expectPictures(page);
  await expectHolds(page, "gallery", page.getByRole("dialog"));
});
