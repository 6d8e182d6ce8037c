import assert from "node:assert/strict";
import { test } from "node:test";
import { addBlock, faultsOf, isSame, moveBlock, removeBlock } from "./mailText.ts";

const blocks = [
  { type: "text", text: "a" },
  { type: "code", text: "b" },
] as const;

test("blocks are added, moved up and removed", () => {
  assert.deepEqual(moveBlock([...blocks], 1), [blocks[1], blocks[0]]);
  assert.deepEqual(removeBlock([...blocks], 0), [blocks[1]]);
  assert.equal(addBlock([...blocks]).length, 3);
});

test("a missing preheader is an empty one", () => {
  const text = { subject: "s", blocks: [...blocks] };
  assert.ok(isSame(text, { ...text, preheader: "", footer: "" }));
  assert.ok(!isSame(text, { ...text, footer: "Acme" }));
});

test("faults of a preview have the places of the text", () => {
  const errors = [{ path: "/content/blocks/0/text", code: "unknown_variable", message: "no" }];
  assert.deepEqual(faultsOf({ errors, detail: "d" } as never), { "/blocks/0/text": "no" });
  assert.deepEqual(faultsOf({ errors: [], detail: "d" } as never), { "": "d" });
});
