"""Writes the generated files of the SDKs, or compares them with `--check`: `script/client`."""

import sys
from collections.abc import Callable
from pathlib import Path

from sdk.generator.model import Api, load
from sdk.generator.python import write_python
from sdk.generator.typescript import write_typescript

ROOT = Path(__file__).parent.parent.parent
WRITERS: tuple[Callable[[Api], dict[str, str]], ...] = (write_python, write_typescript)
"""Each returns the text of its files by their path in this repository."""


def main() -> None:
    """Write the files, or with `--check` end with status 1 and their names if some differ."""
    api = load()
    stale: list[str] = []
    for writer in WRITERS:
        for name, text in writer(api).items():
            file = ROOT / name
            if file.exists() and file.read_text() == text:
                continue
            stale.append(name)
            if "--check" not in sys.argv:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit("These files do not fit the API; run script/client:\n" + "\n".join(stale))


if __name__ == "__main__":
    main()
