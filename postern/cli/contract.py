"""`postern contract`: every operation of the API, what it asks of a caller, and the test that shows it."""

from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from postern.kernel.http.operation import Operation

Area = Annotated[str, typer.Argument(help="Only operations whose address has this in it, such as `/campaigns`.")]
CREDENTIALS = ("developer", "secret_key", "publishable_key", "customer")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(contract)


def contract(part: Area = "") -> None:
    """Print every operation, the permission (or credential) that it needs, and the test that shows it."""
    from postern.app import OPERATIONS

    shown_by = tests()
    rows = [(f"{each.method} {each.wire_path}", credential_of(each)) for each in OPERATIONS if part in each.wire_path]
    table = [("OPERATION", "NEEDS", "TEST"), *((name, needs, shown_by.get(name, "-")) for name, needs in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(2)]
    for operation, needs, test in table:
        print(f"{operation:{widths[0]}}  {needs:{widths[1]}}  {test}")
    print(f"\n{len(rows)} operations, {sum(name in shown_by for name, _ in rows)} of them with a test")


def tests() -> dict[str, str]:
    """The test that shows each operation; `script/contract` writes it from a run of all tests."""
    text = resources.files("postern.cli").joinpath("contract.tsv").read_text()
    return dict(line.split("\t", 1) for line in text.splitlines())


def credential_of(operation: "Operation[Any, Any]") -> str:
    """The permission that an operation needs, or the credentials that it takes where none is needed."""
    if operation.needs:
        return operation.needs
    if not operation.accepts or "nobody" in operation.accepts:
        return "anyone"
    return " or ".join(each.replace("_", " ") for each in CREDENTIALS if each in operation.accepts)
