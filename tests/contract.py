"""The contract as data, and the check that every response of every test is held to."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
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
    own = next((name for verb, pattern, name in _own_routes() if verb == method and pattern.match(path)), None)
    if own is not None and own not in {name_of(each) for each in contract()["operations"]}:
        return None  # `/emails/logs/export` is not the send of that name.
    return next((each for verb, pattern, each in _routes() if verb == method and pattern.match(path)), None)


EXERCISED: dict[str, set[str]] = {}
"""The tests that had an operation do its work, by the operation's name."""


def name_of(operation: dict[str, Any]) -> str:
    return f"{operation['method']} {operation['path']}"


@cache
def _own_routes() -> list[tuple[str, re.Pattern[str], str]]:
    from postern.app import OPERATIONS

    found = []
    for each in sorted(OPERATIONS, key=lambda each: each.path.count("{")):
        pattern = re.compile("^" + re.sub(r"{\w+}", "[^/]+", each.path) + "$")
        found.append((each.method, pattern, f"{each.method} {each.wire_path}"))
    return found


def note_exercised(method: str, path: str) -> None:
    """Remember that the test that runs had this operation do its work; what fixtures do counts for no test."""
    test, _, phase = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    name = next((name for verb, pattern, name in _own_routes() if verb == method and pattern.match(path)), None)
    if name is not None:
        tests = EXERCISED.setdefault(name, set())
        if phase == "(call)":
            tests.add(test.partition("[")[0])


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
    plain = {name: sorted(tests) for name, tests in EXERCISED.items()}
    Path(folder, f"exercised-{worker}-{os.getpid()}").write_text(json.dumps(plain))


def read_exercised(folder: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in Path(folder).glob("exercised-*"):
        for name, tests in json.loads(file.read_text()).items():
            found.setdefault(name, set()).update(tests)
    return found


# The catalogue: which test shows an operation --------------------------------------------------------------

CATALOGUE = Path(__file__).parent.parent / "postern" / "cli" / "contract.tsv"


def read_catalogue() -> dict[str, str]:
    """The test that shows each operation, as `postern contract` prints it."""
    lines = CATALOGUE.read_text().splitlines() if CATALOGUE.exists() else []
    return dict(line.split("\t") for line in lines)


def write_catalogue(exercised: Mapping[str, set[str]], passed: Iterable[str]) -> None:
    """Name a test for every operation that was exercised: the one before, while it still does, or the likeliest."""
    from postern.app import OPERATIONS

    good = {test.partition("[")[0] for test in passed if not test.startswith(AT_LARGE)}
    before, lines = read_catalogue(), []
    for each in OPERATIONS:
        name = f"{each.method} {each.wire_path}"
        tests = exercised.get(name, set()) & good
        chosen = before.get(name)
        is_still_good = chosen in tests or (chosen not in good and _exists(chosen))
        if tests and not is_still_good:
            chosen = max(sorted(tests), key=lambda test: _likeness(test, each, exercised))
        if chosen:
            lines.append(f"{name}\t{chosen}\n")
    CATALOGUE.write_text("".join(lines))


def mend_catalogue() -> None:
    """Bring the catalogue into the order of the operations, and follow tests that were renamed.

    The name in the same file that is most alike is taken; a whole run judges the guess.
    """
    from postern.app import OPERATIONS

    before, lines = read_catalogue(), []
    for name in (f"{each.method} {each.wire_path}" for each in OPERATIONS):
        test = before.get(name)
        file, _, function = (test or "").partition("::")
        place = CATALOGUE.parents[2] / file
        if test and not _exists(test) and place.exists():
            known = re.findall(r"^(?:async )?def (test_\w+)", place.read_text(), re.MULTILINE)
            test = f"{file}::{next(iter(get_close_matches(function, known, 1, 0.0)), function)}"
        if test:
            lines.append(f"{name}\t{test}\n")
    CATALOGUE.write_text("".join(lines))


def _exists(test: str | None) -> bool:
    file, _, name = (test or "").partition("::")
    place = CATALOGUE.parents[2] / file
    return bool(name) and place.exists() and f"def {name}(" in place.read_text()


AT_LARGE = ("tests/test_contract.py", "tests/test_schemathesis.py", "tests/test_guides.py")
"""Tests that try every operation show none in particular."""


def _likeness(test: str, operation: Any, exercised: Mapping[str, set[str]]) -> tuple[int, int, int]:
    """How well a test seems to show an operation: at home in its feature, alike in words, about little else."""
    folder, words = [*test.split("/"), "", ""][2], set(re.findall(r"[a-z]+", test.rpartition("::")[2]))
    feature = operation.function.__module__.split(".")[2]
    own = {stem(word) for word in operation.name.split("_")}
    others = sum(test in tests for tests in exercised.values())
    about_refusals = len(words & {"unknown", "refused", "another", "foreign", "nobody", "limits", "limit"})
    return folder == feature, len(own & {stem(word) for word in words}) - about_refusals, -others


def stem(word: str) -> str:
    return word.rstrip("s").removesuffix("ing").removesuffix("ed").rstrip("e")


def disagreements(exercised: Mapping[str, set[str]], passed: Iterable[str]) -> list[str]:
    """Where the catalogue names a test that ran and did not exercise the operation, or an operation nobody did."""
    ran = {test.partition("[")[0] for test in passed}
    wrong = [f"{name_of(each)}: never exercised" for each in contract()["operations"] if name_of(each) not in exercised]
    for name, test in read_catalogue().items():
        if test in ran and test not in exercised.get(name, set()):
            wrong.append(f"{name}: not by {test}, as the catalogue says")
    return wrong
