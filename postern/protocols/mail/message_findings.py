"""What large providers and mail clients object to in a message: rules about its content, as a table.

`inspect_content` runs in a render process (see `templates/render_process.py`), because the content is not trusted and
can be large.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from postern.protocols.mail.address import Address
from postern.protocols.mail.client_features import client_names, unsupported_features
from postern.protocols.mail.findings import SNIPPETS_LIMIT, Finding, Rule, make_finding, shorten
from postern.protocols.mail.link_findings import (
    URL_CHARACTERS,
    ascii_host,
    link_error,
    looks_like_other_name,
    shown_host,
)
from postern.protocols.mail.mime import Attachment
from postern.protocols.mail.templates.html_tokens import HtmlToken, HtmlTokenKind, attributes, text_value, tokens
from postern.protocols.mail.templates.links import url_of

CLIPPED_OCTETS: Final = 102_400
"""Gmail shows only this much of the html of a message, and hides the rest behind a link."""
LARGE_MESSAGE_OCTETS: Final = 10_000_000
"""Many company mail servers refuse larger messages."""
SUBJECT_CHARACTERS: Final = 70
"""Mail clients on computers show about this much of a subject, those on phones half of it."""
CAPITALS_AT_LEAST: Final = 10
"""A subject with fewer letters may be in capitals, as in SpamAssassin's rule SUBJ_ALL_CAPS."""
TEXT_CHARACTERS: Final = 20
"""A message with images and fewer characters of text counts as one that consists of images."""
LINKS_RETURNED: Final = 1_000
"""Links that are returned for checks in another process."""
LINK_TEXT_CHARACTERS: Final = 1_000
"""Characters of the text of a link that are read."""
PREHEADER_CHARACTERS: Final = 2_000
"""Characters at the start of the body's text in which the preheader is searched for."""

BLOCKED_EXTENSIONS: Final = frozenset([
    "ade", "adp", "apk", "appx", "appxbundle", "bat", "cab", "chm", "cmd", "com", "cpl", "diagcab", "diagcfg",
    "diagpkg", "dll", "dmg", "ex", "ex_", "exe", "hta", "img", "ins", "iso", "isp", "jar", "jnlp", "js", "jse", "lib",
    "lnk", "mde", "mjs", "msc", "msi", "msix", "msixbundle", "msp", "mst", "nsh", "pif", "ps1", "scr", "sct", "shb",
    "sys", "vb", "vbe", "vbs", "vhd", "vxd", "wsc", "wsf", "wsh", "xll",
])  # fmt: skip
"""File types that Gmail blocks (https://support.google.com/mail/answer/6590); Outlook blocks nearly all of them."""
MACRO_EXTENSIONS: Final = frozenset(["docm", "dotm", "xlsm", "xltm", "xlam", "pptm", "potm", "ppam", "ppsm", "sldm"])
"""Office documents with macros."""
ACTIVE_ELEMENTS: Final = frozenset(["script", "iframe", "frame", "embed", "applet", "object", "base"])
"""Elements that every client removes, and that filters distrust."""

MESSAGE_RULES: Final[Mapping[str, Rule]] = {
    "reputation_held": Rule(
        "ERROR",
        "Marketing mail of the sender's domain is held: {reason}. Other mail is still sent.",
        "Remove the addresses that bounce and the people who did not agree to get mail, then release the domain.",
    ),
    "reputation_warning": Rule(
        "WARNING",
        "The {reason}. At a higher rate, marketing mail of the domain is held.",
        "Remove the addresses that bounce, and send only to people who agreed.",
    ),
    "warm_up_active": Rule(
        "ADVICE",
        "The sender's domain has a warm-up plan: it may send {limit} messages today. Further marketing mail waits.",
        "Send first to the people who open and click most.",
    ),
    "subject_empty": Rule(
        "ERROR", "The subject is empty. Filters distrust such mail, and people cannot find it.", "Write a subject."
    ),
    "subject_long": Rule(
        "ADVICE",
        "The subject has {number} characters; mail clients show about {limit}, phones half of it.",
        "Put what matters first, and shorten it.",
    ),
    "subject_capitals": Rule(
        "WARNING",
        "The subject is written in capitals, which filters count as a sign of spam (SpamAssassin: SUBJ_ALL_CAPS).",
        "Use lower case.",
    ),
    "placeholder_left": Rule(
        "WARNING",
        "The message shows what looks like a placeholder of a template that was not replaced.",
        "Correct the placeholder, or set `engine` and `variables`.",
    ),
    "from_name_address": Rule(
        "WARNING",
        "The display name of the sender contains another address or domain than the sender's, as phishing does.",
        "Use the name of the company or person.",
    ),
    "from_name_missing": Rule(
        "ADVICE",
        "The sender has no display name, so that clients show the address.",
        "Write `from` as `Acme <hello@acme.example>`.",
    ),
    "from_look_alike": Rule(
        "ERROR",
        "The domain of the sender mixes letters of scripts that look alike, as phishing does.",
        "Use a domain in one script.",
    ),
    "reply_to_other_domain": Rule(
        "ADVICE",
        "Replies go to another domain than the sender's, which filters count as a sign of fraud.",
        "Use an address of the sender's domain in `replyTo`.",
    ),
    "html_clipped": Rule(
        "WARNING",
        "The html has {number} octets. Gmail shows the first {limit} and hides the rest, with the unsubscribe link at"
        " the end and the tracking pixel.",
        "Shorten the message, or its styles.",
    ),
    "message_large": Rule(
        "WARNING",
        "The message has {number} octets. Many servers refuse more than {limit}.",
        "Link to large files instead of attaching them.",
    ),
    "text_missing": Rule(
        "WARNING",
        "The message has no text that can be read without images and html.",
        "Write text in the html or set `text`.",
    ),
    "images_only": Rule(
        "WARNING",
        "The message consists of images with hardly any text. Filters cannot read it, and many clients do not load"
        " images.",
        "Write the text in the html and not in images.",
    ),
    "image_without_alt": Rule(
        "WARNING",
        "Images have no `alt`, so that nothing replaces them where images are not loaded or not seen.",
        'Add `alt` with what the image says; `alt=""` for decoration.',
    ),
    "image_without_size": Rule(
        "ADVICE",
        "Images have no width, so that the layout moves when they load, and Outlook shows them in their full size.",
        "Add `width` in pixels.",
    ),
    "image_not_https": Rule(
        "WARNING",
        "Images are loaded without https. Clients that show mail in a secure page block them.",
        "Use https.",
    ),
    "image_broken": Rule(
        "ERROR",
        "Images have a URL that mail clients cannot load: it is missing, relative, or without a public host.",
        "Use the complete https URL.",
    ),
    "image_attachment_missing": Rule(
        "ERROR",
        "An image refers to an inline attachment (`cid:`) that the message does not have.",
        "Set the same `contentId` at the attachment.",
    ),
    "active_content": Rule(
        "WARNING",
        "The html has scripts, frames or event handlers. Clients remove them, and filters distrust such mail.",
        "Remove them.",
    ),
    "client_support": Rule(
        "ADVICE",
        "{feature} is not supported by {clients} (https://www.caniemail.com/features/{slug}/).",
        "Make sure that the message can be read without it.",
    ),
    "preheader_missing": Rule(
        "ADVICE",
        "There is no preheader: clients show the first text of the message beside the subject.",
        "Begin the body with a hidden element with a short summary; blocks have `preview`, campaigns `previewText`.",
    ),
    "link_empty": Rule("WARNING", "Links have no target.", "Set `href`."),
    "link_relative": Rule(
        "ERROR", "Links have no scheme. A mail has no page that they could be relative to.", "Use the complete URL."
    ),
    "link_invalid": Rule("ERROR", "Links have an invalid URL.", "Correct the URL."),
    "link_scheme": Rule(
        "ERROR", "Links have a scheme that mail clients do not open, such as `javascript:`.", "Use https."
    ),
    "link_host": Rule(
        "ERROR", "Links lead to a host that cannot exist in the public DNS.", "Use the public name of the host."
    ),
    "link_ip_address": Rule(
        "ERROR", "Links lead to an IP address, as phishing does. Filters reject such mail.", "Use a domain."
    ),
    "link_user_info": Rule(
        "ERROR", "URLs of links have a part before an `@`, which hides their host as phishing does.", "Remove the part."
    ),
    "link_look_alike": Rule(
        "ERROR",
        "Hosts of links mix letters of scripts that look alike, as phishing does.",
        "Use a domain in one script.",
    ),
    "link_not_https": Rule("WARNING", "Links use http, so that browsers warn of them.", "Use https."),
    "link_shortener": Rule(
        "WARNING",
        "Links use a public URL shortener. It hides the target, and filters block all its links if some are abused.",
        "Link to the target.",
    ),
    "link_mailto": Rule("ERROR", "A `mailto:` link has an invalid address.", "Correct the address."),
    "link_text_differs": Rule(
        "ERROR",
        "The text of a link shows another domain than the one to which it leads, as phishing does.",
        "Use a text that is no URL, or the same domain.",
    ),
    "link_text_tracked": Rule(
        "WARNING",
        "The text of a link shows its URL, but with click tracking it leads to {host}, as phishing does.",
        'Use a text that is no URL, add `data-track="false"` to the link, or set a tracking domain of your own.',
    ),
    "link_broken": Rule(
        "ERROR",
        "Links could not be opened; the snippets begin with the reason.",
        "Correct the URL, or publish the page before you send.",
    ),
    "link_refused": Rule(
        "WARNING",
        "Links answered with an error to an automatic request, or not in time; the snippets begin with the reason.",
        "Open them in a browser.",
    ),
    "link_unchecked": Rule(
        "ADVICE",
        "Not all links were checked: at most {limit} are opened, within a time limit.",
        "Open the other links in a browser.",
    ),
    "attachment_blocked": Rule(
        "ERROR",
        "Gmail and Outlook refuse messages with files of this type.",
        "Link to the file, or send another type.",
    ),
    "attachment_macros": Rule(
        "WARNING", "Filters distrust documents with macros.", "Send the document without macros."
    ),
    "unsubscribe_missing": Rule(
        "ERROR",
        "Marketing mail without one-click unsubscribing (RFC 8058): Google and Yahoo reject it from bulk senders.",
        "Set `unsubscribable`, or the headers `List-Unsubscribe` and `List-Unsubscribe-Post`.",
    ),
    "unsubscribe_advised": Rule(
        "ADVICE",
        "The message has no one-click unsubscribing (RFC 8058), which marketing mail needs.",
        "Set `unsubscribable` if people did not ask for this very message.",
    ),
    "unsubscribe_not_one_click": Rule(
        "WARNING",
        "`List-Unsubscribe` without `List-Unsubscribe-Post` and an https URL is not one-click unsubscribing (RFC"
        " 8058).",
        "Add `List-Unsubscribe-Post: List-Unsubscribe=One-Click`, or set `unsubscribable`.",
    ),
    "unsubscribe_link_missing": Rule(
        "WARNING",
        "Marketing mail without a visible unsubscribe link: Google and Yahoo require one in the text.",
        "Add a link with `{{unsubscribe_url}}`, or with `data-postern-unsubscribe`.",
    ),
    "unsubscribe_not_https": Rule(
        "WARNING",
        "The unsubscribe link of this server is not https, so clients offer no one-click unsubscribing (RFC 8058).",
        "Set a base URL with https, or a tracking domain of the project.",
    ),
    "domain_not_verified": Rule(
        "ERROR",
        "The domain of the sender is not a verified sending domain of this project, so the message would not be sent.",
        "Verify the domain.",
    ),
    "dkim_not_aligned": Rule(
        "ERROR",
        "The message has no valid DKIM signature of the sender's domain. Google, Yahoo and Microsoft require one.",
        "Verify the domain and publish its DKIM record.",
    ),
    "spf_not_aligned": Rule(
        "ADVICE",
        "SPF does not count for the sender's domain, because the envelope sender is in {domain}: DMARC rests on DKIM"
        " alone.",
        "No change is needed as long as the DKIM record is published.",
    ),
    "dmarc_fails": Rule(
        "ERROR",
        "The message fails DMARC: neither SPF nor DKIM passes for the sender's domain. Its policy is `{policy}`.",
        "Publish the DKIM and the SPF record of the domain.",
    ),
}
"""What is reported about a message, by code. `make_finding` fills the placeholders."""


def message_finding(code: str, path: str, snippets: Sequence[str] = (), **values: object) -> Finding:
    """A finding of MESSAGE_RULES at a JSON pointer into the request."""
    return make_finding(MESSAGE_RULES, code, path, snippets, values)


class InspectedContent(msgspec.Struct, frozen=True, kw_only=True):
    """Rendered content to inspect."""

    subject: str
    html: str | None
    """Without click tracking."""
    text: str | None
    html_octets: int
    """The size of the html as it is sent."""
    content_ids: list[str] = []
    """The content ids of the inline attachments."""
    unsubscribe_url: str | None = None
    """The link that unsubscribes the recipient, if it is known."""


class InspectedLink(msgspec.Struct, frozen=True, array_like=True):
    """A link to http or https."""

    url: str
    shown: str | None
    """The host name that its text shows, if the text is a URL or a name with a dot."""
    is_tracked: bool
    """Whether click tracking may replace its URL."""
    may_be_opened: bool
    """False for links that seem to unsubscribe."""


class ContentReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is found in rendered content."""

    findings: list[Finding]
    links: list[InspectedLink]
    """The first LINKS_RETURNED links to http and https."""
    has_unsubscribe_link: bool


def inspect_content(content: InspectedContent) -> ContentReport:
    """The findings in subject, html and text. Linear in the length of the content."""
    findings = list(_subject_findings(content.subject))
    scan = _HtmlScan(content)
    if content.html is not None:
        scan.read(content.html)
        findings += scan.findings()
    if content.html_octets > CLIPPED_OCTETS:
        findings.append(message_finding("html_clipped", "/html", number=content.html_octets, limit=CLIPPED_OCTETS))
    if not (content.text or "").strip():
        findings.append(message_finding("text_missing", "/text"))
    placeholders = [
        match[0]
        for part in (content.subject, scan.visible_text, content.text or "")
        for match in _PLACEHOLDER.finditer(part)
    ]
    if placeholders:
        findings.append(message_finding("placeholder_left", "/html", list(dict.fromkeys(placeholders))))
    has_link = scan.has_unsubscribe_link or bool(
        content.text and (_UNSUBSCRIBE.search(content.text) or (content.unsubscribe_url or "\0") in content.text)
    )
    return ContentReport(findings=findings, links=scan.links[:LINKS_RETURNED], has_unsubscribe_link=has_link)


_PLACEHOLDER = re.compile(r"\{\{[^{}\n]{1,60}\}\}|\{%[^{}\n]{1,60}%\}|\*\|[A-Z0-9_:]{1,60}\|\*|%%[A-Za-z_]{1,60}%%")
_UNSUBSCRIBE = re.compile(r"unsubscri|opt-?out|abmeld|abbestell|d[ée]sabonn|cancelar", re.IGNORECASE)


def _subject_findings(subject: str) -> Iterator[Finding]:
    if not subject.strip():
        yield message_finding("subject_empty", "/subject")
    if len(subject) > SUBJECT_CHARACTERS:
        yield message_finding("subject_long", "/subject", [subject], number=len(subject), limit=SUBJECT_CHARACTERS)
    letters = [letter for letter in subject if letter.isalpha()]
    if len(letters) >= CAPITALS_AT_LEAST and " " in subject.strip() and subject == subject.upper() != subject.lower():
        yield message_finding("subject_capitals", "/subject", [subject])


class _HtmlScan:
    """Reads html once and collects the facts that the rules check."""

    def __init__(self, content: InspectedContent) -> None:
        self.links: list[InspectedLink] = []
        self.has_unsubscribe_link = False
        self._content_ids = {content_id.strip("<>") for content_id in content.content_ids}
        self._unsubscribe_url = content.unsubscribe_url
        self._snippets: dict[str, list[str]] = {}
        """The first snippets of each code; `_counts` has the number of all."""
        self._counts: dict[str, int] = {}
        self._elements: set[str] = set()
        self._styles: list[str] = []
        self._images: list[str] = []
        self._text: list[str] = []
        self._raw: str | None = None
        """The open element `style`, `title` or `script`, whose content is not shown."""
        self._link: tuple[str, bool, int] | None = None
        """URL and tracking of the open link, and the number of texts before it."""
        self._has_preheader = False

    @property
    def visible_text(self) -> str:
        return "".join(self._text)

    def read(self, html: str) -> None:
        characters = 0
        for token in tokens(html):
            if token.kind is HtmlTokenKind.START:
                self._start(html, token, is_beginning=characters < PREHEADER_CHARACTERS)
            elif token.kind is HtmlTokenKind.END:
                self._raw = None if self._raw == token.name else self._raw
                if token.name == "a":
                    self._end_link()
            elif token.kind in (HtmlTokenKind.TEXT, HtmlTokenKind.RAW_TEXT):
                characters += self._add_text(html, token)
        self._end_link()

    def findings(self) -> Iterator[Finding]:
        for code, snippets in self._snippets.items():
            finding = message_finding(code, "/html", snippets)
            yield msgspec.structs.replace(finding, count=self._counts[code])
        if self._images and len("".join(self.visible_text.split())) < TEXT_CHARACTERS:
            yield message_finding("images_only", "/html")
        if not self._has_preheader:
            yield message_finding("preheader_missing", "/html")
        for feature, place in unsupported_features(self._elements, self._styles, self._images):
            values = {"feature": feature.title, "clients": client_names(feature), "slug": feature.slug}
            yield message_finding("client_support", "/html", [place], **values)

    def _add(self, code: str, snippet: str) -> None:
        self._counts[code] = self._counts.get(code, 0) + 1
        snippets = self._snippets.setdefault(code, [])
        if len(snippets) < SNIPPETS_LIMIT:
            snippets.append(shorten(snippet))

    def _start(self, html: str, token: HtmlToken, *, is_beginning: bool) -> None:
        values: dict[str, str] = {}
        for attribute in attributes(html, token):
            values.setdefault(attribute.name, attribute.value)
        source = html[token.start : min(token.end, token.start + 400)]
        self._elements.add(token.name)
        if token.name in ACTIVE_ELEMENTS or any(name.startswith("on") for name in values):
            self._add("active_content", source)
        if token.name in ("style", "title", "script"):
            self._raw = token.name
        if style := values.get("style"):
            self._styles.append(style)
            if is_beginning and token.name != "img" and _HIDDEN.search(style):
                self._has_preheader = True
        if token.name == "img":
            self._image(values, source)
        elif token.name in ("a", "area"):
            self._end_link()
            self._begin_link(values, source)

    def _image(self, values: Mapping[str, str], source: str) -> None:
        url = url_of(values.get("src", ""))
        self._images.append(url[:1_000])
        if "alt" not in values:
            self._add("image_without_alt", source)
        if not values.get("width") and not _WIDTH.search(values.get("style", "")):
            self._add("image_without_size", source)
        scheme = url.partition(":")[0].lower()
        if scheme == "cid":
            if url[len("cid:") :] not in self._content_ids:
                self._add("image_attachment_missing", source)
        elif scheme == "data":
            pass  # The finding `client_support` reports data: URLs.
        elif scheme in ("http", "https"):
            error = link_error(url)
            if error in ("link_invalid", "link_host"):
                self._add("image_broken", source)
            elif scheme == "http":
                self._add("image_not_https", source)
        else:
            self._add("image_broken", source)

    def _begin_link(self, values: Mapping[str, str], source: str) -> None:
        if "href" not in values and "data-postern-unsubscribe" not in values:
            return  # A target of a link within the page.
        url = url_of(values.get("href", ""))
        if url == self._unsubscribe_url or "data-postern-unsubscribe" in values:
            self.has_unsubscribe_link = True
            return
        error = link_error(url)
        if error:
            self._add(error, source)
        if url[:8].lower().startswith(("http://", "https://")):
            is_tracked = "data-postern-no-track" not in values and values.get("data-track", "").strip().lower() not in (
                "false",
                "off",
                "no",
            )
            self._link = url, is_tracked, len(self._text)

    def _end_link(self) -> None:
        if self._link is None:
            return
        (url, is_tracked, start), self._link = self._link, None
        text = "".join(self._text[start:])[:LINK_TEXT_CHARACTERS]
        unsubscribes = bool(_UNSUBSCRIBE.search(text) or _UNSUBSCRIBE.search(url))
        self.has_unsubscribe_link = self.has_unsubscribe_link or unsubscribes
        if len(self.links) < LINKS_RETURNED and len(url) <= URL_CHARACTERS:
            self.links.append(InspectedLink(url, shown_host(text), is_tracked, not unsubscribes))

    def _add_text(self, html: str, token: HtmlToken) -> int:
        """Add a text; returns the number of its visible characters."""
        if self._raw == "style":
            self._styles.append(html[token.start : token.end])
        if self._raw is not None:
            return 0
        text = text_value(html[token.start : token.end])
        self._text.append(text)
        return len(text.strip())


_HIDDEN = re.compile(r"display\s*:\s*none|max-height\s*:\s*0|mso-hide\s*:\s*all", re.IGNORECASE)
_WIDTH = re.compile(r"(?<![a-z-])(?:max-)?width\s*:", re.IGNORECASE)


def inspect_addresses(sender: Address) -> Iterator[Finding]:
    """The findings in the sender's address and display name."""
    if looks_like_other_name(sender.domain):
        yield message_finding("from_look_alike", "/from", [sender.domain])
    if not sender.name:
        yield message_finding("from_name_missing", "/from", [sender.spec])
    elif any(name != sender.domain for name in _names_in(sender.name)):
        yield message_finding("from_name_address", "/from", [str(sender)])


def _names_in(display_name: str) -> list[str]:
    """The domains of addresses in a display name, and the name itself if it is a host name."""
    domains = [ascii_host(match[1].rstrip(".")) for match in _ADDRESS.finditer(display_name)]
    shown = shown_host(display_name)
    return [name for name in (*domains, shown if shown and shown.startswith("www.") else None) if name]


_ADDRESS = re.compile(r"[^\s@<>\"']{1,64}@([^\s@<>\"',;()]{1,253})")


def inspect_attachments(attachments: Sequence[Attachment]) -> Iterator[Finding]:
    """The attachments that large providers refuse."""
    for index, attachment in enumerate(attachments):
        extension = attachment.filename.strip(" .").rpartition(".")[2].lower()
        path = f"/attachments/{index}"
        if extension in BLOCKED_EXTENSIONS or attachment.content.startswith(_EXECUTABLES):
            yield message_finding("attachment_blocked", path, [attachment.filename])
        elif extension in MACRO_EXTENSIONS:
            yield message_finding("attachment_macros", path, [attachment.filename])


_EXECUTABLES: Final = (b"MZ\x90\x00", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""The beginnings of programs for Windows, Linux and macOS."""


def inspect_unsubscribing(
    headers: Mapping[str, str], *, is_marketing: bool | None, has_link: bool
) -> Iterator[Finding]:
    """Whether marketing mail can be unsubscribed from. `headers` are the message's fields, by name in lower case.

    `is_marketing` is None if that is not known. `has_link`: whether the content has an unsubscribe link.
    """
    url = headers.get("list-unsubscribe", "")
    is_one_click = "<https:" in url.lower() and "list-unsubscribe-post" in headers
    if url and not is_one_click:
        yield message_finding("unsubscribe_not_one_click", "/headers", [url])
    elif not url and is_marketing is not False:
        code = "unsubscribe_missing" if is_marketing else "unsubscribe_advised"
        yield message_finding(code, "/unsubscribable")
    if is_marketing and not has_link:
        yield message_finding("unsubscribe_link_missing", "/html")
