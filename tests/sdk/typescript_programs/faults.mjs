// Runs the cases of tests/sdk/faults.json: node faults.mjs FAULTS BASE REFUSED. Prints the outcome of each.
import { readFileSync } from "node:fs";
import { Postern } from "@postern/sdk";

const [file, base, refused] = process.argv.slice(2);
const { arguments: values, cases } = JSON.parse(readFileSync(file, "utf8"));
Math.random = () => 0; // Retries follow at once: there is nothing to spread.

async function arrival(index) {
  while ((await (await fetch(`${base}/received/${index}/node`)).json()).length === 0);
}

async function outcome(each, index) {
  const client = new Postern({
    url: each.url === "refused" ? refused : `${base}/cases/${index}/node`,
    key: "pk_test",
    project: "p1",
    timeout: (each.timeoutSeconds ?? 30) * 1000,
    retries: each.retries ?? 2,
  });
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const call = {
    send: () => client.emails.send(values.send, options),
    read: () => client.customers.get(values.read, options),
    create: () => client.audiences.create(values.create, options),
  }[each.call]();
  if (each.cancel) arrival(index).then(() => controller.abort(new Error("cancelled by the caller")));
  try {
    return { result: await call };
  } catch (error) {
    const { name, message, status, code, requestId, idempotencyKey, mayHaveBeenExecuted } = error;
    const classes = [];
    for (let type = error.constructor; type?.name; type = Object.getPrototypeOf(type)) classes.push(type.name);
    return { error: { name, classes, message, status, code, requestId, idempotencyKey, mayHaveBeenExecuted } };
  }
}

console.log(JSON.stringify(await Promise.all(cases.map(outcome))));
