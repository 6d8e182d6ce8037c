import assert from "node:assert/strict";
import { test } from "node:test";
import { blockAt, type EditedDocument, edited, moved, removed, spreadStyle, stepFrom } from "./document.ts";
import { merge } from "./merge.ts";

/** A document with text blocks `a`, `b`, columns `c` with `d` and `e` in them, and `f`. */
function sample(): EditedDocument {
  const block = (id: string) => ({ type: "text", id, text: id });
  return edited({
    blocks: [
      block("a"),
      block("b"),
      { type: "columns", id: "c", columns: [[block("d")], { blocks: [block("e")] }] },
      block("f"),
    ],
  });
}

/** The ids in their order, those in columns in brackets. */
function order(document: EditedDocument): string {
  return document.blocks
    .map(
      ({ id, columns }) =>
        id + (columns?.map(({ blocks }) => `[${blocks.map((each) => each.id).join("")}]`).join("") ?? ""),
    )
    .join("");
}

function stepped(document: EditedDocument, id: string, step: -1 | 1): EditedDocument {
  const place = stepFrom(document, id, step);
  return place ? moved(document, id, place) : document;
}

test("blocks move past each other, through columns and out of them", () => {
  assert.equal(order(stepped(sample(), "b", -1)), "bac[d][e]f");
  assert.equal(order(stepped(sample(), "a", 1)), "bac[d][e]f");
  assert.equal(order(stepped(sample(), "a", -1)), "abc[d][e]f");
  assert.equal(order(stepped(sample(), "d", 1)), "abc[][de]f");
  assert.equal(order(stepped(sample(), "e", 1)), "abc[d][]ef");
  assert.equal(order(stepped(sample(), "d", -1)), "abdc[][e]f");
  assert.equal(order(moved(sample(), "f", { parent: "c", column: 1, index: 0 })), "abc[d][fe]");
  assert.equal(order(moved(sample(), "a", { index: 4 })), "bc[d][e]fa");
  assert.equal(order(moved(sample(), "c", { parent: "c", column: 0, index: 0 })), "abc[d][e]f");
  assert.equal(order(removed(sample(), "e")), "abc[d][]f");
});

test("a pointer of the server leads to its block", () => {
  assert.equal(blockAt(sample(), "/builderJson/blocks/1/text"), "b");
  assert.equal(blockAt(sample(), "/builderJson/blocks/2/columns/1/blocks/0/url"), "e");
  assert.equal(blockAt(sample(), "/builderJson/blocks/2/columns"), "c");
  assert.equal(blockAt(sample(), "/subject"), undefined);
});

test("blocks without ids get the same ones each time", () => {
  const source = {
    blocks: [
      { type: "text", text: "x" },
      { type: "text", text: "y", id: "b0" },
    ],
  };
  assert.equal(new Set(edited(source).blocks.map((each) => each.id)).size, 2);
  const plain = { blocks: [{ type: "text", text: "x" }] };
  assert.deepEqual(edited(plain), edited(plain));
});

test("the style of a block goes to all of its kind", () => {
  const document = sample();
  Object.assign(document.blocks[0] ?? {}, { color: "#ff0000" });
  assert.ok(spreadStyle(document, "a").blocks[2]?.columns?.[1]?.blocks[0]?.color === "#ff0000");
});

test("changes of different blocks come together, of the same one are chosen", () => {
  const content = (change: (document: EditedDocument) => void, subject = "s") => {
    const document = sample();
    change(document);
    return { name: "n", subject, document };
  };
  const set = (document: EditedDocument, at: number, text: string) =>
    Object.assign(document.blocks[at] ?? {}, { text });
  const base = content(() => {});
  const mine = content((document) => {
    set(document, 0, "mine");
    set(document, 1, "my b");
  });
  const theirs = content((document) => {
    set(document, 1, "their b");
    document.blocks.push({ type: "text", id: "g", text: "new" });
    document.blocks.splice(3, 1);
  }, "their subject");
  const { differences, result } = merge(base, mine, theirs);
  assert.deepEqual(
    differences.map(({ key, by }) => `${key} ${by}`),
    ["subject theirs", "block a mine", "block b both", "block f theirs", "block g theirs"],
  );
  const kept = result({ "block b": "mine" });
  assert.equal(kept.subject, "their subject");
  assert.equal(order(kept.document), "abc[d][e]g");
  assert.deepEqual(
    kept.document.blocks.slice(0, 2).map((each) => each.text),
    ["mine", "my b"],
  );
  assert.equal(result({ "block b": "theirs" }).document.blocks[1]?.text, "their b");
});
