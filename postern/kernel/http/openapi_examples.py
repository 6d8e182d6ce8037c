"""Examples of responses, generated from their types, so that the reference has exactly the existing fields.

The value of a field comes from the first of: the operation (`response_example`), a sample for the field of this record,
the example of a request body that creates such a record, a sample for the field's name, the default. Ids of the same
kind of record are equal in all examples.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec

from postern.kernel.values import Moment, to_plain

MOMENT = "2026-01-31T12:00:00.000Z"
"""The default of timestamps in examples."""

LATER = "2026-03-02T12:00:00.000Z"
"""The default of expiry times."""

MISSING: Any = object()
"""Marks an absent value, because None is a value."""


@dataclass
class Examples:
    """Generates examples of types."""

    samples: Mapping[str, Any]
    """Values by `field` or `Record.field`, with JSON names."""
    id_kinds: Mapping[str, str]
    """The kind of record that an id belongs to, by the name of the record's class (for `id`) or by the field's name
    without `Id`. Default: that name."""
    bodies: dict[type, dict[str, Any]] = field(default_factory=dict[type, dict[str, Any]])
    """By record type: the fields of the example of a request body that creates it."""
    without_sample: set[str] = field(default_factory=set[str])
    """The fields (`Record.field`) found so far that have no sample, so that their example depends only on their
    type."""

    def register_body(self, kind: Any, body: Any) -> None:
        """Register the example of a body that creates records of type `kind`; their examples get the same values.

        Only the first body of each type is used.
        """
        self.bodies.setdefault(get_origin(kind) or kind, _fields(body))

    def of(self, kind: Any, body: Any = None, response_example: Mapping[str, Any] | None = None) -> Any:
        """The example of a response of this type to a request with this body.

        `response_example` has values of fields, which take precedence; a value that is a mapping has the values of the
        fields of a nested record.
        """
        if get_origin(kind) is dict:
            return dict(response_example or {})
        from_body = {name: value for name, value in _fields(body).items() if not isinstance(value, dict)}
        return self._value(kind, "", "", from_body | dict(response_example or {}))

    def _value(self, kind: Any, owner: str, name: str, preferred: Mapping[str, Any]) -> Any:
        origin, choices = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._value(choices[0], owner, name, preferred)
        if origin in (Union, UnionType):
            is_record = isinstance(choices[0], type) and issubclass(choices[0], msgspec.Struct)
            is_null = NoneType in choices and not is_record
            return None if is_null else self._value(choices[0], owner, name, preferred)
        if origin is Literal:
            return choices[0]
        if origin is list or origin is tuple:
            return [self._value(choices[0], owner, name, preferred)]
        if isinstance(origin or kind, type) and issubclass(origin or kind, msgspec.Struct):
            return self._record(kind, preferred)
        return self._plain(kind, owner, name)

    def _record(self, kind: Any, preferred: Mapping[str, Any]) -> dict[str, Any]:
        record_type: Any = get_origin(kind) or kind
        hints = get_type_hints(record_type, include_extras=True)
        values: dict[str, Any] = {}
        for record_field in msgspec.structs.fields(record_type):
            hint = hints[record_field.name]
            hint = hint[get_args(kind)] if getattr(hint, "__parameters__", ()) else hint
            # In a page, `preferred` applies to the records.
            nested = preferred if get_args(kind) else preferred.get(record_field.encode_name)
            values[record_field.encode_name] = self._field(record_type, record_field, hint, preferred, nested)
        return values

    def _field(self, record_type: Any, record_field: Any, hint: Any, preferred: Mapping[str, Any], nested: Any) -> Any:
        """The example of a field; `nested` has the preferred values of the fields of its own record."""
        name: str = record_field.encode_name
        candidates = (
            preferred.get(name, MISSING),
            next(
                (
                    self.samples[key]
                    for kind in record_type.__mro__
                    if (key := f"{kind.__name__}.{name}") in self.samples
                ),
                MISSING,
            ),
            next(
                (self.bodies[kind][name] for kind in record_type.__mro__ if name in self.bodies.get(kind, {})), MISSING
            ),
            self._example_id(record_type, name, hint),
            self.samples.get(name, MISSING),
        )
        for value in candidates:
            converted = MISSING if value is MISSING else _converted(hint, value)
            if converted is not MISSING:
                return converted
        if record_field.default not in (msgspec.NODEFAULT, None):
            return to_plain(record_field.default)
        if record_field.default_factory is not msgspec.NODEFAULT:
            return to_plain(record_field.default_factory())
        return self._value(hint, record_type.__name__, name, nested if isinstance(nested, Mapping) else {})

    def _example_id(self, record_type: Any, name: str, hint: Any) -> Any:
        if hint is not UUID:
            return MISSING
        key = record_type.__name__ if name == "id" else name.removesuffix("Id")
        return identifier(self.id_kinds.get(key, key[0].lower() + key[1:]))

    def _plain(self, kind: Any, owner: str, name: str) -> Any:
        if kind is Moment or kind is datetime:
            return LATER if name.endswith("xpiresAt") else MOMENT
        if kind is UUID:
            return identifier(self.id_kinds.get(name, name))
        if kind is date:
            return MOMENT[:10]
        self.without_sample.add(f"{owner}.{name}")
        return {str: name, bool: False, int: 0, float: 0.0}.get(kind, {})


def identifier(kind: str) -> str:
    """The UUIDv7 that records of this kind (such as `email`) have in all examples."""
    digits = hashlib.sha256(kind.encode()).hexdigest()
    return f"019c13f9-5a00-7{digits[:3]}-8{digits[3:6]}-{digits[6:18]}"


def _fields(body: Any) -> dict[str, Any]:
    plain = to_plain(body)
    return plain if isinstance(plain, dict) else {}


def _converted(kind: Any, value: Any) -> Any:
    """The value in the JSON form of this type; MISSING if it is not valid for the type."""
    try:
        return to_plain(msgspec.convert(value, kind, dec_hook=_moment))
    except msgspec.ValidationError:
        return MISSING


def _moment(kind: Any, value: Any) -> Any:
    if kind is Moment and isinstance(value, str):
        return Moment.of(datetime.fromisoformat(value))
    raise msgspec.ValidationError(f"Not a {kind}.")
