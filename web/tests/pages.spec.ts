import { readFileSync } from "node:fs";
import { api, at, expect, expectAccessible, expectSettled, test } from "./fixtures";

/** The largest cumulative layout shift of a first load that people do not notice, by web.dev. */
const MOST_SHIFT = 0.1;

/** The pages of the menu: what `ENTRIES` in src/shell/navigation.ts lists. */
const PATHS = [
  ...readFileSync("src/shell/navigation.ts", "utf8").matchAll(/\{ to: "\/projects\/\$projectId([^"]*)", label/g),
].map(([, path]) => path ?? "");

/** Something on every page: a page without rows has nothing that could move. */
test.beforeAll(async () => {
  // A test that fails begins a new worker, which comes here again.
  const word = `shift${Date.now().toString(36)}`;
  const people = Array.from({ length: 30 }, (_, number) => `${word}+${number}@example.com`);
  await api.emails.sendBatch({
    emails: people.map((each) => ({ from: "shop@example.com", to: [each], subject: "Your order", text: "Thanks" })),
  });
  const template = await api.templates.create({ name: "Shift", subject: "Hello", html: "<p>Hello</p>" });
  await Promise.all([
    ...people.slice(0, 10).map((email) => api.contacts.create({ email, attributes: { plan: "pro" } })),
    ...people.slice(0, 10).map((email) => api.customers.create({ email, emailVerified: true })),
    api.domains.create({ domain: `${word}.example` }),
    api.campaigns.create({ name: "Shift", templateId: template.id }),
  ]);
  await expect.poll(async () => (await api.emails.list({ status: ["DELIVERED"], q: word, limit: 1 })).total).toBe(30);
});

// The page may ask for something more while a test ends.
test.afterEach(({ page }) => page.unrouteAll({ behavior: "ignoreErrors" }));

for (const [width, height] of [
  [1440, 900],
  [390, 844],
] as const) {
  test(`no page of the menu jumps while it loads, ${width} pixels wide`, async ({ signedIn: page }) => {
    expect(PATHS.length).toBeGreaterThanOrEqual(9);
    await page.setViewportSize({ width, height });
    await page.addInitScript(() => {
      const state = window as unknown as { shift: number };
      state.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[])
          if (!entry.hadRecentInput) state.shift += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    // Slow answers: the bars that stand for rows are seen before the rows.
    await page.route(/\/dashboard\/api\/projects\//, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    const shifts: Record<string, number> = {};
    for (const path of PATHS) {
      await page.goto(at(path));
      await expect(page.locator("main h1").first()).toBeAttached();
      await expectSettled(page);
      await page.waitForFunction(() => document.fonts.status === "loaded");
      const shift = await page.evaluate(() => (window as unknown as { shift: number }).shift);
      if (shift >= MOST_SHIFT) shifts[path] = shift;
      await expectAccessible(page);
    }
    expect(shifts).toEqual({});
  });
}
