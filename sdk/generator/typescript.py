"""The generated files of the TypeScript SDK: types, the client's interfaces, the table of operations, and errors."""

import re
import textwrap
from collections.abc import Iterable, Iterator

from sdk.generator.model import (
    Api,
    Enum,
    Field,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    OneOf,
    Operation,
    Parameter,
    Primitive,
    Reference,
    Type,
)

FOLDER = "sdk/typescript/src/generated"
HEADER = "// Written by script/client from the API. Do not edit.\n"
COLUMNS = 120

PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "any": "unknown",
    "object": "{ [key: string]: unknown }",
    "datetime": "string",
    "date": "string",
    "bytes": "RawBody",
}
IN_PROJECT = ("projectId", "appId")
"""Path parameters whose value is the client's project."""

ERROR_OF_STATUS = {
    400: "BadRequestError",
    401: "UnauthorizedError",
    403: "ForbiddenError",
    404: "NotFoundError",
    409: "ConflictError",
    410: "GoneError",
    412: "PreconditionFailedError",
    413: "PayloadTooLargeError",
    415: "UnsupportedMediaTypeError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
    503: "ServerError",
}
"""The classes of sdk/typescript/src/errors.ts from which the errors of problem codes derive; otherwise APIError."""

COMMON_PROBLEMS = {
    "body_invalid",
    "body_too_large",
    "credential_invalid",
    "credential_missing",
    "credential_not_accepted",
    "invalid",
    "not_found",
    "permission_missing",
    "project_missing",
    "unsupported_media_type",
}
"""Problems of almost every operation, which are not listed in its comment."""

FLAG_OF_BODY = {"json": "j", "form": "f", "bytes": "b"}
FLAG_OF_RESPONSE = {"json": "", "empty": "E", "text": "T", "bytes": "B", "redirect": "R"}
FLAG_OF_PAGE = {"links": "l", "pages": "p", "cursor": "c"}


def write_typescript(api: Api) -> dict[str, str]:
    """The text of each generated file by its path in this repository. Raises ValueError if two names clash."""
    interfaces = {pascal(operation.names[:-1]) + "Api" for operation in api.operations}
    params = {params_name(operation) for operation in api.operations if params_fields(operation)}
    errors = {pascal(problem.code.split("_")) for problem in api.problems} | set(ERROR_OF_STATUS.values())
    events = {event_name(event.name) for event in api.events} | {
        "WebhookEvent",
        "WebhookEventBase",
        "CustomWebhookEvent",
    }
    if (
        clash := (events & (api.types.keys() | errors))
        | (interfaces & params)
        | ((interfaces | params | errors) & api.types.keys())
        | (errors & interfaces)
    ):
        raise ValueError(f"These names have two meanings in the TypeScript SDK: {', '.join(sorted(clash))}.")
    return {
        f"{FOLDER}/types.ts": _types(api),
        f"{FOLDER}/client.ts": _client(api),
        f"{FOLDER}/operations.ts": _operations(api),
        f"{FOLDER}/problems.ts": _problems(api),
    }


def pascal(words: Iterable[str]) -> str:
    """`("contacts", "imports")` as `ContactsImports`."""
    return "".join(word[:1].upper() + word[1:] for word in words)


def params_name(operation: Operation) -> str:
    """The interface of an operation's query or form parameters: `EmailsListParams`."""
    return pascal(operation.names) + "Params"


def params_fields(operation: Operation) -> tuple[Field | Parameter, ...]:
    """The query or form parameters of an operation."""
    return operation.body.fields if operation.body and operation.body.kind == "form" else operation.query


def arguments(operation: Operation) -> list[tuple[str, str, bool]]:
    """The positional arguments before the options: name, type, and whether the argument is required."""
    named = [
        (each.name, type_text(each.type), True) for each in operation.path_parameters if each.name not in IN_PROJECT
    ]
    body = operation.body
    if body and body.kind == "bytes":
        named.append(("body", "RawBody", True))
    if body and body.kind == "json":
        named.append(("params", type_text(body.type), body.required))
    elif fields := params_fields(operation):
        named.append(("params", params_name(operation), any(each.required for each in fields)))
    return named


def result_type(operation: Operation) -> str:
    """What the method returns."""
    if operation.page and operation.item:
        return f"PagePromise<{type_text(operation.item)}>"
    kinds = {"empty": "void", "text": "string", "bytes": "Uint8Array", "redirect": "string"}
    if operation.response in kinds:
        return f"Promise<{kinds[operation.response]}>"
    return f"Promise<{type_text(operation.type) if operation.type else 'unknown'}>"


def type_text(type_: Type) -> str:
    """A type as TypeScript."""
    match type_:
        case Primitive(name):
            return PRIMITIVES[name]
        case Enum(values):
            # A newer server may send other values: any string is accepted, and editors still offer the known ones.
            return " | ".join([*(f'"{value}"' for value in values), "(string & {})"])
        case Reference(name):
            return name
        case ListOf(item):
            text = type_text(item)
            return f"({text})[]" if " " in text else f"{text}[]"
        case MapOf(value):
            return f"{{ [key: string]: {type_text(value)} }}"
        case Nullable(value):
            return f"{type_text(value)} | null"
        case OneOf(options):
            return " | ".join(type_text(option) for option in options)


def _comment(text: str, indent: str = "") -> str:
    """A documentation comment, or nothing for an empty text."""
    text = text.strip().replace("*/", "*\\/")
    if not text:
        return ""
    if "\n" not in text and len(text) + len(indent) + 7 <= COLUMNS:
        return f"{indent}/** {text} */\n"
    lines: list[str] = []
    for paragraph in text.split("\n"):
        width = COLUMNS - len(indent) - 3
        wrapped = textwrap.wrap(paragraph, width, break_long_words=False, break_on_hyphens=False)
        lines += wrapped or [""]
    body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
    return f"{indent}/**\n{body}{indent} */\n"


def _members(fields: Iterable[Field | Parameter], tag: tuple[str, str] | None = None) -> Iterator[str]:
    for each in fields:
        name = each.name if re.fullmatch(r"[A-Za-z_$][\w$]*", each.name) else f'"{each.name}"'
        text = f'"{tag[1]}"' if tag and tag[0] == each.name else type_text(each.type)
        yield _comment(each.description, "  ")
        yield f"  {name}: {text};\n" if each.required else f"  {name}?: {text} | undefined;\n"


def _interface(name: str, description: str, members: Iterable[str]) -> str:
    return f"\n{_comment(description)}export interface {name} {{\n{''.join(members)}}}\n"


def _types(api: Api) -> str:
    text = "".join(
        _interface(each.name, each.description, _members(each.fields, each.tag)) for each in api.types.values()
    )
    return HEADER + text + _events(api)


def _events(api: Api) -> str:
    """The events of webhooks as a union that `type` tells apart."""
    parts = [
        f"\n{_comment(event.description)}export interface {event_name(event.name)} extends WebhookEventBase {{\n"
        f'  type: "{event.name}";\n  data: {type_text(event.data)};\n}}\n'
        for event in api.events
    ]
    names = [event_name(event.name) for event in api.events]
    union = (
        "".join(f"\n  | {name}" for name in ("CustomWebhookEvent", *names))
        if names
        else " WebhookEventBase & { data: { [key: string]: unknown } }"
    )
    base = ObjectType(
        "WebhookEventBase",
        "What every event of a webhook has.",
        (
            Field("type", Primitive("string"), True, "Name of the event."),
            Field("timestamp", Primitive("datetime"), True, "When it happened."),
        ),
    )
    return (
        _interface(base.name, base.description, _members(base.fields))
        + _interface(
            "CustomWebhookEvent",
            "An event that your application recorded; its data is in `data.data`.",
            (
                "  type: `custom.${string}`;\n",
                "  data: { id: string; projectId: string; data: { [key: string]: unknown } };\n",
            ),
        ).replace("{", "extends WebhookEventBase {", 1)
        + "".join(parts)
        + "\n/** An event of a webhook; `type` says which. A newer server may send other types. */\n"
        + f"export type WebhookEvent ={union};\n"
    )


def event_name(event: str) -> str:
    """`email.delivered` as `EmailDeliveredEvent`."""
    return pascal(re.split(r"[._]", event)) + "Event"


def _client(api: Api) -> str:
    groups: dict[tuple[str, ...], list[str]] = {(): []}
    for operation in api.operations:
        for depth in range(1, len(operation.names)):
            group = operation.names[:depth]
            if group not in groups:
                groups[group] = []
                groups[group[:-1]].append(f"  readonly {group[-1]}: {pascal(group)}Api;\n")
        groups[operation.names[:-1]].append(_method(operation))
    params = "".join(
        _interface(
            params_name(operation),
            f"Parameters of `{'.'.join(operation.names)}`.",
            _members(params_fields(operation)),
        )
        for operation in api.operations
        if params_fields(operation)
    )
    interfaces = "".join(
        _interface(
            pascal(group) + "Api" if group else "Operations",
            f"The methods of `client.{'.'.join(group)}`." if group else "Every operation of the API, in groups.",
            members,
        )
        for group, members in groups.items()
    )
    code = re.sub(r"/\*.*?\*/", "", params + interfaces, flags=re.DOTALL)
    used = sorted(api.types.keys() & set(re.findall(r"\b\w+\b", code)))
    listed = "".join(f"  {name},\n" for name in used)
    imports = (
        'import type { RawBody, RequestOptions } from "../options.js";\n'
        'import type { PagePromise } from "../pages.js";\n'
        f'import type {{\n{listed}}} from "./types.js";\n'
    )
    return HEADER + imports + params + interfaces


def _method(operation: Operation) -> str:
    listed = [f"`{code}`" for code in operation.problems if code not in COMMON_PROBLEMS]
    parts = [operation.summary, operation.description, f"Problems: {', '.join(listed)}." if listed else ""]
    comment = _comment("\n\n".join(part for part in parts if part), "  ")
    before = [f"{name}{'' if required else '?'}: {text}" for name, text, required in arguments(operation)]
    return (
        f"{comment}  {operation.names[-1]}({', '.join([*before, 'options?: RequestOptions'])}): "
        f"{result_type(operation)};\n"
    )


def _operations(api: Api) -> str:
    lines = [f"{'.'.join(each.names)} {each.method} {each.path} {_flags(each)}".rstrip() for each in api.operations]
    return (
        HEADER
        + """
/**
 * One operation a line: method of the client, HTTP method, path, and flags.
 *
 * - Parameters: `j` JSON body, `f` form body, `q` query, `b` body of bytes and a query; otherwise none.
 * - Response: `E` empty, `T` text, `B` bytes, `R` redirect; otherwise JSON.
 * - Further pages of a list: `l` in the `Link` header, `p` by `nextCursor` or number, `c` by `nextCursor`.
 * - `i`: takes an `Idempotency-Key`. `n`: needs no credential.
 *
 * A body of bytes has its media type at the end.
 */
"""
        + "export const OPERATIONS = `\n"
        + "".join(f"{line}\n" for line in lines)
        + "`;\n"
    )


def _flags(operation: Operation) -> str:
    return "".join(
        (
            FLAG_OF_BODY[operation.body.kind] if operation.body else "q" if operation.query else "",
            FLAG_OF_RESPONSE[operation.response],
            FLAG_OF_PAGE[operation.page] if operation.page else "",
            "i" if operation.idempotent else "",
            "" if operation.authenticated else "n",
            f" {operation.body.media_type}" if operation.body and operation.body.kind == "bytes" else "",
        )
    )


def _problems(api: Api) -> str:
    names = {problem.code: pascal(problem.code.split("_")) for problem in api.problems}
    parents = sorted({ERROR_OF_STATUS.get(problem.status, "APIError") for problem in api.problems})
    imported = "".join(f"  {name},\n" for name in parents)
    classes = "".join(
        "\n"
        + _comment(f"{problem.status} `{problem.code}`: {problem.message or problem.title}")
        + f"export class {names[problem.code]} extends {ERROR_OF_STATUS.get(problem.status, 'APIError')} {{}}\n"
        for problem in api.problems
    )
    return (
        HEADER
        + f'import {{\n{imported}}} from "../errors.js";\n'
        + classes
        + "\n/** The class of each problem code, which is the class's name in snake_case. */\n"
        + "export const PROBLEMS = {\n"
        + "".join(f"  {name},\n" for name in names.values())
        + "};\n"
    )
