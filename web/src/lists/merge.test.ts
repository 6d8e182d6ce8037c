import assert from "node:assert/strict";
import { test } from "node:test";
import { type Loaded, merged } from "./merge.ts";

interface Row {
  id: string;
  state?: string;
}

/** A page with these ids, newest first; `more` says whether there is a next one. */
function page(ids: string, more = false, state = "old"): Loaded<Row> {
  const rows = [...ids].map((id) => ({ id, state }));
  return { rows, total: 100, next: (more ? {} : undefined) as Loaded<Row>["next"] };
}

/** The ids of all pages; in capitals those that were read anew. */
function shown(pages: Loaded<Row>[]): string {
  return pages
    .map(({ rows }) => rows.map(({ id, state }) => (state === "new" ? id.toUpperCase() : id)).join(""))
    .join(" ");
}

test("new rows come first, and known ones are replaced", () => {
  const { pages, newIds } = merged([page("dc", true), page("ba")], page("fedc", true, "new"), true);
  assert.equal(shown(pages), "FEDC ba");
  assert.deepEqual(newIds, ["f", "e"]);
});

test("new rows wait if the list must not move", () => {
  const { pages, newIds } = merged([page("dc", true), page("ba")], page("fedc", true, "new"), false);
  assert.equal(shown(pages), "DC ba");
  assert.deepEqual(newIds, ["f", "e"]);
});

test("rows that no longer match go, but only as far as the new look reaches", () => {
  const { pages } = merged([page("edc", true), page("ba")], page("ec", true, "new"), true);
  assert.equal(shown(pages), "EC ba");
  assert.equal(shown(merged([page("cb"), page("a")], page("c", false, "new"), true).pages), "C ");
});

test("a row that matches again takes its place", () => {
  const { pages, newIds } = merged([page("ea")], page("eca", false, "new"), true);
  assert.equal(shown(pages), "ECA");
  assert.deepEqual(newIds, ["c"]);
});

test("a row that matches again below the first page waits until its page is read", () => {
  assert.equal(shown(merged([page("ed", true), page("a")], page("edb", true, "new"), true).pages), "ED a");
});

test("after more than a page of new rows, the list begins anew", () => {
  const fresh = page("zyx", true, "new");
  assert.deepEqual(merged([page("dcb", true), page("a")], fresh, true).pages, [fresh]);
  assert.equal(shown(merged([page("dcb", true), page("a")], fresh, false).pages), "dcb a");
});

test("the first rows of an empty list are new", () => {
  const { pages, newIds } = merged([page("")], page("ba", false, "new"), true);
  assert.equal(shown(pages), "BA");
  assert.deepEqual(newIds, ["b", "a"]);
});
