import assert from "node:assert/strict";
import { test } from "node:test";
import { received } from "./stream.ts";

test("a response is read to its end, with the name of its file", async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("ab"));
      controller.enqueue(new TextEncoder().encode("c"));
      controller.close();
    },
  });
  const sizes: number[] = [];
  const headers = { "content-disposition": 'attachment; filename="postern-2026-06-09.json"' };
  const { content, filename } = await received(new Response(body, { headers }), (size) => sizes.push(size));
  assert.equal(await content.text(), "abc");
  assert.equal(filename, "postern-2026-06-09.json");
  assert.deepEqual(sizes, [2, 3]);
});

test("a problem is an error with its sentence", async () => {
  const response = Response.json({ detail: "Too many exports." }, { status: 429 });
  await assert.rejects(
    received(response, () => {}),
    /^Error: Too many exports\.$/,
  );
});
