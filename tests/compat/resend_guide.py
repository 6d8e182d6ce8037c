"""The table of methods in docs/guide/resend.md."""

import re
from dataclasses import dataclass
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs/guide/resend.md"
WORKS = "works"


@dataclass(frozen=True)
class Row:
    """A row: the names of methods of both packages, and `works` or the sentence of the response 501."""

    python: list[str]
    node: list[str]
    result: str


ROWS = [
    Row(re.findall(r"`([\w.]+)`", python), re.findall(r"`([\w.]+)`", node), result)
    for python, node, result in re.findall(r"^\| ([^|]+) \| ([^|]+) \| (.+) \|$", GUIDE.read_text(), re.MULTILINE)
    if python != "Python"
]
