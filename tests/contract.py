"""The contract as data, and the check that every response of every test is held to."""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

TIMESTAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
NEVER_NULL = {"id", "createdAt", "updatedAt", "projectId", "appId"}


@cache
def contract() -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "contract.json").read_text())


@cache
def _routes() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    found = []
    for operation in sorted(contract()["operations"], key=lambda each: each["path"].count("{")):
        pattern = re.compile("^" + re.sub(r"{\w+}", "[^/]+", operation["path"]) + "$")
        found.append((operation["method"], pattern, operation))
    return found


def operation_of(method: str, path: str) -> dict[str, Any] | None:
    return next((each for verb, pattern, each in _routes() if verb == method and pattern.match(path)), None)


EXERCISED: set[str] = set()


def name_of(operation: dict[str, Any]) -> str:
    return f"{operation['method']} {operation['path']}"


def check_response(method: str, path: str, status: int, headers: Any, body: bytes) -> None:
    """Raises AssertionError where an answer is not what the contract says."""
    assert headers.get("x-request-id"), f"{method} {path}: no X-Request-Id"
    if status >= 400:
        if path.startswith("/t/") or "text/html" in headers.get("content-type", ""):
            return
        if method == "HEAD" or path in ("/readyz", "/metrics"):
            return
        assert headers["content-type"] == "application/problem+json", f"{method} {path}: {status} {body[:300]!r}"
        problem = json.loads(body)
        for name in ("type", "title", "status", "detail", "code", "requestId", "errors"):
            assert name in problem, f"a problem without {name}: {problem}"
        assert problem["status"] == status
        assert re.match(r"^[a-z0-9_]+$", problem["code"])
        assert status != 500, f"{method} {path}: {problem}"
        return
    operation = operation_of(method, path)
    if operation is None:
        return
    if status < 300:
        EXERCISED.add(name_of(operation))
        _check_returns(f"{method} {path}", operation["returns"], status, headers, body)


def _check_returns(where: str, returns: dict[str, Any], status: int, headers: Any, body: bytes) -> None:
    kind = returns["kind"]
    if kind in ("free", "csv", "xml", "text"):
        return
    if kind in ("empty", "none"):
        assert status == 204, f"{where}: {status}"
        assert body == b"", where
        return
    assert headers["content-type"].startswith("application/json"), f"{where}: {headers['content-type']}"
    value = json.loads(body)
    record = returns.get("record")
    if kind == "record":
        check_record(where, record, value)
    elif kind == "array":
        assert isinstance(value, list), f"{where}: expected an array"
        for item in value:
            check_record(where, record, item)
    elif kind in ("page", "cursor", "data"):
        rest = {"page": {"total": int, "page": int, "pages": int}, "cursor": {}, "data": {}}[kind]
        for name, type_ in rest.items():
            assert type(value[name]) is type_, f"{where}: {name}"
        if kind == "cursor":
            assert value["nextCursor"] is None or isinstance(value["nextCursor"], str)
        for item in value["data"]:
            check_record(where, record, item)
    elif kind == "object":
        for name, type_ in returns["fields"].items():
            assert name in value, f"{where}: {name} is missing"
            _check_value(f"{where}: {name}", type_, value[name])
    else:
        raise AssertionError(f"{where}: unknown kind {kind}")


def check_record(where: str, record: str, value: Any) -> None:
    fields = contract()["records"][record]
    assert isinstance(value, dict), f"{where}: expected a {record}, found {value!r}"
    for name, type_ in fields.items():
        assert name in value, f"{where}: {record}.{name} is missing"
        if value[name] is None:
            may_lack = record in ("ContactRef", "EmailBatchItem")
            assert may_lack or name not in NEVER_NULL, f"{where}: {record}.{name} is null"
        else:
            _check_value(f"{where}: {record}.{name}", type_, value[name])


def _check_value(where: str, type_: str, value: Any) -> None:
    if value is None:
        return
    plain: dict[str, Any] = {
        "string": str,
        "integer": int,
        "boolean": bool,
        "number": (int, float),
        "object": dict,
    }
    if type_ in plain:
        assert isinstance(value, plain[type_]), f"{where}: expected {type_}, found {value!r}"
        assert type_ == "boolean" or not isinstance(value, bool), f"{where}: {value!r}"
    elif type_ == "timestamp":
        assert isinstance(value, str), where
        assert TIMESTAMP.match(value), f"{where}: {value!r} is no timestamp"
    elif type_ == "date":
        assert re.match(r"^\d{4}-\d\d-\d\d$", value), f"{where}: {value!r} is no date"
    elif type_ in ("true", "false"):
        assert value is (type_ == "true"), f"{where}: {value!r}"
    elif type_.endswith("[]"):
        assert isinstance(value, list), where
        for item in value:
            _check_value(where, type_[:-2], item)
    elif type_ in contract()["records"]:
        check_record(where, type_, value)
    else:
        raise AssertionError(f"{where}: unknown type {type_}")


def write_exercised(folder: str, worker: str) -> None:
    """Leave what this process exercised for the process that judges the whole run."""
    Path(folder, f"exercised-{worker}-{os.getpid()}").write_text("\n".join(sorted(EXERCISED)))


def read_exercised(folder: str) -> set[str]:
    return {line for file in Path(folder).glob("exercised-*") for line in file.read_text().splitlines()}
