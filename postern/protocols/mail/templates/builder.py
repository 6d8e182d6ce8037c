"""Rendering of block documents and MJML to HTML for mail clients."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mrml

from postern.kernel.http.problems import BadRequest, ProblemError
from postern.protocols.mail.templates.links import mask, unmask
from postern.protocols.mail.templates.template import Engine, TemplateInvalid, compile_template

BLOCKS_LIMIT: Final = 500
"""Blocks of one document, including those in columns."""
COLUMNS_LIMIT: Final = 4
"""Columns of one block."""
MJML_CHARACTERS: Final = 1_000_000
"""Characters of one MJML document."""
ELEMENTS_DEPTH: Final = 100
"""Nesting depth of MJML elements and the HTML elements in them."""


class BuilderInvalid(BadRequest):
    """The builder document is invalid. The error's `path` tells where."""

    @classmethod
    def at(cls, path: str, message: str) -> "BuilderInvalid":
        """An error at a JSON pointer into the document."""
        text = f"{path or '/'}: {message}"
        return cls(text, errors=[ProblemError(path=path, code=cls.code(), message=message)])


def render_builder(builder_json: Mapping[str, Any], engine: Engine = "minijinja") -> str:
    """The HTML of `{"mjml": "…"}` or `{"blocks": [{"type": "text", "text": "…"}, …]}`.

    Block types and their fields: `heading` (text, level 1–3), `text` (text, or html), `button` (text, url),
    `image` (url, alt, href, width), `divider`, `spacer` (height in px), `columns` (columns: list of
    {blocks}), `html` (html). Blocks may also have `align`, `color`, `background` and `size` (px) where applicable;
    the document may have `title`, `preview`, `width` (px), `background` and `font`. Template expressions are
    preserved; with the engine `none` there are none, and braces are plain text. Raises BuilderInvalid with the path,
    or TemplateInvalid.
    """
    if engine == "none":
        return render_builder(_with_split_braces(builder_json)).replace(_SPLIT, "")
    mjml, blocks = builder_json.get("mjml"), builder_json.get("blocks")
    if isinstance(mjml, str) and blocks is None:
        return render_mjml(mjml)
    if isinstance(blocks, list) and mjml is None:
        return render_mjml(_document(builder_json, blocks))
    raise BuilderInvalid.at("", "expected either `mjml` (a string) or `blocks` (a list).")


_SPLIT = "PosternSplitx"
"""Inserted between two characters that would start a template tag. MJML does not change word characters."""
_TAG_START = re.compile(r"\{(?=[{%#])")


def _with_split_braces(value: Any) -> Any:
    """A copy of the document with `_SPLIT` in every `{{`, `{%` and `{#`, so that it has no template tags."""
    if isinstance(value, str):
        return _TAG_START.sub("{" + _SPLIT, value)
    if isinstance(value, Mapping):
        return {key: _with_split_braces(item) for key, item in value.items()}
    return [_with_split_braces(item) for item in value] if isinstance(value, list) else value


_AMPERSAND = re.compile(r"&(?!#?\w{1,32};)")
_INCLUDE = re.compile(r"<\s*mj-include\b", re.IGNORECASE)
_MASKED_TAG = re.compile("\ue000(\\d+)\ue001")
"""A masked template tag: `mask` replaces each tag by its number between two private-use characters."""
_TAG_TOKEN = re.compile(r"PosternTag(\d+)x")
"""What replaces a masked tag while the MJML is rendered."""


def render_mjml(source: str) -> str:
    """Render MJML to HTML; template tags are preserved. Includes are rejected. Raises BuilderInvalid."""
    if len(source) > MJML_CHARACTERS:
        raise BuilderInvalid.at("/mjml", f"longer than {MJML_CHARACTERS} characters.")
    try:
        compile_template(source)
    except TemplateInvalid as error:
        raise BuilderInvalid.at("/mjml", str(error)) from None
    if _INCLUDE.search(source):
        raise BuilderInvalid.at("/mjml", "includes are not supported.")
    masked, tags = mask(source)
    _require_shallow(masked)
    # MJML does not change word characters in attributes and texts, but it changes private-use characters.
    with_tokens = _MASKED_TAG.sub(r"PosternTag\1x", _TAG_TOKEN.sub("", masked))
    try:
        rendered = mrml.to_html(
            _AMPERSAND.sub("&amp;", with_tokens), mrml.ParserOptions(include_loader=mrml.noop_loader())
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise BuilderInvalid.at("/mjml", f"not valid MJML: {error}.") from None
    return unmask(_TAG_TOKEN.sub("\ue000\\1\ue001", rendered.content), tags)


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
"""Elements without content; neither their start tags nor their end tags count for the depth."""


def _require_shallow(source: str) -> None:
    """Reject nesting that could overflow the stack of the recursive MJML renderer, in one pass."""
    depth = at = 0
    while (mark := _MARKUP.search(source, at)) is not None:
        at = mark.end()
        if mark[2] is None:
            # The renderer rejects comments that are not closed.
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
            raise BuilderInvalid.at("/mjml", f"more than {ELEMENTS_DEPTH} levels of nested elements.")
        at = max(at, end)


def _tag_end(source: str, at: int) -> int:
    """The offset after the `>` of a tag whose name ends at `at`; a `>` in quotes does not count."""
    while (match := _QUOTE_OR_END.search(source, at)) is not None:
        if match[0] == ">":
            return match.end()
        closing = source.find(match[0], match.end())
        if closing < 0:
            return match.end()
        at = closing + 1
    return len(source)


_QUOTE_OR_END = re.compile("[\"'>]")


# Blocks ----------------------------------------------------------------------------------------------------


def _document(document: Mapping[str, Any], blocks: Sequence[Any]) -> str:
    node = _BuilderNode("", document)
    node.allow_only("blocks", "title", "preview", "width", "background", "font", "version")
    blocks_left = [BLOCKS_LIMIT]  # A list, so that all functions reduce the same number.
    sections = "".join(_section(f"/blocks/{number}", block, blocks_left) for number, block in enumerate(blocks))
    font = node.attribute("font", "font-family", _FONT) or ' font-family="Arial, sans-serif"'
    head = (
        f"<mj-title>{html.escape(node.text('title'))}</mj-title>"
        f"<mj-preview>{html.escape(node.text('preview'))}</mj-preview>"
        f"<mj-attributes><mj-all{font}/></mj-attributes>"
    )
    width = f' width="{node.number("width", 320, 1200, 600)}px"'
    background = node.attribute("background", "background-color", _COLOR)
    return f"<mjml><mj-head>{head}</mj-head><mj-body{width}{background}>{sections}</mj-body></mjml>"


def _section(path: str, block: Any, blocks_left: list[int]) -> str:
    node = _block_node(path, block, blocks_left)
    if node.kind() != "columns":
        return f'<mj-section padding="0"><mj-column>{_block(node)}</mj-column></mj-section>'
    node.allow_only("type", "id", "columns", "background")
    columns = node.values.get("columns")
    if not isinstance(columns, list) or not 1 <= len(columns) <= COLUMNS_LIMIT:
        raise BuilderInvalid.at(f"{path}/columns", f"expected a list of 1 to {COLUMNS_LIMIT} columns.")
    rendered = "".join(_column(f"{path}/columns/{n}", column, blocks_left) for n, column in enumerate(columns))
    background = node.attribute("background", "background-color", _COLOR)
    return f'<mj-section padding="0"{background}>{rendered}</mj-section>'


def _column(path: str, column: Any, blocks_left: list[int]) -> str:
    if isinstance(column, list):
        blocks: Any = column
    else:
        if not isinstance(column, Mapping):
            raise BuilderInvalid.at(path, "expected an object with `blocks`.")
        blocks, path = column.get("blocks"), f"{path}/blocks"
    if not isinstance(blocks, list):
        raise BuilderInvalid.at(path, "expected a list of blocks.")
    rendered = "".join(_block(_block_node(f"{path}/{n}", block, blocks_left)) for n, block in enumerate(blocks))
    return f"<mj-column>{rendered}</mj-column>"


def _block_node(path: str, block: Any, blocks_left: list[int]) -> "_BuilderNode":
    """Make the node of a block, and reduce `blocks_left[0]`, the number of further blocks that are allowed, by one.

    Raises BuilderInvalid if no further block is allowed, or if `block` is not an object.
    """
    blocks_left[0] -= 1
    if blocks_left[0] < 0:
        raise BuilderInvalid.at(path, f"more than {BLOCKS_LIMIT} blocks.")
    if not isinstance(block, Mapping):
        raise BuilderInvalid.at(path, "expected an object with a `type`.")
    return _BuilderNode(path, block)


def _block(node: "_BuilderNode") -> str:
    render = _RENDERERS.get(node.kind())
    if render is None:
        kinds = ", ".join([*_RENDERERS, "columns"])
        hint = "columns cannot be nested" if node.kind() == "columns" else f"expected one of {kinds}"
        raise BuilderInvalid.at(f"{node.path}/type", f"{hint}.")
    return render(node)


_COLOR = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z]{3,20}|rgba?\([0-9., %]{1,30}\)")
_ALIGN = re.compile(r"left|center|right|justify")
_FONT = re.compile(r"[A-Za-z0-9 ,'\-]{1,200}")
_URL_START = re.compile(r"(?:https?://|mailto:|tel:|cid:|#|/|\{\{)", re.IGNORECASE)


class _BuilderNode:
    """One object of the document and its JSON pointer."""

    def __init__(self, path: str, values: Mapping[str, Any]) -> None:
        self.path = path
        self.values = values

    def kind(self) -> str:
        kind = self.values.get("type")
        return kind if isinstance(kind, str) else ""

    def allow_only(self, *names: str) -> None:
        """Reject unknown fields, which would otherwise be ignored silently."""
        for name in self.values:
            if name not in names:
                raise BuilderInvalid.at(f"{self.path}/{name}", f"unknown field; expected {', '.join(names)}.")

    def text(self, *names: str, required: bool = False) -> str:
        """The first of these fields that is present; an empty string if none is."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, str):
                return value
            if value is not None:
                raise BuilderInvalid.at(f"{self.path}/{name}", "expected a string.")
        if required:
            raise BuilderInvalid.at(f"{self.path}/{names[0]}", "the field is required.")
        return ""

    def number(self, name: str, minimum: int, maximum: int, default: int) -> int:
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise BuilderInvalid.at(f"{self.path}/{name}", f"expected a whole number from {minimum} to {maximum}.")
        return value

    def url(self, *names: str, required: bool = False) -> str:
        url = self.text(*names, required=required).strip()
        if url and not _URL_START.match(url):
            raise BuilderInvalid.at(f"{self.path}/{names[0]}", "expected a URL that begins with https://.")
        return _attribute(url)

    def attribute(self, name: str, attribute_name: str, allowed: re.Pattern[str]) -> str:
        """The field `name` as an MJML attribute with a leading space; an empty string if it is missing."""
        value = self.text(name)
        if not value:
            return ""
        if not allowed.fullmatch(value):
            raise BuilderInvalid.at(f"{self.path}/{name}", "the value is not valid for this field.")
        return f' {attribute_name}="{value}"'

    def style_attributes(self) -> str:
        """The alignment, color and font size attributes of text blocks."""
        size = f' font-size="{self.number("size", 8, 96, 16)}px"' if "size" in self.values else ""
        return self.attribute("align", "align", _ALIGN) + self.attribute("color", "color", _COLOR) + size


def _attribute(value: str) -> str:
    """Escape a value for a double-quoted attribute; template tags keep their own quotes."""
    masked, tags = mask(value)
    return unmask(html.escape(html.unescape(masked)), tags)


def _escape_text(value: str) -> str:
    """Escape a text as HTML with its line breaks; template tags are preserved."""
    masked, tags = mask(value)
    return unmask(html.escape(masked, quote=False).replace("\n", "<br/>"), tags)


def _heading(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "text", "level", "align", "color", "size")
    level = node.number("level", 1, 3, 1)
    size = "" if "size" in node.values else f' font-size="{(30, 24, 20)[level - 1]}px"'
    content = _escape_text(node.text("text", required=True))
    attributes = f'font-weight="bold" line-height="1.3"{size}{node.style_attributes()}'
    return f'<mj-text {attributes}><h{level} style="margin:0;font-size:inherit">{content}</h{level}></mj-text>'


def _text(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "text", "html", "align", "color", "size")
    content = node.text("html") or _escape_text(node.text("text", required=True))
    size = "" if "size" in node.values else ' font-size="16px"'
    return f'<mj-text line-height="1.5"{size}{node.style_attributes()}>{content}</mj-text>'


def _button(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "text", "url", "href", "align", "color", "background", "size")
    background = node.attribute("background", "background-color", _COLOR)
    content = _escape_text(node.text("text", required=True))
    url = node.url("url", "href", required=True)
    return f'<mj-button href="{url}"{background}{node.style_attributes()}>{content}</mj-button>'


def _image(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "url", "src", "alt", "href", "width", "align")
    href = f' href="{node.url("href")}"' if node.values.get("href") else ""
    width = f' width="{node.number("width", 1, 1200, 600)}px"' if "width" in node.values else ""
    align = node.attribute("align", "align", _ALIGN)
    alt = _attribute(node.text("alt"))
    return f'<mj-image src="{node.url("url", "src", required=True)}" alt="{alt}"{href}{width}{align}/>'


def _divider(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "color", "width")
    color = node.attribute("color", "border-color", _COLOR) or ' border-color="#dddddd"'
    return f'<mj-divider border-width="{node.number("width", 1, 20, 1)}px"{color}/>'


def _spacer(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "height")
    return f'<mj-spacer height="{node.number("height", 1, 400, 20)}px"/>'


def _html(node: _BuilderNode) -> str:
    node.allow_only("type", "id", "html")
    return f"<mj-text>{node.text('html', required=True)}</mj-text>"


_RENDERERS: dict[str, Callable[[_BuilderNode], str]] = {
    "heading": _heading,
    "text": _text,
    "button": _button,
    "image": _image,
    "divider": _divider,
    "spacer": _spacer,
    "html": _html,
}
