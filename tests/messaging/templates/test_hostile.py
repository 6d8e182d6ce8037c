"""Hostile templates: every entry point refuses them, without an effect on other requests."""

import json
import math
import time
from itertools import count

import pytest

from postern.kernel.http.problems import Problem
from postern.messaging.emails.model import BODY_CHARACTERS, VARIABLES_BYTES
from postern.messaging.templates.model import CONTENT_CHARACTERS
from postern.protocols.mail.templates.builder import MJML_CHARACTERS
from postern.protocols.mail.templates.composing import check_message, check_template, preview
from postern.protocols.mail.templates.content import no_report
from postern.protocols.mail.templates.template import OutputFormat, RenderFailed, TemplateInvalid, compile_template

DEEP = {
    "minus": "{{ " + "-" * 20_000 + "1}}",
    "not": "{{ " + "not " * 20_000 + "1}}",
    "elif": "{% if a %}" + "{% elif a %}" * 10_000 + "{% endif %}",
    "attributes": "{{ a" + ".a" * 20_000 + "}}",
    "items": "{{ a" + "[0]" * 20_000 + "}}",
    "filters": "{{ a" + "|e" * 20_000 + "}}",
    "sorts": "{{ xs" + "|sort" * 8_000 + "}}",
    "tests": "{{ a" + " is defined" * 20_000 + "}}",
    "sums": "{{ a" + " + a" * 20_000 + "}}",
    "choices": "{{ " + "a if b else " * 20_000 + "1}}",
    "parentheses": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + "}}",
    "lists": "{{ " + "[" * 20_000 + "]" * 20_000 + "}}",
    "objects": "{{ " + "{1:" * 20_000 + "1" + "}" * 20_000 + "}}",
    "ifs": "{% if a %}" * 20_000 + "{% endif %}" * 20_000,
    "loops": "{% for a in a %}" * 20_000 + "{% endfor %}" * 20_000,
}
"""Templates with deep nesting, by what is nested."""
MJML: dict[str, str] = {
    "wrappers": "<mjml><mj-body>" + "<mj-wrapper>" * 2_000 + "</mj-wrapper>" * 2_000 + "</mj-body></mjml>",
    "unclosed wrappers": "<mjml><mj-body>" + "<mj-wrapper>" * 20_000,
    "raw": "<mjml><mj-body><mj-raw>" + "<div>" * 20_000 + "</div>" * 20_000 + "</mj-raw></mj-body></mjml>",
    "quoted": "<mjml><mj-body><mj-raw>" + "<div a='>'>" * 20_000 + "</mj-raw></mj-body></mjml>",
}


"""MJML documents with deep nesting, by what is nested."""


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("kind", list(OutputFormat))
def test_deep_nesting_is_refused_before_the_engine_parses_it(source, kind):
    """Regression test of S1 (tests/defects.md)."""
    with pytest.raises(TemplateInvalid):
        compile_template(source, kind)


@pytest.mark.parametrize("mjml", MJML.values(), ids=MJML)
async def test_deep_mjml_is_refused_without_a_crash(project, world, mjml):
    """Regression test of S1 (tests/defects.md)."""
    await world.rendering.start()
    before = world.rendering.process_ids
    response = await project.client.post("/templates", {"name": "Deep", "builderJson": {"mjml": mjml}})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "/builderJson/mjml")
    assert world.rendering.process_ids == before, "No render process was ended."


async def test_deep_html_in_a_block_is_refused(project, world):
    """Regression test of S1 (tests/defects.md)."""
    block = {"type": "html", "html": "<div>" * 20_000 + "</div>" * 20_000}
    response = await project.client.post("/templates", {"name": "Deep", "builderJson": {"blocks": [block]}})
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"].startswith("/builderJson")


async def test_deep_json_is_refused_with_the_path(project):
    """Regression test of S1 (tests/defects.md)."""
    deep: dict = {}
    for _ in range(200):
        deep = {"a": [deep]}
    mail = {"from": "a@acme.example", "to": ["b@example.org"], "subject": "{{x}}", "text": "x", "variables": deep}
    for path, body in (
        ("/emails", mail),
        ("/templates", {"name": "x", "builderJson": deep}),
    ):
        response = await project.client.post(path, body)
        assert response.status_code in {400, 403, 422}, response.text
        assert response.json()["errors"]


@pytest.mark.parametrize("name", DEEP)
async def test_every_entry_point_refuses_deep_templates_with_the_path(project, name):
    """Regression test of S1 (tests/defects.md)."""
    key = await project.key(type="SECRET", environment="TEST")
    source = DEEP[name]
    mail = {"from": "Acme <a@acme.example>", "to": ["b@example.org"], "subject": "s", "text": "t"}
    refused = await key.post("/emails", {**mail, "html": source})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
    batch = await key.post("/emails/batch", {"emails": [{**mail, "text": source}, mail]})
    assert [item["status"] for item in batch.json()["data"]] == ["FAILED", "QUEUED"]
    template = await key.post("/templates", {"name": "x", "html": source})
    assert (template.status_code, template.json()["errors"][0]["path"]) == (400, "/html")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ l.append }}{{ l.extend }}{{ m.update }}{{ m.keys }}{{ l.__class__ }}{{ m['items'] }}", ""),
        ("{% set range = l.extend %}{{ range(2)|length }}", "2"),
        ("{{ range }}|{% for range in l %}{{ range }}{{ range(1)|length }}{% endfor %}", "|1121"),
        ("{{ l }} {{ m }} {{ m.items()|list }} {{ m.get('a') }}", "[1, 2] {'a': {'b': 3}} [('a', {'b': 3})] {'b': 3}"),
    ],
)
def test_templates_cannot_reach_python_objects(source, expected):
    """Regression test of S2 (tests/defects.md)."""
    values = {"l": [1, 2], "m": {"a": {"b": 3}}}
    text = compile_template(source, OutputFormat.TEXT).render(values)
    assert "0x" not in text
    assert "built-in" not in text
    assert text.replace("['a', {'b': 3}]", "('a', {'b': 3})") == expected
    assert values == {"l": [1, 2], "m": {"a": {"b": 3}}}


@pytest.mark.parametrize(
    "source", ["{{ range('a') }}", "{{ range(1, 2, 0) }}", "{{ l|join(1, 2, 3, 4) }}", "{{ range() }}"]
)
async def test_every_render_error_is_a_problem(project, source):
    """Regression test of S2 (tests/defects.md)."""
    with pytest.raises(RenderFailed):
        compile_template(source).render({"l": [1]})
    key = await project.key(type="SECRET", environment="TEST")
    mail = {"from": "Acme <a@acme.example>", "to": ["b@example.org"], "subject": "s", "html": source}
    refused = await key.post("/emails", {**mail, "variables": {"l": [1]}})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")


def test_unavailable_filters_cannot_be_used_by_name():
    """Regression test of S2 (tests/defects.md)."""
    for name in ("indent", "format", "attr", "pprint"):
        with pytest.raises(RenderFailed):
            compile_template(f"{{{{ xs|map('{name}', 9)|list }}}}").render({"xs": ["a"]})


GROWING = {
    "links": lambda n: "{{a}}<a" + " href= " * n,
    "quotes": lambda n: '{{a}}<a href="' * n,
    "raw": lambda n: "{% raw %}" * n,
    "closed raw": lambda n: "{% raw %}x{% endraw %}" * n,
    "comments": lambda n: "{#" * n,
    "closed comments": lambda n: "{# #}" * n,
    "styles": lambda n: "<style>{#" * n,
    "names": lambda n: "{{ a }}" * n,
    "openings": lambda n: "{{" * n,
    "strings": lambda n: "{{ '" * n,
    "statements": lambda n: "{% set a = 1 %}" * n,
    "commas": lambda n: "{{ [" + "1," * n + "] }}",
    "bodies": lambda n: "<body" * n,
    "tags": lambda n: "<a" * n,
    "ampersands": lambda n: "&" * n,
}
"""Functions that return a piece of a template repeated `n` times."""


def checked_as_template(**parts):
    """A function that checks a template. `parts` are functions that make its parts from a source."""
    return lambda source: check_template(no_report, *(make(source) for make in {**EMPTY_PARTS, **parts}.values()))


def checked_as_builder_document(make):
    """A function that checks a template with the builder document that `make` makes from a source."""
    return checked_as_template(builder_json=lambda source: json.dumps(make(source)).encode())


EMPTY_PARTS = dict.fromkeys(("subject", "builder_json", "html", "text"), lambda _: None)
ENTRIES = {
    "html of a message": (BODY_CHARACTERS, lambda source: check_message(no_report, "x", source, None, {"a": "x"}, "1")),
    "text of a message": (BODY_CHARACTERS, lambda source: check_message(no_report, "x", None, source, {"a": "x"}, "1")),
    "value of a message": (
        VARIABLES_BYTES,
        lambda source: check_message(no_report, "{{ v }}", VALUE_TEMPLATE, "{{ v }}", {"v": source}, "1"),
    ),
    "html of a template": (CONTENT_CHARACTERS, checked_as_template(html=lambda source: source)),
    "preview": (
        CONTENT_CHARACTERS,
        lambda source: preview(no_report, None, source, source, {"a": "x"}, "https://x.test/"),
    ),
    "MJML": (
        MJML_CHARACTERS - 100,
        checked_as_builder_document(
            lambda source: {"mjml": f"<mjml><mj-body><mj-raw>{source}</mj-raw></mj-body></mjml>"}
        ),
    ),
    "text block": (
        MJML_CHARACTERS,
        checked_as_builder_document(lambda source: {"blocks": [{"type": "text", "text": source}]}),
    ),
    "html block": (
        MJML_CHARACTERS,
        checked_as_builder_document(lambda source: {"blocks": [{"type": "html", "html": source}]}),
    ),
}
"""Where untrusted text is parsed or rendered: the most characters that are accepted, and a function that reads them."""
VALUE_TEMPLATE = '<a href="{{ v }}">{{ v }}</a>{{ v|safe }}{{ v|striptags }}'
ENGINE_SYNTAX = (
    *("raw", "closed raw", "comments", "closed comments", "names", "openings", "strings", "statements", "commas"),
)
"""The pieces that consist of template syntax."""
CASES = [
    pytest.param(*entry, make, id=f"{name}, {piece}")
    for name, entry in ENTRIES.items()
    for piece, make in GROWING.items()
    # Only template syntax is parsed in a text, and only HTML in a value.
    if (piece in ENGINE_SYNTAX or not name.startswith("text"))
    and (piece not in ENGINE_SYNTAX or not name.startswith("value"))
]
UNIQUE_SUFFIXES = (f" {number}" for number in count())
MEASURED_SECONDS = 0.2
"""Growth is measured at the size that takes this much processor time, or at the character limit if that is smaller."""
NOISE_SECONDS = 0.05
"""Processor time by which a measurement may be wrong."""


def render_seconds(task, source) -> float:
    """Processor seconds to render a text that is not in the cache of compiled templates."""
    source += next(UNIQUE_SUFFIXES)
    started = time.process_time()
    try:
        task(source)
    except Problem:
        pass
    return time.process_time() - started


@pytest.mark.parametrize(("limit", "task", "make"), CASES)
def test_render_time_grows_linearly(limit, task, make):
    """Measured at the character limit, or at the size that takes 0.2 s of processor time.

    Regression test of S3 (tests/defects.md).
    """
    max_repetitions = int(limit / len(make(1_000)) * 1_000)
    repetitions = min(2_000, max_repetitions)
    while (seconds := render_seconds(task, make(repetitions))) < MEASURED_SECONDS and repetitions < max_repetitions:
        factor = min(8.0, max(1.25, 1.25 * MEASURED_SECONDS / max(seconds, 0.001)))
        repetitions = min(max_repetitions, math.ceil(repetitions * factor))
    ratios: list[float] = []
    # A ratio is taken over two doublings, because at a single one the text may outgrow a cache of the processor.
    while not ratios or (min(ratios) > 2.5 and len(ratios) < 6):
        seconds_of_whole = render_seconds(task, make(repetitions)) if ratios else seconds
        seconds_of_quarter = render_seconds(task, make(repetitions // 4))
        ratios.append(math.sqrt(seconds_of_whole / max(seconds_of_quarter, NOISE_SECONDS)))
    assert min(ratios) <= 2.5, f"{ratios} times the processor time for twice the text, at {repetitions:,} repetitions"
