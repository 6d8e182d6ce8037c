import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, contentOf, duplicated, flattened, missingIn, moved, newStep, stepAt, typed } from "./steps.ts";

const mail = { type: "SEND_EMAIL", templateId: "t", fromEmail: "a@b.example" };
const branch = {
  type: "WAIT_FOR_EVENT",
  event: "order.placed",
  timeout: { days: 7 },
  then: [{ type: "EXIT" }],
  else: [mail, { type: "WEBHOOK", url: "https://example.com/" }],
};
const automation = {
  name: "Series",
  trigger: {
    type: "EVENT",
    event: "order.placed",
    once: false,
    where: {
      match: "any",
      conditions: [
        { field: "total", operator: "gte", value: 100 },
        { field: "plan", operator: "eq", value: "12" },
      ],
    },
  },
  steps: [
    { type: "DELAY", hours: 1 },
    { type: "UPDATE_CONTACT", attributes: { plan: "pro", seats: 3, old: null, tags: ["a"] } },
    branch,
    {
      type: "CONDITION",
      rules: { match: "all", conditions: [{ field: "email", operator: "contains", value: "x" }] },
      then: [],
      else: [{ type: "ADD_TO_AUDIENCE", audienceId: "b" }],
    },
  ],
};
const types = (steps: ReturnType<typeof contentOf>["steps"]) =>
  flattened(steps).map((each) => each.path + each.step.type);

test("what the API returns comes back unchanged", () => {
  assert.deepEqual(bodyOf(contentOf(automation as never)), automation);
});

test("a typed value is a number, a truth value or text; quotes make text of it", () => {
  assert.deepEqual([typed(" 12.5 "), typed("true"), typed('"12"'), typed("pro")], [12.5, true, "12", "pro"]);
});

test("steps are counted as runs count them, and found by the path of an error", () => {
  const { steps } = contentOf(automation as never);
  assert.deepEqual(types(steps).slice(2, 7), [
    "/steps/2WAIT_FOR_EVENT",
    "/steps/2/then/0EXIT",
    "/steps/2/else/0SEND_EMAIL",
    "/steps/2/else/1WEBHOOK",
    "/steps/3CONDITION",
  ]);
  const found = stepAt(steps, "/steps/2/else/1/url");
  assert.deepEqual([found?.step.type, found?.field], ["WEBHOOK", "url"]);
  assert.equal(stepAt(steps, "/trigger/event"), undefined);
});

test("a step moves past its neighbours, between branches, into one and out of it", () => {
  const [a, wait] = [newStep("EXIT"), newStep("WAIT_FOR_EVENT")];
  const b = newStep("DELAY");
  const shape = (steps: ReturnType<typeof contentOf>["steps"]): unknown =>
    steps.map((step) =>
      step === a || step.id === a.id ? "a" : step.id === b.id ? "b" : [shape(step.then), shape(step.else)],
    );
  let steps = [wait, a, b];
  steps = moved(steps, a.id, "in");
  assert.deepEqual(shape(steps), [[["a"], []], "b"]);
  steps = moved(steps, a.id, "down");
  assert.deepEqual(shape(steps), [[[], ["a"]], "b"]);
  steps = moved(steps, a.id, "down");
  assert.deepEqual(shape(steps), [[[], []], "a", "b"]);
  steps = moved(steps, a.id, "down");
  assert.deepEqual(shape(steps), [[[], []], "b", "a"]);
  assert.equal(moved(steps, a.id, "down"), steps);
  assert.equal(moved(steps, a.id, "in"), steps);
  steps = moved(moved(steps, b.id, "in"), b.id, "out");
  assert.deepEqual(shape(steps), [[[], []], "b", "a"]);
  steps = moved(steps, b.id, "up");
  assert.deepEqual(shape(steps), ["b", [[], []], "a"]);
  const copy = duplicated(steps, a.id);
  assert.deepEqual([copy.steps.length, copy.id === a.id], [4, false]);
});

test("what is missing is named by its step", () => {
  const content = { ...contentOf(automation as never), name: " ", steps: [newStep("SEND_EMAIL"), newStep("EXIT")] };
  const missing = missingIn(content, () => true);
  assert.deepEqual(
    missing.map((each) => each.need),
    ["name", "template", "sender"],
  );
  assert.equal(missing[1]?.id, content.steps[0]?.id);
});
