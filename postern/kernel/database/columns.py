"""Names the columns that a statement returns, where its SQL says `*`.

PostgreSQL refuses to execute a prepared statement whose result has got another column: "cached plan must not change
result type". A migration that adds a column would otherwise break each such statement on each connection of the
processes that run meanwhile.
"""

import re
from collections.abc import Sequence

_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|[()]|\b(?:select|insert|returning"
    r"|from|where|union|except|intersect|order|limit|offset|for|group|having|window)\b"
)
"""What tells where lists begin and end. Keywords are written in lower case."""
_STAR = re.compile(r"(?:(\w+)\.)?\*")
_ALIAS = re.compile(r"(\w+)\s*$")


def name_columns(sql: str, fields: Sequence[str]) -> str:
    """`sql` with the columns of these names instead of each `*` or `alias.*` in the lists of what it returns.

    Columns that such a list names itself are not repeated. The lists of a union get the same columns in the same order.
    `*` in subqueries is left as it is: it does not change what the statement returns. Raises ValueError if a list has
    more than one `*`.
    """
    if "*" not in sql:
        return sql
    parts, end, columns = list[str](), 0, list[str]()
    for start, stop in _returned_lists(sql):
        items = split_at_commas(sql[start:stop])
        stars = sum(_STAR.fullmatch(item.strip()) is not None for item in items)
        if stars > 1:
            raise ValueError("Name the columns: more than one * is ambiguous.")
        if stars:
            named = {match[1] for item in items if (match := _ALIAS.search(item))}
            columns = columns or [field for field in fields if field not in named]
            parts += [sql[end:start], ",".join(_expanded(item, columns) for item in items)]
            end = stop
    return "".join([*parts, sql[end:]])


def _expanded(item: str, columns: Sequence[str]) -> str:
    star = _STAR.fullmatch(item.strip())
    if star is None:
        return item
    prefix = f"{star[1]}." if star[1] else ""
    names = ", ".join(f"{prefix}{column}" for column in columns)
    return item.replace(star[0], names)


def _returned_lists(sql: str) -> list[tuple[int, int]]:
    """Where the lists of what the statement returns begin and end: after `returning`, or, in a query, after each
    `select` outside of parentheses."""
    lists: list[tuple[int, int]] = []
    depth, start, is_insert = 0, -1, False
    for match in _TOKEN.finditer(sql):
        word = match[0]
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif depth or word[0] in "'\"-":
            continue
        elif word == "insert":
            is_insert = True
        elif word == "returning" or (word == "select" and not is_insert):
            start = match.end()
        elif start >= 0 and word != "select":
            lists.append((start, match.start()))
            start = -1
    if start >= 0:
        lists.append((start, len(sql)))
    return lists


def split_at_commas(text: str) -> list[str]:
    """The parts between the commas that are in no parentheses and in no quotes."""
    items, depth, start = list[str](), 0, 0
    for match in re.finditer(r"'(?:[^']|'')*'|[(),]", text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "," and not depth:
            items.append(text[start : match.start()])
            start = match.end()
    return [*items, text[start:]]
