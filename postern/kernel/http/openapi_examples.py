"""Examples of answers, made from their types, so that the reference never shows a field that is not there.

A field is filled with what is said of it first: by the operation (`shows`), by a sample of that record's field, by
the example of a request body that makes such a record, by a sample of the field's name, by its default; and an
identifier is always the same for the same thing.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.values import to_plain

MOMENT = "2026-01-31T12:00:00.000Z"
"""When an example happened, unless a sample says otherwise."""

LATER = "2026-03-02T12:00:00.000Z"

NOTHING: Any = object()


@dataclass
class Examples:
    """Makes the example of a type."""

    samples: Mapping[str, Any]
    """By `field` or `Record.field`, named as in JSON: what to fill in."""
    things: Mapping[str, str]
    """By record or by field without its `Id`: the thing that it identifies, where that has another name."""
    bodies: dict[type, dict[str, Any]] = field(default_factory=dict[type, dict[str, Any]])
    """By record: the fields that the example of a request body gives it."""
    unnamed: set[str] = field(default_factory=set[str])
    """Fields that no sample names and that were filled by their type alone."""

    def from_type(self, kind: Any, body: Any) -> None:
        """Remember the body that makes such a record: examples of it carry the same values."""
        self.bodies.setdefault(get_origin(kind) or kind, _fields(body))

    def of(self, kind: Any, body: Any = None, shows: Mapping[str, Any] | None = None) -> Any:
        """The example of an answer of this type, to a request with this body.

        `shows` are fields that it carries; a mapping where the answer has records is about the fields of each.
        """
        if get_origin(kind) is dict:
            return dict(shows or {})
        given = {name: value for name, value in _fields(body).items() if not isinstance(value, dict)}
        return self._value(kind, "", "", given | dict(shows or {}))

    def _value(self, kind: Any, owner: str, name: str, first: Mapping[str, Any]) -> Any:
        origin, choices = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._value(choices[0], owner, name, first)
        if origin in (Union, UnionType):
            is_record = isinstance(choices[0], type) and issubclass(choices[0], msgspec.Struct)
            may_lack = NoneType in choices and not is_record
            return None if may_lack else self._value(choices[0], owner, name, first)
        if origin is Literal:
            return choices[0]
        if origin is list or origin is tuple:
            return [self._value(choices[0], owner, name, first)]
        if isinstance(origin or kind, type) and issubclass(origin or kind, msgspec.Struct):
            return self._record(kind, first)
        return self._plain(kind, owner, name)

    def _record(self, kind: Any, first: Mapping[str, Any]) -> dict[str, Any]:
        whole: Any = get_origin(kind) or kind
        hints = get_type_hints(whole, include_extras=True)
        made: dict[str, Any] = {}
        for each in msgspec.structs.fields(whole):
            hint = hints[each.name]
            hint = hint[get_args(kind)] if getattr(hint, "__parameters__", ()) else hint
            inner = first if get_args(kind) else first.get(each.encode_name)  # A page's rows are what was asked for.
            made[each.encode_name] = self._field(whole, each, hint, first, inner)
        return made

    def _field(self, whole: Any, each: Any, hint: Any, first: Mapping[str, Any], inner: Any) -> Any:
        name: str = each.encode_name
        told = (
            first.get(name, NOTHING),
            next(
                (self.samples[key] for kind in whole.__mro__ if (key := f"{kind.__name__}.{name}") in self.samples),
                NOTHING,
            ),
            next((self.bodies[kind][name] for kind in whole.__mro__ if name in self.bodies.get(kind, {})), NOTHING),
            self._identifier(whole, name, hint),
            self.samples.get(name, NOTHING),
        )
        for value in told:
            fitting = NOTHING if value is NOTHING else _as(hint, value)
            if fitting is not NOTHING:
                return fitting
        if each.default not in (msgspec.NODEFAULT, None):
            return to_plain(each.default)
        if each.default_factory is not msgspec.NODEFAULT:
            return to_plain(each.default_factory())
        return self._value(hint, whole.__name__, name, inner if isinstance(inner, Mapping) else {})

    def _identifier(self, whole: Any, name: str, hint: Any) -> Any:
        if hint is not UUID:
            return NOTHING
        thing = whole.__name__ if name == "id" else name.removesuffix("Id")
        return identifier(self.things.get(thing, thing[0].lower() + thing[1:]))

    def _plain(self, kind: Any, owner: str, name: str) -> Any:
        if kind is Moment or kind is datetime:
            return LATER if name.endswith("xpiresAt") else MOMENT
        if kind is UUID:
            return identifier(self.things.get(name, name))
        if kind is date:
            return MOMENT[:10]
        self.unnamed.add(f"{owner}.{name}")
        return {str: name, bool: False, int: 0, float: 0.0}.get(kind, {})


def identifier(thing: str) -> str:
    """A UUIDv7 that is the same for every example of this thing."""
    digits = hashlib.sha256(thing.encode()).hexdigest()
    return f"019c13f9-5a00-7{digits[:3]}-8{digits[3:6]}-{digits[6:18]}"


def _fields(body: Any) -> dict[str, Any]:
    plain = to_plain(body)
    return plain if isinstance(plain, dict) else {}


def _as(kind: Any, value: Any) -> Any:
    """The value as an answer of this type writes it; NOTHING where it does not fit."""
    try:
        return to_plain(msgspec.convert(value, kind, dec_hook=_moment))
    except msgspec.ValidationError:
        return NOTHING


def _moment(kind: Any, value: Any) -> Any:
    if kind is Moment and isinstance(value, str):
        return Moment.of(datetime.fromisoformat(value))
    raise msgspec.ValidationError(f"No {kind}.")
