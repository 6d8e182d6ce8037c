import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { type FirstSend, FROM, isLoopback, masked, snippetOf } from "./snippets.ts";

const SEND: FirstSend = {
  url: "https://mail.example.com",
  projectId: "0198-p",
  key: "sk_test_0123456789abcdef",
  to: "o'brien@example.com",
  subject: "It works",
  text: 'The "first" of many, $HOME and `date`.',
};

test("a shell passes the command's words on as they are", () => {
  const command = snippetOf("curl", SEND).replace(/^curl/, "printf '%s\\0'");
  const words = execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" }).split("\0").slice(0, -1);
  assert.deepEqual(words.slice(0, 6), [
    "-sS",
    "https://mail.example.com/projects/0198-p/emails",
    "-H",
    "Authorization: Bearer sk_test_0123456789abcdef",
    "-H",
    "Content-Type: application/json",
  ]);
  assert.deepEqual(JSON.parse(words[7] ?? ""), {
    from: FROM,
    to: ["o'brien@example.com"],
    subject: "It works",
    text: SEND.text,
  });
});

test("the clients are told to use http only where they would refuse", () => {
  for (const way of ["typescript", "python"] as const) {
    assert.doesNotMatch(snippetOf(way, SEND), /insecure/);
    assert.doesNotMatch(snippetOf(way, { ...SEND, url: "http://127.0.0.1:8025" }), /insecure/);
    assert.match(snippetOf(way, { ...SEND, url: "http://10.0.0.4:8025" }), /insecure/);
    assert.match(snippetOf(way, SEND), /sk_test_0123456789abcdef/);
  }
});

test("a masked key keeps what lists of keys show", () => {
  assert.equal(masked("sk_test_4fT9aaaaaaaaaaaaaaak2Qm"), "sk_test_4fT9…k2Qm");
});

test("the machine itself is known by its names", () => {
  assert.deepEqual(["localhost", "127.0.0.1", "[::1]", "example.com", "10.0.0.1"].map(isLoopback), [
    true,
    true,
    true,
    false,
    false,
  ]);
});
