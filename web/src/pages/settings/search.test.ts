import assert from "node:assert/strict";
import { test } from "node:test";
import { auditParameters, readAuditSearch } from "./search.ts";

test("the URL is read without what is no filter", () => {
  assert.deepEqual(readAuditSearch({ who: "1", what: "member", where: "account", days: "7" }), {
    who: "1",
    what: "member",
    where: "account",
    days: "7",
  });
  assert.deepEqual(readAuditSearch({ who: "", where: "moon", days: "8", from: "yesterday", to: "2026-06-09" }), {
    to: "2026-06-09",
  });
});

test("filters become parameters of the API", () => {
  const now = new Date("2026-06-09T10:41:30Z");
  assert.deepEqual(auditParameters({ what: "member", days: "7" }, "p", now), {
    actorId: undefined,
    action: "member.*",
    projectId: "p",
    from: "2026-06-02T10:41:00.000Z",
    to: undefined,
  });
  const days = auditParameters({ where: "account", from: "2026-06-08", to: "2026-06-09" }, "p", now);
  assert.equal(days.projectId, undefined);
  assert.equal(days.from, new Date(2026, 5, 8).toISOString());
  assert.equal(days.to, new Date(2026, 5, 10).toISOString());
});
