"""Checks that the events which the tests caused have the data that the API reference describes."""

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import psycopg

from postern.platform.events.payloads import PAYLOADS, ContactEventData

MADE_BY_TEST = "made by a test"
"""The label of the actor of events which a test records itself; their data is not checked."""

_STORED = """
    with numbered as (
        select type, data, row_number() over (partition by type order by id desc) as number
        from events where erased_at is null and actor_label is distinct from %(made_by_test)s
    ), latest as (select type, data from numbered where number <= 500),
    typed as (
        select type, key, jsonb_typeof(value) as kind, count(*) as number
        from latest, jsonb_each(data) group by type, key, kind
    ), keys as (select type, key, jsonb_object_agg(kind, number) as kinds from typed group by type, key),
    counts as (select type, count(*) as number from latest group by type)
    select type, number, (select jsonb_object_agg(key, kinds) from keys where keys.type = counts.type) from counts
"""
"""Of the latest events of each type: how many there are, and by key of the data, how many values of which JSON type."""


def data_errors(database_url: str) -> list[str]:
    """Differences between the data of the stored events and the declared fields of their types."""
    declared = {payload.name: payload.data for payload in PAYLOADS}
    errors: list[str] = []
    with psycopg.connect(database_url) as connection:
        for type_, count, keys in connection.execute(_STORED, {"made_by_test": MADE_BY_TEST}).fetchall():
            if type_ in declared:
                errors += [f"{type_}: {text}" for text in _differences(declared[type_], count, keys or {})]
    return errors


def _differences(data: Any, count: int, keys: dict[str, dict[str, int]]) -> list[str]:
    common = {field.encode_name for field in msgspec.structs.fields(ContactEventData)}
    fields = {field.encode_name: field for field in msgspec.structs.fields(data) if field.encode_name not in common}
    errors = [f"{name} is not declared" for name in keys.keys() - fields.keys()]
    for name, field in fields.items():
        kinds = keys.get(name, {})
        errors += [f"{name} is {kind}" for kind in kinds.keys() - _json_types(field.type)]
        if field.required and sum(kinds.values()) < count:
            errors.append(f"{name} is missing in {count - sum(kinds.values())} of {count}")
    return errors


def _json_types(kind: Any) -> set[str]:
    if get_origin(kind) in (Union, UnionType):
        return set().union(*map(_json_types, get_args(kind)))
    if kind is type(None):
        return {"null"}
    names = {bool: "boolean", int: "number", float: "number", list: "array"}
    return {"string" if get_origin(kind) is Literal else names.get(get_origin(kind) or kind, "string")}
