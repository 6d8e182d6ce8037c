import assert from "node:assert/strict";
import { test } from "node:test";
import { storedText, variableOf, writtenHtml, writtenText } from "./inline.ts";

test("text without formatting stays text", () => {
  assert.deepEqual(storedText("Hello {{ name }},\na < b & c"), { text: "Hello {{ name }},\na < b & c" });
  assert.deepEqual(storedText("5 \\* 3 \\[x\\]"), { text: "5 * 3 [x]" });
  assert.deepEqual(storedText("a * b"), { text: "a * b" });
});

test("formatting becomes HTML", () => {
  assert.deepEqual(storedText("**Hi** *you* <b>"), { html: "<b>Hi</b> <i>you</i> &lt;b&gt;" });
  assert.deepEqual(storedText('[Go *on*](https://x.example/?a=1&b="2")'), {
    html: '<a href="https://x.example/?a=1&amp;b=&quot;2&quot;">Go <i>on</i></a>',
  });
  assert.deepEqual(storedText("A\n- one\n- **two**\nB"), {
    html: 'A<ul style="margin:0;padding-left:20px"><li>one</li><li><b>two</b></li></ul>B',
  });
});

test("template tags are neither formatting nor HTML", () => {
  assert.deepEqual(storedText("**{{ a * b * c }}**"), { html: "<b>{{ a * b * c }}</b>" });
  assert.deepEqual(storedText("{% if a < b %}*x*{% endif %}"), { html: "{% if a < b %}<i>x</i>{% endif %}" });
  assert.deepEqual(storedText("[Stop]({{ unsubscribe_url }})"), { html: '<a href="{{ unsubscribe_url }}">Stop</a>' });
  assert.equal(variableOf('{{ plan.name|default("x") }}'), "plan.name");
  assert.equal(variableOf("{% if a %}"), undefined);
});

test("what was written is what is edited again", () => {
  for (const written of [
    "**Hi** *you*\n[Go](https://x.example/)",
    "A\n- one\n- **two**\nB",
    "- only\n- these",
    "***both***  and {{ a|default('*') }}",
    "**a** 5 \\* 3 & < >",
  ]) {
    const stored = storedText(written);
    const again = "html" in stored ? writtenHtml(stored.html) : writtenText(stored.text);
    assert.ok(again !== undefined, written);
    assert.deepEqual(storedText(again), stored, written);
  }
  assert.equal(writtenText("5 * 3\n- x {{ a * b }}"), "5 \\* 3\n\\- x {{ a * b }}");
  assert.deepEqual(storedText(writtenText("5 * 3\n- x [y](z) \\")), { text: "5 * 3\n- x [y](z) \\" });
});

test("HTML with more in it is edited as HTML", () => {
  for (const html of [
    "<table><tr><td>x</td></tr></table>",
    '<b style="color:red">x</b>',
    "<b>not closed",
    '<a href="x" onclick="y">z</a>',
    "<script>1</script>",
  ])
    assert.equal(writtenHtml(html), undefined, html);
});
