"""What a migration does to a server that goes on working: the locks that it takes, how long it holds them, and whether
processes of the previous release still work afterwards.

Only the forms of statements that migrations use are known; a test refuses a migration with any other. Levels of locks
and rewrites of tables are those of PostgreSQL's documentation, ALTER TABLE and CREATE INDEX.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from postern.kernel.database.columns import split_at_commas

Blocks = Literal["nothing", "writes", "everything"]
"""Which statements of other connections wait for the lock on the table."""
Work = Literal["instant", "scan", "index", "rewrite", "rows"]
"""What happens while the lock is held, or, for `rows`, until the commit: nothing that depends on the size of the table;
reading it; building an index; writing it again; changing rows."""


@dataclass(frozen=True)
class Effect:
    """What one statement, or one action of ALTER TABLE, does."""

    description: str
    line: int
    """Line of the statement in the file, counted from 1."""
    table: str | None = None
    """The table that is locked or read, if it existed before the migration."""
    blocks: Blocks = "nothing"
    work: Work = "instant"
    breaks: str = ""
    """Why statements of the previous release fail or mean something else afterwards; empty if they work."""
    refuses_rows: bool = False
    """Whether it breaks statements only by refusing rows that they write."""
    is_known: bool = True
    """Whether the form of the statement is known."""
    contract: str = ""
    """The release since which nothing uses what is removed, from a line `-- contract RELEASE: reason`."""
    accepted: str = ""
    """The reason from a line `-- contract RELEASE: reason` or `-- blocks: reason`."""

    @property
    def is_slow(self) -> bool:
        """Whether requests wait as long as work takes that depends on the size of the table."""
        return self.blocks != "nothing" and self.work != "instant"

    @property
    def problem(self) -> str:
        """Why the statement must not be in a new migration; empty if it may."""
        if not self.is_known:
            return f"{self.description}: this form of statement is not known to migration_effects.py"
        if self.breaks and self.refuses_rows:
            return f"{self.description}: {self.breaks}. If it writes none, say why: `-- holds: reason`"
        if self.breaks and not self.contract:
            return f"{self.description}: {self.breaks}. Remove it in a later release: `-- contract RELEASE: reason`"
        if self.is_slow and not self.accepted:
            return f"{self.description}: {self.blocks} on {self.table} would wait. {REMEDIES[self.work]}"
        return ""


REMEDIES = {
    "scan": "Add the constraint as `not valid`, and validate it in a migration of its own",
    "index": "Make it a long migration: `-- long migration: index on TABLE`, and `create index concurrently`",
    "rewrite": "Add a new column, fill it in batches, and drop the old one in a later release",
    "rows": "Make it a long migration: `-- long migration: rows of TABLE (KEY)`",
}
"""What to do instead. If the table is small in every installation, a line `-- blocks: reason` says so."""


@dataclass(frozen=True)
class SqlStatement:
    """A statement of a migration."""

    line: int
    comments: tuple[str, ...]
    """The comments before and in it, without `--`."""
    text: str
    """Without comments, in lower case outside of quotes, with single spaces."""


_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<quoted>'(?:[^']|'')*'|\"[^\"]*\"|(?P<tag>\$\w*\$).*?(?P=tag))|(?P<end>;)|.",
    re.DOTALL,
)


def split_statements(text: str) -> list[SqlStatement]:
    """The statements of an SQL script."""
    statements: list[SqlStatement] = []
    parts, comments, line = list[str](), list[str](), 0
    for match in _TOKEN.finditer(f"{text};"):
        if comment := match["comment"]:
            comments.append(comment.removeprefix("--").strip())
            parts.append(" ")
        elif match["end"]:
            if sql := "".join(parts).strip():
                statements.append(SqlStatement(line, tuple(comments), sql))
            parts, comments, line = [], [], 0
        elif quoted := match["quoted"]:
            parts.append(quoted)
        elif not match[0].isspace():
            line = line or text.count("\n", 0, match.start()) + 1
            parts.append(match[0].lower())
        elif parts and not parts[-1].isspace():
            parts.append(" ")
    return statements


def effects_of(text: str) -> list[Effect]:
    """The effects of the statements of a migration, in order."""
    effects: list[Effect] = []
    new_tables: set[str] = set()
    for statement in split_statements(text):
        contract, accepted, holds = _markers(statement.comments)
        if created := re.match(r"create (?:temporary |unlogged )?table (?:if not exists )?(\w+)", statement.text):
            new_tables.add(created[1])
        for effect in _effects_of_statement(statement):
            if effect.table in new_tables:
                # No other connection uses the table before the commit.
                effects.append(replace(effect, table=None, blocks="nothing", work="instant", breaks=""))
            elif effect.refuses_rows and holds:
                effects.append(replace(effect, breaks="", accepted=accepted))
            else:
                effects.append(replace(effect, contract=contract, accepted=accepted))
    return effects


def _markers(comments: tuple[str, ...]) -> tuple[str, str, str]:
    """The release of a line `contract RELEASE: reason`, the reason of this line or of a line `blocks: reason`, and that
    of a line `holds: reason`."""
    contract, accepted, holds = "", "", ""
    for comment in comments:
        if match := re.fullmatch(r"contract (\S+): (.+)", comment):
            contract, accepted = match[1], match[2]
        elif match := re.fullmatch(r"blocks: (.+)", comment):
            accepted = match[1]
        elif match := re.fullmatch(r"holds: (.+)", comment):
            holds = match[1]
    return contract, accepted, holds


def _effects_of_statement(statement: SqlStatement) -> Iterator[Effect]:
    line, text = statement.line, statement.text
    if altered := re.match(r"alter table (?:if exists )?(?:only )?(\w+) (.+)", text, re.DOTALL):
        for action in split_at_commas(altered[2]):
            yield _effect_of_action(line, altered[1], action.strip())
        return
    for pattern, make in STATEMENT_FORMS:
        if match := re.match(pattern, text, re.DOTALL):
            yield replace(make(match), line=line)
            break
    else:
        yield Effect(_abbreviated(text), line, is_known=False)


def _abbreviated(text: str) -> str:
    return text if len(text) <= 70 else f"{text[:69]}…"


def _creates_index(match: re.Match[str]) -> Effect:
    unique, concurrently, name, table = match.groups()
    description = f"creates the {unique or ''}index {name} on {table}"
    effect = Effect(description, 0, table, "nothing" if concurrently else "writes", "index")
    return _refusing_rows(effect, "index") if unique else effect


def _refusing_rows(effect: Effect, kind: str) -> Effect:
    return replace(effect, breaks=f"the previous release may write rows that the {kind} refuses", refuses_rows=True)


def _changes_rows(match: re.Match[str]) -> Effect:
    verb, table = {"update": "changes", "delete from": "deletes"}[match[1]], match[2]
    return Effect(f"{verb} rows of {table}", 0, table, "writes", "rows")


def _drops(match: re.Match[str]) -> Effect:
    kind, name = match[1], match[2]
    breaks = f"the previous release may use the {kind}"
    return Effect(f"drops the {kind} {name}", 0, name if kind == "table" else None, "everything", breaks=breaks)


def _drops_trigger(match: re.Match[str]) -> Effect:
    breaks = "the previous release may depend on the trigger"
    return Effect(f"drops the trigger {match[1]}", 0, match[2], "everything", breaks=breaks)


STATEMENT_FORMS: tuple[tuple[str, Callable[[re.Match[str]], Effect]], ...] = (
    (
        r"create (?:temporary |unlogged )?table (?:if not exists )?(\w+)",
        lambda m: Effect(f"creates the table {m[1]}", 0),
    ),
    (
        r"create (unique )?index (concurrently )?(?:if not exists )?(\w+) on (?:only )?(\w+)",
        _creates_index,
    ),
    (r"create extension ", lambda m: Effect("creates an extension", 0)),
    (r"create (?:or replace )?function (\w+)", lambda m: Effect(f"defines the function {m[1]}", 0)),
    (
        r"create (?:or replace )?(?:constraint )?trigger (\w+) .*? on (\w+)",
        lambda m: Effect(f"creates the trigger {m[1]} on {m[2]}", 0, m[2], "writes"),
    ),
    (r"drop trigger (?:if exists )?(\w+) on (\w+)", _drops_trigger),
    (r"drop (table|index|function|type|sequence|view) (?:concurrently )?(?:if exists )?(\w+)", _drops),
    (r"(update) (?:only )?(\w+)", _changes_rows),
    (r"(delete from) (?:only )?(\w+)", _changes_rows),
    (r"insert into (\w+)", lambda m: Effect(f"inserts rows into {m[1]}", 0, m[1])),
    (r"select place_table\('(\w+)', '\w+'\)", lambda m: Effect(f"places {m[1]}", 0, m[1], "everything", "rewrite")),
    (r"comment on ", lambda m: Effect("sets a comment", 0)),
    (r"analyze (\w+)", lambda m: Effect(f"analyzes {m[1]}", 0, m[1])),
    (r"with (?!.*\b(?:update|delete)\b).* insert into (\w+)", lambda m: Effect(f"inserts rows into {m[1]}", 0, m[1])),
)
"""The forms of statements except ALTER TABLE, each with a function that returns its effect."""


def _effect_of_action(line: int, table: str, action: str) -> Effect:
    """The effect of one action of ALTER TABLE."""
    for pattern, make in ACTION_FORMS:
        if match := re.match(pattern, action, re.DOTALL):
            return replace(make(table, match), line=line)
    return Effect(_abbreviated(f"alter table {table} {action}"), line, table, is_known=False)


_VOLATILE = re.compile(r"\b(gen_random_uuid|uuidv7|random|clock_timestamp|nextval|timeofday)\s*\(")


def _adds_column(table: str, match: re.Match[str]) -> Effect:
    column, definition = match[1], match[2]
    default = re.search(r"\bdefault\b", definition)
    effect = Effect(f"adds the column {table}.{column}", 0, table, "everything")
    if re.search(r"\bgenerated\b.*\b(stored|as identity)\b|^(small|big)?serial\b", definition, re.DOTALL) or (
        default and _VOLATILE.search(definition, default.end())
    ):
        return replace(effect, description=f"{effect.description} with a value for each row", work="rewrite")
    if "not null" in definition and not default:
        return replace(effect, breaks="inserts of the previous release have no value for the column")
    if re.search(r"\bunique\b|\bprimary key\b", definition):
        return replace(effect, work="index")
    if re.search(r"\bcheck\b", definition) or (default and re.search(r"\breferences\b", definition)):
        return replace(effect, work="scan")
    return effect


def _adds_constraint(table: str, match: re.Match[str]) -> Effect:
    name, definition = match[1] or "", match[2]
    added = Effect(f"adds the constraint {name}".rstrip() + f" to {table}", 0, table, "everything")
    effect = _refusing_rows(added, "constraint")
    is_checked = "not valid" not in definition
    if definition.startswith("foreign key"):
        return replace(effect, blocks="writes", work="scan" if is_checked else "instant")
    if definition.startswith("check"):
        return replace(effect, work="scan" if is_checked else "instant")
    if "using index" in definition:
        return added  # The index is there and refuses the same rows.
    return replace(effect, work="index")


def _drops_constraint(table: str, match: re.Match[str]) -> Effect:
    name = match[1]
    effect = Effect(f"drops the constraint {name} of {table}", 0, table, "everything")
    if re.search(r"_(check|fkey)\d*$", name):
        return effect  # Without it, statements of the previous release work as before.
    return replace(effect, breaks="`on conflict` of the previous release may need the unique index")


def _short(description: str, *, breaks: str = "", work: Work = "instant") -> Callable[[str, re.Match[str]], Effect]:
    """An action with an exclusive lock; `{table}` and `{name}` in the description are replaced."""

    def effect(table: str, match: re.Match[str]) -> Effect:
        name = match[1] if match.re.groups else ""
        return Effect(description.format(table=table, name=name), 0, table, "everything", work, breaks)

    return effect


def _without_blocking(description: str, *, work: Work = "instant") -> Callable[[str, re.Match[str]], Effect]:
    """An action with a lock that neither reads nor writes wait for."""

    def effect(table: str, match: re.Match[str]) -> Effect:
        return Effect(description.format(table=table, name=match[1] if match.re.groups else ""), 0, table, work=work)

    return effect


ACTION_FORMS: tuple[tuple[str, Callable[[str, re.Match[str]], Effect]], ...] = (
    (
        r"add (?:constraint (\w+) )?((?:check|foreign key|unique|primary key|exclude)\b.*)",
        _adds_constraint,
    ),
    (r"add (?:column )?(?:if not exists )?(\w+) (.+)", _adds_column),
    (r"validate constraint (\w+)", _without_blocking("checks the constraint {name} of {table}", work="scan")),
    (r"drop constraint (?:if exists )?(\w+)", _drops_constraint),
    (
        r"drop (?:column )?(?:if exists )?(\w+)",
        _short("drops the column {table}.{name}", breaks="the previous release reads and writes the column"),
    ),
    (
        r"rename (?:column |constraint )?(\w+)",
        _short("renames {name} of {table}", breaks="the previous release uses the old name"),
    ),
    (
        r"alter (?:column )?(\w+) (?:set data )?type ",
        _short(
            "changes the type of {table}.{name}",
            breaks="prepared statements of the previous release fail",
            work="rewrite",
        ),
    ),
    (
        r"alter (?:column )?(\w+) set not null",
        _short("makes {table}.{name} not null", breaks="the previous release may write null", work="scan"),
    ),
    (r"alter (?:column )?(\w+) drop not null", _short("allows null in {table}.{name}")),
    (r"alter (?:column )?(\w+) set default", _short("sets the default of {table}.{name}")),
    (
        r"alter (?:column )?(\w+) drop default",
        _short(
            "drops the default of {table}.{name}", breaks="inserts of the previous release may depend on the default"
        ),
    ),
    (r"alter (?:column )?(\w+) set statistics", _without_blocking("sets the statistics of {table}.{name}")),
    (r"alter (?:column )?(\w+) set (?:storage|compression)", _short("sets the storage of {table}.{name}")),
    (r"set \(", _without_blocking("sets parameters of {table}")),
    (r"reset \(", _without_blocking("resets parameters of {table}")),
    (r"(?:enable|disable) trigger (\w+)", _short("switches the trigger {name} of {table}", breaks="it may need it")),
)
"""The forms of actions of ALTER TABLE, each with a function that returns its effect."""
