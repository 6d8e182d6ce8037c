"""Rendering of block documents and MJML to HTML for mail clients."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mrml

from postern.kernel.http.problems import BadRequest, ProblemError
from postern.protocols.mail.templates.client_support import for_mail_clients
from postern.protocols.mail.templates.dark_scheme import DarkScheme
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
    `image` (url, alt, href, width), `divider` (width: its thickness in px), `spacer` (height in px), `columns` (a list
    of columns, each {blocks} or a list of blocks), `html` (html). Blocks may also have `align`, `color`,
    `background` and `size` (px) where applicable; the document may have `title`, `preview`, `width` (px), `background`,
    `font` and `lang`. Template expressions are preserved; a document with the engine `none` has no template
    expressions, and its braces are plain text. Raises BuilderInvalid with the path, or TemplateInvalid.
    """
    if engine == "none":
        return render_builder(_with_split_braces(builder_json)).replace(_SPLIT, "")
    mjml, blocks = builder_json.get("mjml"), builder_json.get("blocks")
    if isinstance(mjml, str) and blocks is None:
        return render_mjml(mjml)
    if isinstance(blocks, list) and mjml is None:
        return _document(builder_json, blocks)
    raise BuilderInvalid.at("", "expected either `mjml` (a string) or `blocks` (a list).")


_SPLIT = "PosternSplitx"
"""Inserted between two characters that would start a template tag. The MJML renderer does not change letters."""
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
"""The replacement of a masked tag while the MJML is rendered."""


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
    # The MJML renderer does not change letters and digits in attributes and texts, but it changes private-use
    # characters. Text of the author that looks like a token would become a tag, so it is removed.
    with_tokens = _MASKED_TAG.sub(r"PosternTag\1x", _TAG_TOKEN.sub("", masked))
    try:
        rendered = mrml.to_html(
            _AMPERSAND.sub("&amp;", with_tokens), mrml.ParserOptions(include_loader=mrml.noop_loader())
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise BuilderInvalid.at("/mjml", f"not valid MJML: {error}.") from None
    return unmask(_TAG_TOKEN.sub("\ue000\\1\ue001", rendered.content), tags)


_MARKUP = re.compile(r"<!--|<!\[CDATA\[|<(?P<slash>/?)(?P<name>[A-Za-z][^\s/>]*)")
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
    while (markup := _MARKUP.search(source, at)) is not None:
        at = markup.end()
        if markup["name"] is None:
            end = source.find("-->" if markup[0] == "<!--" else "]]>", at)
            if end < 0:
                return  # A comment or CDATA section that is not closed: the renderer rejects the document.
            at = end
            continue
        is_void = markup["name"].lower() in _VOID
        if markup["slash"]:
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


class _Rendering:
    """The state of rendering one document of blocks."""

    def __init__(self, page_color: str, font: str, dark: DarkScheme) -> None:
        self.blocks_left = BLOCKS_LIMIT
        self.font = font
        self.dark = dark
        self.background = page_color
        """The color behind the block that is being rendered: that of the page, or of the `columns` block around it."""


def _document(document: Mapping[str, Any], blocks: Sequence[Any]) -> str:
    """The HTML of a document of blocks."""
    node = _BuilderNode("", document)
    node.allow_only("blocks", "title", "preview", "width", "background", "font", "lang", "version")
    font = node.matching("font", _FONT) or "Arial, sans-serif"
    background = node.attribute("background", "background-color", _COLOR)
    page_color = node.text("background") or _WHITE
    language = node.matching("lang", _LANGUAGE)
    rendering = _Rendering(page_color, font, DarkScheme(page_color, enabled=not _has_own_colors(blocks)))
    sections = "".join(_section(f"/blocks/{number}", block, rendering) for number, block in enumerate(blocks))
    head = (
        f"<mj-title>{_escape(node.text('title'))}</mj-title>"
        f"<mj-preview>{_escape(node.text('preview'))}</mj-preview>"
        f'<mj-attributes><mj-all font-family="{font}"/></mj-attributes>'
    )
    width = f' width="{node.number("width", 320, 1200, 600)}px"'
    attributes = f'{width}{background} css-class="page"'
    lang = f' lang="{language}"' if language else ""
    rendered = render_mjml(f"<mjml{lang}><mj-head>{head}</mj-head><mj-body{attributes}>{sections}</mj-body></mjml>")
    return for_mail_clients(rendered, font, rendering.dark.rules())


_OWN_COLORS = re.compile(
    r"(?:color|background)[a-z-]{0,20}\s{0,20}[:=]|<font\b|<style\b|\|\s{0,20}safe\b", re.IGNORECASE
)
"""HTML that sets colors, or has a template tag with the filter `safe`, which may insert such HTML."""


def _has_own_colors(value: Any) -> bool:
    """Whether the HTML of any block sets colors.

    Such a document gets no dark scheme: its texts could be unreadable on a dark background.
    """
    if isinstance(value, Mapping):
        own = value.get("html")
        return (isinstance(own, str) and _OWN_COLORS.search(own) is not None) or any(
            _has_own_colors(inner) for key, inner in value.items() if key in ("columns", "blocks")
        )
    return isinstance(value, list) and any(map(_has_own_colors, value))


def _section(path: str, block: Any, rendering: _Rendering) -> str:
    node = _block_node(path, block, rendering)
    if node.kind() != "columns":
        return f'<mj-section padding="0"><mj-column>{_block(node)}</mj-column></mj-section>'
    node.allow_only("type", "id", "columns", "background")
    columns = node.values.get("columns")
    if not isinstance(columns, list) or not 1 <= len(columns) <= COLUMNS_LIMIT:
        raise BuilderInvalid.at(f"{path}/columns", f"expected a list of 1 to {COLUMNS_LIMIT} columns.")
    background = node.attribute("background", "background-color", _COLOR)
    outer_color, color = rendering.background, node.text("background")
    dark = _css_class(rendering.dark.area(color)) if color else ""
    rendering.background = color or outer_color
    rendered = "".join(_column(f"{path}/columns/{n}", column, rendering) for n, column in enumerate(columns))
    rendering.background = outer_color
    return f'<mj-section padding="0"{background}{dark}>{rendered}</mj-section>'


def _column(path: str, column: Any, rendering: _Rendering) -> str:
    if isinstance(column, list):
        blocks: Any = column
    else:
        if not isinstance(column, Mapping):
            raise BuilderInvalid.at(path, "expected an object with `blocks`.")
        blocks, path = column.get("blocks"), f"{path}/blocks"
    if not isinstance(blocks, list):
        raise BuilderInvalid.at(path, "expected a list of blocks.")
    rendered = "".join(_block(_block_node(f"{path}/{n}", block, rendering)) for n, block in enumerate(blocks))
    return f"<mj-column>{rendered}</mj-column>"


def _block_node(path: str, block: Any, rendering: _Rendering) -> "_BlockNode":
    """Make the node of a block, and count it.

    Raises BuilderInvalid if no further block is allowed, or if `block` is not an object.
    """
    rendering.blocks_left -= 1
    if rendering.blocks_left < 0:
        raise BuilderInvalid.at(path, f"more than {BLOCKS_LIMIT} blocks.")
    if not isinstance(block, Mapping):
        raise BuilderInvalid.at(path, "expected an object with a `type`.")
    return _BlockNode(path, block, rendering)


def _block(node: "_BlockNode") -> str:
    render = _RENDERERS.get(node.kind())
    if render is None:
        kinds = ", ".join([*_RENDERERS, "columns"])
        hint = "columns cannot be nested" if node.kind() == "columns" else f"expected one of {kinds}"
        raise BuilderInvalid.at(f"{node.path}/type", f"{hint}.")
    return render(node)


_WHITE: Final = "#ffffff"
_BLACK: Final = "#000000"
_BUTTON: Final = "#414141"
_LINE: Final = "#dddddd"
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_COLOR = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z]{3,20}|rgba?\([0-9., %]{1,30}\)")
_ALIGN = re.compile(r"left|center|right|justify")
_FONT = re.compile(r"[A-Za-z0-9 ,'\-]{1,200}")
_URL_START = re.compile(r"(?:https?://|mailto:|tel:|cid:|#|/|\{\{)", re.IGNORECASE)
_URL_STARTS: Final = "https://, http://, mailto:, tel:, cid:, #, / or a template expression"


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
            raise BuilderInvalid.at(f"{self.path}/{names[0]}", f"expected a URL that begins with {_URL_STARTS}.")
        return _escape_attribute(url)

    def attribute(self, name: str, attribute_name: str, allowed: re.Pattern[str]) -> str:
        """The field `name` as an MJML attribute with a leading space; an empty string if it is missing."""
        value = self.matching(name, allowed)
        return f' {attribute_name}="{value}"' if value else ""

    def matching(self, name: str, allowed: re.Pattern[str]) -> str:
        """The field `name`, which must match `allowed`; an empty string if it is missing."""
        value = self.text(name)
        if value and not allowed.fullmatch(value):
            raise BuilderInvalid.at(f"{self.path}/{name}", "the value is not valid for this field.")
        return value

    def text_attributes(self) -> str:
        """The alignment and color attributes of text blocks."""
        return self.attribute("align", "align", _ALIGN) + self.attribute("color", "color", _COLOR)


class _BlockNode(_BuilderNode):
    """One block, and the state of the rendering that it is part of."""

    def __init__(self, path: str, values: Mapping[str, Any], rendering: _Rendering) -> None:
        super().__init__(path, values)
        self._rendering = rendering

    def dark_text(self) -> str:
        """The `css-class` attribute of a text for dark schemes."""
        return _css_class(self._rendering.dark.text(self.text("color") or _BLACK, self._rendering.background))

    def dark_button(self) -> str:
        """The `css-class` attribute of a button for dark schemes."""
        return _css_class(self._rendering.dark.button(self.text("background") or _BUTTON, self._rendering.background))

    def dark_line(self) -> str:
        """The `css-class` attribute of a divider for dark schemes."""
        return _css_class(self._rendering.dark.line(self.text("color") or _LINE, self._rendering.background))

    def dark_picture(self) -> str:
        """The `css-class` attribute of an image for dark schemes."""
        return _css_class(self._rendering.dark.picture(self._rendering.background))


def _css_class(name: str) -> str:
    return f' css-class="{name}"' if name else ""


def _escape_attribute(value: str) -> str:
    """Escape a value for a double-quoted attribute; template tags keep their own quotes."""
    masked, tags = mask(value)
    return unmask(html.escape(html.unescape(masked)), tags)


def _escape(value: str) -> str:
    """Escape a text as HTML; template tags are preserved."""
    masked, tags = mask(value)
    return unmask(html.escape(masked, quote=False), tags)


def _escape_text(value: str) -> str:
    """Escape a text as HTML with its line breaks; template tags are preserved."""
    masked, tags = mask(value)
    return unmask(html.escape(masked, quote=False).replace("\n", "<br/>"), tags)


_LINK = re.compile(r"<a\s[^<>]*>", re.IGNORECASE)
"""The start tag of a link in masked HTML."""
_HAS_STYLE = re.compile(r"\sstyle\s*=", re.IGNORECASE)
_STYLE = re.compile(r"(\sstyle\s*=\s*[\"'])(?![^\"']*\bcolor\s*:)", re.IGNORECASE)
"""The beginning of a style that sets no color."""


def _with_link_color(source: str, color: str) -> str:
    """The HTML with `color`, the color of its text, on each link that has no color: mail clients would choose one.

    HTML that sets colors outside its links is returned unchanged: the text around a link may have another color.
    """

    def colored(link: re.Match[str]) -> str:
        if not _HAS_STYLE.search(link[0]):
            return f'<a style="color:{color};text-decoration:underline"{link[0][2:]}'
        return _STYLE.sub(rf"\g<1>color:{color};", link[0], count=1)

    masked, tags = mask(source)
    if _OWN_COLORS.search(_LINK.sub("", masked)):
        return source
    return unmask(_LINK.sub(colored, masked), tags)


def _heading(node: _BlockNode) -> str:
    node.allow_only("type", "id", "text", "level", "align", "color", "size")
    level = node.number("level", 1, 3, 1)
    size = node.number("size", 8, 96, (30, 24, 20)[level - 1])
    content = _escape_text(node.text("text", required=True))
    style = f"margin:0;font-size:{size}px;font-weight:bold;line-height:1.3"
    attributes = f'font-weight="bold" line-height="1.3" font-size="{size}px"{node.text_attributes()}{node.dark_text()}'
    return f'<mj-text {attributes}><h{level} style="{style}">{content}</h{level}></mj-text>'


def _text(node: _BlockNode) -> str:
    node.allow_only("type", "id", "text", "html", "align", "color", "size")
    size = node.number("size", 8, 96, 16)
    attributes = f'line-height="1.5" font-size="{size}px"{node.text_attributes()}{node.dark_text()}'
    color = node.text("color") or _BLACK
    content = _with_link_color(node.text("html"), color) or _escape_text(node.text("text", required=True))
    return f"<mj-text {attributes}>{content}</mj-text>"


def _button(node: _BlockNode) -> str:
    node.allow_only("type", "id", "text", "url", "href", "align", "color", "background", "size")
    background = node.attribute("background", "background-color", _COLOR)
    content = _escape_text(node.text("text", required=True))
    url = node.url("url", "href", required=True)
    style = 'font-weight="bold" border-radius="6px" inner-padding="13px 24px"'
    size = f' font-size="{node.number("size", 8, 96, 16)}px"'
    colors = f"{background}{node.text_attributes()}{node.dark_button()}"
    return f'<mj-button href="{url}" {style}{size}{colors}>{content}</mj-button>'


def _image(node: _BlockNode) -> str:
    node.allow_only("type", "id", "url", "src", "alt", "href", "width", "align")
    href = f' href="{node.url("href")}"' if node.values.get("href") else ""
    width = f' width="{node.number("width", 1, 1200, 600)}px"' if "width" in node.values else ""
    align = node.attribute("align", "align", _ALIGN)
    alt = _escape_attribute(node.text("alt"))
    url = node.url("url", "src", required=True)
    return f'<mj-image src="{url}" alt="{alt}"{href}{width}{align}{node.dark_picture()}/>'


def _divider(node: _BlockNode) -> str:
    node.allow_only("type", "id", "color", "width")
    color = node.attribute("color", "border-color", _COLOR) or f' border-color="{_LINE}"'
    return f'<mj-divider border-width="{node.number("width", 1, 20, 1)}px"{color}{node.dark_line()}/>'


def _spacer(node: _BlockNode) -> str:
    node.allow_only("type", "id", "height")
    return f'<mj-spacer height="{node.number("height", 1, 400, 20)}px"/>'


def _html(node: _BlockNode) -> str:
    node.allow_only("type", "id", "html")
    content = _with_link_color(node.text("html", required=True), _BLACK)
    return f'<mj-text font-size="16px" line-height="1.5"{node.dark_text()}>{content}</mj-text>'


_RENDERERS: dict[str, Callable[[_BlockNode], str]] = {
    "heading": _heading,
    "text": _text,
    "button": _button,
    "image": _image,
    "divider": _divider,
    "spacer": _spacer,
    "html": _html,
}
