import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { caniemail } from "caniemail";
import { type BlockDocument, beginningOf, type Language, type Starter } from "../src/pages/templates/gallery";
import { picturesOf, withPictures } from "../src/pages/templates/gallery/pictures";
import { api } from "./fixtures";

const FOLDER = new URL("../src/pages/templates/gallery/", import.meta.url);

/** Where a file of the gallery is. */
export function galleryFile(name: string): string {
  return fileURLToPath(new URL(name, FOLDER));
}

/** The clients for which there must be nothing that they do not support. The new Outlook for Windows is that of the web. */
const CLIENTS = [
  "gmail.desktop-webmail",
  "gmail.ios",
  "gmail.android",
  "outlook.windows",
  "outlook.outlook-com",
  "outlook.macos",
  "outlook.ios",
  "outlook.android",
  "apple-mail.macos",
  "apple-mail.ios",
  "yahoo.desktop-webmail",
  "yahoo.ios",
  "yahoo.android",
];

/** What some clients do not support and an e-mail does without: the clients, and what happens there. */
export const ENHANCEMENTS: Record<string, { clients: string; instead: string }> = {
  "@media": {
    clients: "outlook.windows",
    instead: "Columns get their widths from tables in conditional comments, and the e-mail stays light.",
  },
  "color-scheme CSS property": { clients: "gmail.* outlook.* yahoo.*", instead: "The e-mail stays light." },
  "color-scheme meta tag": {
    clients: "gmail.* outlook.* yahoo.* apple-mail.ios",
    instead: "The CSS property says the same.",
  },
  "border-radius": { clients: "outlook.windows", instead: "Buttons have square corners." },
  "word-break": { clients: "yahoo.*", instead: "A word that is wider than the window is not broken." },
  "<body> element": {
    clients: "yahoo.* outlook.macos",
    instead: "The element becomes a div; the one in it has the same background.",
  },
};

/** What clients do not support in HTML and is not in ENHANCEMENTS, such as `cursor: yahoo.ios`. */
export function unsupported(html: string): string[] {
  const { issues } = caniemail({ clients: CLIENTS as never, html });
  const found = new Set<string>();
  for (const [client, problems] of issues.errors)
    for (const { title } of problems) {
      const tolerated = ENHANCEMENTS[title]?.clients.split(" ") ?? [];
      const family = `${client.split(".")[0]}.*`;
      if (!tolerated.includes(client) && !tolerated.includes(family)) found.add(`${title}: ${client}`);
    }
  return [...found].sort();
}

const uploaded = new Map<string, Promise<string>>();

/** Uploads a picture of the gallery once, and returns its address. */
function upload(name: string): Promise<string> {
  const known = uploaded.get(name);
  if (known) return known;
  const image = api.assets.create(new Blob([readFileSync(galleryFile(`pictures/${name}.png`))]), { name });
  const url = image.then((asset) => asset.url);
  uploaded.set(name, url);
  return url;
}

/** The content of a template of the gallery with its pictures in the project. */
export async function contentOf(starter: Starter, language: Language) {
  const { subject, builderJson } = await beginningOf(starter, language);
  const names = picturesOf(builderJson);
  const urls = new Map(await Promise.all(names.map(async (name) => [name, await upload(name)] as const)));
  return { subject, builderJson: withPictures(builderJson, urls) };
}

/** What the server makes of a document. */
export async function render(builderJson: BlockDocument, subject = "", variables: Record<string, unknown> = {}) {
  const draft = await api.templates.render({
    subject,
    builderJson: builderJson as unknown as Record<string, unknown>,
    variables,
  });
  return { ...draft, subject: draft.subject ?? "", html: draft.html ?? "", text: draft.text ?? "" };
}

/** Shows an e-mail in a page of this width, when its images are loaded or have failed. */
export async function show(page: Page, html: string, width: number, colorScheme: "light" | "dark" = "light") {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  await page.setContent(html, { waitUntil: "load" });
}

/** Shows the same e-mail in another width or colour scheme. It has no scripts: that is what a new page would show. */
export async function showAs(page: Page, width: number, colorScheme: "light" | "dark" = "light") {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  const isShown = ([width, scheme]: [number, string]) =>
    innerWidth === width && matchMedia(`(prefers-color-scheme: ${scheme})`).matches;
  await page.waitForFunction(isShown, [width, colorScheme] as [number, string]);
}

/** The text that is wider than the page, if there is any. */
export async function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("td, img, a, p, h1, h2, h3")]
      .filter((each) => each.getBoundingClientRect().right > width + 0.5)
      .map((each) => each.outerHTML.slice(0, 120));
  });
}

/** Texts with less than 4.5 : 1 to the ground that they stand on, and the alternative texts of images that failed. */
export async function unreadable(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
        const share = channel / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const isClear = (color: string) => channels(color)[3] === 0;
    const groundOf = (element: Element | null): string => {
      for (let at = element; at; at = at.parentElement) {
        const { backgroundColor } = getComputedStyle(at);
        if (!isClear(backgroundColor)) return backgroundColor;
      }
      const isDark = /dark/.test(getComputedStyle(document.documentElement).colorScheme);
      return isDark && matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)";
    };
    const found: string[] = [];
    const check = (element: Element, words: string) => {
      const { color } = getComputedStyle(element);
      const ground = groundOf(element);
      const [high = 0, low = 0] = [luminance(color), luminance(ground)].sort((a, b) => b - a);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${color} on ${ground}: ${words.slice(0, 40)}`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const words = node.textContent?.trim() ?? "";
      const element = node.parentElement;
      if (words && element?.checkVisibility() && words !== "\u200a") check(element, words);
    }
    for (const image of document.images)
      if (!image.naturalWidth) {
        if (!image.alt.trim() || image.getBoundingClientRect().height < 10)
          found.push(`no alternative text: ${image.src}`);
        else check(image, image.alt);
      }
    return found;
  });
}

/** A hash of what a template of the gallery has in it. */
export async function fingerprint(starter: Starter, language: Language): Promise<string> {
  const content = JSON.stringify(await beginningOf(starter, language));
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

const MADE_FROM = galleryFile("thumbnails/made-from.json");

/** What the small pictures of the gallery were made from: the fingerprints of the templates. */
export function madeFrom(): Record<string, string> {
  return JSON.parse(readFileSync(MADE_FROM, "utf8"));
}

/** Makes the small picture of a template from the HTML of the server. */
export async function makeThumbnail(page: Page, starter: Starter, language: Language, html: string): Promise<void> {
  const name = `${starter.key}.${language}`;
  await show(page, html, 600);
  const session = await page.context().newCDPSession(page);
  const clip = { x: 0, y: 0, width: 600, height: 480, scale: 2 / 3 };
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 72, clip });
  writeFileSync(galleryFile(`thumbnails/${name}.webp`), Buffer.from(data, "base64"));
  const made = { ...madeFrom(), [name]: await fingerprint(starter, language) };
  const sorted = Object.fromEntries(Object.entries(made).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(MADE_FROM, `${JSON.stringify(sorted, null, 2)}\n`);
}
