import assert from "node:assert/strict";
import { test } from "node:test";
import { browserOf } from "./userAgent.ts";

test("browsers and systems are found in user agents", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
  const iPhone =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1";
  const edge =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0";
  assert.deepEqual(browserOf(chrome), { name: "Chrome", system: "Linux", isPhone: false });
  assert.deepEqual(browserOf(iPhone), { name: "Safari", system: "iPhone", isPhone: true });
  assert.deepEqual(browserOf(edge), { name: "Edge", system: "Windows", isPhone: false });
  assert.deepEqual(browserOf("curl/8.5.0"), { name: "curl", system: undefined, isPhone: false });
  assert.deepEqual(browserOf(""), { name: undefined, system: undefined, isPhone: false });
});
