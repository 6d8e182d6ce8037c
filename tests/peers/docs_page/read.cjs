// Prints the text of /docs as soon as it has all these words, or an error message: node read.cjs FOLDER WORDS…
// FOLDER has bundle.js, start.js and openapi.json.
const { JSDOM } = require("jsdom");
const { readFileSync } = require("node:fs");

const [bundle, start, document] = ["bundle.js", "start.js", "openapi.json"].map((name) =>
  readFileSync(`${process.argv[2]}/${name}`, "utf8"));
const { window } = new JSDOM('<!doctype html><body><div id="docs"></div></body>', {
  runScripts: "outside-only", url: "http://postern.test/docs", pretendToBeVisual: true,
});
window.fetch = async (address) => {
  if (String(address) !== "/openapi.json") throw new Error(`Only /openapi.json may be fetched: ${address}`);
  return new Response(document, { headers: { "content-type": "application/json" } });
};
window.eval(bundle);
window.eval(start);

setInterval(() => {
  const text = window.document.body.textContent;
  const hasError = window.document.querySelector(".version-pragma__message, .errors");
  if (!hasError && !process.argv.slice(3).every((words) => text.includes(words))) return;
  console.log(text);
  process.exit(0);
}, 100);
