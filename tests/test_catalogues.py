"""The lists in docs/guide match the code.

They are generated in a separate process, because tests define problems, too.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from postern.app import OPERATIONS
from tests.commands import run_command
from tests.contract import catalogue_errors, contract, name_of, read_catalogue


def test_the_lists_in_the_guides_match_the_code() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "tests.catalogues", "--check"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert checked.returncode == 0, checked.stderr


def all_tests() -> set[str]:
    """All test functions, as `file::name`."""
    root = Path(__file__).parent
    return {
        f"tests/{file.relative_to(root)}::{name}"
        for file in root.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
    }


def test_every_operation_refers_to_an_existing_test():
    """After a complete run, conftest.py checks that the tests called these operations."""
    catalogue = read_catalogue()
    assert list(catalogue) == [f"{operation.method} {operation.wire_path}" for operation in OPERATIONS], (
        "run script/contract, or the tests of new operations with --write-contract"
    )
    assert not set(catalogue.values()) - all_tests()


def test_the_contract_lists_permission_and_test():
    printed = run_command("contract", environment=os.environ).stdout
    rows = [line.split() for line in printed.splitlines()]
    assert rows[0] == ["OPERATION", "NEEDS", "TEST"]
    assert rows[-1][:2] == [str(len(OPERATIONS)), "operations,"]
    shown = {f"{row[0]} {row[1]}": row for row in rows[1:-2]}
    assert len(shown) == len(OPERATIONS)
    assert {name_of(operation) for operation in contract()["operations"]} <= set(shown)
    assert shown["POST /projects/{projectId}/campaigns/{id}/send"][2] == "campaigns:send"
    assert shown["GET /t/c/{sendId}"][2] == "anyone"
    assert all(row[-1].startswith("tests/") for row in shown.values())


def test_a_test_that_does_not_call_its_operation_is_reported():
    exercised = {name_of(operation): set() for operation in contract()["operations"]}
    exercised.update({name: {test} for name, test in read_catalogue().items()})
    passed = [f"{test}[some case]" for test in read_catalogue().values()]
    assert catalogue_errors(exercised, passed) == []
    name, test = next(iter(read_catalogue().items()))
    assert catalogue_errors({**exercised, name: set()}, passed) == [
        f"{name}: not called by {test}, which is its test in the catalogue"
    ]
    assert catalogue_errors({**exercised, name: set()}, []) == [], "a test that did not run is not an error"
    del exercised["GET /t/o/{sendId}"]
    assert catalogue_errors(exercised, []) == ["GET /t/o/{sendId}: never called"]
    assert catalogue_errors(exercised, [], is_complete=False) == [], (
        "a part of the tests calls a part of the operations"
    )
