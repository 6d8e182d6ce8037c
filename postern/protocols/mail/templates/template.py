"""Templates that strangers wrote, rendered with values that other strangers wrote.

The language is MiniJinja's without the parts that let a small template make a huge text: no macros,
includes or blocks, only harmless functions and methods, and chains of assignments that double a text are
refused when the template is written. What is left is bounded by fuel (steps) and by the size of the output.
"""

import itertools
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, Literal

import minijinja
import msgspec

from postern.kernel.http.problems import BadRequest, Problem, ProblemError, Unprocessable

SOURCE_LIMIT: Final = 25_000_000
"""Characters of one template: what the largest message can hold."""
FUEL: Final = 50_000
"""Steps of the template engine for one rendering: a loop of some ten thousand rounds."""
FUEL_OF_LARGE_VALUES: Final = 5_000
"""Steps where the values are so large that each step may cost a millisecond."""
OUTPUT_LIMIT: Final = 10_000_000
"""Characters that come out of one rendering, besides those of the template."""
WORK_LIMIT: Final = 64_000_000
"""Octets that a rendering may write by its compile-time bound before every value is counted as it goes."""
GROWTH_LIMIT: Final = 1_000
"""How many times the size of a value may be multiplied by joining it with others in assignments."""
RANGE_LIMIT: Final = 1_000
"""Numbers in one `range()`."""
EXPRESSION_DEPTH: Final = 100
"""Operators, brackets and filters of one expression that lie around one another."""
BLOCKS_DEPTH: Final = 50
"""Loops and conditions inside one another."""
BRANCHES_LIMIT: Final = 100
"""`{% elif %}` of one condition."""
VALUES_DEPTH: Final = 50
"""Lists and objects of the values inside one another."""


Engine = Literal["minijinja", "none"]
"""What reads a message's subject, html and text: the template engine, or nothing, so that they are sent as written."""


class TemplateInvalid(BadRequest):
    """The template does not parse."""

    @classmethod
    def at(cls, source: str, offset: int, message: str, path: str = "") -> "TemplateInvalid":
        """One error at the character `offset` of `source`, told as line and column, both from 1."""
        line = source.count("\n", 0, offset) + 1
        column = offset - (source.rfind("\n", 0, offset) + 1) + 1
        text = f"Line {line}, column {column}: {message}."
        return cls(text, errors=[ProblemError(path=path, code=cls.code(), message=text)])


class RenderFailed(Unprocessable):
    """The template could not be rendered with these values."""


class OutputFormat(StrEnum):
    """Where a rendering goes: in `HTML` every value is escaped, in `TEXT` (subjects too) none is."""

    HTML = "html"
    TEXT = "text"


class RenderValues:
    """What templates are filled with, brought into shape once for the several templates of a message."""

    __slots__ = ("named", "octets", "simple")

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Raises RenderFailed where the values are not plain JSON, or nested too deep."""
        encoded = _encoded(values)
        self.named = _reject_nul(values) if b"null" in encoded else values
        self.octets = len(encoded)
        """As JSON."""
        self.simple = _simple(self.named)
        """Those that are neither lists nor objects."""


_NESTED = (Mapping, list, tuple)


def _simple(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if type(value) is str or not isinstance(value, _NESTED)}


class CompiledTemplate:
    """A template ready to be rendered many times, by any number of threads at once."""

    __slots__ = ("_bound", "_environments", "_has_dashes", "_lock", "_names", "_source", "kind")

    def __init__(self, source: str, kind: OutputFormat, bound: "_Bound") -> None:
        self.kind = kind
        self._source = source
        """As the engine reads it."""
        self._bound = bound
        self._has_dashes = DASH in source
        self._names: frozenset[str] | None = None
        self._environments: dict[tuple[str, ...], minijinja.Environment] = {}
        self._lock = threading.Lock()

    def render(self, values: "Mapping[str, Any] | RenderValues") -> str:
        """The text for these values. An unknown or null value renders as nothing.

        The engine gets copies that are its own data: lists and objects are written as literals of its language, so
        nothing of Python can be reached from a template.
        Raises RenderFailed with the reason: out of fuel, too large, a division by zero.
        """
        given = values if isinstance(values, RenderValues) else RenderValues(values)
        named, simple = given.named, given.simple
        if self._has_dashes:
            dashed = {name.replace("-", DASH): value for name, value in named.items() if "-" in name}
            named, simple = {**named, **dashed}, {**simple, **_simple(dashed)}
        size = (given.octets + 64) * self._bound.growth
        if size > WORK_LIMIT:
            raise _too_large()
        nested = () if len(simple) == len(named) else tuple(sorted((named.keys() - simple.keys()) & self._asked()))
        try:
            with self._lock:
                text = self._run(named, simple, nested, counting=self._bound.emits * size > WORK_LIMIT)
        except minijinja.TemplateError as error:
            raise RenderFailed(_reason(error)) from None
        except Problem:
            raise
        except MemoryError:
            raise _too_large() from None
        except Exception as error:  # What a function of ours raises comes out of the engine as it is.
            raise RenderFailed(f"The template failed: {str(error)[:200] or type(error).__name__}.") from None
        if len(text) > OUTPUT_LIMIT + len(self._source):
            raise _too_large()
        return text

    def _run(
        self, values: Mapping[str, Any], simple: dict[str, Any], nested: tuple[str, ...], *, counting: bool
    ) -> str:
        if counting:
            fuel = min(self._bound.fuel, FUEL_OF_LARGE_VALUES)
            environment = _environment(self._source, self.kind, fuel, nested, counting=True)
        else:
            environment = self._environments.get(nested)
            if environment is None:
                if len(self._environments) >= ENVIRONMENTS_KEPT:
                    self._environments.clear()
                environment = _environment(self._source, self.kind, self._bound.fuel, nested)
                self._environments[nested] = environment
        if nested:
            environment.add_template(VALUES, "".join(_assignment(name, values[name]) for name in nested))
        return environment.render_template(self.kind.value, **simple)

    def _asked(self) -> frozenset[str]:
        """The names that the template takes from its values."""
        if self._names is None:
            found = _bare(self.kind).undeclared_variables_in_str(self._source)
            self._names = frozenset(found) - RESERVED
        return self._names


def compile_template(source: str, kind: OutputFormat = OutputFormat.HTML) -> CompiledTemplate:
    """Parse `source` once for many renderings.

    Raises TemplateInvalid with line and column when it does not parse or uses what is not offered.
    """
    if len(source) > SOURCE_LIMIT:
        raise TemplateInvalid(f"The template is longer than {SOURCE_LIMIT} characters.")
    if _SURROGATE.search(source):
        raise TemplateInvalid("The template holds half of a surrogate pair, which is not a character.")
    read = _read(source)
    _parse(source, read, kind)
    return CompiledTemplate(read.engine_source, kind, read.bound)


def variables(source: str) -> list[str]:
    """The names that a template asks for, dotted where it looks inside one, in alphabetical order."""
    read = _read(source)
    _parse(source, read, OutputFormat.TEXT)
    names = _bare(OutputFormat.TEXT).undeclared_variables_in_str(read.engine_source, nested=True)
    return sorted({name.replace(DASH, "-") for name in names if not name.startswith(RANGE)})


_SURROGATE = re.compile("[\ud800-\udfff]")
DASH: Final = "\u203f"
"""Stands for the `-` in a name while the engine reads it: a character that names may have and authors may not use."""
RANGE: Final = f"range{DASH}"
"""What the engine calls `range`: no variable of that name, and nothing that an author assigns, comes in its way."""
VALUES: Final = "values"
"""The engine's name for the template that holds the values of one rendering."""
ENVIRONMENTS_KEPT: Final = 8
"""Engines that one template keeps, for as many sets of names whose values are lists or objects."""
RESERVED: Final = frozenset({"loop", "self", "super", "caller", RANGE})
COMMENT: Final = ("\ue004\ue005", "\ue005\ue004")
"""What opens and closes a comment for the engine: as long as the author's `{#` and `#}`, and never the author's own."""

_STRING = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
_TOKEN = re.compile(
    rf"(?P<end>-?(?:}}}}|%}}))|(?P<string>{_STRING})|(?P<number>\d[\w.]*)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>\*\*|//|[=!<>]=|\S)",
    re.DOTALL,
)
_OPENING = re.compile(r"\{[{%#]|<style\b", re.IGNORECASE)
_STYLE_END = re.compile(r"</style\b", re.IGNORECASE)
_RAW_END = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_SPACE = re.compile(r"\s*")


class TemplateToken(msgspec.Struct, frozen=True):
    """One token of an expression or statement; `offset` counts characters of the template."""

    kind: str
    text: str
    offset: int


class TemplateTag:
    """A piece of a template that is not literal text."""

    __slots__ = ("_end", "_start", "_text", "tokens")

    def __init__(self, source: str, start: int, end: int, tokens: list[TemplateToken]) -> None:
        self._start, self._end, self._text = start, end, source[start:end]
        self.tokens = tokens
        """Without the delimiters; of `{% raw %}` that word alone."""

    def start(self) -> int:
        """Where it begins."""
        return self._start

    def end(self) -> int:
        """Where it ends."""
        return self._end

    def __getitem__(self, _: int) -> str:
        """Its text, delimiters included."""
        return self._text


def tags_of(source: str) -> Iterator[TemplateTag]:
    """The pieces of a template that are not literal text, in order; one pass over the text, whatever it holds.

    A template that parses closes all it opens. In other text the first opening without an end is where the
    search stops. `{#` opens a comment only where one is closed, and never inside `<style>`: minified CSS has it.
    """
    at = style_end = 0
    has_comment_end = True
    while (opening := _OPENING.search(source, at)) is not None:
        start, mark = opening.span()[0], opening[0]
        if mark[0] == "<":
            at = opening.end()
            if start >= style_end:
                closing = _STYLE_END.search(source, at)
                style_end = closing.start() if closing else len(source)
            continue
        if mark == "{#":
            end = source.find("#}", start + 2) if has_comment_end and start >= style_end else -1
            if end < 0:
                has_comment_end = has_comment_end and start < style_end
                at = start + 2
                continue
            hole = TemplateTag(source, start, end + 2, [])
        else:
            found = _hole(source, start, mark)
            if found is None:
                return
            hole = found
        yield hole
        at = hole.end()


def _hole(source: str, start: int, mark: str) -> TemplateTag | None:
    """The expression or statement that begins at `start`; None where it is not closed."""
    tokens: list[TemplateToken] = []
    closing = "}}" if mark == "{{" else "%}"
    balance, at = 0, start + 2
    if source[at : at + 1] in {"-", "+"}:
        at += 1
    while True:
        at = _space_end(source, at)
        token = _TOKEN.match(source, at)
        if token is None:
            return None
        kind, text = token.lastgroup or "", token[0]
        if kind == "end":
            if balance == 0 and text.endswith(closing):
                break
            # Inside brackets these are signs of the expression.
            kind, text = "sign", text[0]
        elif text in {'"', "'"}:
            return None
        if text in _OPENERS:
            balance += 1
        elif text in _CLOSERS:
            balance -= 1
            if balance < 0:
                return None
        tokens.append(TemplateToken(kind, text, at))
        at += len(text)
    if mark == "{%" and len(tokens) == 1 and tokens[0].text == "raw":
        end = _RAW_END.search(source, token.end())
        return TemplateTag(source, start, end.end(), tokens) if end else None
    if tokens and mark == "{%" and tokens[-1].text == "+" and tokens[-1].offset == token.start() - 1:
        tokens.pop()
    return TemplateTag(source, start, token.end(), tokens)


_OPENERS, _CLOSERS = frozenset("([{"), frozenset(")]}")


def _space_end(source: str, at: int) -> int:
    found = _SPACE.match(source, at)
    return found.end() if found else at


def _parse(source: str, read: "_Read", kind: OutputFormat) -> None:
    try:
        _bare(kind).add_template(kind.value, read.engine_source)
    except minijinja.TemplateError as error:
        start = error.range[0] if error.range else 0
        offset = len(read.engine_source.encode()[:start].decode(errors="replace"))
        message = (error.detail or error.kind).replace(DASH, "-")
        raise TemplateInvalid.at(source, read.offset(offset), message) from None
    if not read.is_whole:
        raise TemplateInvalid("The template opens what it does not close.")


def _bare(kind: OutputFormat) -> minijinja.Environment:
    """An engine with nothing in it."""
    return minijinja.Environment(
        undefined_behavior="chainable",
        auto_escape_callback=lambda _: kind is OutputFormat.HTML,
        keep_trailing_newline=True,
        debug=False,
        comment_start_string=COMMENT[0],
        comment_end_string=COMMENT[1],
    )


def _environment(
    source: str, kind: OutputFormat, fuel: int, nested: tuple[str, ...] = (), *, counting: bool = False
) -> minijinja.Environment:
    environment = _bare(kind)
    environment.fuel = fuel
    if counting:
        environment.finalizer = _Meter()
    for name in NOT_OFFERED_GLOBALS:
        environment.remove_global(name)
    for name in NOT_OFFERED_FILTERS:
        environment.remove_filter(name)
    environment.add_global(RANGE, _range)
    environment.add_filter("replace", _replace)
    environment.add_filter("join", _join)
    prefix = f"{{% from '{VALUES}' import {', '.join(nested)} %}}" if nested else ""
    environment.add_template(kind.value, prefix + source)
    return environment


NOT_OFFERED_GLOBALS: Final = ("debug", "namespace", "dict", "cycler", "joiner", "range", "now", "lipsum")
NOT_OFFERED_FILTERS: Final = (
    "attr",
    "batch",
    "dateformat",
    "datetimeformat",
    "filesizeformat",
    "format",
    "indent",
    "lines",
    "pprint",
    "random",
    "slice",
    "timeformat",
    "truncate_html",
    "wordcount",
    "wordwrap",
)
"""Of the engine's own, also for those who name them in a text: `map("indent", 9)`."""


def _assignment(name: str, value: Any) -> str:
    """A value as a literal of the template language, which understands JSON."""
    return f"{{% set {name} = {_ENCODER.encode(value).decode()} %}}"


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


def _reason(error: minijinja.TemplateError) -> str:
    if error.kind == "OutOfFuel":
        return "The template takes too many steps with these values (is there a very long loop in it?)."
    where = f" in line {error.line}" if error.line else ""
    return f"The template failed{where}: {(error.detail or error.kind).replace(DASH, '-')}."


def _encoded(values: Mapping[str, Any]) -> bytes:
    try:
        octets = _ENCODER.encode(values)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise RenderFailed(f"The values are not plain JSON: {error}.") from None
    if octets.count(b"[") + octets.count(b"{") > VALUES_DEPTH:
        require_depth(values)
    return octets


_ENCODER = msgspec.json.Encoder()


def require_depth(value: Any) -> None:
    """Raises RenderFailed where lists and objects are nested more than `VALUES_DEPTH` deep."""
    level, depth = [value], 0
    while level:
        if depth > VALUES_DEPTH:
            raise RenderFailed(f"The values are nested more than {VALUES_DEPTH} deep.")
        below: list[Any] = []
        for each in level:
            if isinstance(each, Mapping):
                below.extend(each.values())
            elif isinstance(each, list | tuple):
                below.extend(each)
        level = [each for each in below if isinstance(each, _NESTED)]
        depth += 1


def _reject_nul(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _reject_nul(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return ["" if each is None else _reject_nul(each) for each in value]
    return value


def _range(start: int, stop: int | None = None, step: int = 1) -> tuple[int, ...]:
    numbers = range(start) if stop is None else range(start, stop, step)
    if len(numbers) > RANGE_LIMIT:
        raise RenderFailed(f"range() gives at most {RANGE_LIMIT} numbers.")
    return tuple(numbers)


def _replace(value: Any, old: Any, new: Any) -> str:
    text, old, new = ("" if each is None else str(each) for each in (value, old, new))
    if len(text) + text.count(old) * len(new) > OUTPUT_LIMIT:
        raise _too_large()
    return text.replace(old, new)


def _join(value: Iterable[Any] | None, joiner: Any = "", attribute: str | None = None) -> str:
    items = list(value or ())
    if attribute is not None:
        items = [each.get(attribute, "") for each in items if isinstance(each, Mapping)]
    pieces, between = ["" if each is None else str(each) for each in items], str(joiner)
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


class _Bound(msgspec.Struct, frozen=True):
    """What the text of a template says about the cost of rendering it."""

    emits: int
    """How often, at most, it writes a value."""
    growth: int
    """How much larger than its variables one value may be."""
    fuel: int


class _Read(msgspec.Struct, frozen=True):
    """A template as the engine gets it."""

    engine_source: str
    edits: list[tuple[int, int, int]]
    """Where texts of another length were put: offset there, characters there, characters in the author's text."""
    bound: _Bound
    is_whole: bool
    """Whether every opening was closed; where one was not, the engine must refuse the template."""

    def offset(self, at: int) -> int:
        """The author's offset of a character of the engine's text."""
        shift = 0
        for start, engine_length, own_length in self.edits:
            if at < start + engine_length:
                return min(at, start) + shift
            shift += own_length - engine_length
        return at + shift


def _read(source: str) -> _Read:
    """Refuse what could blow up, bound the rest, and write the template as the engine is to read it."""
    growth: dict[str, int] = {}
    blocks: list[str] = []
    branches = depth = holes = longest = end = 0
    largest, loops = 1, False
    pieces: list[str] = []
    edits: list[tuple[int, int, int]] = []
    done = length = 0
    for hole in tags_of(source):
        if depth:
            longest = max(longest, hole.start() - end)
        end = hole.end()
        opening = hole[0][:2]
        if opening == "{#":
            written = f"{COMMENT[0]}{hole[0][2:-2]}{COMMENT[1]}"
            pieces += (source[done : hole.start()], written)
            length += end - done
            done = end
            continue
        tokens = hole.tokens
        if DASH in hole[0]:
            for token in tokens:
                if token.kind != "string" and DASH in token.text:
                    raise TemplateInvalid.at(source, token.offset, f"names do not have the character “{DASH}”")
        for start, stop, text in _substitutes(source, tokens):
            pieces += (source[done:start], text)
            length += start - done
            edits.append((length, len(text), stop - start))
            length, done = length + len(text), stop
        if opening == "{{":
            holes += 1
            largest = max(largest, _check_expression(source, tokens, growth))
            continue
        if not tokens or tokens[0].text == "raw":
            longest = max(longest, len(hole[0])) if depth else longest
            continue
        largest = max(largest, _check_statement(source, tokens, growth))
        word = tokens[0].text
        if word in {"if", "for"}:
            blocks.append(word)
            if len(blocks) > BLOCKS_DEPTH:
                raise TemplateInvalid.at(source, hole.start(), f"blocks are nested more than {BLOCKS_DEPTH} deep")
        elif word in {"endif", "endfor"} and blocks:
            blocks.pop()
        branches = branches + 1 if word == "elif" else 0 if word in {"if", "endif"} else branches
        if branches > BRANCHES_LIMIT:
            raise TemplateInvalid.at(source, hole.start(), f"more than {BRANCHES_LIMIT} branches of one “if”")
        if word == "for":
            depth, loops = depth + 1, True
        elif word == "endfor":
            depth -= 1
    engine_source = "".join(pieces) + source[done:] if pieces else source
    # One round of a loop takes at least four steps, and writes its longest literal once in three at most.
    fuel = min(FUEL, max(200, 3 * WORK_LIMIT // (longest + 1))) if loops else FUEL
    bound = _Bound(emits=fuel // 4 if loops else holes, growth=largest, fuel=fuel)
    is_whole = source.find("{{", end) < 0 and source.find("{%", end) < 0
    return _Read(engine_source, edits, bound, is_whole)


def _substitutes(source: str, tokens: list[TemplateToken]) -> Iterator[tuple[int, int, str]]:
    """What the engine reads in place of some tokens: start, end and text.

    `range(` is the engine's own function. A name with `-` in it, written without spaces, is one name: `first-name` at
    the beginning of a path, or `["first-name"]` inside one.
    """
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind != "name":
            at += 1
            continue
        last = at
        while last + 2 < len(tokens) and _is_dashed(tokens, last):
            last += 2
        before = tokens[at - 1].text if at else ""
        if last > at:
            stop = tokens[last].offset + len(tokens[last].text)
            name = source[token.offset : stop]
            if before == ".":
                yield tokens[at - 1].offset, stop, f'["{name}"]'
            elif before != "|":
                yield token.offset, stop, name.replace("-", DASH)
        elif token.text == "range" and before not in {".", "|"} and at + 1 < len(tokens) and tokens[at + 1].text == "(":
            yield token.offset, token.offset + len(token.text), RANGE
        at = last + 1


def _is_dashed(tokens: list[TemplateToken], at: int) -> bool:
    """Whether the name at `at` goes on with `-` and another name, without a space."""
    name, dash, following = tokens[at : at + 3]
    return (
        dash.text == "-"
        and following.kind == "name"
        and dash.offset == name.offset + len(name.text)
        and following.offset == dash.offset + 1
    )


def _require_shallow(source: str, tokens: list[TemplateToken]) -> None:
    """Refuse expressions that the engine, which reads them by recursion, could lose its stack on.

    Counted are the operators, brackets and filters that lie around one another; those on either side of a comma do not.
    """
    depth, chains = 0, [0]
    for token in tokens:
        text = token.text
        if text in _OPENERS:
            chains.append(0)
            depth += 1
        elif text in _CLOSERS:
            depth -= chains.pop() if len(chains) > 1 else 0
            depth -= 1
            chains[-1] += 1
            depth += 1
        elif text in {",", ":"}:
            depth -= chains[-1]
            chains[-1] = 0
        elif token.kind == "sign" or text in _OPERATOR_WORDS:
            chains[-1] += 1
            depth += 1
        if depth > EXPRESSION_DEPTH:
            raise TemplateInvalid.at(
                source, token.offset, f"more than {EXPRESSION_DEPTH} operators, brackets and filters in one another"
            )


_OPERATOR_WORDS = frozenset({"not", "and", "or", "in", "is", "if", "else"})


def _check_statement(source: str, tokens: list[TemplateToken], growth: dict[str, int]) -> int:
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


def _check_expression(source: str, tokens: list[TemplateToken], growth: dict[str, int]) -> int:
    """How many times larger than the largest variable the value of this expression may be."""
    _require_shallow(source, tokens)
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


def _check_name(source: str, token: TemplateToken, before: str, after: str) -> None:
    if before == "|" and token.text not in FILTERS:
        raise TemplateInvalid.at(source, token.offset, f"there is no filter “{token.text}”")
    if token.text == "tojson" and after == "(":
        raise TemplateInvalid.at(source, token.offset, "“tojson” takes no arguments here")
    if after != "(" or before in {"|", "is", "not"}:
        return
    offered = _METHODS if before == "." else _FUNCTIONS
    if token.text not in offered:
        raise TemplateInvalid.at(source, token.offset, f"“{token.text}()” is not offered in templates")


def _check_product(source: str, tokens: list[TemplateToken], at: int) -> int:
    """A product with a text repeats it: one side has to be a number, or both sides cast to numbers."""
    left, right = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    for one, other in ((left, right), (right, left)):
        if one and other and one[0].kind == "number" and other[0].kind != "string":
            return 1 if other[0].kind == "number" else int(_number(one[0].text)) + 1
    if left and left[0].text in _CASTS and _is_cast(tokens[at + 1 :]):
        return 1
    raise TemplateInvalid.at(source, tokens[at].offset, "multiply by a number, or write a|float * b|float")


_CASTS = frozenset({"int", "float"})


def _is_cast(tokens: list[TemplateToken]) -> bool:
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
