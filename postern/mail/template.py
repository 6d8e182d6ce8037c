"""Templates that strangers wrote, rendered with values that other strangers wrote.

The language is MiniJinja's without the parts that let a small template make a huge text: no macros,
includes or blocks, only harmless functions and methods, and chains of assignments that double a text are
refused when the template is written. What is left is bounded by fuel (steps) and by the size of the output.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

import minijinja
import msgspec

from postern.kernel.problems import Fault, Refused, Unprocessable

SOURCE_LIMIT: Final = 1_000_000
"""Characters of one template."""
FUEL: Final = 50_000
"""Steps of the template engine for one rendering: a loop of some ten thousand rounds."""
FUEL_OF_LARGE_VALUES: Final = 5_000
"""Steps where the values are so large that each step may cost a millisecond."""
OUTPUT_LIMIT: Final = 10_000_000
"""Characters that come out of one rendering."""
WORK_LIMIT: Final = 64_000_000
"""Octets that a rendering may write by its compile-time bound before every value is counted as it goes."""
GROWTH_LIMIT: Final = 1_000
"""How many times the size of a value may be multiplied by joining it with others in assignments."""
RANGE_LIMIT: Final = 1_000
"""Numbers in one `range()`."""


class TemplateInvalid(Refused):
    """The template does not parse."""

    @classmethod
    def at(cls, source: str, offset: int, message: str, path: str = "") -> "TemplateInvalid":
        """One error at the character `offset` of `source`, told as line and column, both from 1."""
        line = source.count("\n", 0, offset) + 1
        column = offset - (source.rfind("\n", 0, offset) + 1) + 1
        text = f"Line {line}, column {column}: {message}."
        return cls(text, errors=[Fault(path=path, code=cls.code(), message=text)])


class RenderFailed(Unprocessable):
    """The template could not be rendered with these values."""


class Kind(StrEnum):
    """Where a rendering goes: in `HTML` every value is escaped, in `TEXT` (subjects too) none is."""

    HTML = "html"
    TEXT = "text"


class Compiled:
    """A template ready to be rendered many times, by any number of threads at once."""

    __slots__ = ("_bound", "_environment", "_source", "kind")

    def __init__(self, source: str, kind: Kind, bound: "_Bound") -> None:
        self.kind = kind
        self._source = source
        self._bound = bound
        self._environment = _environment(source, kind, bound.fuel)

    def render(self, values: Mapping[str, Any]) -> str:
        """The text for these values. An unknown or null value renders as nothing.

        Raises RenderFailed with the reason: out of fuel, too large, a division by zero.
        """
        octets = _encoded(values)
        if b"null" in octets:
            values = _without_nulls(values)
        environment = self._environment
        size = (len(octets) + 64) * self._bound.growth
        if size > WORK_LIMIT:
            raise _too_large()
        if self._bound.emits * size > WORK_LIMIT:
            fuel = min(self._bound.fuel, FUEL_OF_LARGE_VALUES)
            environment = _environment(self._source, self.kind, fuel, counting=True)
        try:
            text = environment.render_template(self.kind.value, **values)
        except minijinja.TemplateError as trouble:
            raise RenderFailed(_reason(trouble)) from None
        if len(text) > OUTPUT_LIMIT:
            raise _too_large()
        return text


def compile_template(source: str, kind: Kind = Kind.HTML) -> Compiled:
    """Parse `source` once for many renderings.

    Raises TemplateInvalid with line and column when it does not parse or uses what is not offered.
    """
    if len(source) > SOURCE_LIMIT:
        raise TemplateInvalid(f"The template is longer than {SOURCE_LIMIT} characters.")
    if _SURROGATE.search(source):
        raise TemplateInvalid("The template holds half of a surrogate pair, which is not a character.")
    _parse(source, kind)
    return Compiled(source, kind, _judge(source))


def variables(source: str) -> list[str]:
    """The names that a template asks for, dotted where it looks inside one, in alphabetical order."""
    _parse(source, Kind.TEXT)
    return sorted(minijinja.Environment().undeclared_variables_in_str(source, nested=True) - {"range"})


_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
_HOLE = re.compile(
    r"\{#.*?#\}"
    r"|\{%[-+]?\s*raw\s*[-+]?%\}.*?\{%[-+]?\s*endraw\s*[-+]?%\}"
    rf"|\{{\{{(?:{_STRING}|[^\"'])*?\}}\}}"
    rf"|\{{%(?:{_STRING}|[^\"'])*?%\}}",
    re.DOTALL,
)
_OPENING = re.compile(r"\{[{%#]")


def holes_of(source: str) -> Iterator[re.Match[str]]:
    """The pieces of a template that are not literal text, in order.

    A template that parses closes all it opens. In other text the first opening without an end is where the
    search stops, so that hostile text costs one pass.
    """
    opening = _OPENING.search(source)
    while opening is not None:
        hole = _HOLE.match(source, opening.start())
        if hole is None:
            return
        yield hole
        opening = _OPENING.search(source, hole.end())


def _parse(source: str, kind: Kind) -> None:
    try:
        minijinja.Environment().add_template(kind.value, source)
    except minijinja.TemplateError as trouble:
        start = trouble.range[0] if trouble.range else 0
        offset = len(source.encode()[:start].decode(errors="replace"))
        raise TemplateInvalid.at(source, offset, trouble.detail or trouble.kind) from None


def _environment(source: str, kind: Kind, fuel: int, *, counting: bool = False) -> minijinja.Environment:
    environment = minijinja.Environment(
        fuel=fuel,
        undefined_behavior="chainable",
        auto_escape_callback=lambda name: name == Kind.HTML.value,
        keep_trailing_newline=True,
        debug=False,
    )
    if counting:
        environment.finalizer = _Meter()
    for name in ("debug", "namespace", "dict", "cycler", "joiner"):
        environment.remove_global(name)
    environment.add_global("range", _range)
    environment.add_filter("replace", _replace)
    environment.add_filter("join", _join)
    environment.add_template(kind.value, source)
    return environment


class _Meter:
    """Counts what a rendering writes, value by value, and stops it before it eats the memory."""

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, value: Any) -> Any:
        self.written += len(value) if isinstance(value, str) else 64
        if self.written > OUTPUT_LIMIT:
            raise _too_large()
        return value


def _too_large() -> RenderFailed:
    return RenderFailed(f"The template makes more than {OUTPUT_LIMIT} characters of these values.")


def _reason(trouble: minijinja.TemplateError) -> str:
    if trouble.kind == "OutOfFuel":
        return "The template takes too many steps with these values (is there a very long loop in it?)."
    where = f" in line {trouble.line}" if trouble.line else ""
    return f"The template failed{where}: {trouble.detail or trouble.kind}."


def _encoded(values: Mapping[str, Any]) -> bytes:
    try:
        return _ENCODER.encode(values)
    except (TypeError, ValueError, RecursionError, OverflowError) as trouble:
        raise RenderFailed(f"The values are not plain JSON: {trouble}.") from None


_ENCODER = msgspec.json.Encoder()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return ["" if each is None else _without_nulls(each) for each in value]
    return value


def _range(start: int, stop: int | None = None, step: int = 1) -> list[int]:
    found = range(start) if stop is None else range(start, stop, step)
    if len(found) > RANGE_LIMIT:
        raise RenderFailed(f"range() gives at most {RANGE_LIMIT} numbers.")
    return list(found)


def _replace(value: Any, old: Any, new: Any) -> str:
    text, old, new = ("" if each is None else str(each) for each in (value, old, new))
    if len(text) + text.count(old) * len(new) > OUTPUT_LIMIT:
        raise _too_large()
    return text.replace(old, new)


def _join(value: Iterable[Any] | None, joiner: Any = "", attribute: str | None = None) -> str:
    found = list(value or ())
    if attribute is not None:
        found = [each.get(attribute, "") for each in found if isinstance(each, Mapping)]
    pieces, between = ["" if each is None else str(each) for each in found], str(joiner)
    if sum(map(len, pieces)) + len(pieces) * len(between) > OUTPUT_LIMIT:
        raise _too_large()
    return between.join(pieces)


# What a template may say -----------------------------------------------------------------------------------

_STATEMENTS = frozenset(["if", "elif", "else", "endif", "for", "endfor", "set", "break", "continue"])
_FUNCTIONS = frozenset({"range"})
_METHODS = frozenset(
    [
        "upper",
        "lower",
        "title",
        "capitalize",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "startswith",
        "endswith",
        "get",
        "items",
        "keys",
        "values",
    ]
)
FILTERS = frozenset(
    [
        "abs",
        "bool",
        "capitalize",
        "chain",
        "count",
        "d",
        "default",
        "dictsort",
        "e",
        "escape",
        "first",
        "float",
        "groupby",
        "int",
        "items",
        "join",
        "last",
        "length",
        "list",
        "lower",
        "map",
        "max",
        "min",
        "reject",
        "rejectattr",
        "replace",
        "reverse",
        "round",
        "safe",
        "select",
        "selectattr",
        "sort",
        "split",
        "string",
        "striptags",
        "sum",
        "title",
        "tojson",
        "trim",
        "truncate",
        "unique",
        "upper",
        "urlencode",
        "zip",
        "pluralize",
    ]
)
_WORDS = frozenset(
    [
        "and",
        "or",
        "not",
        "in",
        "is",
        "if",
        "else",
        "for",
        "recursive",
        "true",
        "false",
        "none",
        "True",
        "False",
        "None",
    ]
)
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<number>\d[\w.]*)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|//|[=!<>]=|\S)",
    re.DOTALL,
)


class _Bound(msgspec.Struct, frozen=True):
    """What the text of a template says about the cost of rendering it."""

    emits: int
    """How often, at most, it writes a value."""
    growth: int
    """How much larger than its variables one value may be."""
    fuel: int


class _Token(msgspec.Struct, frozen=True):
    kind: str
    text: str
    offset: int


def _judge(source: str) -> _Bound:
    """Refuse what could blow up, and bound the rest."""
    growth: dict[str, int] = {}
    depth = holes = longest = end = 0
    largest, loops = 1, False
    for hole in holes_of(source):
        if depth:
            longest = max(longest, hole.start() - end)
        end = hole.end()
        opening = hole[0][:2]
        if opening == "{#":
            continue
        tokens = _tokens(hole)
        if opening == "{{":
            holes += 1
            largest = max(largest, _check_expression(source, tokens, growth))
            continue
        if not tokens or tokens[0].text == "raw":
            longest = max(longest, len(hole[0])) if depth else longest
            continue
        largest = max(largest, _check_statement(source, tokens, growth))
        if tokens[0].text == "for":
            depth, loops = depth + 1, True
        elif tokens[0].text == "endfor":
            depth -= 1
    # One round of a loop takes at least four steps, and writes its longest literal once in three at most.
    fuel = min(FUEL, max(200, 3 * WORK_LIMIT // (longest + 1))) if loops else FUEL
    return _Bound(emits=fuel // 4 if loops else holes, growth=largest, fuel=fuel)


def _tokens(hole: re.Match[str]) -> list[_Token]:
    inner = hole[0][2:-2]
    skipped = 1 if inner[:1] in {"-", "+"} else 0
    inner = inner[skipped:].removesuffix("-")
    start = hole.start() + 2 + skipped
    return [_Token(f.lastgroup or "", f[0], start + f.start()) for f in _TOKEN.finditer(inner)]


def _check_statement(source: str, tokens: list[_Token], growth: dict[str, int]) -> int:
    word, rest = tokens[0], tokens[1:]
    if word.text not in _STATEMENTS:
        raise TemplateInvalid.at(source, word.offset, f"“{word.text}” is not offered in templates")
    if word.text == "set" and not any(token.text == "=" for token in rest):
        raise TemplateInvalid.at(source, word.offset, "“set” needs a value here: {% set name = value %}")
    split = {"set": "=", "for": "in"}.get(word.text)
    if split is None:
        return _check_expression(source, rest, growth)
    at = next((n for n, token in enumerate(rest) if token.text == split), 0)
    factor = _check_expression(source, rest[at + 1 :], growth)
    for token in rest[:at]:
        if token.kind == "name":
            growth[token.text] = max(factor, growth.get(token.text, 1))
    return factor


def _check_expression(source: str, tokens: list[_Token], growth: dict[str, int]) -> int:
    """How many times larger than the largest variable the value of this expression may be."""
    names, largest, joins = 0, 1, False
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.kind == "name" and token.text not in _WORDS:
            _check_name(source, token, before, after)
            names += 1
            largest = max(largest, growth.get(token.text, 1))
        elif token.text == "(" and (before in {")", "]"} or (at and tokens[at - 1].kind == "string")):
            raise TemplateInvalid.at(source, token.offset, "only named functions can be called")
        elif token.text == "*":
            largest *= _check_product(source, tokens, at)
        joins = joins or token.text in {"~", "+", "[", "{", "%"}
    factor = largest * (max(1, names) if joins else 1)
    if factor > GROWTH_LIMIT:
        raise TemplateInvalid.at(source, tokens[0].offset, "this joins too many values into one")
    return factor


def _check_name(source: str, token: _Token, before: str, after: str) -> None:
    if before == "|" and token.text not in FILTERS:
        raise TemplateInvalid.at(source, token.offset, f"there is no filter “{token.text}”")
    if token.text == "tojson" and after == "(":
        raise TemplateInvalid.at(source, token.offset, "“tojson” takes no arguments here")
    if after != "(" or before in {"|", "is", "not"}:
        return
    offered = _METHODS if before == "." else _FUNCTIONS
    if token.text not in offered:
        raise TemplateInvalid.at(source, token.offset, f"“{token.text}()” is not offered in templates")


def _check_product(source: str, tokens: list[_Token], at: int) -> int:
    """A product with a text repeats it: one side has to be a number, or both sides cast to numbers."""
    left, right = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    for one, other in ((left, right), (right, left)):
        if one and other and one[0].kind == "number" and other[0].kind != "string":
            return 1 if other[0].kind == "number" else int(_number(one[0].text)) + 1
    if left and left[0].text in _CASTS and _is_cast(tokens[at + 1 :]):
        return 1
    raise TemplateInvalid.at(source, tokens[at].offset, "multiply by a number, or write a|float * b|float")


_CASTS = frozenset({"int", "float"})


def _is_cast(tokens: list[_Token]) -> bool:
    """Whether the operand that begins here is a name, dotted perhaps, cast to a number."""
    for token, following in itertools.pairwise(tokens):
        if token.text == "|":
            return following.text in _CASTS
        if token.kind == "sign" and token.text not in {".", "[", "]"}:
            return False
    return False


def _number(text: str) -> float:
    try:
        return min(float(text.replace("_", "")), GROWTH_LIMIT)
    except ValueError:
        return GROWTH_LIMIT
