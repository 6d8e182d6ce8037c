import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsRecord } from "@postern/sdk";
import {
  difference,
  domainIn,
  inOrder,
  mergedSpf,
  nameIn,
  policyOf,
  stateOf,
  toPublish,
  zoneFile,
  zonesOf,
} from "./records.ts";

const record = (change: Partial<DnsRecord>): DnsRecord => ({
  type: "TXT",
  name: "acme.example",
  value: "v=spf1 ip4:192.0.2.1 ~all",
  purpose: "SPF",
  required: false,
  status: "PENDING",
  found: [],
  reason: null,
  ...change,
});

test("two values are cut into what is common and what differs", () => {
  assert.deepEqual(difference("k2.2025b.dkim", "k2.2026a.dkim"), {
    found: [
      { text: "k2.202", differs: false },
      { text: "5b", differs: true },
      { text: ".dkim", differs: false },
    ],
    expected: [
      { text: "k2.202", differs: false },
      { text: "6a", differs: true },
      { text: ".dkim", differs: false },
    ],
  });
  assert.deepEqual(difference("aa", "aaa").expected, [
    { text: "aa", differs: false },
    { text: "a", differs: true },
  ]);
  assert.deepEqual(difference("", "x"), { found: [], expected: [{ text: "x", differs: true }] });
});

test("an SPF record keeps what it permits", () => {
  assert.equal(
    mergedSpf("v=spf1 include:_spf.google.com -all", "v=spf1 ip4:192.0.2.1 ~all"),
    "v=spf1 include:_spf.google.com ip4:192.0.2.1 -all",
  );
  assert.equal(mergedSpf("v=spf1 IP4:192.0.2.1", "v=spf1 ip4:192.0.2.1 a ~all"), "v=spf1 IP4:192.0.2.1 a");
  assert.equal(mergedSpf("v=spf1 redirect=_spf.acme.example", "v=spf1 a ~all"), "v=spf1 a redirect=_spf.acme.example");
  const wrong = record({ status: "WRONG", found: ["google-site-verification=1", "v=spf1 mx ~all"] });
  assert.equal(toPublish(wrong), "v=spf1 mx ip4:192.0.2.1 ~all");
  assert.equal(toPublish(record({ status: "WRONG", found: ["verification=1"] })), "v=spf1 ip4:192.0.2.1 ~all");
});

test("names are shortened by the zone in which they are entered", () => {
  assert.deepEqual(zonesOf("news.acme.example"), ["news.acme.example", "acme.example"]);
  assert.deepEqual(zonesOf("mail.acme.co.uk"), ["mail.acme.co.uk", "acme.co.uk"]);
  assert.deepEqual(zonesOf("acme.example"), ["acme.example"]);
  assert.deepEqual(zonesOf("vw.de"), ["vw.de"]);
  assert.equal(nameIn("_dmarc.news.acme.example", "acme.example"), "_dmarc.news");
  assert.equal(nameIn("acme.example", "acme.example"), "@");
  assert.equal(nameIn("notacme.example", "acme.example"), "notacme.example");
  assert.equal(nameIn("acme.example", undefined), "acme.example");
});

test("a zone file has absolute names and quoted strings of at most 255 characters", () => {
  const long = `v=DKIM1; p=${"A".repeat(300)}`;
  assert.equal(
    zoneFile([
      record({ type: "CNAME", name: "links.acme.example", value: "links.postern.example", purpose: "TRACKING" }),
      record({ name: "a._domainkey.acme.example", value: long, purpose: "DKIM" }),
      record({ value: 'v=spf1 "\\' }),
    ]),
    `links.acme.example.\t3600\tIN\tCNAME\tlinks.postern.example.
a._domainkey.acme.example.\t3600\tIN\tTXT\t"${long.slice(0, 255)}" "${long.slice(255)}"
acme.example.\t3600\tIN\tTXT\t"v=spf1 \\"\\\\"
`,
  );
});

test("the policy is that of the DMARC record", () => {
  assert.equal(policyOf(["v=DMARC1; p=Quarantine; sp=none"]), "quarantine");
  assert.equal(policyOf(["v=DMARC1; sp=reject; p=none"]), "none");
  assert.equal(policyOf([]), undefined);
});

test("a domain stands as its worst part, and its worst records come first", () => {
  const domain = { status: "VERIFIED", failingSince: null, records: [record({ status: "WRONG" })] } as never;
  assert.equal(stateOf(domain), "wrong");
  assert.equal(stateOf({ ...(domain as object), failingSince: "2026-01-01T00:00:00Z" } as never), "failing");
  assert.equal(stateOf({ ...(domain as object), status: "DEGRADED" } as never), "stopped");
  assert.equal(stateOf({ ...(domain as object), records: [record({})] } as never), "ready");
  const [right, optional, needed, wrong] = [
    record({ status: "VERIFIED" }),
    record({}),
    record({ required: true }),
    record({ status: "WRONG" }),
  ];
  assert.deepEqual(inOrder([right, optional, needed, wrong]), [wrong, needed, optional, right]);
});

test("a domain is found in an address and in a URL", () => {
  assert.equal(domainIn(" https://www.acme.example:8080/about?x=1 "), "www.acme.example");
  assert.equal(domainIn("Ada <ada@acme.example"), "acme.example");
  assert.equal(domainIn("acme.example."), "acme.example");
});
