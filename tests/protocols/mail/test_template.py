"""Untrusted templates: the language, its limits, and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.templates.template import (
    OutputFormat,
    RenderFailed,
    TemplateInvalid,
    compile_template,
    variables,
)

VALUES = {
    "name": "<b>&\"'",
    "first": "Ada",
    "last": "Lovelace",
    "items": [{"name": "one", "price": 2.5}, {"name": None, "price": 3}],
    "gone": None,
    "big": "a" * 1_000_000,
    "count": 100_000_000,
    "list": [1, 2],
    "map": {"a": 1},
}


def render(source: str, kind: OutputFormat = OutputFormat.TEXT) -> str:
    return compile_template(source, kind).render(VALUES)


@pytest.mark.parametrize("source", ["icon \ue004\ue005 {{ first }} \ue005\ue004", "\ue005\ue004"])
def test_the_delimiters_of_comments_in_the_engine_are_refused(source):
    with pytest.raises(TemplateInvalid, match="U\\+E004 and U\\+E005"):
        render(source)
    assert render("\ue004 {{ first }}{# note #} \ue005") == "\ue004 Ada \ue005"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Hi {{ first }}!", "Hi Ada!"),
        ("[{{ nobody }}{{ nobody.at.all }}{{ gone }}{{ first.x.y }}]", "[]"),
        ("{% if first and not nobody %}yes{% else %}no{% endif %}", "yes"),
        ("{% for x in items %}{{ loop.index }}:{{ x.name|default('-') }} {% endfor %}", "1:one 2:- "),
        ("{% set full = first ~ ' ' ~ last %}{{ full|upper }}", "ADA LOVELACE"),
        ("{{ items|map(attribute='name')|join(', ') }}", "one, "),
        ("{{ first|replace('a', 'b') }} {{ first.lower() }}", "Adb ada"),
        ("{{ items[0].price * 2 }} {{ items[0].price|float * items[1].price|float }}", "5.0 7.5"),
        ("{% raw %}{{ name }}{% endraw %}{# {{ gone #}{{ '}}' }}", "{{ name }}}}"),
        ("{% for n in range(3) %}{{ n }}{% endfor %}\n", "012\n"),
        ("{% if first in ('Ada', 'Bea') and (first or last) %}x{% endif %}", "x"),
    ],
)
def test_templates_are_rendered(source, expected):
    assert render(source) == expected


def test_html_is_escaped_and_text_is_not():
    assert render("{{ name }}", OutputFormat.HTML) == "&lt;b&gt;&amp;&quot;&#x27;"
    assert render("{{ items|map(attribute='name')|join('<') }}", OutputFormat.HTML) == "one&lt;"
    assert render("{{ name }}", OutputFormat.TEXT) == "<b>&\"'"
    assert render("{{ name|safe }}", OutputFormat.HTML) == "<b>&\"'"


@pytest.mark.parametrize(
    ("source", "location"),
    [
        ("x\n {{ foo bar }}", "Line 2, column 9"),
        ("é {{ 'a' + }}", "Line 1, column 12"),
        ("{% if %}", "Line 1, column 7"),
        ("{{ a|nothing }}", "Line 1, column 6"),
        ("a\n\n{% include 'x' %}", "Line 3, column 4"),
        ("{% macro f(x) %}{{ f(x) }}{% endmacro %}", "Line 1, column 4"),
        ("{% extends '/etc/passwd' %}", "Line 1, column 4"),
        ("{% set x %}a{% endset %}", "Line 1, column 4"),
        ("{{ debug() }}", "Line 1, column 4"),
        ("{{ namespace(a=1) }}", "Line 1, column 4"),
        ("{{ map.pop('a') }}", "Line 1, column 8"),
        ("{{ list.append(list) }}", "Line 1, column 9"),
        ("{{ map['pop']('a') }}", "Line 1, column 14"),
        ("{{ '{:1000000000}'.format(1) }}", "Line 1, column 20"),
        ("{{ 'x'|indent(1000000000) }}", "Line 1, column 8"),
        ("{{ 'a' * 1000000000 }}", "Line 1, column 8"),
        ("{{ first * count }}", "Line 1, column 10"),
        ("{{ first|int * last ~ '|int' }}", "Line 1, column 14"),
        ("{{ map|tojson(1000) }}", "Line 1, column 8"),
        ("{% set x = first %}" + "{% set x = x ~ x %}" * 12, "too many values"),
        ("{% for x in [first] %}" + "{% for x in [x, x, x, x] %}" * 6 + "{% endfor %}" * 7, "too many values"),
        ("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "more than 100 nested operators"),
    ],
)
def test_syntax_errors_are_refused(source, location):
    with pytest.raises(TemplateInvalid) as raised:
        compile_template(source)
    assert location in str(raised.value)
    assert raised.value.status == 400


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{% for a in range(1000) %}{% for b in range(1000) %}{{ a }}{% endfor %}{% endfor %}", "steps"),
        ("{{ range(100000) }}", "at most 1000"),
        ("{{ big }}" * 20, "characters"),
        ("{% for a in range(1000) %}{{ big }}{% endfor %}", "characters"),
        ("{% for a in range(1000) %}" + "x" * 100_000 + "{% endfor %}", "steps"),
        ("{{ big|replace('a', first ~ first ~ first ~ first) }}", "characters"),
        ("{{ big|join(first ~ first ~ first ~ first) }}", "characters"),
        ("{{ big * 500 }}", "characters"),
        ("{% for c in big %}{{ big|upper|length }}{% endfor %}", "steps"),
        ("{{ 1 / 0 }}", "line 1"),
    ],
)
def test_rendering_beyond_a_limit_fails_with_the_reason(source, reason):
    compiled = compile_template(source, OutputFormat.TEXT)
    with pytest.raises(RenderFailed) as raised:
        compiled.render(VALUES)
    assert reason in str(raised.value)
    assert raised.value.status == 422


def test_values_that_are_not_json_fail_with_a_reason():
    loop: dict = {}
    loop["loop"] = loop
    for values in ({"x": object()}, {"x": 1 << 99_999}, loop, {"x": "\ud800"}):
        with pytest.raises(RenderFailed):
            compile_template("{{ x }}").render(values)


def test_rendering_does_not_change_the_values():
    values = {"list": [1, None], "map": {"a": None}}
    compile_template("{{ list }}{{ map }}{% set list = 3 %}").render(values)
    assert values == {"list": [1, None], "map": {"a": None}}


def test_the_variables_of_a_template():
    source = "{{ user.name }}{% for x in items %}{{ x.y }}{% endfor %}{% set a = b %}{{ a }}{{ range(2) }}"
    assert variables(source) == ["b", "items", "user.name"]
    with pytest.raises(TemplateInvalid):
        variables("{{ a b }}")


PIECES = st.sampled_from(
    [
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        " a ",
        "'",
        '"',
        "|",
        "(",
        ")",
        "*",
        "for x in a",
        "endfor",
        "if",
        "endif",
        "set",
        "=",
        "raw",
        "endraw",
        "~",
        "9",
        "[",
        "]",
        "-",
        ".",
        "upper",
        "range",
        "\\",
        "\n",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=25))
def test_any_text_compiles_and_renders_or_is_refused(pieces):
    try:
        compile_template("".join(pieces)).render({"a": ["x", "<"], "upper": 3})
    except (TemplateInvalid, RenderFailed):
        return


@pytest.mark.parametrize("name", sorted(name for name in dir(dict) if not name.startswith("_")))
def test_a_name_of_a_dictionary_method_without_a_value_is_undefined(name):
    source = f"{{% for each in {name} %}}x{{% else %}}none{{% endfor %}}{{{{ {name}|default('d') }}}}{{{{ {name} }}}}"
    template = compile_template(source)
    assert template.render({}) == "noned"
    assert template.render({"other": [1]}) == "noned"
    assert template.render({name: [1]}) == "x[1][1]"
    assert template.render({name: "a"}) == "xaa"
