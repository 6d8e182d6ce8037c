import assert from "node:assert/strict";
import { test } from "node:test";
import { customersIn, inRequests, MOST_IN_REQUEST, rowsOf } from "./sheet.ts";

test("rows are read with any separator, quotes, and line breaks in values", () => {
  const read = (text: string) => rowsOf(text).map((each) => each.values);
  assert.deepEqual(read('a,b\r\n"x, ""y""",2\r\n'), [
    ["a", "b"],
    ['x, "y"', "2"],
  ]);
  assert.deepEqual(read("\uFEFFa;b\n1,5;2"), [
    ["a", "b"],
    ["1,5", "2"],
  ]);
  assert.deepEqual(read("a\tb\n\n1\t2\n"), [
    ["a", "b"],
    ["1", "2"],
  ]);
  assert.deepEqual(
    rowsOf('a,b\n"one\ntwo",2\n3,4').map((each) => each.line),
    [1, 2, 4],
  );
  assert.deepEqual(read('"a;b",c\n1,2'), [
    ["a;b", "c"],
    ["1", "2"],
  ]);
});

test("columns are known by their heads, and what the list exports can be imported", () => {
  const sheet = customersIn(
    'id,email,emailVerifiedAt,phone,name,locale,externalUserId,roles,metadata\n1,ada@example.com,2026-01-01T00:00:00Z,+49 151 1234567,Ada,pt_BR,cus_1,buyer staff,"{""plan"":""pro""}"\n2,bob@example.com,,,,,,,{}\n',
  );
  assert.deepEqual(sheet.unused, ["id"]);
  assert.deepEqual(sheet.customers, [
    {
      line: 2,
      customer: {
        email: "ada@example.com",
        emailVerified: true,
        name: "Ada",
        language: "pt-BR",
        phone: "+491511234567",
        externalUserId: "cus_1",
        roles: ["buyer", "staff"],
        metadata: { plan: "pro" },
      },
    },
    { line: 3, customer: { email: "bob@example.com" } },
  ]);
  const names = customersIn("First name;Last name;E-Mail\nAda;Lovelace;ada@example.com");
  assert.deepEqual(names.customers[0]?.customer, { email: "ada@example.com", name: "Ada Lovelace" });
  const wrong = customersIn("email,language\nada@example.com,German");
  assert.deepEqual(wrong.faults, [{ line: 2, fault: "language", value: "German" }]);
});

test("lines that the API would refuse are named, and the others are kept", () => {
  const sheet = customersIn(
    "email,phone,metadata,verified,passwordHash\nada,,,,\nada@example.com,12,,,\nbob@example.com,,[1],,\n,,,true,\ncy@example.com,,,false,short\ndi@example.com,,,no,\n",
  );
  assert.deepEqual(
    sheet.faults.map(({ line, fault }) => [line, fault]),
    [
      [2, "email"],
      [3, "phone"],
      [4, "metadata"],
      [5, "nobody"],
      [6, "passwordHash"],
    ],
  );
  assert.deepEqual(sheet.customers, [{ line: 7, customer: { email: "di@example.com" } }]);
  assert.deepEqual(customersIn(""), { customers: [], faults: [], used: [], unused: [] });
});

test("many customers take several requests", () => {
  const sizes = inRequests(Array.from({ length: MOST_IN_REQUEST + 1 }, (_, number) => number)).map(
    (each) => each.length,
  );
  assert.deepEqual(sizes, [MOST_IN_REQUEST, 1]);
  const large = "x".repeat(4_000_000);
  assert.equal(inRequests([large, large, large]).length, 3);
  assert.deepEqual(inRequests([]), []);
});
