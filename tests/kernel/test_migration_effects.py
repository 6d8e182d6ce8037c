"""What a migration does to a running server is recognized, and new migrations let the previous release go on."""

import re
from collections.abc import Iterator

import psycopg
import pytest

from postern.kernel.database.migration_effects import effects_of, split_statements
from postern.kernel.database.migrations import migrations
from tests.packages.conftest import ROOT
from tests.peers.whole_server import empty_database

CHECKED_SINCE = 205
"""The first number that is checked; earlier migrations were made before the first release."""
TABLES = """
    create table parents (id integer primary key);
    create table shelves (id integer primary key, label text, size integer default 1 not null, parent integer);
    alter table shelves add constraint shelves_label_check check (label <> '') not valid;
    create index shelves_label on shelves (label);
    create function stamp() returns trigger language plpgsql as $$ begin return new; end $$;
    create trigger stamps before insert on shelves for each row execute function stamp();
"""
EXCLUSIVE, SHARED = {"AccessExclusiveLock"}, {"ShareLock", "ShareRowExclusiveLock"}
"""Locks for which reads and writes wait, and for which only writes do (PostgreSQL, Table-Level Locks)."""

ALLOWED = [
    "create table boxes (id integer primary key, shelf integer references shelves)",
    "create table boxes (id integer); create index boxes_id on boxes (id); update boxes set id = 1",
    "alter table shelves add column note text",
    "alter table shelves add column note text not null default '', add column at timestamptz not null default now()",
    (
        "-- holds: sizes are positive since 0100.\n"
        "alter table shelves add constraint shelves_size_check check (size > 0) not valid"
    ),
    (
        "-- holds: parents are never deleted.\n"
        "alter table shelves add constraint shelves_fkey foreign key (parent) references parents not valid"
    ),
    "alter table shelves validate constraint shelves_label_check",
    "alter table shelves drop constraint shelves_label_check",
    "alter table shelves alter column label set statistics 0, alter size drop not null",
    "alter table shelves set (fillfactor = 80)",
    "create or replace function stamp() returns trigger language plpgsql as $$ begin return old; end $$",
    "insert into parents values (1)",
    "create trigger more before update on shelves for each row execute function stamp()",
]
REFUSED = {
    "drop table shelves": "may use the table",
    "drop index shelves_label": "may use the index",
    "drop trigger stamps on shelves": "depend on the trigger",
    "alter table shelves drop column label": "reads and writes the column",
    "alter table shelves drop label": "reads and writes the column",
    "alter table shelves rename column label to name": "uses the old name",
    "alter table shelves rename to racks": "uses the old name",
    "alter table shelves drop constraint shelves_pkey": "on conflict",
    "alter table shelves add column code text not null": "no value for the column",
    "alter table shelves add column code uuid default gen_random_uuid()": "Add a new column",
    "alter table shelves add column double integer generated always as (size * 2) stored": "Add a new column",
    "alter table shelves alter column size type bigint": "prepared statements",
    "alter table shelves alter column label set not null": "may write null",
    "alter table shelves alter column size drop default": "depend on the default",
    "alter table shelves add constraint shelves_size_check check (size > 0) not valid": "rows that the constraint",
    "alter table shelves add constraint shelves_fkey foreign key (parent) references parents not valid": "-- holds",
    "alter table shelves add constraint shelves_label_key unique (label)": "rows that the constraint refuses",
    "create unique index shelves_label_key on shelves (label)": "rows that the index refuses",
    "-- holds: yes.\nalter table shelves add constraint shelves_size_check check (size > 0)": "not valid",
    "-- holds: yes.\nalter table shelves add constraint a foreign key (parent) references parents": "not valid",
    "-- holds: yes.\nalter table shelves add constraint a unique (label)": "everything on shelves would wait",
    "-- holds: yes.\nalter table shelves drop column label": "reads and writes the column",
    "-- blocks: small.\n-- contract 0.1.0: a.\ncreate unique index a on shelves (size)": "rows that the index refuses",
    "create index shelves_size on shelves (size)": "create index concurrently",
    "-- holds: yes.\ncreate unique index shelves_size on shelves (size)": "create index concurrently",
    "update shelves set label = 'a'": "rows of TABLE",
    "delete from shelves where size = 0": "rows of TABLE",
    "do $$ begin drop table shelves; end $$": "not known",
    "lock table shelves": "not known",
    "truncate shelves": "not known",
    "alter table shelves cluster on shelves_pkey": "not known",
}


@pytest.mark.parametrize("text", ALLOWED)
def test_statements_with_which_the_previous_release_goes_on_are_allowed(text: str) -> None:
    assert [effect.problem for effect in effects_of(text) if effect.problem] == []


@pytest.mark.parametrize(("text", "problem"), REFUSED.items())
def test_statements_that_break_or_block_the_previous_release_are_refused(text: str, problem: str) -> None:
    assert problem in " ".join(effect.problem for effect in effects_of(text))


def test_a_contract_step_and_a_small_table_need_a_reason() -> None:
    dropped = "-- What it is for.\n-- contract 0.1.0: no statement has used it since.\nalter table shelves drop label"
    [effect] = effects_of(dropped)
    assert (effect.problem, effect.contract, effect.line) == ("", "0.1.0", 3)
    [effect] = effects_of("-- blocks: it has one row for each domain.\ncreate index a on shelves (label);")
    assert effect.problem == ""
    [effect] = effects_of("-- blocks: small.\nalter table shelves drop column label")
    assert effect.problem, "a small table is no reason to break the previous release"
    [effect] = effects_of("-- contract 0.1.0:\nalter table shelves drop column label")
    assert effect.problem, "without a reason"


def test_statements_are_split_outside_of_quotes_and_comments() -> None:
    text = "-- a; b\nselect ';', \"a;b\" /* ; */;\n\nDO $x$ begin; '$$ end $x$;\n-- end\n"
    assert [(statement.line, statement.text) for statement in split_statements(text)] == [
        (2, "select ';', \"a;b\""),
        (4, "do $x$ begin; '$$ end $x$"),
    ]


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection]:
    """A connection to a database with TABLES."""
    with empty_database() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLES.encode())
        yield connection


@pytest.mark.parametrize("text", [text for text in [*ALLOWED, *REFUSED] if effects_of(text)[0].is_known])
def test_locks_and_rewrites_are_those_of_postgresql(text: str, connection: psycopg.Connection) -> None:
    effects = [effect for effect in effects_of(text) if effect.table == "shelves"]
    file_of_table = "select oid, pg_relation_filenode(oid) from pg_class where relname in ('shelves', 'racks')"
    with connection.transaction(force_rollback=True):
        before = connection.execute(file_of_table).fetchone()
        assert before is not None
        connection.execute(text.encode())
        rows = connection.execute(
            "select mode from pg_locks where relation = %s and pid = pg_backend_pid()", before[:1]
        ).fetchall()
        locks = {mode for (mode,) in rows}
        after = connection.execute(file_of_table).fetchone()
    if not effects:
        return
    blocks = {effect.blocks for effect in effects}
    assert ("everything" in blocks) == bool(locks & EXCLUSIVE), locks
    if "rows" not in {effect.work for effect in effects}:
        assert bool(blocks - {"nothing"}) == bool(locks & (EXCLUSIVE | SHARED)), locks
    is_rewritten = after is not None and before != after
    assert is_rewritten == ("rewrite" in {effect.work for effect in effects})


def test_the_previous_release_goes_on_during_new_migrations() -> None:
    """Else a reason is in the file: see migrations/README.md."""
    problems = [
        f"{migration.name}, line {effect.line}: {effect.problem}"
        for migration in migrations()
        if migration.number >= CHECKED_SINCE and migration.long is None
        for effect in effects_of(migration.text)
        if effect.problem
    ]
    assert problems == []


def test_new_long_migrations_refuse_no_rows_of_the_previous_release() -> None:
    [effect] = effects_of("-- long migration: index on shelves\ncreate unique index concurrently a on shelves (label)")
    assert effect.refuses_rows
    assert "rows that the index refuses" in effect.problem
    long = [migration for migration in migrations() if migration.number >= CHECKED_SINCE and migration.long]
    problems = [effect.problem for migration in long for effect in effects_of(migration.text) if effect.refuses_rows]
    assert not any(problems)


def test_contract_steps_name_an_earlier_release() -> None:
    releases = re.findall(r"^## (\d\S*),", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    # While there is only one, which is not released yet, nothing of an earlier one has to go on.
    earlier = releases[1:] or releases
    named = {effect.contract for migration in migrations() for effect in effects_of(migration.text)} - {""}
    assert named <= set(earlier), "name the release since which nothing uses what is removed"
