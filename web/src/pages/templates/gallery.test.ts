import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { pictureBlocks, picturesOf, withoutPictures, withPictures } from "./gallery/pictures.ts";
import { beginningOf, blank, found, nameOf, STARTERS } from "./gallery.ts";

const LANGUAGES = ["en", "de"] as const;

test("the gallery has at least 20 templates with names of their own", () => {
  assert.ok(STARTERS.length >= 20);
  for (const language of LANGUAGES)
    assert.equal(new Set(STARTERS.map((each) => nameOf(each, language))).size, STARTERS.length);
});

for (const starter of STARTERS)
  test(`the template ${starter.key} is complete in both languages`, async () => {
    const [english, german] = await Promise.all(LANGUAGES.map((each) => beginningOf(starter, each)));
    assert.ok(english && german);
    assert.notEqual(english.subject, german.subject);
    assert.deepEqual(picturesOf(english.builderJson), picturesOf(german.builderJson));
    for (const { subject, builderJson } of [english, german]) {
      const content = JSON.stringify(builderJson);
      assert.equal(content.includes("{{ unsubscribe_url }}"), starter.isUnsubscribable);
      assert.match(content, /companyAddress/);
      assert.ok(builderJson.preview);
      // Whatever may be missing has words in its place. Items of a list, and the link to unsubscribe, are always there.
      const tags = `${subject}${content.replaceAll('\\"', '"')}`.match(/\{\{.*?\}\}/g) ?? [];
      const bare = tags.filter((tag) => !/\|default\(|\{\{ (item\.\w+|unsubscribe_url) \}\}/.test(tag));
      assert.deepEqual(bare, []);
      for (const name of picturesOf(builderJson))
        assert.ok(existsSync(new URL(`./gallery/pictures/${name}.png`, import.meta.url)), name);
      for (const block of pictureBlocks(builderJson)) assert.ok(block.alt);
    }
    for (const language of LANGUAGES)
      assert.ok(existsSync(new URL(`./gallery/thumbnails/${starter.key}.${language}.webp`, import.meta.url)));
  });

test("a search finds templates by name, purpose and other words, in both languages", () => {
  const keys = (search: string, purpose?: "transactional" | "product" | "marketing") =>
    found(search, purpose).map(({ key }) => key);
  assert.deepEqual(keys("nps"), ["survey"]);
  assert.deepEqual(keys("  WEIHNACHTEN "), ["holiday"]);
  assert.deepEqual(keys("receipt order"), ["order"]);
  assert.ok(keys("", "product").every((key) => STARTERS.find((each) => each.key === key)?.purpose === "product"));
  assert.deepEqual(keys("invoice", "marketing"), []);
  assert.equal(keys("").length, STARTERS.length);
});

test("pictures are replaced by addresses, or left out, in columns, too", () => {
  const picture = { type: "image", url: "gallery:hills", alt: "Hills" };
  const other = { type: "image", url: "https://example.com/a.png", alt: "Other" };
  const columns = [{ blocks: [picture, other] }];
  const document = { blocks: [picture, { type: "columns", columns }] };
  assert.deepEqual(picturesOf(document), ["hills"]);
  const placed = withPictures(document, new Map([["hills", "https://example.com/h.png"]]));
  assert.equal(JSON.stringify(placed).split("https://example.com/h.png").length, 3);
  assert.deepEqual(withoutPictures(document).blocks, [{ type: "columns", columns: [{ blocks: [other] }] }]);
  assert.deepEqual(picturesOf(blank("en")), []);
});
