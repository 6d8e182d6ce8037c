"""Every operation through the TypeScript SDK: requests fit the OpenAPI document, and calls have strict types."""

import json
import re
from pathlib import Path

import pytest

from sdk.generator.typescript import arguments, result_type
from tests.sdk.recorder import Answer, Recorded, recorder
from tests.sdk.samples import PROJECT, Sample, api, check_request, response_of, samples
from tests.sdk.typescript import TSC, linked_sdk, needs_typescript, run

pytestmark = [pytest.mark.needs_node, needs_typescript]
PROGRAMS = Path(__file__).parent / "typescript_programs"


def values_of(sample: Sample) -> list[object]:
    """The positional values of the method."""
    values: list[object] = list(sample.path.values())
    if sample.raw is not None:
        values.append({"$raw": sample.raw})
    return [*values, sample.params] if sample.params is not None else values


def expected_result(sample: Sample, url: str) -> dict[str, object]:
    """What every_operation.mjs prints about the documented response."""
    operation = sample.operation
    status, _, body = response_of(operation)
    if status >= 300:
        return {"value": f"{url}/elsewhere"}
    if operation.response == "empty":
        return {"value": "nothing"}
    if operation.response == "text":
        return {"value": body.decode()}
    if operation.response == "bytes":
        return {"bytes": body.decode("latin1")}
    document = json.loads(body)
    if operation.page:
        data = document if operation.page == "links" else document["data"]
        more = operation.page != "links" and bool(document["nextCursor"])
        return {"page": data, "hasNext": more}
    return {"value": document}


def test_every_operation_sends_what_the_document_says(tmp_path: Path) -> None:
    by_request = {(called.operation.method, called.expected_path): called for called in samples()}
    assert len(by_request) == len(samples())

    def respond(request: Recorded) -> Answer:
        status, media_type, body = response_of(by_request[request.method, request.path].operation)
        location = {"Location": "/elsewhere"} if status >= 300 else {}
        return Answer(status, body, {"Content-Type": media_type, **location})

    calls = tmp_path / "calls.json"
    calls.write_text(json.dumps([{"names": called.operation.names, "args": values_of(called)} for called in samples()]))
    program = linked_sdk(tmp_path) / "every_operation.mjs"
    program.write_text((PROGRAMS / program.name).read_text())
    with recorder(respond) as server:
        results = json.loads(run("node", program, calls, folder=tmp_path, URL=server.url, PROJECT=PROJECT))
    assert len(results) == len(server.requests) == len(samples()) > 370
    keys = set()
    for sample, result, request in zip(samples(), results, server.requests, strict=True):
        headers = request.headers
        check_request(
            sample, request.method, request.path, request.query, request.body, headers.get("content-type", "")
        )
        assert result == expected_result(sample, server.url), sample.operation.id
        assert headers["authorization"] == "Bearer secret"
        assert re.fullmatch(r"postern-typescript/\d+\.\d+\.\d+", headers["user-agent"])
        assert ("idempotency-key" in headers) == sample.operation.idempotent, sample.operation.id
        keys.add(headers.get("idempotency-key"))
    assert len(keys - {None}) == sum(called.operation.idempotent for called in samples())


def call_of(sample: Sample) -> str:
    """A function that calls the operation and returns its result with the documented type."""
    operation = sample.operation
    values = [json.dumps(value, ensure_ascii=False) for value in sample.path.values()]
    if sample.raw is not None:
        values.append("new Uint8Array(3)")
    values += [json.dumps(sample.params, ensure_ascii=False)] if sample.params is not None else []
    call = f"client.{'.'.join(operation.names)}({', '.join([*values, '{ signal, timeout: 1_000 }'])})"
    type_ = result_type(operation).removeprefix("PagePromise<").removeprefix("Promise<").removesuffix(">")
    type_ = re.sub(r"\b([A-Z]\w+)\b(?<!Uint8Array)", r"sdk.\1", type_)
    if operation.page:
        return f"async () => {{ for await (const each of {call}) {{ const entry: {type_} = each; use(entry); }} }},"
    return f"async () => {{ const result: {type_} = await {call}; use(result); }},"


PROLOGUE = """
const client = new sdk.Postern();
const { signal } = new AbortController();
function use(..._: unknown[]) {}
"""
MISTAKES = """
// @ts-expect-error an e-mail must have recipients
await client.emails.send({ from: "a@b.example" });
// @ts-expect-error there is no such field
await client.emails.send({ to: ["a@b.example"], from: "a@b.example", body: "Hi" });
// @ts-expect-error the id is missing
await client.contacts.get();
// @ts-expect-error a list has no single record
const email: string = (await client.contacts.list()).email;
// @ts-expect-error there is no such filter
await client.contacts.list({ colour: "red" });
// @ts-expect-error there is no such method
await client.emails.post({});
// An unknown value of an enumeration is no error.
const status: sdk.SendResult["status"] = "NEW";
try {
  await client.contacts.imports.create("email\\n", { mode: "skip" }, { headers: { "Content-Type": "text/csv" } });
} catch (error) {
  if (error instanceof sdk.DomainNotVerified) use(error.status, error.requestId, error.errors[0]?.path);
  else if (error instanceof sdk.ConnectionFailed) use(error.mayHaveBeenExecuted, error.idempotencyKey);
}
const event = await client.webhooks.verify("", new Headers(), ["a", "b"]);
if (event.type === "email.bounced") {
  const data: sdk.EmailBouncedEvent["data"] = event.data;
  use(data.recipient);
}
if (event.type === "custom.order.placed") use(event.data.data.total);
// @ts-expect-error there is no such event
if (event.type === "email.exploded") use(event);
use(email, status, event.type, event.data, sdk.headersOf(event)?.get("etag"));
"""
OPTIONS = {
    "strict": True,
    "exactOptionalPropertyTypes": True,
    "noEmit": True,
    "target": "ES2022",
    "lib": ["ES2022", "DOM", "DOM.Iterable"],
    "types": [],
}


@pytest.mark.parametrize(
    ("module", "resolution", "suffixes"),
    [("ESNext", "Bundler", ("ts",)), ("Node16", "Node16", ("mts", "cts"))],
    ids=["bundler", "node16-esm-and-cjs"],
)
def test_a_call_of_every_operation_has_strict_types(
    tmp_path: Path, module: str, resolution: str, suffixes: tuple[str, ...]
) -> None:
    linked_sdk(tmp_path)
    calls = "".join(f"  {call_of(sample)}\n" for sample in samples())
    mistakes = f"export async function mistakes() {{{MISTAKES}}}\n"
    for suffix in suffixes:
        text = f'import * as sdk from "@postern/sdk";\n{PROLOGUE}\nexport const calls = [\n{calls}];\n{mistakes}'
        (tmp_path / f"calls.{suffix}").write_text(text)
    options = {**OPTIONS, "module": module, "moduleResolution": resolution}
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "files": [f"calls.{suffix}" for suffix in suffixes]})
    )
    run(TSC, "-p", ".", folder=tmp_path)


def test_methods_that_need_nothing_take_the_options_first() -> None:
    (get_account,) = (candidate for candidate in api().operations if candidate.id == "getAccount")
    assert arguments(get_account) == []
