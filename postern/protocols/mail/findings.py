"""Findings: what may keep receivers from accepting mail, or people from reading it. Each belongs to a rule, which has a
stable code."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from postern.kernel.values import Record

Severity = Literal["ERROR", "WARNING", "ADVICE"]
"""ERROR: large providers reject such mail or put it into the spam folder, or the send fails. WARNING: some receivers or
mail clients have a problem with it. ADVICE: an improvement."""

SNIPPETS_LIMIT = 5
"""Places in a message, or values in the DNS, that one finding shows; further ones are only counted."""
SNIPPET_CHARACTERS = 200
"""Characters of each snippet; longer ones are cut."""


class Finding(Record):
    """One rule that a message or a DNS record does not follow, with what to do about it."""

    code: str
    """The stable name of the rule; see the guide."""
    severity: Severity
    """ERROR, WARNING or ADVICE; see the guide."""
    path: str
    """What it concerns: a JSON pointer into the request, or the name of a DNS record."""
    message: str
    """What is wrong, and why it matters."""
    fix: str
    """What to do."""
    count: int = 1
    """How often the rule is not followed."""
    snippets: list[str] = []
    """The first such places or values, shortened."""


class Rule(NamedTuple):
    """A rule: its severity, and what a finding says. The texts may have placeholders for `str.format`."""

    severity: Severity
    message: str
    fix: str


def make_finding(
    rules: Mapping[str, Rule], code: str, path: str, snippets: Sequence[str] = (), values: Mapping[str, object] = {}
) -> Finding:
    """A finding of one of `rules`; `values` fill the placeholders of its texts. Long and unreadable texts are
    shortened."""
    rule = rules[code]
    shown = {name: shorten(str(value)) for name, value in values.items()}
    return Finding(
        code=code,
        severity=rule.severity,
        path=path,
        message=rule.message.format_map(shown),
        fix=rule.fix.format_map(shown),
        count=max(1, len(snippets)),
        snippets=[shorten(snippet) for snippet in snippets[:SNIPPETS_LIMIT]],
    )


def shorten(text: str) -> str:
    """An untrusted text, made readable (see `readable`) and cut to SNIPPET_CHARACTERS."""
    text = readable(text[: 4 * SNIPPET_CHARACTERS])
    return text if len(text) <= SNIPPET_CHARACTERS else f"{text[: SNIPPET_CHARACTERS - 1]}…"


def readable(text: str) -> str:
    """A text on one line, without control characters and surrogates."""
    return _UNREADABLE.sub("\ufffd", _BLANKS.sub(" ", text))


_BLANKS = re.compile(r"[ \t\r\n]+")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, surrogates, and characters that change the direction of the text."""
