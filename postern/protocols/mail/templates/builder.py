"""Block documents and MJML as html that mail readers understand."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mrml

from postern.kernel.http.problems import BadRequest, ProblemError
from postern.protocols.mail.templates.links import mask, unmask
from postern.protocols.mail.templates.template import Engine, TemplateInvalid, compile_template

BLOCKS_LIMIT: Final = 500
"""Blocks of one document, those in columns included."""
COLUMNS_LIMIT: Final = 4
"""Columns side by side."""
MJML_CHARACTERS: Final = 1_000_000
"""Characters of one MJML document."""
ELEMENTS_DEPTH: Final = 100
"""Elements of MJML, and of the html in it, inside one another."""


class BuilderInvalid(BadRequest):
    """The builder document cannot be rendered."""

    @classmethod
    def at(cls, path: str, message: str) -> "BuilderInvalid":
        """One bad place, as a JSON pointer into the document."""
        text = f"{path or '/'}: {message}"
        return cls(text, errors=[ProblemError(path=path, code=cls.code(), message=message)])


def render_builder(builder_json: Mapping[str, Any], engine: Engine = "minijinja") -> str:
    """The html of `{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`.

    Block types and their fields: `heading` (text, level 1–3), `text` (text, or html), `button` (text, url),
    `image` (url, alt, href, width), `divider`, `spacer` (height in px), `columns` (columns: list of
    {blocks}), `html` (html). `align`, `color`, `background` and `size` (px) are taken where they make sense;
    the document may have `title`, `preview`, `width` (px), `background` and `font`. Template holes survive; with
    the engine `none` there are none, and braces are text as any other.
    Raises BuilderInvalid with the place, or TemplateInvalid.
    """
    if engine == "none":
        return render_builder(_with_split_braces(builder_json)).replace(_SPLIT, "")
    mjml, blocks = builder_json.get("mjml"), builder_json.get("blocks")
    if isinstance(mjml, str) and blocks is None:
        return render_mjml(mjml)
    if isinstance(blocks, list) and mjml is None:
        return render_mjml(_document(builder_json, blocks))
    raise BuilderInvalid.at("", "expected either `mjml` (a text) or `blocks` (a list).")


_SPLIT = "PosternSplitx"
"""Stands between two characters that would open a template hole; word characters pass through MJML unharmed."""
_HOLE_START = re.compile(r"\{(?=[{%#])")


def _with_split_braces(value: Any) -> Any:
    """A builder document in whose texts nothing looks like a template hole."""
    if isinstance(value, str):
        return _HOLE_START.sub("{" + _SPLIT, value)
    if isinstance(value, Mapping):
        return {key: _with_split_braces(each) for key, each in value.items()}
    return [_with_split_braces(each) for each in value] if isinstance(value, list) else value


_AMPERSAND = re.compile(r"&(?!#?\w{1,32};)")
_INCLUDE = re.compile(r"<\s*mj-include\b", re.IGNORECASE)
_HELD = re.compile("\ue000(\\d+)\ue001")
_TOKEN = re.compile(r"PosternHole(\d+)x")


def render_mjml(source: str) -> str:
    """MJML as html; its template holes come through unchanged. Includes are refused."""
    if len(source) > MJML_CHARACTERS:
        raise BuilderInvalid.at("/mjml", f"longer than {MJML_CHARACTERS} characters.")
    try:
        compile_template(source)
    except TemplateInvalid as trouble:
        raise BuilderInvalid.at("/mjml", str(trouble)) from None
    if _INCLUDE.search(source):
        raise BuilderInvalid.at("/mjml", "includes are not supported.")
    masked, holes = mask(source)
    _require_shallow(masked)
    # Word characters pass through every attribute and text of MJML unharmed, private-use ones do not.
    held = _HELD.sub(r"PosternHole\1x", _TOKEN.sub("", masked))
    try:
        made = mrml.to_html(_AMPERSAND.sub("&amp;", held), mrml.ParserOptions(include_loader=mrml.noop_loader()))
    except (OSError, ValueError, RuntimeError) as trouble:
        raise BuilderInvalid.at("/mjml", f"not valid MJML: {trouble}.") from None
    return unmask(_TOKEN.sub("\ue000\\1\ue001", made.content), holes)


_MARKUP = re.compile(r"<!--|<!\[CDATA\[|<(/?)([A-Za-z][^\s/>]*)")
_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "mj-image",
        "mj-divider",
        "mj-spacer",
    ]
)
"""Elements that hold no others: neither their tags nor what closes them counts."""


def _require_shallow(source: str) -> None:
    """Refuse, in one pass, what the renderer could lose its stack on: it works by recursion."""
    depth = at = 0
    while (mark := _MARKUP.search(source, at)) is not None:
        at = mark.end()
        if mark[2] is None:
            # A comment that is not closed is the renderer's to refuse.
            end = source.find("-->" if mark[0] == "<!--" else "]]>", at)
            if end < 0:
                return
            at = end
            continue
        is_void = mark[2].lower() in _VOID
        if mark[1]:
            depth -= not is_void
            depth = max(0, depth)
            continue
        end = _tag_end(source, at)
        depth += not is_void and source[end - 2 : end] != "/>"
        if depth > ELEMENTS_DEPTH:
            raise BuilderInvalid.at("/mjml", f"more than {ELEMENTS_DEPTH} elements inside one another.")
        at = max(at, end)


def _tag_end(source: str, at: int) -> int:
    """Behind the `>` of a tag whose name ends at `at`; a quoted one ends nothing."""
    while (found := _QUOTE_OR_END.search(source, at)) is not None:
        if found[0] == ">":
            return found.end()
        closing = source.find(found[0], found.end())
        if closing < 0:
            return found.end()
        at = closing + 1
    return len(source)


_QUOTE_OR_END = re.compile("[\"'>]")


# Blocks ----------------------------------------------------------------------------------------------------


def _document(builder: Mapping[str, Any], blocks: Sequence[Any]) -> str:
    box = _BuilderNode("", builder)
    box.only("blocks", "title", "preview", "width", "background", "font", "version")
    budget = [BLOCKS_LIMIT]
    sections = "".join(_section(f"/blocks/{number}", block, budget) for number, block in enumerate(blocks))
    font = box.attribute("font", "font-family", _FONT) or ' font-family="Arial, sans-serif"'
    head = (
        f"<mj-title>{html.escape(box.text('title'))}</mj-title>"
        f"<mj-preview>{html.escape(box.text('preview'))}</mj-preview>"
        f"<mj-attributes><mj-all{font}/></mj-attributes>"
    )
    width = f' width="{box.number("width", 320, 1200, 600)}px"'
    background = box.attribute("background", "background-color", _COLOR)
    return f"<mjml><mj-head>{head}</mj-head><mj-body{width}{background}>{sections}</mj-body></mjml>"


def _section(path: str, block: Any, budget: list[int]) -> str:
    box = _box(path, block, budget)
    if box.kind() != "columns":
        return f'<mj-section padding="0"><mj-column>{_block(box)}</mj-column></mj-section>'
    box.only("type", "id", "columns", "background")
    columns = box.values.get("columns")
    if not isinstance(columns, list) or not 1 <= len(columns) <= COLUMNS_LIMIT:
        raise BuilderInvalid.at(f"{path}/columns", f"expected a list of 1 to {COLUMNS_LIMIT} columns.")
    made = "".join(_column(f"{path}/columns/{n}", each, budget) for n, each in enumerate(columns))
    background = box.attribute("background", "background-color", _COLOR)
    return f'<mj-section padding="0"{background}>{made}</mj-section>'


def _column(path: str, column: Any, budget: list[int]) -> str:
    if isinstance(column, list):
        blocks: Any = column
    else:
        if not isinstance(column, Mapping):
            raise BuilderInvalid.at(path, "expected an object with `blocks`.")
        blocks, path = column.get("blocks"), f"{path}/blocks"
    if not isinstance(blocks, list):
        raise BuilderInvalid.at(path, "expected a list of blocks.")
    made = "".join(_block(_box(f"{path}/{n}", each, budget)) for n, each in enumerate(blocks))
    return f"<mj-column>{made}</mj-column>"


def _box(path: str, block: Any, budget: list[int]) -> "_BuilderNode":
    budget[0] -= 1
    if budget[0] < 0:
        raise BuilderInvalid.at(path, f"more than {BLOCKS_LIMIT} blocks.")
    if not isinstance(block, Mapping):
        raise BuilderInvalid.at(path, "expected an object with a `type`.")
    return _BuilderNode(path, block)


def _block(box: "_BuilderNode") -> str:
    make = _MAKERS.get(box.kind())
    if make is None:
        kinds = ", ".join([*_MAKERS, "columns"])
        hint = "columns cannot be nested" if box.kind() == "columns" else f"expected one of {kinds}"
        raise BuilderInvalid.at(f"{box.path}/type", f"{hint}.")
    return make(box)


_COLOR = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z]{3,20}|rgba?\([0-9., %]{1,30}\)")
_ALIGN = re.compile(r"left|center|right|justify")
_FONT = re.compile(r"[A-Za-z0-9 ,'\-]{1,200}")
_URL_START = re.compile(r"(?:https?://|mailto:|tel:|cid:|#|/|\{\{)", re.IGNORECASE)


class _BuilderNode:
    """One object of the document and where it stands in it."""

    def __init__(self, path: str, values: Mapping[str, Any]) -> None:
        self.path = path
        self.values = values

    def kind(self) -> str:
        kind = self.values.get("type")
        return kind if isinstance(kind, str) else ""

    def only(self, *names: str) -> None:
        """Refuse fields that would silently be ignored."""
        for name in self.values:
            if name not in names:
                raise BuilderInvalid.at(f"{self.path}/{name}", f"unknown field; expected {', '.join(names)}.")

    def text(self, *names: str, required: bool = False) -> str:
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                return value
            if value is not None:
                raise BuilderInvalid.at(f"{self.path}/{name}", "expected a text.")
        if required:
            raise BuilderInvalid.at(f"{self.path}/{names[0]}", "is missing.")
        return ""

    def number(self, name: str, least: int, most: int, otherwise: int) -> int:
        value = self.values.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise BuilderInvalid.at(f"{self.path}/{name}", f"expected a whole number from {least} to {most}.")
        return value

    def url(self, *names: str, required: bool = False) -> str:
        found = self.text(*names, required=required).strip()
        if found and not _URL_START.match(found):
            raise BuilderInvalid.at(f"{self.path}/{names[0]}", "expected an address that begins with https://.")
        return _attribute(found)

    def attribute(self, name: str, written: str, allowed: re.Pattern[str]) -> str:
        found = self.text(name)
        if not found:
            return ""
        if not allowed.fullmatch(found):
            raise BuilderInvalid.at(f"{self.path}/{name}", "is not a value this field takes.")
        return f' {written}="{found}"'

    def look(self) -> str:
        """The attributes that texts share."""
        size = f' font-size="{self.number("size", 8, 96, 16)}px"' if "size" in self.values else ""
        return self.attribute("align", "align", _ALIGN) + self.attribute("color", "color", _COLOR) + size


def _attribute(value: str) -> str:
    """A value between double quotes; template holes keep their own quotes."""
    masked, holes = mask(value)
    return unmask(html.escape(html.unescape(masked)), holes)


def _words(value: str) -> str:
    """A text as html: escaped, with its line breaks; template holes stay."""
    masked, holes = mask(value)
    return unmask(html.escape(masked, quote=False).replace("\n", "<br/>"), holes)


def _heading(box: _BuilderNode) -> str:
    box.only("type", "id", "text", "level", "align", "color", "size")
    level = box.number("level", 1, 3, 1)
    size = "" if "size" in box.values else f' font-size="{(30, 24, 20)[level - 1]}px"'
    words = _words(box.text("text", required=True))
    look = f'font-weight="bold" line-height="1.3"{size}{box.look()}'
    return f'<mj-text {look}><h{level} style="margin:0;font-size:inherit">{words}</h{level}></mj-text>'


def _text(box: _BuilderNode) -> str:
    box.only("type", "id", "text", "html", "align", "color", "size")
    made = box.text("html") or _words(box.text("text", required=True))
    size = "" if "size" in box.values else ' font-size="16px"'
    return f'<mj-text line-height="1.5"{size}{box.look()}>{made}</mj-text>'


def _button(box: _BuilderNode) -> str:
    box.only("type", "id", "text", "url", "href", "align", "color", "background", "size")
    background = box.attribute("background", "background-color", _COLOR)
    words = _words(box.text("text", required=True))
    url = box.url("url", "href", required=True)
    return f'<mj-button href="{url}"{background}{box.look()}>{words}</mj-button>'


def _image(box: _BuilderNode) -> str:
    box.only("type", "id", "url", "src", "alt", "href", "width", "align")
    href = f' href="{box.url("href")}"' if box.values.get("href") else ""
    width = f' width="{box.number("width", 1, 1200, 600)}px"' if "width" in box.values else ""
    align = box.attribute("align", "align", _ALIGN)
    alt = _attribute(box.text("alt"))
    return f'<mj-image src="{box.url("url", "src", required=True)}" alt="{alt}"{href}{width}{align}/>'


def _divider(box: _BuilderNode) -> str:
    box.only("type", "id", "color", "width")
    color = box.attribute("color", "border-color", _COLOR) or ' border-color="#dddddd"'
    return f'<mj-divider border-width="{box.number("width", 1, 20, 1)}px"{color}/>'


def _spacer(box: _BuilderNode) -> str:
    box.only("type", "id", "height")
    return f'<mj-spacer height="{box.number("height", 1, 400, 20)}px"/>'


def _html(box: _BuilderNode) -> str:
    box.only("type", "id", "html")
    return f"<mj-text>{box.text('html', required=True)}</mj-text>"


_MAKERS: dict[str, Callable[[_BuilderNode], str]] = {
    "heading": _heading,
    "text": _text,
    "button": _button,
    "image": _image,
    "divider": _divider,
    "spacer": _spacer,
    "html": _html,
}
