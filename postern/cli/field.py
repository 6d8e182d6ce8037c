"""`postern field`: extract one value from a JSON document, so that shell examples do not need jq."""

import json
import sys
from typing import Annotated, Any

import typer

Path = Annotated[str, typer.Argument(help="Names and list positions, joined by dots: `id`, `data.0.email`.")]


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(field)


def field(path: Path) -> None:
    """Print one value of the JSON document on standard input, as in `curl … | postern field id`."""
    from postern.cli import CannotRun

    text = sys.stdin.read()
    if not text.strip():
        raise CannotRun("There is nothing on standard input: pipe a JSON document into this command.")
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        raise CannotRun(f"Standard input is not JSON: {error}.") from None
    for part in path.split("."):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, TypeError, ValueError):
            raise CannotRun(f"The document has no value at “{path}”: {text.strip()[:300]}") from None
    print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
