// Calls every operation of a list and prints what the methods return.
// node every_operation.mjs CALLS: a JSON file of {names, args}; raw bodies are {"$raw": text}.
import { readFileSync } from "node:fs";
import { Page, Postern } from "@postern/sdk";

const client = new Postern({ url: process.env.URL, key: "secret", project: process.env.PROJECT, retries: 0 });
const results = [];
for (const { names, args } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const method = names.reduce((group, name) => group[name], client);
  const values = args.map((value) => (value && value.$raw !== undefined ? value.$raw : value));
  try {
    const result = await method(...values);
    if (result instanceof Page) results.push({ page: result.data, hasNext: result.hasNext });
    else if (result instanceof Uint8Array) results.push({ bytes: Buffer.from(result).toString("latin1") });
    else results.push({ value: result === undefined ? "nothing" : result });
  } catch (error) {
    results.push({ error: `${error.name}: ${error.message}` });
  }
}
console.log(JSON.stringify(results));
