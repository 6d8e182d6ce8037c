import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { qrMatrix, qrPath } from "./qr.ts";

/** Digests of matrices that segno, another implementation, makes of texts that fill a version, with mask 0. */
const DIGESTS: Record<number, string> = {
  14: "8332c0f218dfcae0",
  106: "fb23e7d24213b3d5",
  122: "4accde26f4a99ef1",
  213: "351ac5a5af68e5fe",
  331: "6e118f94b78f5577",
  450: "9f516c827166f91c",
  666: "1f3af9bfee4dcc4c",
};

function digest(matrix: boolean[][]): string {
  const rows = matrix.map((row) => row.map((dark) => (dark ? "1" : "0")).join(""));
  return createHash("sha256").update(rows.join("\n")).digest("hex").slice(0, 16);
}

test("matrices are those of another implementation", () => {
  for (const [length, expected] of Object.entries(DIGESTS)) {
    const text = `otpauth://totp/Postern:ada?${"x".repeat(700)}`.slice(0, Number(length));
    assert.equal(digest(qrMatrix(text, 0) ?? []), expected, length);
  }
});

test("the version grows with the text, and a text that is too long has no code", () => {
  assert.equal(qrMatrix("x".repeat(14))?.length, 21);
  assert.equal(qrMatrix("x".repeat(15))?.length, 25);
  assert.equal(qrMatrix("ö".repeat(333))?.length, 97);
  assert.equal(qrMatrix("x".repeat(667)), undefined);
});

test("a path has the dark modules only", () => {
  assert.equal(
    qrPath([
      [true, true, false],
      [false, false, true],
    ]),
    "M0 0h2v1h-2zM2 1h1v1h-1z",
  );
});
