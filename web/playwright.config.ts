import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** The headless shell is the same browser without windows; the tests take a third less processor time in it. */
const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const CHROMIUM = PROGRAMS.map((name) => `/usr/bin/${name}`).find(existsSync);

/**
 * Most scripts of a page run a few times before the next page: to optimize them takes longer than it saves, in which the
 * check with axe is included.
 */
const SCRIPT_FLAGS = "--js-flags=--no-opt,--no-maglev";

/** The tests run in one browser against a server that tests/web/test_dashboard_pages.py starts for each file. */
export default defineConfig({
  testDir: "tests",
  workers: 1,
  reporter: "dot",
  // Limits for what never happens; the longest test takes half a minute on an idle machine.
  timeout: 300_000,
  expect: { timeout: 30_000 },
  use: {
    baseURL: JSON.parse(process.env.POSTERN_TEST ?? "{}").baseUrl,
    viewport: { width: 1440, height: 900 },
    launchOptions: { executablePath: CHROMIUM, args: ["--no-sandbox", SCRIPT_FLAGS] },
    // Menus and dialogs open and close at once: axe would find one that is about to go.
    contextOptions: { reducedMotion: "reduce" },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    screenshot: "only-on-failure",
  },
});
