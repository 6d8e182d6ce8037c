"""Filters and attribute paths of SCIM requests (RFC 7644 §3.4.2.2, §3.5.2): parsing, and evaluation on a resource."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from postern.protocols.scim.problems import ScimRequestInvalid, ScimType
from postern.protocols.scim.schemas import COMMON_BY_NAME, MAX_QUOTED, Document, ResourceType, ScimAttribute

Operator = Literal["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "pr"]
OPERATORS = frozenset(("eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "pr"))
ORDERING = frozenset(("gt", "ge", "lt", "le"))
SUBSTRINGS = frozenset(("co", "sw", "ew"))

FILTER_LENGTH = 2_000
"""Characters of a filter or path."""
FILTER_DEPTH = 10
"""Levels of parentheses, brackets and `not`."""
FILTER_TERMS = 50
"""Comparisons in a filter."""

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<mark>[()\[\]])"
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.:$-])|(?P<word>[A-Za-z$][\w$.:-]*)|(?P<sub>\.[A-Za-z$][\w$-]*))"
)

Value = str | bool | int | float | None


@dataclass(frozen=True)
class AttributePath:
    """An attribute of a resource type, or one of its sub-attributes."""

    extension: str | None
    """The URN of the extension that has the attribute; None for the schema of the resource type."""
    attribute: ScimAttribute
    sub: ScimAttribute | None = None

    @property
    def compared(self) -> ScimAttribute:
        """The attribute whose values a comparison compares: `value` of a complex one without a sub-attribute."""
        return self.sub or self.attribute.by_name.get("value") or self.attribute

    @property
    def name(self) -> str:
        """The name for messages and as a key: `emails.value`."""
        base = self.attribute.name if self.extension is None else f"{self.extension}:{self.attribute.name}"
        return base if self.sub is None else f"{base}.{self.sub.name}"


@dataclass(frozen=True)
class Comparison:
    """`userName eq "ada"`; the value of `pr` is None."""

    path: AttributePath
    operator: Operator
    value: Value


@dataclass(frozen=True)
class ItemMatch:
    """`emails[type eq "work"]`: an item of the attribute matches the filter, whose paths are sub-attributes."""

    path: AttributePath
    filter: "Filter"


@dataclass(frozen=True)
class Both:
    """`left and right`."""

    left: "Filter"
    right: "Filter"


@dataclass(frozen=True)
class Either:
    """`left or right`."""

    left: "Filter"
    right: "Filter"


@dataclass(frozen=True)
class Negation:
    """`not (inner)`."""

    inner: "Filter"


Filter = Comparison | ItemMatch | Both | Either | Negation


@dataclass(frozen=True)
class ChangePath:
    """The path of a PATCH operation: `emails[type eq "work"].value`. Without an attribute, an extension as a whole."""

    extension: str | None
    attribute: ScimAttribute | None
    filter: Filter | None = None
    sub: ScimAttribute | None = None


def parse_filter(resource_type: ResourceType, text: str) -> Filter:
    """Parse a filter. Raises ScimRequestInvalid (`invalidFilter`)."""
    parser = _Parser(resource_type, text, "invalidFilter")
    parsed = parser.disjunction(None, 0)
    parser.require_end()
    return parsed


def parse_path(resource_type: ResourceType, text: str) -> ChangePath:
    """Parse the path of a PATCH operation. Raises ScimRequestInvalid (`invalidPath`)."""
    parser = _Parser(resource_type, text, "invalidPath")
    schema = resource_type.schemas_by_id.get(text.strip().lower())
    if schema is not None and schema is not resource_type.schema:
        return ChangePath(extension=schema.id, attribute=None)
    path = parser.attribute_path(parser.word(), None)
    if parser.next_is("["):
        if not path.attribute.sub_attributes or path.sub is not None:
            raise parser.error(f"`{path.name}` has no items to select.")
        inner = parser.disjunction(path, 1)
        parser.expect("]")
        sub_name = parser.sub_attribute()
        sub = None if sub_name is None else path.attribute.by_name.get(sub_name.lower())
        if sub_name is not None and sub is None:
            raise parser.error(f"There is no attribute `{path.name}.{sub_name[:MAX_QUOTED]}`.")
        parser.require_end()
        return ChangePath(path.extension, path.attribute, inner, sub)
    parser.require_end()
    return ChangePath(path.extension, path.attribute, None, path.sub)


class _Parser:
    """A recursive descent parser. Its work is limited by FILTER_LENGTH, FILTER_DEPTH and FILTER_TERMS."""

    def __init__(self, resource_type: ResourceType, text: str, scim_type: ScimType) -> None:
        self._resource_type = resource_type
        self._scim_type: ScimType = scim_type
        if len(text) > FILTER_LENGTH:
            raise self.error(f"At most {FILTER_LENGTH} characters are allowed.")
        self._tokens = list(self._split(text))
        self._position = 0
        self._terms = 0

    def error(self, message: str) -> ScimRequestInvalid:
        return ScimRequestInvalid(self._scim_type, message)

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                raise self.error(f"Unexpected text at character {position + 1}.")
            yield match.lastgroup, match[match.lastgroup]
            position = match.end()

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._position] if self._position < len(self._tokens) else ("end", "")

    def _take(self) -> tuple[str, str]:
        token = self._peek()
        self._position += 1
        return token

    def next_is(self, text: str) -> bool:
        """Whether the next token is this mark or keyword; then it is consumed."""
        kind, token = self._peek()
        matches = kind in ("mark", "word") and token.lower() == text
        self._position += matches
        return matches

    def expect(self, mark: str) -> None:
        if not self.next_is(mark):
            raise self.error(f"`{mark}` is missing.")

    def word(self) -> str:
        kind, token = self._take()
        if kind != "word":
            raise self.error("The name of an attribute is missing.")
        return token

    def sub_attribute(self) -> str | None:
        """The name in `.name` after a bracket, or None."""
        if self._peek()[0] != "sub":
            return None
        return self._take()[1][1:]

    def require_end(self) -> None:
        if self._peek()[0] != "end":
            raise self.error(f"Unexpected `{self._peek()[1][:MAX_QUOTED]}`.")

    def disjunction(self, inside: AttributePath | None, depth: int) -> Filter:
        left = self._conjunction(inside, depth)
        while self.next_is("or"):
            left = Either(left, self._conjunction(inside, depth))
        return left

    def _conjunction(self, inside: AttributePath | None, depth: int) -> Filter:
        left = self._term(inside, depth)
        while self.next_is("and"):
            left = Both(left, self._term(inside, depth))
        return left

    def _term(self, inside: AttributePath | None, depth: int) -> Filter:
        if depth > FILTER_DEPTH:
            raise self.error(f"At most {FILTER_DEPTH} levels of parentheses are allowed.")
        if self.next_is("not"):
            self.expect("(")
            return Negation(self._closed(inside, depth))
        if self.next_is("("):
            return self._closed(inside, depth)
        self._terms += 1
        if self._terms > FILTER_TERMS:
            raise self.error(f"At most {FILTER_TERMS} comparisons are allowed.")
        path = self.attribute_path(self.word(), inside)
        if self.next_is("["):
            if inside is not None or path.sub is not None or not path.attribute.sub_attributes:
                raise self.error(f"`{path.name}` has no items to select.")
            inner = self.disjunction(path, depth + 1)
            self.expect("]")
            return ItemMatch(path, inner)
        return self._comparison(path)

    def _closed(self, inside: AttributePath | None, depth: int) -> Filter:
        inner = self.disjunction(inside, depth + 1)
        self.expect(")")
        return inner

    def _comparison(self, path: AttributePath) -> Comparison:
        operator = self.word().lower()
        if operator not in OPERATORS:
            raise self.error(f"There is no operator `{operator[:MAX_QUOTED]}`.")
        if operator == "pr":
            return Comparison(path, "pr", None)
        value = self._value()
        kind = path.compared.type
        if kind == "complex":
            raise self.error(f"`{path.name}` can only be compared by its sub-attributes.")
        if kind == "boolean" and isinstance(value, str) and value.lower() in ("true", "false"):
            value = value.lower() == "true"  # Entra ID sends `active eq "True"`.
        if operator in SUBSTRINGS and (not isinstance(value, str) or kind == "boolean"):
            raise self.error(f"`{operator}` needs a text.")
        if operator in ORDERING and (kind == "boolean" or not isinstance(value, str)):
            raise self.error(f"`{operator}` needs a text or a time.")
        if kind == "dateTime" and operator not in SUBSTRINGS and value is not None:
            _ = read_time(value) or self._invalid_time()
        return Comparison(path, operator, value)  # pyright: ignore[reportArgumentType]

    def _invalid_time(self) -> None:
        raise self.error("A time must be like 2026-01-31T12:00:00Z.")

    def _value(self) -> Value:
        kind, token = self._take()
        if kind in ("text", "number"):
            try:
                value = json.loads(token)
            except ValueError:
                raise self.error("A value is not valid JSON.") from None
            if isinstance(value, str) and not is_storable(value):
                raise self.error("A value contains a NUL character or half of a surrogate pair.")
            return value
        keywords: dict[str, Value] = {"true": True, "false": False, "null": None}
        if kind == "word" and token.lower() in keywords:
            return keywords[token.lower()]
        raise self.error("A comparison needs a value: a text in double quotes, true, false, null or a number.")

    def attribute_path(self, word: str, inside: AttributePath | None) -> AttributePath:
        """The attribute with this name; with `inside`, the sub-attribute of that attribute."""
        if inside is not None:
            sub = inside.attribute.by_name.get(word.lower())
            if sub is None:
                raise self.error(f"There is no attribute `{inside.name}.{word[:MAX_QUOTED]}`.")
            return AttributePath(inside.extension, inside.attribute, sub)
        lowered, extension = word.lower(), None
        for urn, schema in self._resource_type.schemas_by_id.items():
            if lowered.startswith(f"{urn}:"):
                lowered = lowered[len(urn) + 1 :]
                extension = None if schema is self._resource_type.schema else schema
                break
        name, dot, sub_name = lowered.partition(".")
        if extension is not None:
            attribute = extension.by_name.get(name)
        else:
            attribute = COMMON_BY_NAME.get(name) or self._resource_type.schema.by_name.get(name)
        if attribute is None:
            raise self.error(f"There is no attribute `{word[:MAX_QUOTED]}`.")
        sub = attribute.by_name.get(sub_name) if dot else None
        if dot and sub is None:
            raise self.error(f"There is no attribute `{word[:MAX_QUOTED]}`.")
        return AttributePath(None if extension is None else extension.id, attribute, sub)


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text: it has neither NUL nor a surrogate without its pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def read_time(value: Any) -> datetime | None:
    """The time in a text such as 2026-01-31T12:00:00Z, in UTC; None if it is not valid or has no time zone."""
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (TypeError, ValueError, OverflowError):  # Overflow: the offset leads before the year 1 or after 9999.
        return None


def matches(filter: Filter, document: Document) -> bool:
    """Whether a canonical document matches a filter."""
    match filter:
        case Both(left, right):
            return matches(left, document) and matches(right, document)
        case Either(left, right):
            return matches(left, document) or matches(right, document)
        case Negation(inner):
            return not matches(inner, document)
        case ItemMatch(path, inner):
            return any(item_matches(inner, item) for item in _items(path, document))
        case Comparison(path, operator, value):
            return _compare(path.compared, operator, value, list(_values(path, document)))


def comparison_paths(filter: Filter) -> list[AttributePath]:
    """The paths of the comparisons in a filter, each as often as it is compared."""
    match filter:
        case Both(left, right) | Either(left, right):
            return [*comparison_paths(left), *comparison_paths(right)]
        case Negation(inner) | ItemMatch(_, inner):
            return comparison_paths(inner)
        case Comparison(path, _, _):
            return [path]


def work_on(paths: Iterable[AttributePath], document: Document) -> int:
    """How many values the comparisons of a filter compare on a document at most; see `comparison_paths`."""
    return sum(max(1, len(_items(path, document))) for path in paths)


def item_matches(filter: Filter, item: Document) -> bool:
    """Whether an item of a complex attribute matches a filter in brackets, whose paths are sub-attributes."""
    match filter:
        case Both(left, right):
            return item_matches(left, item) and item_matches(right, item)
        case Either(left, right):
            return item_matches(left, item) or item_matches(right, item)
        case Negation(inner):
            return not item_matches(inner, item)
        case ItemMatch():
            return False  # The parser refuses brackets in brackets.
        case Comparison(path, operator, value):
            assert path.sub is not None
            present = item.get(path.sub.name)
            return _compare(path.sub, operator, value, [] if present is None else [present])


def _items(path: AttributePath, document: Document) -> list[Document]:
    container: Document = document if path.extension is None else document.get(path.extension, {})
    value = container.get(path.attribute.name)
    return value if isinstance(value, list) else [] if value is None else [value]  # pyright: ignore[reportUnknownVariableType]


def _values(path: AttributePath, document: Document) -> Iterator[Any]:
    compared = path.compared
    for item in _items(path, document):
        value: Any = item if compared is path.attribute else item.get(compared.name)
        if value is not None:
            yield value


def _compare(attribute: ScimAttribute, operator: Operator, expected: Value, values: list[Any]) -> bool:
    if operator == "pr":
        return any(value not in ("", [], {}) for value in values)
    if operator == "ne":
        return not _compare(attribute, "eq", expected, values)
    if expected is None:
        return operator == "eq" and not values
    return any(_compare_one(attribute, operator, expected, value) for value in values)


def _compare_one(attribute: ScimAttribute, operator: Operator, expected: Value, value: Any) -> bool:
    if attribute.type == "dateTime" and operator not in SUBSTRINGS:
        left, right = read_time(value), read_time(expected)
        return left is not None and right is not None and _ordered(operator, left, right)
    if isinstance(expected, str) and isinstance(value, str):
        if not attribute.case_exact:
            expected, value = expected.casefold(), value.casefold()
        if operator == "co":
            return expected in value
        if operator == "sw":
            return value.startswith(expected)
        if operator == "ew":
            return value.endswith(expected)
        return _ordered(operator, value, expected)
    return operator == "eq" and type(expected) is type(value) and expected == value


def _ordered(operator: Operator, left: Any, right: Any) -> bool:
    results = {"eq": left == right, "gt": left > right, "ge": left >= right, "lt": left < right, "le": left <= right}
    return results[operator]
