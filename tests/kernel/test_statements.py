"""Statements with the fields of a Struct as parameters, and the checks of a statement's parameters at import."""

from typing import Any, Literal

import pytest

from postern.kernel.database.statements import STATEMENTS, Queries, Transaction, open_database, statement
from postern.kernel.values import Record


class Part(Record):
    color: str
    sizes: list[int] = []


class Thing(Record):
    name: str
    kind: Literal["A", "B"] = "A"
    tags: list[str] | None = None
    parts: list[Part] = []
    payload: dict[str, Any] = {}
    extra: Any = None
    unused: str = ""


@pytest.fixture(autouse=True)
def remove_statements():
    """Removes the statements of a test from STATEMENTS, which another test checks against the schema."""
    before = len(STATEMENTS)
    yield
    del STATEMENTS[before:]


async def test_struct_fields_become_parameters(database_url):
    @statement("""
        select %(name)s::text as name, %(kind)s::text as kind, %(tags)s::text[] as tags, %(parts)s::jsonb as parts,
               %(payload)s::jsonb as payload, %(extra)s::jsonb as extra, %(more)s::text as unused
    """)
    async def echo(db: Queries, thing: Thing, *, more: str) -> Thing: ...

    thing = Thing(name="x", tags=["a", "b"], parts=[Part(color="red", sizes=[1])], payload={"k": [1]}, extra=[1, 2])
    async with open_database(database_url, size=1) as db:
        assert await echo(db, thing, more="m") == Thing(
            name="x", tags=["a", "b"], parts=thing.parts, payload={"k": [1]}, extra=[1, 2], unused="m"
        )
        assert (await echo(db, Thing(name="y"), more="")).tags is None


async def test_a_list_of_structs_becomes_one_array_per_field(database_url):
    @statement("""
        select name, parts, payload, array(select jsonb_array_elements_text(tags)) as tags
        from unnest(%(name)s::text[], %(parts)s::jsonb[], %(payload)s::jsonb[], %(tags)s::jsonb[])
             as v (name, parts, payload, tags)
    """)
    async def echo(db: Queries, things: list[Thing], /) -> list[Thing]: ...

    things = [
        Thing(name="x", tags=["a", "b"], parts=[Part(color="red")]),
        Thing(name="y", tags=[], payload={"a": 1}),
    ]
    async with open_database(database_url, size=1) as db:
        assert await echo(db, things) == things
        assert await echo(db, []) == []


def test_mismatched_parameter_names_fail_at_import():
    with pytest.raises(TypeError, match="disagree about \\['colour'\\]"):

        @statement("select %(colour)s::text, %(name)s::text")
        async def unknown_field(db: Queries, thing: Thing) -> None: ...

    with pytest.raises(TypeError, match="disagree about \\['thing'\\]"):

        @statement("select 1")
        async def unused_struct(db: Queries, thing: Thing) -> None: ...

    with pytest.raises(TypeError, match="two values for \\['name'\\]"):

        @statement("select %(name)s::text")
        async def two_parameters_with_one_name(db: Queries, thing: Thing, *, name: str) -> None: ...

    with pytest.raises(TypeError, match="neither keyword-only nor a Struct"):

        @statement("select %(name)s::text")
        async def positional(db: Queries, name: str) -> None: ...

    with pytest.raises(TypeError, match="does not insert \\['extra', 'kind', 'parts', 'payload', 'tags', 'unused'\\]"):

        @statement("insert into things (name) values (%(name)s)")
        async def insert_without_some_fields(db: Queries, thing: Thing) -> None: ...


async def test_an_insert_takes_a_struct_as_a_whole(database_url):
    @statement("insert into part {row}")
    async def insert(tx: Transaction, part: Part) -> None: ...

    @statement("insert into part (color) values (%(color)s)", partial=True)
    async def insert_color(tx: Transaction, part: Part) -> None: ...

    @statement("select * from part")
    async def parts(tx: Transaction) -> list[Part]: ...

    async with open_database(database_url, size=1) as db, db.transaction() as tx:
        async with tx.connection() as connection:
            await connection.execute("create temp table part (color text, sizes int[] default '{}') on commit drop")
        await insert(tx, Part(color="red", sizes=[1, 2]))
        await insert_color(tx, Part(color="blue", sizes=[3]))
        assert await parts(tx) == [Part(color="red", sizes=[1, 2]), Part(color="blue")]


async def test_an_insert_takes_the_keyword_parameters_that_its_sql_does_not_use_elsewhere(database_url):
    @statement("insert into part {row} returning cardinality(sizes) + %(more)s")
    async def insert(tx: Transaction, part: Part, *, weight: int, more: int) -> int: ...

    @statement("select weight from part where color = %(color)s")
    async def weight_of(tx: Transaction, *, color: str) -> int: ...

    async with open_database(database_url, size=1) as db, db.transaction() as tx:
        async with tx.connection() as connection:
            await connection.execute("create temp table part (color text, sizes int[], weight int) on commit drop")
        assert await insert(tx, Part(color="red", sizes=[1, 2]), weight=7, more=10) == 12
        assert await weight_of(tx, color="red") == 7
