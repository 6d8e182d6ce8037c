import assert from "node:assert/strict";
import { test } from "node:test";
import { type Choice, choiceOf, parametersOf, wholeLines } from "./csvStart.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

test("the beginning of a file ends with a whole line", () => {
  const text = "email\na@example.com\nb@exam";
  assert.deepEqual(wholeLines(bytes(text), false), bytes("email\na@example.com\n"));
  assert.deepEqual(wholeLines(bytes(text), true), bytes(text));
  assert.deepEqual(wholeLines(bytes("no line"), false), bytes("no line"));
});

test("in UTF-16, a byte that looks like a line break is none", () => {
  // The byte order mark, "a", a line break, and U+0A41, which has the byte of a line break.
  const little = Uint8Array.from([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0x41, 0x0a, 0x62]);
  assert.deepEqual([...wholeLines(little, false)], [0xff, 0xfe, 0x61, 0, 0x0a, 0]);
  const big = Uint8Array.from([0xfe, 0xff, 0, 0x61, 0, 0x0a, 0x0a, 0x41, 0]);
  assert.deepEqual([...wholeLines(big, false)], [0xfe, 0xff, 0, 0x61, 0, 0x0a]);
});

test("what is chosen for columns becomes parameters of the import", () => {
  assert.deepEqual(parametersOf(new Map()), {});
  const choices = new Map<string, Choice>([
    ["Kunde", { target: "email", name: "Kunde", type: "" }],
    ["PLZ", { target: "attribute", name: " zip ", type: "string" }],
    ["Ort", { target: "attribute", name: "city", type: "" }],
    ["Notiz", { target: "none", name: "Notiz", type: "string" }],
  ]);
  const { columns, attributeTypes } = parametersOf(choices);
  assert.deepEqual(JSON.parse(columns ?? ""), {
    Kunde: "email",
    PLZ: "attributes.zip",
    Ort: "attributes.city",
    Notiz: null,
  });
  assert.deepEqual(JSON.parse(attributeTypes ?? ""), { zip: "string" });
});

test("the targets of a preview are choices", () => {
  assert.deepEqual(choiceOf({ name: "x", target: null }), { target: "none", name: "x", type: "" });
  assert.deepEqual(choiceOf({ name: "x", target: "attributes.y" }), { target: "attribute", name: "y", type: "" });
  assert.deepEqual(choiceOf({ name: "x", target: "attributes" }), { target: "attributes", name: "x", type: "" });
});
