import { type BlockDocument, STARTERS } from "../src/pages/templates/gallery";
import { api, expect, test } from "./fixtures";
import {
  contentOf,
  ENHANCEMENTS,
  fingerprint,
  madeFrom,
  makeThumbnail,
  overflowing,
  render,
  show,
  showAs,
  unreadable,
  unsupported,
} from "./mails";

/** Gmail cuts off what is longer. */
const MOST_BYTES = 102_000;
const WIDTHS = [320, 600, 1200] as const;
const SAMPLE = {
  company: "Northwind Coffee",
  firstName: "Lena",
  orderNumber: "10482",
  total: "€ 1,132.00",
  price: "€ 49",
  items: [
    { name: "Summer roast, whole beans, in a closable bag", quantity: 6, price: "€ 132.00" },
    { name: "Paper filters", quantity: 2, price: "€ 18.50" },
  ],
};

// Blocked images are failures, which is what some of these tests are about.
test.use({ tolerated: /Failed to load resource|net::ERR/ });

for (const language of ["en", "de"] as const)
  for (const starter of STARTERS)
    test(`the template ${starter.key} (${language}) holds in mail programs`, async ({ page }) => {
      const { subject, builderJson } = await contentOf(starter, language);
      const bare = await render(builderJson, subject);
      const mail = await render(builderJson, subject, SAMPLE);
      for (const { problems, subject: title, html, text } of [bare, mail]) {
        expect(problems).toEqual([]);
        expect(title.length).toBeGreaterThan(5);
        expect(Buffer.byteLength(html)).toBeLessThan(MOST_BYTES);
        expect(text.length).toBeGreaterThan(300);
        expect(subject + html + text).not.toContain("gallery:");
        expect(html + text).not.toMatch(/\{\{|\{%/);
        expect(unsupported(html)).toEqual([]);
      }
      await show(page, bare.html, 320);
      expect(await overflowing(page), "without values").toEqual([]);
      await show(page, mail.html, WIDTHS[0]);
      for (const width of WIDTHS) {
        await showAs(page, width);
        expect(await overflowing(page), `at ${width} px`).toEqual([]);
      }
      expect(await unreadable(page)).toEqual([]);
      const images = await page.evaluate(() => [...document.images].map((each) => [each.alt, each.naturalWidth]));
      expect(images.filter(([alt, width]) => !alt || !width)).toEqual([]);
      const unsubscribe = { name: language === "de" ? "Abmelden" : "Unsubscribe", exact: true };
      await expect(page.getByRole("link", unsubscribe)).toHaveCount(starter.isUnsubscribable ? 1 : 0);
      await expect(page.getByText(language === "de" ? "Beispielstraße 1" : "1 Example Street")).toHaveCount(1);

      await showAs(page, 600, "dark");
      expect(await unreadable(page), "dark").toEqual([]);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(ground).toMatch(/^rgb\([0-4]?\d, [0-4]?\d, /);

      // script/gallery-pictures makes them.
      if (process.env.POSTERN_THUMBNAILS) await makeThumbnail(page, starter, language, mail.html);
      const made = madeFrom()[`${starter.key}.${language}`];
      expect(made, "run script/gallery-pictures").toBe(await fingerprint(starter, language));

      // Without images, and without style sheets and what else some programs drop.
      await page.route("**/*", (route) => route.abort());
      const plain = mail.html
        .replace(/<style[\s\S]*?<\/style>/g, "")
        .replace(/(border-radius|word-break):[^;"]*;?/g, "");
      for (const html of [mail.html, plain]) {
        // An address that the browser has not loaded yet: it keeps pictures.
        await show(page, html.replaceAll(/(<img [^>]*?src="[^"?]+)"/g, '$1?blocked"'), 320);
        expect(await page.evaluate(() => [...document.images].some((each) => each.naturalWidth))).toBe(false);
        expect(await unreadable(page), "without images").toEqual([]);
        expect(await overflowing(page), "without images").toEqual([]);
      }
    });

/** A document with every kind of block, with every option of each. */
function everything(more: Partial<BlockDocument>, ink: string, ground: string): BlockDocument {
  const aligns = ["left", "center", "right", "justify"];
  const column = (words: string) => ({ blocks: [{ type: "text", text: words, color: ink }] });
  const url = "https://example.com/?a=1&b=2";
  return {
    title: "Everything",
    preview: "Every block",
    ...more,
    blocks: [
      ...[1, 2, 3].map((level) => ({ type: "heading", text: `Level ${level}`, level, color: ink })),
      ...aligns.map((align) => ({ type: "heading", text: `Aligned ${align}`, align, color: ink, size: 22 })),
      ...aligns.map((align) => ({ type: "text", text: `Two lines,\naligned ${align}`, align, color: ink, size: 14 })),
      {
        type: "text",
        html: `<b>Bold</b>, <i>italic</i>, <a href="${url.replace("&", "&amp;")}">a link</a><ul style="margin:0;padding-left:20px"><li>One</li><li>Two</li></ul>`,
        color: ink,
      },
      ...aligns.slice(0, 3).map((align) => ({ type: "button", text: `Go ${align}`, url, align, size: 18 })),
      { type: "button", text: "In colours", href: url, background: "#0d6472", color: "#ffffff" },
      { type: "image", url: "https://example.com/a.png", alt: "An image as wide as the text" },
      ...aligns.slice(0, 3).map((align) => ({
        ...{ type: "image", src: "https://example.com/b.png", alt: `A small image, ${align}` },
        ...{ align, width: 200, href: url },
      })),
      { type: "divider", color: "#c9d2d3", width: 3 },
      { type: "divider" },
      { type: "spacer", height: 40 },
      { type: "spacer" },
      ...[1, 2, 3, 4].map((count) => ({
        type: "columns",
        columns: Array.from({ length: count }, (_, number) => column(`Column ${number + 1} of ${count}`)),
      })),
      { type: "columns", background: ground, columns: [column("On a ground"), { blocks: [{ type: "divider" }] }] },
      { type: "html", html: "<p>A paragraph</p><table><tr><td>and a table</td></tr></table>" },
    ],
  };
}

const DOCUMENTS: Record<string, BlockDocument> = {
  "the usual look": everything({}, "#000000", "#e6eeef"),
  "an own look": everything(
    { width: 700, background: "#fbf3ec", font: "Georgia, 'Times New Roman', serif", lang: "de-AT" },
    "#2c1a12",
    "#f6e4d6",
  ),
};

for (const [name, document] of Object.entries(DOCUMENTS))
  test(`every block with every option holds in mail programs, in ${name}`, async ({ page }) => {
    await page.route("https://example.com/**", (route) => route.abort());
    const { html, text, problems } = await render(document);
    expect(problems).toEqual([]);
    expect(text).toContain("Go left (https://example.com/?a=1&b=2)");
    expect(unsupported(html)).toEqual([]);
    await show(page, html, WIDTHS[0]);
    for (const width of WIDTHS) {
      await showAs(page, width);
      expect(await overflowing(page), `at ${width} px`).toEqual([]);
    }
    expect(await unreadable(page)).toEqual([]);
    await showAs(page, 600, "dark");
    expect(await unreadable(page), "dark").toEqual([]);
  });

test("colors of an author that cannot be changed keep the e-mail light", async ({ page }) => {
  const own = [
    { blocks: [{ type: "html", html: '<p style="color:#333333">Own</p>' }] },
    { blocks: [{ type: "text", html: '<span style="background-color:#ffffee">Own</span>' }] },
    {
      blocks: [
        { type: "columns", columns: [{ blocks: [{ type: "html", html: '<font color="#333333">Own</font>' }] }] },
      ],
    },
    { blocks: [{ type: "text", text: "Own", color: "rgb(20, 30, 40)" }] },
    { background: "#101820", blocks: [{ type: "text", text: "Own", color: "#ffffff" }] },
  ];
  for (const document of own) {
    const { html } = await render(document);
    expect(html).not.toContain("prefers-color-scheme");
    await show(page, html, 600, "dark");
    expect(await unreadable(page)).toEqual([]);
  }
});

for (const language of ["de", "ja"] as const)
  test(`the mails to customers (${language}) hold in mail programs`, async ({ page }) => {
    const mails = await api.customerMails.list();
    expect(mails.length).toBeGreaterThan(10);
    for (const { mail } of mails) {
      const { content } = await api.customerMails.get(mail, language);
      const edited = { ...content, preheader: "{{ app }}, {{ email }}", footer: "Acme & Sons\n1 Example Street" };
      const { html, text } = await api.customerMails.preview(mail, language, { content: edited });
      expect(Buffer.byteLength(html)).toBeLessThan(MOST_BYTES);
      expect(text.length).toBeGreaterThan(60);
      expect(html + text).not.toMatch(/\{\{|\{%|\{\w+\}/);
      expect(unsupported(html), mail).toEqual([]);
      await show(page, html, WIDTHS[0]);
      for (const width of WIDTHS) {
        await showAs(page, width);
        expect(await overflowing(page), `${mail} at ${width} px`).toEqual([]);
        const lines = page.getByText("1 Example Street");
        expect((await lines.boundingBox())?.width, "the column has its width").toBeLessThanOrEqual(480);
      }
      expect(await unreadable(page), mail).toEqual([]);
      await showAs(page, 600, "dark");
      expect(await unreadable(page), `${mail}, dark`).toEqual([]);
    }
  });

test("what programs drop is found", () => {
  expect(unsupported('<p style="cursor:pointer">x</p>')).toContain("cursor: gmail.ios");
  expect(unsupported('<div style="opacity:0">x</div>')).toContain("opacity: outlook.windows");
  expect(unsupported("<style>p.a.b{color:red}</style><p>x</p>")).toContain("Chaining selectors: outlook.windows");
  expect(unsupported('<p style="border-radius:4px">x</p>')).toEqual([]);
});

test("what is tolerated in some programs is really there", async () => {
  const { html } = await render(everything({}, "#000000", "#e6eeef"));
  const features = ["@media", "color-scheme:light dark", 'name="color-scheme"', "border-radius", "word-break", "<body"];
  expect(Object.keys(ENHANCEMENTS)).toHaveLength(features.length);
  for (const feature of features) expect(html).toContain(feature);
});
