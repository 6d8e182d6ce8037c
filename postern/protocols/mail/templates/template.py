"""Rendering untrusted templates with untrusted values.

The language is MiniJinja without the features that let a small template produce huge output: no macros, includes or
blocks, only an allowlist of functions, methods and filters. Chains of assignments that double a text are rejected when
the template is compiled. Everything else is limited by fuel (steps of the engine) and by the size of the output.
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
"""Characters of one template: the size of the largest message."""
FUEL: Final = 50_000
"""Steps of the template engine for one rendering: about ten thousand loop iterations."""
FUEL_OF_LARGE_VALUES: Final = 5_000
"""Steps for values so large that one step may take a millisecond."""
OUTPUT_LIMIT: Final = 10_000_000
"""Characters of the output of one rendering, in addition to those of the template."""
WORK_LIMIT: Final = 64_000_000
"""A rendering that could write more octets than this, by the bounds of its template, runs with a counter of its output
and with less fuel. If a single value could have more octets than this, the rendering fails."""
GROWTH_LIMIT: Final = 1_000
"""The factor by which an expression or a chain of assignments may enlarge a value by joining it with others."""
RANGE_LIMIT: Final = 1_000
"""Numbers of one `range()`."""
EXPRESSION_DEPTH: Final = 100
"""Nesting depth of operators, brackets and filters in one expression."""
BLOCKS_DEPTH: Final = 50
"""Nesting depth of loops and conditions."""
BRANCHES_LIMIT: Final = 100
"""`{% elif %}` branches of one condition."""
VALUES_DEPTH: Final = 50
"""Nesting depth of lists and objects in the values."""


Engine = Literal["minijinja", "none"]
"""The template engine of a message's subject, html and text; `none` sends them as written, without rendering."""


class TemplateInvalid(BadRequest):
    """The template has a syntax error or uses something that is not available in templates."""

    @classmethod
    def at(cls, source: str, offset: int, message: str, path: str = "") -> "TemplateInvalid":
        """A problem that reports the character `offset` of `source` as a line and a column, both counted from 1."""
        line = source.count("\n", 0, offset) + 1
        column = offset - (source.rfind("\n", 0, offset) + 1) + 1
        text = f"Line {line}, column {column}: {message}."
        return cls(text, errors=[ProblemError(path=path, code=cls.code(), message=text)])


class RenderFailed(Unprocessable):
    """The template could not be rendered with these values."""


class OutputFormat(StrEnum):
    """The format of the output: `HTML` escapes every value, `TEXT` (subjects too) escapes none."""

    HTML = "html"
    TEXT = "text"


class RenderValues:
    """Template values, validated and prepared once for all templates of a message."""

    __slots__ = ("octets", "scalars", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Raises RenderFailed if the values are not plain JSON or are nested too deeply."""
        encoded = _encoded(values)
        self.values = _without_nulls(values) if b"null" in encoded else values
        self.octets = len(encoded)
        """Size of the values as JSON."""
        self.scalars = _scalars(self.values)
        """Values that are neither lists nor objects."""


_NESTED = (Mapping, list, tuple)


def _scalars(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are neither lists nor objects."""
    return {name: value for name, value in values.items() if type(value) is str or not isinstance(value, _NESTED)}


class CompiledTemplate:
    """A compiled template, which any number of threads may render."""

    __slots__ = ("_bound", "_environments", "_has_dashes", "_lock", "_may_read_methods", "_names", "_source", "kind")

    def __init__(self, source: str, kind: OutputFormat, bound: "_Bound") -> None:
        self.kind = kind
        self._source = source
        """The source given to the engine."""
        self._bound = bound
        self._has_dashes = DASH in source
        self._may_read_methods = _METHOD.search(source) is not None
        self._names: frozenset[str] | None = None
        self._environments: dict[tuple[str, ...], minijinja.Environment] = {}
        self._lock = threading.Lock()

    def render(self, values: "Mapping[str, Any] | RenderValues") -> str:
        """Render the template. Unknown and null values render as an empty string.

        The engine gets copies: lists and objects are written as literals of the template language, so a template cannot
        reach Python objects. Raises RenderFailed with the reason, such as out of fuel, too large or a division by zero.
        """
        prepared = values if isinstance(values, RenderValues) else RenderValues(values)
        all_values, scalars = prepared.values, prepared.scalars
        if self._has_dashes:
            dashed = {name.replace("-", DASH): value for name, value in all_values.items() if "-" in name}
            all_values, scalars = {**all_values, **dashed}, {**scalars, **_scalars(dashed)}
        size = (prepared.octets + 64) * self._bound.growth
        if size > WORK_LIMIT:
            raise _too_large()
        nested: tuple[str, ...] = ()
        if len(scalars) != len(all_values) or self._may_read_methods:
            names = (all_values.keys() - scalars.keys()) | (DICT_METHODS - all_values.keys())
            nested = tuple(sorted(names & self._variable_names()))
        try:
            with self._lock:
                text = self._run(all_values, scalars, nested, counting=self._bound.emits * size > WORK_LIMIT)
        except minijinja.TemplateError as error:
            raise RenderFailed(_reason(error)) from None
        except Problem:
            raise
        except MemoryError:
            raise _too_large() from None
        except Exception as error:  # The engine passes exceptions of Python functions through.
            raise RenderFailed(f"The template failed: {str(error)[:200] or type(error).__name__}.") from None
        if len(text) > OUTPUT_LIMIT + len(self._source):
            raise _too_large()
        return text

    def _run(
        self, values: Mapping[str, Any], scalars: dict[str, Any], nested: tuple[str, ...], *, counting: bool
    ) -> str:
        """Run the engine. `counting` stops it at OUTPUT_LIMIT.

        `nested` are the names of lists and objects, and of methods of dictionaries that have no value.
        """
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
            environment.add_template(VALUES, "".join(_set_statement(name, values) for name in nested))
        return environment.render_template(self.kind.value, **scalars)

    def _variable_names(self) -> frozenset[str]:
        """The names that the template reads from its values."""
        if self._names is None:
            names = _empty_environment(self.kind).undeclared_variables_in_str(self._source)
            self._names = frozenset(names) - RESERVED
        return self._names


def compile_template(source: str, kind: OutputFormat = OutputFormat.HTML) -> CompiledTemplate:
    """Parse `source` for repeated rendering.

    Raises TemplateInvalid with line and column if it has a syntax error or uses something that is not available.
    """
    if len(source) > SOURCE_LIMIT:
        raise TemplateInvalid(f"The template is longer than {SOURCE_LIMIT} characters.")
    if _SURROGATE.search(source):
        raise TemplateInvalid("The template contains an unpaired surrogate, which is not a character.")
    translation = _translate(source)
    _parse(source, translation, kind)
    return CompiledTemplate(translation.engine_source, kind, translation.bound)


def variables(source: str) -> list[str]:
    """The names of a template's variables in alphabetical order, attributes with dots (`user.name`).

    Raises TemplateInvalid.
    """
    translation = _translate(source)
    _parse(source, translation, OutputFormat.TEXT)
    names = _empty_environment(OutputFormat.TEXT).undeclared_variables_in_str(translation.engine_source, nested=True)
    return sorted({name.replace(DASH, "-") for name in names if not name.startswith(RANGE)})


_SURROGATE = re.compile("[\ud800-\udfff]")
DASH: Final = "\u203f"
"""Replaces `-` in variable names for the engine: a character that is valid in names and that templates may not use."""
RANGE: Final = f"range{DASH}"
"""The engine's name of `range`, so that variables and assignments named `range` do not collide with it."""
VALUES: Final = "values"
"""The name of the engine template that holds the values of one rendering."""
DICT_METHODS: Final = frozenset(name for name in dir(dict) if not name.startswith("_"))
"""Names that the engine would look up as methods of the dictionary of values, if no value has that name."""
_METHOD = re.compile(rf"\b(?:{'|'.join(sorted(DICT_METHODS))})\b")
MISSING: Final = f"missing{DASH}"
"""A variable that is always undefined: templates may not use DASH in names."""
ENVIRONMENTS_KEPT: Final = 8
"""Engine environments cached per template, one per set of names with list or object values."""
RESERVED: Final = frozenset({"loop", "self", "super", "caller", RANGE})
COMMENT: Final = ("\ue004\ue005", "\ue005\ue004")
"""The engine's comment delimiters: as long as `{#` and `#}`; a template that contains one is refused."""

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
    """An expression, statement or comment of a template, with its delimiters."""

    __slots__ = ("end", "start", "text", "tokens")

    def __init__(self, source: str, start: int, end: int, tokens: list[TemplateToken]) -> None:
        self.start = start
        """The offset of the tag's first character."""
        self.end = end
        """The offset after the tag's last character."""
        self.text = source[start:end]
        """The text of the tag, including the delimiters."""
        self.tokens = tokens
        """The tokens between the delimiters; for a `{% raw %}` block only `raw`."""


def tags_of(source: str) -> Iterator[TemplateTag]:
    """The expressions, statements and comments of a template in order, found in one linear pass.

    A valid template closes every tag; in other text the search stops at the first tag without an end. `{#` starts a
    comment only if `#}` follows, and never inside `<style>`, because minified CSS contains it.
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
            tag = TemplateTag(source, start, end + 2, [])
        else:
            parsed_tag = _parse_tag(source, start, mark)
            if parsed_tag is None:
                return
            tag = parsed_tag
        yield tag
        at = tag.end


def _parse_tag(source: str, start: int, mark: str) -> TemplateTag | None:
    """The expression or statement that begins at `start`; None if it is not closed."""
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
            # Inside brackets these characters belong to the expression.
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
    match = _SPACE.match(source, at)
    return match.end() if match else at


def _parse(source: str, translation: "_Translation", kind: OutputFormat) -> None:
    """Let the engine parse a template. Raises TemplateInvalid with the location in `source`."""
    try:
        _empty_environment(kind).add_template(kind.value, translation.engine_source)
    except minijinja.TemplateError as error:
        start = error.range[0] if error.range else 0
        offset = len(translation.engine_source.encode()[:start].decode(errors="replace"))
        message = (error.detail or error.kind).replace(DASH, "-")
        raise TemplateInvalid.at(source, translation.offset(offset), message) from None
    if not translation.all_tags_closed:
        raise TemplateInvalid("The template has an expression, statement or comment that is not closed.")


def _empty_environment(kind: OutputFormat) -> minijinja.Environment:
    """An engine environment with the built-in functions and filters of the engine, without templates."""
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
    environment = _empty_environment(kind)
    environment.fuel = fuel
    if counting:
        environment.finalizer = _Meter()
    for name in REMOVED_GLOBALS:
        environment.remove_global(name)
    for name in REMOVED_FILTERS:
        environment.remove_filter(name)
    environment.add_global(RANGE, _range)
    environment.add_filter("replace", _replace)
    environment.add_filter("join", _join)
    prefix = f"{{% from '{VALUES}' import {', '.join(nested)} %}}" if nested else ""
    environment.add_template(kind.value, prefix + source)
    return environment


REMOVED_GLOBALS: Final = ("debug", "namespace", "dict", "cycler", "joiner", "range", "now", "lipsum")
REMOVED_FILTERS: Final = (
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
"""Built-in filters removed from the engine, so that `map("indent", 9)` cannot call them either."""


def _set_statement(name: str, values: Mapping[str, Any]) -> str:
    """A `set` statement with the value as a JSON literal, which the template language accepts; undefined if missing."""
    literal = _ENCODER.encode(values[name]).decode() if name in values else MISSING
    return f"{{% set {name} = {literal} %}}"


class _Meter:
    """Counts the characters that a rendering writes and stops it at OUTPUT_LIMIT."""

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, value: Any) -> Any:
        self.written += len(value) if isinstance(value, str) else 64
        if self.written > OUTPUT_LIMIT:
            raise _too_large()
        return value


def _too_large() -> RenderFailed:
    return RenderFailed(f"The output of the template is longer than {OUTPUT_LIMIT} characters with these values.")


def _reason(error: minijinja.TemplateError) -> str:
    if error.kind == "OutOfFuel":
        return "The template takes too many steps with these values. Check it for very long loops."
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
    """Check the nesting of lists and objects. Raises RenderFailed if it is deeper than `VALUES_DEPTH`."""
    level, depth = [value], 0
    while level:
        if depth > VALUES_DEPTH:
            raise RenderFailed(f"The values are nested more than {VALUES_DEPTH} deep.")
        nested: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                nested.extend(item.values())
            elif isinstance(item, list | tuple):
                nested.extend(item)
        level = [item for item in nested if isinstance(item, _NESTED)]
        depth += 1


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return ["" if item is None else _without_nulls(item) for item in value]
    return value


def _range(start: int, stop: int | None = None, step: int = 1) -> tuple[int, ...]:
    numbers = range(start) if stop is None else range(start, stop, step)
    if len(numbers) > RANGE_LIMIT:
        raise RenderFailed(f"range() can have at most {RANGE_LIMIT} numbers.")
    return tuple(numbers)


def _replace(value: Any, old: Any, new: Any) -> str:
    text, old, new = ("" if item is None else str(item) for item in (value, old, new))
    if len(text) + text.count(old) * len(new) > OUTPUT_LIMIT:
        raise _too_large()
    return text.replace(old, new)


def _join(value: Iterable[Any] | None, joiner: Any = "", attribute: str | None = None) -> str:
    items = list(value or ())
    if attribute is not None:
        items = [item.get(attribute, "") for item in items if isinstance(item, Mapping)]
    pieces, separator = ["" if item is None else str(item) for item in items], str(joiner)
    if sum(map(len, pieces)) + len(pieces) * len(separator) > OUTPUT_LIMIT:
        raise _too_large()
    return separator.join(pieces)


# The template language ------------------------------------------------------------------------------------

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
_KEYWORDS = frozenset(
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
    """Upper bounds of the cost of rendering a template, derived from its source."""

    emits: int
    """The maximum number of values that one rendering writes."""
    growth: int
    """The maximum size of a value, as a multiple of the size of the largest variable."""
    fuel: int
    """The maximum number of engine steps."""


class _Translation(msgspec.Struct, frozen=True):
    """A template translated for the engine."""

    engine_source: str
    edits: list[tuple[int, int, int]]
    """Replacements: offset and length in the engine's source, length in the author's source."""
    bound: _Bound
    all_tags_closed: bool
    """Whether each tag is closed; a template with an open tag is invalid."""

    def offset(self, at: int) -> int:
        """Translate an offset in the engine's source into the offset in the author's source."""
        shift = 0
        for start, engine_length, source_length in self.edits:
            if at < start + engine_length:
                return min(at, start) + shift
            shift += source_length - engine_length
        return at + shift


def _translate(source: str) -> _Translation:
    """Translate a template for the engine and compute its cost bounds.

    Raises TemplateInvalid if a bound is too high, and for statements, filters, functions and characters that are not
    allowed.
    """
    for delimiter in COMMENT:
        if delimiter in source:
            message = "the private-use characters U+E004 and U+E005 cannot stand side by side"
            raise TemplateInvalid.at(source, source.index(delimiter), message)
    growth: dict[str, int] = {}
    blocks: list[str] = []
    branches = loop_depth = outputs = longest_literal = end = 0
    largest_growth, has_loops = 1, False
    pieces: list[str] = []
    edits: list[tuple[int, int, int]] = []
    copied_to = length = 0
    for tag in tags_of(source):
        if loop_depth:
            longest_literal = max(longest_literal, tag.start - end)
        end = tag.end
        opening = tag.text[:2]
        if opening == "{#":
            written = f"{COMMENT[0]}{tag.text[2:-2]}{COMMENT[1]}"
            pieces += (source[copied_to : tag.start], written)
            length += end - copied_to
            copied_to = end
            continue
        tokens = tag.tokens
        if DASH in tag.text:
            for token in tokens:
                if token.kind != "string" and DASH in token.text:
                    raise TemplateInvalid.at(source, token.offset, f"the character “{DASH}” is not allowed in names")
        for start, stop, text in _substitutes(source, tokens):
            pieces += (source[copied_to:start], text)
            length += start - copied_to
            edits.append((length, len(text), stop - start))
            length, copied_to = length + len(text), stop
        if opening == "{{":
            outputs += 1
            largest_growth = max(largest_growth, _check_expression(source, tokens, growth))
            continue
        if not tokens or tokens[0].text == "raw":
            longest_literal = max(longest_literal, len(tag.text)) if loop_depth else longest_literal
            continue
        largest_growth = max(largest_growth, _check_statement(source, tokens, growth))
        keyword = tokens[0].text
        if keyword in {"if", "for"}:
            blocks.append(keyword)
            if len(blocks) > BLOCKS_DEPTH:
                raise TemplateInvalid.at(source, tag.start, f"blocks are nested more than {BLOCKS_DEPTH} deep")
        elif keyword in {"endif", "endfor"} and blocks:
            blocks.pop()
        branches = branches + 1 if keyword == "elif" else 0 if keyword in {"if", "endif"} else branches
        if branches > BRANCHES_LIMIT:
            raise TemplateInvalid.at(source, tag.start, f"more than {BRANCHES_LIMIT} branches of one “if”")
        if keyword == "for":
            loop_depth, has_loops = loop_depth + 1, True
        elif keyword == "endfor":
            loop_depth -= 1
    engine_source = "".join(pieces) + source[copied_to:] if pieces else source
    # A loop iteration takes at least four steps and writes its longest literal at most once per three steps.
    fuel = min(FUEL, max(200, 3 * WORK_LIMIT // (longest_literal + 1))) if has_loops else FUEL
    bound = _Bound(emits=fuel // 4 if has_loops else outputs, growth=largest_growth, fuel=fuel)
    all_tags_closed = source.find("{{", end) < 0 and source.find("{%", end) < 0
    return _Translation(engine_source, edits, bound, all_tags_closed)


def _substitutes(source: str, tokens: list[TemplateToken]) -> Iterator[tuple[int, int, str]]:
    """Replacements of tokens for the engine: start, end and text.

    `range(` becomes the renamed function. A name with `-` and no spaces around it is one name: `first-name` at the
    start of a path, or `["first-name"]` inside one.
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
    """Whether the name at `at` continues with `-` and another name, without a space."""
    name, dash, following = tokens[at : at + 3]
    return (
        dash.text == "-"
        and following.kind == "name"
        and dash.offset == name.offset + len(name.text)
        and following.offset == dash.offset + 1
    )


def _require_shallow(source: str, tokens: list[TemplateToken]) -> None:
    """Reject expressions whose nesting could overflow the stack of the engine's recursive parser.

    Nested operators, brackets and filters count; those on different sides of a comma do not.
    """
    depth, chains = 0, [0]  # `chains` counts the operators since the last comma, for each open bracket.
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
        elif token.kind == "sign" or text in _OPERATOR_KEYWORDS:
            chains[-1] += 1
            depth += 1
        if depth > EXPRESSION_DEPTH:
            raise TemplateInvalid.at(
                source, token.offset, f"more than {EXPRESSION_DEPTH} nested operators, brackets and filters"
            )


_OPERATOR_KEYWORDS = frozenset({"not", "and", "or", "in", "is", "if", "else"})


def _check_statement(source: str, tokens: list[TemplateToken], growth: dict[str, int]) -> int:
    """Validate a statement; returns the same as `_check_expression` for the expression in it.

    `growth` has the factor of each variable that the template assigns; this function adds the variables of this tag.
    """
    word, rest = tokens[0], tokens[1:]
    if word.text not in _STATEMENTS:
        raise TemplateInvalid.at(source, word.offset, f"“{word.text}” is not available in templates")
    if word.text == "set" and not any(token.text == "=" for token in rest):
        raise TemplateInvalid.at(source, word.offset, "“set” needs a value: {% set name = value %}")
    separator = {"set": "=", "for": "in"}.get(word.text)
    if separator is None:
        return _check_expression(source, rest, growth)
    at = next((n for n, token in enumerate(rest) if token.text == separator), 0)
    factor = _check_expression(source, rest[at + 1 :], growth)
    for token in rest[:at]:
        if token.kind == "name":
            growth[token.text] = max(factor, growth.get(token.text, 1))
    return factor


def _check_expression(source: str, tokens: list[TemplateToken], growth: dict[str, int]) -> int:
    """Validate an expression; returns the maximum size of its value as a multiple of the largest variable."""
    _require_shallow(source, tokens)
    names, largest, joins_values = 0, 1, False
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.kind == "name" and token.text not in _KEYWORDS:
            _check_name(source, token, before, after)
            names += 1
            largest = max(largest, growth.get(token.text, 1))
        elif token.text == "(" and (before in {")", "]"} or (at and tokens[at - 1].kind == "string")):
            raise TemplateInvalid.at(source, token.offset, "only named functions can be called")
        elif token.text == "*":
            largest *= _check_product(source, tokens, at)
        joins_values = joins_values or token.text in {"~", "+", "[", "{", "%"}
    factor = largest * (max(1, names) if joins_values else 1)
    if factor > GROWTH_LIMIT:
        raise TemplateInvalid.at(source, tokens[0].offset, "too many values are joined into one")
    return factor


def _check_name(source: str, token: TemplateToken, before: str, after: str) -> None:
    if before == "|" and token.text not in FILTERS:
        raise TemplateInvalid.at(source, token.offset, f"the filter “{token.text}” does not exist")
    if token.text == "tojson" and after == "(":
        raise TemplateInvalid.at(source, token.offset, "“tojson” does not take arguments")
    if after != "(" or before in {"|", "is", "not"}:
        return
    allowed = _METHODS if before == "." else _FUNCTIONS
    if token.text not in allowed:
        raise TemplateInvalid.at(source, token.offset, f"“{token.text}()” is not available in templates")


def _check_product(source: str, tokens: list[TemplateToken], at: int) -> int:
    """The factor by which the product at `at` can enlarge a value. One operand must be a number, or both must be casts.

    Multiplying a text repeats it.
    """
    left, right = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    for operand, other_operand in ((left, right), (right, left)):
        if operand and other_operand and operand[0].kind == "number" and other_operand[0].kind != "string":
            return 1 if other_operand[0].kind == "number" else int(_number(operand[0].text)) + 1
    if left and left[0].text in _CASTS and _is_cast(tokens[at + 1 :]):
        return 1
    raise TemplateInvalid.at(source, tokens[at].offset, "multiply by a number, or write a|float * b|float")


_CASTS = frozenset({"int", "float"})


def _is_cast(tokens: list[TemplateToken]) -> bool:
    """Whether the operand at the start of `tokens` is a name, possibly dotted, that is cast to a number."""
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
