"""Writes the generated modules of `sdk/python`: types, problems, operations and the clients.

The synchronous client is derived from the asynchronous one: the files in `_async`, generated or written by hand, become
those in `_sync` by replacing words (`synchronous`).
"""

import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from sdk.generator.model import (
    Api,
    Enum,
    Event,
    Field,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    OneOf,
    Operation,
    Parameter,
    Primitive,
    ProblemType,
    Reference,
    Type,
    snake_case,
)

PACKAGE = Path(__file__).parent.parent / "python/postern_sdk"
PATH = "sdk/python/postern_sdk"
NOTE = "Generated from the API by script/client: do not edit."
DOC_WIDTH = 113
GENERAL_PROBLEMS = {
    "body_invalid",
    "body_too_large",
    "credential_invalid",
    "credential_missing",
    "credential_not_accepted",
    "database_away",
    "invalid",
    "not_found",
    "permission_missing",
    "project_missing",
    "too_many_requests",
    "unsupported_media_type",
}
"""Problems that nearly every operation has, which the documentation of a method therefore does not list."""
STATUS_CLASSES = {
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
}
"""The classes in errors.py from which those of problem codes derive; others derive from ServerError or APIError."""
PYTHON_NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "any": "Any",
    "bytes": "bytes",
}


def write_python(api: Api) -> dict[str, str]:
    """The text of every generated file by its path in this repository. Raises CalledProcessError if ruff fails."""
    files = {
        "_version.py": _version(api),
        "types.py": _types(api),
        "params.py": _params(api),
        "problems.py": _problems(api.problems),
        "events.py": _events(api),
        "_operations.py": _operations(api),
        "_async/client.py": _client(api),
    }
    files = {name: _formatted(text) for name, text in files.items()}
    asynchronous = {file.name: file.read_text() for file in PACKAGE.glob("_async/*.py")}
    asynchronous["client.py"] = files["_async/client.py"]
    for name, text in sorted(asynchronous.items()):
        files[f"_sync/{name}"] = _formatted(synchronous(text, name)) if text else text
    return {f"{PATH}/{name}": text for name, text in files.items()}


def synchronous(text: str, name: str) -> str:
    """The synchronous form of an asynchronous module."""
    text, _, _ = text.partition("\n\n# Not in the synchronous form:\n")
    words = {
        r"\basync (def|with|for)\b": r"\1",
        r"\bawait ": "",
        r'\bAwaitable\[("[^"]*")\]': r"\1",
        r"\bAsyncPaged\b": "Page",
        r"\bAsync([A-Z]\w*)": r"\1",
        r"\basync_(\w+)": r"\1",
        r"\b__a(enter|exit|iter)__\b": r"__\1__",
        r"\baclose\b": "close",
        r"\baiter_(\w+)": r"iter_\1",
        r"\bpostern_sdk\._async(_io)?\b": r"postern_sdk._sync\1",
        r"\bAn asynchronous\b": "A synchronous",
        r"\basynchronous\b": "synchronous",
    }
    for pattern, replacement in words.items():
        text = re.sub(pattern, replacement, text)
    note = f"Generated from _async/{name} by script/client: do not edit."
    return text.replace(NOTE, note) if NOTE in text else f"# {note}\n{text}"


def problem_class(code: str) -> str:
    """`DomainNotVerified` of `domain_not_verified`."""
    return "".join(word.capitalize() for word in code.split("_"))


def argument_name(name: str) -> str:
    """A name of the API as the name of an argument or attribute: `from_` of `from`, `project_id` of `projectId`."""
    name = snake_case(name)
    return f"{name}_" if keyword.iskeyword(name) else name


# Types


def _version(api: Api) -> str:
    return f'''"""The version of this package: that of the server whose API it was generated from.

{NOTE}
"""

__version__ = "{api.version}"
'''


def _types(api: Api) -> str:
    results = [operation.item or operation.type for operation in api.operations]
    in_answers = _reachable(api, _roots([*results, *(event.data for event in api.events)]))
    in_bodies = _nested_in_bodies(api)
    aliases: list[str] = []
    plain_aliases: list[str] = []
    classes: list[str] = []
    for name in sorted(in_answers | in_bodies):
        object_type = api.types[name]
        lines: list[str] = []
        for field in object_type.fields:
            if object_type.tag is not None and object_type.tag[0] == field.name:
                continue
            field_type = field.type
            for enum in [each for each in _parts(field_type) if isinstance(each, Enum)]:
                alias = f"{name}{field.name[0].upper()}{field.name[1:]}"
                aliases.append(f"    {alias}: TypeAlias = {_literal(enum)}")
                plain_aliases.append(f"    {alias} = str")
            lines += _attribute(name, field, is_given=name in in_bodies)
        options = "" if object_type.tag is None else f", tag_field={object_type.tag[0]!r}, tag={object_type.tag[1]!r}"
        classes.append(
            f"class {name}(Record, frozen=True, kw_only=True{options}):\n"
            f"{_doc(object_type.description or name, 4)}\n\n" + "\n".join(lines) + "\n"
        )
    return f'''"""The objects of the API, as they are received and, within requests, sent.

{NOTE}
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType, field

from postern_sdk._record import Record

if TYPE_CHECKING:
{chr(10).join(aliases)}
else:
    # A server that is newer than this package may send other values, which must not be an error.
{chr(10).join(plain_aliases)}

{chr(10).join(classes)}
'''


def _attribute(class_name: str, field: Field, *, is_given: bool) -> Iterator[str]:
    attribute = argument_name(field.name)
    annotation = _attribute_type(field.type, f"{class_name}{field.name[0].upper()}{field.name[1:]}")
    renamed = f"name={field.name!r}" if _camel_case(attribute) != field.name else ""
    if field.required:
        default = f" = field({renamed})" if renamed else ""
    elif is_given:
        annotation = f"{annotation} | UnsetType"
        default = f" = field(default=UNSET, {renamed})" if renamed else " = UNSET"
    else:
        annotation = annotation if annotation.endswith("| None") or annotation == "Any" else f"{annotation} | None"
        default = f" = field(default=None, {renamed})" if renamed else " = None"
    yield f"    {attribute}: {annotation}{default}"
    if field.description:
        yield _doc(field.description, 4)


def _attribute_type(type_: Type, alias: str) -> str:
    match type_:
        case Primitive("object"):
            return "dict[str, Any]"
        case Primitive("datetime" | "date" as name):
            return name
        case Primitive(name):
            return PYTHON_NAMES[name]
        case Enum():
            return alias
        case Reference(name):
            return name
        case ListOf(item):
            return f"list[{_attribute_type(item, alias)}]"
        case MapOf(value):
            return f"dict[str, {_attribute_type(value, alias)}]"
        case Nullable(value):
            inner = _attribute_type(value, alias)
            return inner if inner == "Any" else f"{inner} | None"
        case OneOf(options):
            return " | ".join(_attribute_type(option, alias) for option in options)


def _params(api: Api) -> str:
    classes: list[str] = []
    for name in sorted(_nested_in_bodies(api)):
        object_type = api.types[name]
        fields = [(field.name, _param_type(object_type, field)) for field in object_type.fields]
        if any(keyword.iskeyword(field) for field, _ in fields):
            members = ", ".join(f'"{field}": {_quoted(annotation)}' for field, annotation in fields)
            text = f'{name}Dict = TypedDict("{name}Dict", {{{members}}})\n"""{_one_line(object_type.description)}"""\n'
        else:
            lines: list[str] = []
            for (field, annotation), each in zip(fields, object_type.fields, strict=True):
                lines.append(f"    {field}: {annotation}")
                if each.description:
                    lines.append(_doc(each.description, 4))
            text = f"class {name}Dict(TypedDict):\n{_doc(object_type.description, 4)}\n\n" + "\n".join(lines) + "\n"
        classes.append(text)
    return f'''"""Objects within requests as plain dicts, with the names of the API, for type checkers.

{NOTE}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, NotRequired, TypedDict

from postern_sdk import types

{chr(10).join(classes)}
'''


def _param_type(object_type: ObjectType, field: Field) -> str:
    if object_type.tag is not None and object_type.tag[0] == field.name:
        return f"Literal[{object_type.tag[1]!r}]"
    annotation = _argument_type(field.type, params="")
    return annotation if field.required else f"NotRequired[{annotation}]"


def _quoted(annotation: str) -> str:
    if annotation.startswith("NotRequired["):
        return f"NotRequired[{annotation[12:-1]!r}]"
    return repr(annotation)


def _argument_type(type_: Type, params: str = "params.") -> str:
    match type_:
        case Primitive("object"):
            return "Mapping[str, Any]"
        case Primitive("datetime" | "date" as name):
            return f"{name} | str"
        case Primitive(name):
            return PYTHON_NAMES[name]
        case Enum():
            return _literal(type_)
        case Reference(name):
            return f"types.{name} | {params}{name}Dict"
        case ListOf(item):
            return f"Sequence[{_argument_type(item, params)}]"
        case MapOf(value):
            return f"Mapping[str, {_argument_type(value, params)}]"
        case Nullable(value):
            inner = _argument_type(value, params)
            return inner if inner == "Any" else f"{inner} | None"
        case OneOf(options):
            return " | ".join(_argument_type(option, params) for option in options)


def _result_type(type_: Type) -> str:
    match type_:
        case Primitive("object"):
            return "dict[str, Any]"
        case Primitive("datetime" | "date" as name):
            return name
        case Primitive(name):
            return PYTHON_NAMES[name]
        case Enum():
            return "str"
        case Reference(name):
            return f"types.{name}"
        case ListOf(item):
            # In a class with a method `list` the plain name would be that method.
            return f"builtins.list[{_result_type(item)}]"
        case MapOf(value):
            return f"dict[str, {_result_type(value)}]"
        case Nullable(value):
            return f"{_result_type(value)} | None"
        case OneOf(options):
            return " | ".join(_result_type(option) for option in options)


def _literal(enum: Enum) -> str:
    return f"Literal[{', '.join(repr(value) for value in enum.values)}] | str"


# Problems and events


def _problems(problems: tuple[ProblemType, ...]) -> str:
    bases = sorted({_base_class(problem.status) for problem in problems})
    classes = [
        f"class {problem_class(problem.code)}({_base_class(problem.status)}):\n"
        f"{_doc(f'`{problem.code}` ({problem.status}): {problem.message or problem.title}', 4)}\n"
        for problem in problems
    ]
    table = "\n".join(f'    "{problem.code}": {problem_class(problem.code)},' for problem in problems)
    return f'''"""One exception for each problem code of the API, with the name of the code.

{NOTE}
"""

from postern_sdk.errors import APIError, {", ".join(base for base in bases if base != "APIError")}

{chr(10).join(classes)}
BY_CODE: dict[str, type[APIError]] = {{
{table}
}}
"""The exception of each problem code."""
'''


def _base_class(status: int) -> str:
    return STATUS_CLASSES.get(status, "ServerError" if status >= 500 else "APIError")


def _events(api: Api) -> str:
    classes: list[str] = []
    for event in api.events:
        name = event_class(event)
        classes.append(
            f"class {name}(WebhookEvent, frozen=True, kw_only=True):\n{_doc(event.description or event.name, 4)}\n\n"
            f"    data: {_result_type(event.data).replace('builtins.', '')}\n"
            f'    type: Literal["{event.name}"] = "{event.name}"\n'
        )
    table = "\n".join(f'    "{event.name}": {event_class(event)},' for event in api.events)
    union = " | ".join([*(event_class(event) for event in api.events), "UnknownEvent"])
    names = ["Event", "UnknownEvent", "WebhookEvent", *(event_class(event) for event in api.events)]
    exported = ", ".join(f'"{name}"' for name in ["BY_TYPE", *sorted(names)])
    uses_types = "from postern_sdk import types\n" if "types." in "".join(classes) else ""
    return f'''"""The events that webhooks deliver. `type` tells them apart.

{NOTE}
"""

from typing import Any, Literal, TypeAlias

{uses_types}from postern_sdk._record import UnknownEvent, WebhookEvent

__all__ = [{exported}]

{chr(10).join(classes)}
Event: TypeAlias = {union}
"""Any event; a type that this version of the package does not know is an `UnknownEvent`."""

BY_TYPE: dict[str, type[WebhookEvent]] = {{
{table}
}}
"""The class of each event."""
'''


def event_class(event: Event) -> str:
    """`EmailDeliveredEvent` of `email.delivered`."""
    return "".join(word.capitalize() for word in re.split(r"[._-]", event.name)) + "Event"


# Operations


def _operations(api: Api) -> str:
    lines: list[str] = []
    for operation in api.operations:
        members = [repr(operation.id), repr(operation.method), repr(operation.path), repr(operation.response)]
        result = _decoded_name(operation.item or operation.type)
        if result:
            members.append(f"result={result!r}")
        if operation.page is not None:
            members.append(f"page={operation.page!r}")
        elif isinstance(operation.type, ListOf):
            members.append("many=True")
        if operation.idempotent:
            members.append("idempotent=True")
        if operation.permission is not None:
            members.append(f"permission={operation.permission!r}")
        if operation.body is not None:
            members.append(f"body={operation.body.kind!r}")
            members.append(f"media_type={operation.body.media_type!r}")
        lines.append(f"{_constant(operation)} = Operation({', '.join(members)})")
    return f'''"""The operations of the API, as both clients send them.

{NOTE}
"""

from postern_sdk._request import Operation

{chr(10).join(lines)}
'''


def _decoded_name(type_: Type | None) -> str:
    match type_:
        case None:
            return ""
        case ListOf(item):
            return _decoded_name(item)
        case Reference(name) | Primitive(name):
            return name
        case _:
            raise ValueError(f"An answer of the type {type_} is not expected.")


def _constant(operation: Operation) -> str:
    return snake_case(operation.id).upper()


# Clients


def _client(api: Api) -> str:
    groups: dict[tuple[str, ...], list[Operation]] = {}
    for operation in api.operations:
        group = operation.names[:-1]
        for depth in range(len(group) + 1):
            groups.setdefault(group[:depth], [])
        groups[group].append(operation)
    classes: list[str] = []
    for group, operations in sorted(groups.items(), key=lambda entry: (-len(entry[0]), entry[0])):
        if not group:
            continue
        parts = [_property(each) for each in sorted(groups) if each[:-1] == group]
        parts += [_method(api, operation) for operation in operations]
        if group == ("webhooks",):
            parts.append(VERIFY_METHOD)
        classes.append(
            f"class {_group_class(group)}:\n{_doc(f'The methods of `client.{_dotted(group)}`.', 4)}\n\n"
            f"    def __init__(self, client: AsyncTransport) -> None:\n        self._client = client\n\n"
            + "\n".join(parts)
        )
    properties = "\n".join(_property(group) for group in sorted(groups) if len(group) == 1)
    return f'''"""An asynchronous client with a method for each operation of the API.

{NOTE}
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from postern_sdk import _operations as operations
from postern_sdk._async.transport import AsyncTransport
from postern_sdk._request import NOT_GIVEN, NotGiven

if TYPE_CHECKING:
    from datetime import date, datetime

    from postern_sdk import params, types
    from postern_sdk._async.pages import AsyncPaged
    from postern_sdk._request import AsyncContent
    from postern_sdk.events import Event

{chr(10).join(classes)}

class AsyncPostern(AsyncTransport):
    """An asynchronous client of Postern.

    The methods are grouped as in `await client.emails.send(...)`. Close the client, or use it as a context manager.
    """

{properties}
'''


VERIFY_METHOD = '''    @staticmethod
    def verify(
        body: bytes | str,
        headers: Mapping[str, str],
        secret: str | Sequence[str],
        *,
        tolerance: float = 300.0,
    ) -> Event:
        """Verify the signature of a webhook delivery and return its event. The same as `postern_sdk.webhooks.verify`.

        Raises:
            WebhookVerificationError: the delivery is not signed with a secret given, or too old.
        """
        from postern_sdk.webhooks import verify

        return verify(body, headers, secret, tolerance=tolerance)
'''


def _property(group: tuple[str, ...]) -> str:
    name = _group_class(group)
    holder = "self" if len(group) == 1 else "self._client"
    return (
        f"    @cached_property\n    def {snake_case(group[-1])}(self) -> {name}:\n"
        f'        """Methods of `client.{_dotted(group)}`."""\n'
        f"        return {name}({holder})\n"
    )


def _group_class(group: tuple[str, ...]) -> str:
    return "Async" + "".join(name[0].upper() + name[1:] for name in group)


def _dotted(names: tuple[str, ...]) -> str:
    return ".".join(snake_case(name) for name in names)


def _method(api: Api, operation: Operation) -> str:
    positional = [each for each in operation.path_parameters if each.name not in {"projectId", "appId"}]
    of_project = len(positional) < len(operation.path_parameters)
    fields = _body_fields(api, operation)
    takes = {argument_name(each.name) for each in [*positional, *operation.query, *fields]}
    headers = [each for each in operation.headers if each.name != "Idempotency-Key"]
    arguments = [f"{argument_name(each.name)}: {_argument_type(each.type)}" for each in positional]
    documented: list[tuple[str, str]] = [(argument_name(each.name), each.description) for each in positional]
    keywords: list[str] = []
    passed: list[str] = []
    if operation.body is not None and operation.body.kind == "bytes":
        keywords.append("data: AsyncContent")
        documented.append(("data", "The content."))
        passed.append("data=data")
    for field in sorted(fields, key=lambda each: not each.required):
        name, annotation = argument_name(field.name), _argument_type(field.type)
        keywords.append(f"{name}: {annotation}" if field.required else f"{name}: {annotation} | NotGiven = NOT_GIVEN")
        documented.append((name, field.description))
    for parameter in sorted(operation.query, key=lambda each: not each.required):
        keywords.append(_optional(parameter))
        documented.append((argument_name(parameter.name), parameter.description))
    for header in headers:
        keywords.append(_optional(header))
        documented.append((argument_name(header.name), header.description))
    if operation.idempotent and "idempotency_key" not in takes:
        keywords.append("idempotency_key: str | None = None")
        documented.append(("idempotency_key", "Makes repetitions of this call safe; one is made if you give none."))
        passed.append("idempotency_key=idempotency_key")
    if takes_if_match(operation):
        keywords.append("if_match: str | None = None")
        documented.append(("if_match", "Change only this version: `postern_sdk.etag(record)`."))
        passed.append("if_match=if_match")
    if of_project:
        keywords.append("project: str | None = None")
        documented.append(("project", "Project id, if not that of the client."))
        passed.append("project=project")
    keywords.append("timeout: float | None = None")
    documented.append(("timeout", "Seconds for one attempt, if not that of the client."))
    passed.append("timeout=timeout")
    if operation.query:
        passed.insert(0, f"query={{{_pairs(operation.query)}}}")
    if fields:
        passed.insert(0, f"body={{{_pairs(fields)}}}")
    if headers:
        passed.insert(0, f"headers={{{_pairs(headers)}}}")
    names = "".join(f"{argument_name(each.name)}, " for each in positional)
    if operation.page is not None:
        definition, call, result = "def", "self._client._list", f"AsyncPaged[{_result_type(_item(operation))}]"
    else:
        definition, call, result = "async def", "await self._client._call", _returned(operation)
    return (
        f"    {definition} {snake_case(operation.names[-1])}(\n"
        f"        self, {', '.join([*arguments, '*', *keywords])},\n    ) -> {result}:\n"
        f"{_method_doc(operation, documented)}\n"
        f"        return {call}(operations.{_constant(operation)}, ({names}), {', '.join(passed)})\n"
    )


def takes_if_match(operation: Operation) -> bool:
    """Whether a write can be limited to one version of the record."""
    return operation.method != "GET" and "`If-Match`" in operation.description


def _item(operation: Operation) -> Type:
    assert operation.item is not None
    return operation.item


def _returned(operation: Operation) -> str:
    match operation.response:
        case "empty":
            return "None"
        case "text" | "redirect":
            return "str"
        case "bytes":
            return "bytes"
        case "json":
            assert operation.type is not None
            return _result_type(operation.type)


def _optional(parameter: Parameter) -> str:
    annotation = _argument_type(parameter.type)
    name = argument_name(parameter.name)
    return f"{name}: {annotation}" if parameter.required else f"{name}: {annotation} | None = None"


def _pairs(members: Iterable[Field | Parameter]) -> str:
    return ", ".join(f'"{each.name}": {argument_name(each.name)}' for each in members)


def _body_fields(api: Api, operation: Operation) -> tuple[Field, ...]:
    body = operation.body
    if body is None or body.kind == "bytes":
        return ()
    if body.kind == "form":
        return body.fields
    assert isinstance(body.type, Reference), operation.id
    return api.types[body.type.name].fields


def _method_doc(operation: Operation, documented: list[tuple[str, str]]) -> str:
    summary = operation.summary.rstrip(".") + "."
    parts = [summary]
    if operation.description:
        parts.append(operation.description)
    if documented:
        parts.append("Args:\n" + "\n".join(f"    {name}: {_one_line(text) or name}" for name, text in documented))
    problems = [code for code in operation.problems if code not in GENERAL_PROBLEMS]
    if problems:
        parts.append("Raises:\n" + "\n".join(f"    {problem_class(code)}" for code in sorted(problems)))
    return _doc("\n\n".join(parts), 8)


# Shared


def _roots(types: Iterable[Type | None]) -> set[str]:
    return {part.name for each in types if each is not None for part in _parts(each) if isinstance(part, Reference)}


def _nested_in_bodies(api: Api) -> set[str]:
    fields = [field.type for operation in api.operations for field in _body_fields(api, operation)]
    return _reachable(api, _roots(fields))


def _reachable(api: Api, roots: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _roots(field.type for field in api.types[name].fields)
    return found


def _parts(type_: Type) -> Iterator[Type]:
    yield type_
    match type_:
        case ListOf(inner) | MapOf(inner) | Nullable(inner):
            yield from _parts(inner)
        case OneOf(options):
            for option in options:
                yield from _parts(option)
        case _:
            pass


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")


def _doc(text: str, indent: int) -> str:
    """A docstring, wrapped."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    width = DOC_WIDTH - indent
    lines: list[str] = []
    for line in text.strip().splitlines():
        inner = re.match(r" *(?:[-*] )?", line)
        hanging = " " * ((len(inner.group()) if inner else 0) + (4 if line.startswith("    ") else 0))
        lines += textwrap.wrap(line, width, subsequent_indent=hanging, break_long_words=False) or [""]
    margin = " " * indent
    if len(lines) == 1:
        ending = " " if lines[0].endswith('"') else ""
        return f'{margin}"""{lines[0]}{ending}"""'
    shown = "\n".join(f"{margin}{line}" if line else "" for line in lines)
    return f'{margin}"""{shown.lstrip()}\n{margin}"""'


def _formatted(text: str) -> str:
    ruff = Path(sys.executable).parent / "ruff"
    common = ["--quiet", "--stdin-filename", "sdk/python/postern_sdk/generated.py", "-"]
    for command in (["check", "--fix-only", "--select", "I,F401"], ["format"]):
        text = subprocess.run(
            [str(ruff), *command, *common], input=text, capture_output=True, text=True, check=True
        ).stdout
    return text
