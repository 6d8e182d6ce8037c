"""The contract (contract.json), the check of all responses in tests against it, and the test of each operation."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

TIMESTAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
NEVER_NULL = {"id", "createdAt", "updatedAt", "projectId", "appId"}


@cache
def contract() -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "contract.json").read_text())


@cache
def _contract_routes() -> dict[str, list[tuple[re.Pattern[str], dict[str, Any]]]]:
    """Path pattern and operation of the contract by method; paths with fewer parameters first."""
    routes: dict[str, list[tuple[re.Pattern[str], dict[str, Any]]]] = {}
    for operation in sorted(contract()["operations"], key=lambda operation: operation["path"].count("{")):
        pattern = re.compile("^" + re.sub(r"{\w+}", "[^/]+", operation["path"]) + "$")
        routes.setdefault(operation["method"], []).append((pattern, operation))
    return routes


@cache
def _contract_names() -> frozenset[str]:
    """The names of the operations of the contract."""
    return frozenset(name_of(operation) for operation in contract()["operations"])


def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """The operation of the contract that a request calls; None if it calls none."""
    name = _operation_name(method, path)
    if name is not None and name not in _contract_names():
        return None  # `/emails/logs/export` also matches `/emails/logs/{id}`.
    return next((operation for pattern, operation in _contract_routes().get(method, ()) if pattern.match(path)), None)


@lru_cache(maxsize=1_000)
def _operation_name(method: str, path: str) -> str | None:
    """The name of the operation in the code that a request calls."""
    return next((name for pattern, name in _code_routes().get(method, ()) if pattern.match(path)), None)


EXERCISED: dict[str, set[str]] = {}
"""The tests that called an operation, by the name of the operation."""


def name_of(operation: dict[str, Any]) -> str:
    """The name of an operation: method and path."""
    return f"{operation['method']} {operation['path']}"


@cache
def _code_routes() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """Path pattern and name of each operation in the code by method; paths with fewer parameters first."""
    from postern.app import OPERATIONS

    routes: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for operation in sorted(OPERATIONS, key=lambda operation: operation.path.count("{")):
        pattern = re.compile("^" + re.sub(r"{\w+}", "[^/]+", operation.path) + "$")
        routes.setdefault(operation.method, []).append((pattern, f"{operation.method} {operation.wire_path}"))
    return routes


def note_exercised(method: str, path: str) -> None:
    """Record that the running test called this operation. Calls of fixtures do not count for a test."""
    test, _, phase = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    name = _operation_name(method, path)
    if name is not None:
        tests = EXERCISED.setdefault(name, set())
        if phase == "(call)":
            tests.add(test.partition("[")[0])


OAUTH_ENDPOINTS = re.compile(
    r"^/projects/[^/]+/oauth/(token|userinfo|revoke|introspect|par|register|device_authorization)$"
)
"""Paths whose errors have the form of OAuth (RFC 6749 §5.2)."""


def check_response(method: str, path: str, status: int, headers: Any, body: bytes) -> None:
    """Check a response against the contract, and record the call. Raises AssertionError."""
    assert headers.get("x-request-id"), f"{method} {path}: no X-Request-Id"
    if status >= 400:
        if path.startswith("/t/") or "text/html" in headers.get("content-type", ""):
            return
        if path.startswith(("/compat/", "/scim/")):  # Errors have the form of the other API.
            return
        if method == "HEAD" or path in ("/readyz", "/metrics"):
            return
        if OAUTH_ENDPOINTS.search(path) and headers["content-type"] == "application/json":
            assert re.match(r"^[a-z_]+$", json.loads(body).get("error", "credential_missing")), body
            assert status != 500, f"{method} {path}"
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
        note_exercised(method, path)
        return
    note_exercised(method, path)
    if status < 300:
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
        other_fields = {"page": {"total": int, "page": int, "pages": int}, "cursor": {}, "data": {}}[kind]
        for name, type_ in other_fields.items():
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
    """Check a JSON object against a record of the contract. `where` begins the message of the AssertionError."""
    fields = contract()["records"][record]
    assert isinstance(value, dict), f"{where}: expected a {record}, found {value!r}"
    for name, type_ in fields.items():
        assert name in value, f"{where}: {record}.{name} is missing"
        if value[name] is None:
            may_be_null = record in ("ContactRef", "EmailBatchItem")
            assert may_be_null or name not in NEVER_NULL, f"{where}: {record}.{name} is null"
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
        assert TIMESTAMP.match(value), f"{where}: {value!r} is not a timestamp"
    elif type_ == "date":
        assert re.match(r"^\d{4}-\d\d-\d\d$", value), f"{where}: {value!r} is not a date"
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
    """Write the calls of this process to a file, for the process that checks the complete run."""
    plain = {name: sorted(tests) for name, tests in EXERCISED.items()}
    Path(folder, f"exercised-{worker}-{os.getpid()}").write_text(json.dumps(plain))


def read_exercised(folder: str) -> dict[str, set[str]]:
    """The tests that called each operation, from the files of all processes."""
    exercised: dict[str, set[str]] = {}
    for file in Path(folder).glob("exercised-*"):
        for name, tests in json.loads(file.read_text()).items():
            exercised.setdefault(name, set()).update(tests)
    return exercised


# The catalogue: the test of each operation --------------------------------------------------------------

CATALOGUE = Path(__file__).parent.parent / "postern" / "cli" / "contract.tsv"


def read_catalogue() -> dict[str, str]:
    """The test of each operation, as `postern contract` prints it."""
    lines = CATALOGUE.read_text().splitlines() if CATALOGUE.exists() else []
    return dict(line.split("\t") for line in lines)


def write_catalogue(exercised: Mapping[str, set[str]], passed: Iterable[str]) -> None:
    """Write the test of each operation: the same as before if it still calls the operation, or else the best match."""
    from postern.app import OPERATIONS

    candidates = {test.partition("[")[0] for test in passed if not test.startswith(GENERAL_TESTS)}
    previous, lines = read_catalogue(), []
    for operation in OPERATIONS:
        name = f"{operation.method} {operation.wire_path}"
        tests = exercised.get(name, set()) & candidates
        chosen = previous.get(name)
        is_still_valid = chosen in tests or (chosen not in candidates and _exists(chosen))
        if tests and not is_still_valid:
            chosen = max(sorted(tests), key=lambda test: _match_quality(test, operation, exercised))
        if chosen:
            lines.append(f"{name}\t{chosen}\n")
    CATALOGUE.write_text("".join(lines))


def update_catalogue() -> None:
    """Sort the catalogue like the operations, and replace the names of tests that were renamed.

    The new name is the most similar one in the same file; the next complete run checks this guess.
    """
    from postern.app import OPERATIONS

    previous, lines = read_catalogue(), []
    for name in (f"{operation.method} {operation.wire_path}" for operation in OPERATIONS):
        test = previous.get(name)
        file, _, function = (test or "").partition("::")
        path = CATALOGUE.parents[2] / file
        if test and not _exists(test) and path.exists():
            names = re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE)
            test = f"{file}::{next(iter(get_close_matches(function, names, 1, 0.0)), function)}"
        if test:
            lines.append(f"{name}\t{test}\n")
    CATALOGUE.write_text("".join(lines))


def _exists(test: str | None) -> bool:
    file, _, name = (test or "").partition("::")
    path = CATALOGUE.parents[2] / file
    return bool(name) and path.exists() and f"def {name}(" in path.read_text()


GENERAL_TESTS = ("tests/test_contract.py", "tests/test_schemathesis.py", "tests/test_guides.py")
"""Files whose tests call all operations, so they are not the test of a particular one."""


def _match_quality(test: str, operation: Any, exercised: Mapping[str, set[str]]) -> tuple[int, int, int]:
    """How well a test fits an operation: same feature, similar words, and calls of few other operations."""
    folder, words = [*test.split("/"), "", ""][2], set(re.findall(r"[a-z]+", test.rpartition("::")[2]))
    feature = operation.function.__module__.split(".")[2]
    name_stems = {stem(word) for word in operation.name.split("_")}
    others = sum(test in tests for tests in exercised.values())
    refusal_words = len(words & {"unknown", "refused", "another", "foreign", "nobody", "limits", "limit"})
    return folder == feature, len(name_stems & {stem(word) for word in words}) - refusal_words, -others


def stem(word: str) -> str:
    """The word without the endings -s, -ing, -ed and -e."""
    return word.rstrip("s").removesuffix("ing").removesuffix("ed").rstrip("e")


def catalogue_errors(
    exercised: Mapping[str, set[str]], passed: Iterable[str], *, is_complete: bool = True
) -> list[str]:
    """The operations whose test in the catalogue ran but did not call them, and after a complete run also those that
    no test called.
    """
    ran = {test.partition("[")[0] for test in passed}
    names = [name_of(operation) for operation in contract()["operations"]] if is_complete else []
    errors = [f"{name}: never called" for name in names if name not in exercised]
    for name, test in read_catalogue().items():
        if test in ran and test not in exercised.get(name, set()):
            errors.append(f"{name}: not called by {test}, which is its test in the catalogue")
    return errors
