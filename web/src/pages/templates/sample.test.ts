import assert from "node:assert/strict";
import { test } from "node:test";
import { readTyped, variablesOf, withNames, wordsOf } from "./sample.ts";

test("names of variables become words", () => {
  for (const name of ["orderNumber", "order_number", "order.number"]) assert.equal(wordsOf(name), "Order number");
  assert.equal(wordsOf("trackingUrl"), "Tracking URL");
});

test("lists and objects are read as JSON, everything else is text", () => {
  assert.deepEqual(readTyped('[{"a":1}]'), [{ a: 1 }]);
  assert.equal(readTyped("true"), true);
  assert.equal(readTyped("10482"), "10482");
  assert.equal(readTyped("[not json"), "[not json");
});

test("a name with dots is a field of an object", () => {
  assert.deepEqual(variablesOf(["plan", "plan.name", "firstName"], { "plan.name": "Pro", plan: "x" }), {
    firstName: "Lena",
    plan: { name: "Pro" },
  });
  const values = variablesOf(["__proto__.polluted"], { "__proto__.polluted": "yes" });
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.equal(JSON.stringify(values), '{"__proto__":{"polluted":"yes"}}');
});

test("a picture has the names of the variables in it", () => {
  assert.equal(withNames('<p>Hello {{ firstName|default("you") }}{{-x}}</p>'), "<p>Hello First nameX</p>");
  assert.equal(withNames("{% for item in items %}{{ item.name }}{# why #}{% endfor %}{{ 1 + 1 }}"), "Item name");
});
