import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conditionsIn,
  type Group,
  isTree,
  missingIn,
  newCondition,
  newGroup,
  nodeAt,
  replaced,
  rulesOf,
  treeOf,
  withField,
  withNewKeys,
  withOperator,
} from "./rules.ts";

const TYPES = new Map([
  ["plan", "string"],
  ["seats", "number"],
  ["renews", "date"],
  ["vip", "boolean"],
  ["tags", "list"],
]);

const ALL = {
  match: "all",
  conditions: [
    { field: "plan", operator: "in", value: ["pro", "team"] },
    { field: "attributes.seats", operator: "gte", value: 4.5 },
    { field: "seats", operator: "notIn", value: [1, -2] },
    { field: "vip", operator: "neq", value: true },
    { field: "plan", operator: "eq", value: " padded " },
    { field: "plan", operator: "gt", value: "m" },
    { field: "tags", operator: "contains", value: 3 },
    { field: "tags", operator: "notContains", value: "2026-01-31" },
    { field: "renews", operator: "before", value: "2026-01-31" },
    { field: "renews", operator: "after", value: "2026-01-31T12:00:00+02:00" },
    { field: "unsubscribed", operator: "eq", value: false },
    { field: "email", operator: "endsWith", value: "@example.com" },
    {
      match: "any",
      conditions: [
        { field: "lastOpenedAt", operator: "withinDays", value: 0.5 },
        { field: "createdAt", operator: "notWithinDays", value: 14 },
        { match: "all", conditions: [{ field: "lastClickedAt", operator: "notExists" }] },
      ],
    },
    { field: "audience", operator: "neq", value: "0198" },
    { field: "audience", operator: "in", value: ["0198", "0199"] },
    { field: "events.order.placed", operator: "exists" },
    { field: "events.order.placed", operator: "gte", value: 3, withinDays: 30 },
    { field: "events.order.placed", operator: "lt", value: 0 },
  ],
};

function tree(rules: unknown): Group {
  const read = treeOf(rules);
  assert.ok("tree" in read, JSON.stringify(read));
  return read.tree;
}

test("whatever the builder shows comes back as it was", () => {
  assert.deepEqual(rulesOf(tree(ALL)), ALL);
  assert.deepEqual(rulesOf(tree({ conditions: [] })), { match: "all", conditions: [] });
  for (const condition of conditionsIn(tree(ALL))) assert.equal(missingIn(condition), undefined, condition.field);
});

test("what it cannot show, it says", () => {
  const one = (condition: unknown) => treeOf({ conditions: [condition] });
  assert.deepEqual(treeOf([]), { reason: "shape" });
  assert.deepEqual(treeOf({ match: "none", conditions: [] }), { reason: "shape" });
  assert.deepEqual(treeOf({ conditions: [], note: "x" }), { reason: "shape" });
  assert.deepEqual(one({ field: "plan", operator: "like", value: "x" }), { reason: "operator" });
  assert.deepEqual(one({ field: "plan", operator: "eq", value: "two\nlines" }), { reason: "value" });
  assert.deepEqual(one({ field: "plan", operator: "in", value: ["a", 1] }), { reason: "value" });
  assert.deepEqual(one({ field: "plan", operator: "in", value: [true] }), { reason: "value" });
  assert.deepEqual(one({ field: "plan", operator: "eq", value: "" }), { reason: "value" });
  assert.deepEqual(one({ field: "plan", operator: "eq" }), { reason: "value" });
  assert.deepEqual(one({ field: "plan", operator: "eq", value: "x", withinDays: 3 }), { reason: "shape" });
  let deep: unknown = { conditions: [] };
  for (let level = 0; level < 4; level++) deep = { conditions: [deep] };
  assert.deepEqual(treeOf(deep), { reason: "shape" });
});

test("another field or operator keeps what still fits", () => {
  const plan = { ...newCondition("attributes.plan", TYPES), text: "pro" };
  assert.deepEqual([plan.operator, plan.kind], ["eq", "text"]);
  const among = withOperator(plan, "in", TYPES);
  assert.deepEqual([among.kind, among.text], ["texts", "pro"]);
  const seats = withField(plan, "attributes.seats", TYPES);
  assert.deepEqual([seats.operator, seats.kind, seats.text], ["eq", "number", ""]);
  const opened = withField(plan, "lastOpenedAt", TYPES);
  assert.deepEqual([opened.operator, opened.kind], ["withinDays", "days"]);
  const flag = withField(plan, "unsubscribed", TYPES);
  assert.deepEqual([flag.operator, flag.kind, flag.text], ["eq", "boolean", "false"]);
  const counted = { ...withOperator(newCondition("events.order", TYPES), "gte", TYPES), within: "30" };
  assert.equal(counted.kind, "count");
  assert.equal(withOperator(counted, "exists", TYPES).within, "");
});

test("what is missing is named", () => {
  const seats = newCondition("attributes.seats", TYPES);
  assert.equal(missingIn(seats), "empty");
  assert.equal(missingIn({ ...seats, text: "many" }), "number");
  assert.equal(missingIn({ ...newCondition("createdAt", TYPES), text: "-1" }), "days");
  assert.equal(missingIn(newCondition("events.", TYPES)), "event");
  const counted = { ...withOperator(newCondition("events.order", TYPES), "gte", TYPES), text: "1.5" };
  assert.equal(missingIn(counted), "count");
  assert.equal(missingIn({ ...counted, text: "1", within: "x" }), "days");
});

test("errors of the API are found at their node", () => {
  const rules = tree(ALL);
  const [plan] = rules.nodes;
  assert.equal(nodeAt(rules, "/rules/conditions/0/value"), plan);
  const group = rules.nodes[12] as Group;
  assert.equal(nodeAt(rules, "/conditions/12/conditions/1/operator"), group.nodes[1]);
  assert.equal(nodeAt(rules, "/conditions/12"), group);
  assert.equal(nodeAt(rules, "/rules/conditions"), rules);
  assert.equal(nodeAt(rules, "/name"), undefined);
});

test("nodes are replaced and removed at any depth", () => {
  const inner = newGroup("any", [newCondition("createdAt", TYPES)]);
  const whole = newGroup("all", [inner]);
  const first = inner.nodes[0];
  assert.ok(first);
  assert.equal(conditionsIn(replaced(whole, first.key, undefined)).length, 0);
  const both = replaced(whole, inner.key, { ...inner, nodes: [...inner.nodes, newCondition("email", TYPES)] });
  assert.equal(conditionsIn(both).length, 2);
  assert.equal(replaced(whole, whole.key, { ...whole, match: "any" }).match, "any");
});

test("only whole rules are taken from the browser", () => {
  const tree = newGroup("all", [newCondition("email", TYPES), newGroup("any", [newCondition("seats", TYPES)])]);
  const kept = JSON.parse(JSON.stringify(tree));
  assert.equal(isTree(kept), true);
  const again = withNewKeys(kept);
  assert.deepEqual(rulesOf(again), rulesOf(tree));
  const keys = [...conditionsIn(again), ...conditionsIn(tree)].map((each) => each.key);
  assert.equal(new Set(keys).size, 4);
  const broken = { ...newCondition("email", TYPES), text: 1 };
  for (const value of [
    null,
    "x",
    {},
    { ...tree, match: "some" },
    { ...tree, nodes: [broken] },
    { ...tree, nodes: [[]] },
  ])
    assert.equal(isTree(value), false);
});
