"""`postern contract`: list the operations of the API, the permission each needs, and a test that covers it."""

from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from postern.kernel.http.operation import Operation

Part = Annotated[str, typer.Argument(help="Only operations whose path contains this text, for example `/campaigns`.")]
CREDENTIALS = ("developer", "secret_key", "publishable_key", "customer")
"""Kinds of credentials, in the order in which they are printed."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(contract)


def contract(part: Part = "") -> None:
    """Print every operation of the API, the permission or credential that it needs, and a test that covers it."""
    from postern.app import OPERATIONS

    tests_by_operation = covering_tests()
    rows = [
        (f"{operation.method} {operation.wire_path}", credential_of(operation))
        for operation in OPERATIONS
        if part in operation.wire_path
    ]
    table = [
        ("OPERATION", "NEEDS", "TEST"),
        *((name, needs, tests_by_operation.get(name, "-")) for name, needs in rows),
    ]
    widths = [max(len(row[column]) for row in table) for column in range(2)]
    for operation, needs, test in table:
        print(f"{operation:{widths[0]}}  {needs:{widths[1]}}  {test}")
    print(f"\n{len(rows)} operations, {sum(name in tests_by_operation for name, _ in rows)} of them with a test")


def covering_tests() -> dict[str, str]:
    """Test ids by operation (`METHOD path`), from contract.tsv, which `script/contract` writes from a test run."""
    text = resources.files("postern.cli").joinpath("contract.tsv").read_text()
    return dict(line.split("\t", 1) for line in text.splitlines())


def credential_of(operation: "Operation[Any, Any]") -> str:
    """The permission that an operation needs; if it needs none, the credentials that it accepts."""
    if operation.needs:
        return operation.needs
    # The caller of a request without a credential is of the kind `anonymous`.
    if not operation.accepts or "anonymous" in operation.accepts:
        return "anyone"
    return " or ".join(name.replace("_", " ") for name in CREDENTIALS if name in operation.accepts)
