"""Templates with only simple placeholders are rendered as by the template engine."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from postern.protocols.mail.templates.content import CHARACTERS_MAX, NUMBER_MAX, PLACEHOLDERS_MAX, fill_placeholders
from postern.protocols.mail.templates.template import OutputFormat, RenderFailed, TemplateInvalid, compile_template

NAMES = [
    "a", "name", "A_1", "_", "__class__", "Namé", "a-b", "a.b", "true", "none", "not", "loop", "self", "range",
    "values", "import", "block", "now", "dict", "unsubscribe_url", "undefined", "e", "with",
]  # fmt: skip
PLACEHOLDERS = st.sampled_from(NAMES).flatmap(
    lambda name: st.sampled_from([f"{{{{{name}}}}}", f"{{{{ {name} }}}}", f"{{{{  {name}}}}}", f"{{{{- {name} -}}}}"])
)
PIECES = (
    PLACEHOLDERS
    | st.sampled_from(["{", "}}", "{#", "#}", "{% raw %}", "<style>", "\n", " ", "{ {a} }"])
    | st.text(max_size=4)
)
SOURCES = st.lists(PIECES, max_size=8).map("".join)
VALUES = st.dictionaries(
    st.sampled_from(NAMES),
    st.text(max_size=5) | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False) | st.just([1]),
    max_size=6,
)


@settings(max_examples=1_500, deadline=None)
@given(source=SOURCES, values=VALUES)
def test_the_result_equals_that_of_the_engine(source, values):
    filled = fill_placeholders(source, values)
    if filled is None:
        return
    try:
        assert compile_template(source, OutputFormat.TEXT).render(values) == filled
        compile_template(source, OutputFormat.HTML).render(values)
    except (TemplateInvalid, RenderFailed) as error:
        raise AssertionError(f"filled as {filled!r}, but the engine rejects it") from error


def test_names_with_a_special_meaning_are_left_to_the_engine():
    """Keywords and functions of the engine are not filled in, even if there is a value with that name."""
    for name in sorted(set(re.findall(r"\w+", " ".join(NAMES)))):
        for values in ({}, {name: "x"}):
            source = f"{{{{ {name} }}}}"
            filled = fill_placeholders(source, values)
            try:
                rendered = compile_template(source, OutputFormat.TEXT).render(values)
            except (TemplateInvalid, RenderFailed):
                rendered = None
            assert filled in (None, rendered), name


def test_ordinary_mail_is_rendered_without_the_engine():
    values = {"name": "Ada", "count": 3}
    assert (
        fill_placeholders("Dear {{name}}, {{ count }} items{{ missing }}. {{name}}!", values)
        == "Dear Ada, 3 items. Ada!"
    )
    assert fill_placeholders("p } a { color", values) is None
    assert fill_placeholders("{{ name|upper }}", values) is None
    assert fill_placeholders("{{ name }}", {"name": ["Ada"]}) is None


def test_large_templates_are_left_to_the_engine():
    assert fill_placeholders("{{a}}" * PLACEHOLDERS_MAX, {"a": "x"}) == "x" * PLACEHOLDERS_MAX
    assert fill_placeholders("{{a}}" * (PLACEHOLDERS_MAX + 1), {"a": "x"}) is None
    assert fill_placeholders("{{a}}" * 2, {"a": "x" * (CHARACTERS_MAX // 2)}) is None
    assert fill_placeholders("{{a}}" + " " * CHARACTERS_MAX, {"a": "x"}) is None
    assert fill_placeholders("{{a}}", {"a": NUMBER_MAX}) == str(NUMBER_MAX)
    assert fill_placeholders("{{a}}", {"a": NUMBER_MAX + 1}) is None
