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
MJML: dict[str, str] = {
    "wrappers": "<mjml><mj-body>" + "<mj-wrapper>" * 2_000 + "</mj-wrapper>" * 2_000 + "</mj-body></mjml>",
    "unclosed wrappers": "<mjml><mj-body>" + "<mj-wrapper>" * 20_000,
    "raw": "<mjml><mj-body><mj-raw>" + "<div>" * 20_000 + "</div>" * 20_000 + "</mj-raw></mj-body></mjml>",
    "quoted": "<mjml><mj-body><mj-raw>" + "<div a='>'>" * 20_000 + "</mj-raw></mj-body></mjml>",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("kind", list(OutputFormat))
def test_deep_nesting_is_refused_before_the_engine_parses_it(source, kind):
    """Defects: S1"""
    with pytest.raises(TemplateInvalid):
        compile_template(source, kind)


@pytest.mark.parametrize("mjml", MJML.values(), ids=MJML)
async def test_deep_mjml_is_refused_without_a_crash(project, world, mjml):
    """Defects: S1"""
    await world.rendering.start()
    before = world.rendering.process_ids
    answer = await project.client.post("/templates", {"name": "Deep", "builderJson": {"mjml": mjml}})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, "/builderJson/mjml")
    assert world.rendering.process_ids == before, "it was refused, and ended nothing"


async def test_deep_html_in_a_block_is_refused(project, world):
    """Defects: S1"""
    block = {"type": "html", "html": "<div>" * 20_000 + "</div>" * 20_000}
    answer = await project.client.post("/templates", {"name": "Deep", "builderJson": {"blocks": [block]}})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["path"].startswith("/builderJson")


async def test_deep_json_is_refused_with_the_path(project):
    """Defects: S1"""
    deep: dict = {}
    for _ in range(200):
        deep = {"a": [deep]}
    mail = {"from": "a@acme.example", "to": ["b@example.org"], "subject": "{{x}}", "text": "x", "variables": deep}
    for path, body in (
        ("/emails", mail),
        ("/templates", {"name": "x", "builderJson": deep}),
    ):
        answer = await project.client.post(path, body)
        assert answer.status_code in {400, 403, 422}, answer.text
        assert answer.json()["errors"]


@pytest.mark.parametrize("name", DEEP)
async def test_every_entry_point_refuses_deep_templates_with_the_path(project, name):
    """Defects: S1"""
    key = await project.key(type="SECRET", environment="TEST")
    source = DEEP[name]
    mail = {"from": "Acme <a@acme.example>", "to": ["b@example.org"], "subject": "s", "text": "t"}
    refused = await key.post("/emails", {**mail, "html": source})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")
    batch = await key.post("/emails/batch", {"emails": [{**mail, "text": source}, mail]})
    assert [each["status"] for each in batch.json()["data"]] == ["FAILED", "QUEUED"]
    template = await key.post("/templates", {"name": "x", "html": source})
    assert (template.status_code, template.json()["errors"][0]["path"]) == (400, "/html")


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("{{ l.append }}{{ l.extend }}{{ m.update }}{{ m.keys }}{{ l.__class__ }}{{ m['items'] }}", ""),
        ("{% set range = l.extend %}{{ range(2)|length }}", "2"),
        ("{{ range }}|{% for range in l %}{{ range }}{{ range(1)|length }}{% endfor %}", "|1121"),
        ("{{ l }} {{ m }} {{ m.items()|list }} {{ m.get('a') }}", "[1, 2] {'a': {'b': 3}} [('a', {'b': 3})] {'b': 3}"),
    ],
)
def test_templates_cannot_reach_python_objects(source, made):
    """Defects: S2"""
    values = {"l": [1, 2], "m": {"a": {"b": 3}}}
    text = compile_template(source, OutputFormat.TEXT).render(values)
    assert "0x" not in text
    assert "built-in" not in text
    assert text.replace("['a', {'b': 3}]", "('a', {'b': 3})") == made
    assert values == {"l": [1, 2], "m": {"a": {"b": 3}}}


@pytest.mark.parametrize(
    "source", ["{{ range('a') }}", "{{ range(1, 2, 0) }}", "{{ l|join(1, 2, 3, 4) }}", "{{ range() }}"]
)
async def test_every_render_error_is_a_problem(project, source):
    """Defects: S2"""
    with pytest.raises(RenderFailed):
        compile_template(source).render({"l": [1]})
    key = await project.key(type="SECRET", environment="TEST")
    mail = {"from": "Acme <a@acme.example>", "to": ["b@example.org"], "subject": "s", "html": source}
    refused = await key.post("/emails", {**mail, "variables": {"l": [1]}})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/html")


def test_unavailable_filters_cannot_be_used_by_name():
    """Defects: S2"""
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


def in_template(**parts):
    return lambda source: check_template(no_report, *(made(source) for made in {**NO_PARTS, **parts}.values()))


def in_builder(make):
    return in_template(builder_json=lambda source: json.dumps(make(source)).encode())


NO_PARTS = dict.fromkeys(("subject", "builder_json", "html", "text"), lambda _: None)
ENTRIES = {
    "html of a message": (BODY_CHARACTERS, lambda source: check_message(no_report, "x", source, None, {"a": "x"}, "1")),
    "text of a message": (BODY_CHARACTERS, lambda source: check_message(no_report, "x", None, source, {"a": "x"}, "1")),
    "value of a message": (
        VARIABLES_BYTES,
        lambda source: check_message(no_report, "{{ v }}", VALUES, "{{ v }}", {"v": source}, "1"),
    ),
    "html of a template": (CONTENT_CHARACTERS, in_template(html=lambda source: source)),
    "preview": (
        CONTENT_CHARACTERS,
        lambda source: preview(no_report, None, source, source, {"a": "x"}, "https://x.test/"),
    ),
    "MJML": (
        MJML_CHARACTERS - 100,
        in_builder(lambda source: {"mjml": f"<mjml><mj-body><mj-raw>{source}</mj-raw></mj-body></mjml>"}),
    ),
    "text block": (MJML_CHARACTERS, in_builder(lambda source: {"blocks": [{"type": "text", "text": source}]})),
    "html block": (MJML_CHARACTERS, in_builder(lambda source: {"blocks": [{"type": "html", "html": source}]})),
}
"""Where untrusted text is parsed or rendered: the most characters that are accepted, and what reads them."""
VALUES = '<a href="{{ v }}">{{ v }}</a>{{ v|safe }}{{ v|striptags }}'
ENGINE = ("raw", "closed raw", "comments", "closed comments", "names", "openings", "strings", "statements", "commas")
CASES = [
    pytest.param(*entry, make, id=f"{name}, {piece}")
    for name, entry in ENTRIES.items()
    for piece, make in GROWING.items()
    if (piece in ENGINE or not name.startswith("text")) and (piece not in ENGINE or not name.startswith("value"))
]
NEVER_READ = (f" {number}" for number in count())
MEASURED_SECONDS = 0.2
"""Processor time from which on growth is measured, where the limit of characters is not met before."""
NOISE_SECONDS = 0.05
"""What larger pages of memory, other programs and the like can cost."""


def work(task, source) -> float:
    """Processor seconds to render a text that is not in the cache of compiled templates."""
    source += next(NEVER_READ)
    started = time.process_time()
    try:
        task(source)
    except Problem:
        pass
    return time.process_time() - started


@pytest.mark.parametrize(("limit", "task", "make"), CASES)
def test_render_time_grows_linearly(limit, task, make):
    """Measured up to the character limit, or up to 0.2 s of processor time.

    Defects: S3
    """
    largest = int(limit / len(make(1_000)) * 1_000)
    times, once = min(2_000, largest), 0.0
    while times < largest and (once := work(task, make(times))) < MEASURED_SECONDS:
        times = min(largest, times * (8 if once < MEASURED_SECONDS / 16 else 2))
    ratios = []
    # Of two doublings, as one alone may be where the text outgrows a cache of the processor.
    while not ratios or (min(ratios) > 2.5 and len(ratios) < 6):
        quarter, whole = work(task, make(times // 4)), work(task, make(times))
        ratios.append(math.sqrt(whole / max(quarter, NOISE_SECONDS)))
    assert min(ratios) <= 2.5, f"{ratios} times the work for twice as much, up to {times:,} times"
