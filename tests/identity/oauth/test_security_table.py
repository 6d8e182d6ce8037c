"""The tests in the tables of attacks and of conformance modules exist."""

import re

from tests.doc_tables import REFERENCE, ROOT, missing_tests, rows_of

SECURITY = "docs/security/openid.md"
CONFORMANCE = "docs/guide/openid-conformance.md"
FOLDER = "tests/identity/oauth"
FILES = dict(re.findall(r"`(\w+)` is\s+tests/([\w/]+)\.py", (ROOT / SECURITY).read_text()))
SECTIONS = ("2.1", "2.1.1", "2.1.2", "2.2.1", "2.2.2", "2.3", "2.4", "2.5", "2.6", *(f"4.{n}" for n in range(1, 18)))
"""The sections of RFC 9700 with requirements or attacks that concern an authorization server."""
PLANS = {
    "oidcc-basic-certification-test-plan": 38,
    "oidcc-config-certification-test-plan": 1,
    "oidcc-dynamic-certification-test-plan": 23,
    "oidcc-formpost-basic-certification-test-plan": 38,
    "oidcc-rp-initiated-logout-certification-test-plan": 11,
    "oidcc-backchannel-rp-initiated-logout-certification-test-plan": 2,
    "fapi2-security-profile-final-test-plan": 53,
}
"""How many modules each plan has."""


def test_each_attack_has_tests_that_exist():
    rows = [row for row in rows_of(SECURITY) if row[0] != "section"]
    assert len(rows) > 60
    for row in rows:
        references = REFERENCE.findall(row[-1])
        assert references or "**not met**" in row[-1], row
        assert missing_tests(" ".join(f"{FILES[file]}::{name}" for file, name in references)) == [], row


def test_each_section_of_rfc_9700_is_covered():
    named = {section for row in rows_of(SECURITY) for section in row[0].split(", ")}
    assert [section for section in SECTIONS if section not in named] == []


def test_each_module_of_the_conformance_suite_has_a_test_that_exists():
    for row in rows_of(CONFORMANCE):
        if row[0] != "module":
            assert row[1].startswith(("passes", "skipped", "**warns**", "**differs**", "as above")), row
            assert REFERENCE.fullmatch(row[2]), row
            assert missing_tests(row[2], FOLDER) == [], row


def test_the_conformance_plans_are_complete():
    sections = (ROOT / CONFORMANCE).read_text().split("\n## ")[1:]
    lists = {}
    for plan, count in PLANS.items():
        (section,) = [section for section in sections if f"`{plan}`" in section]
        modules = re.findall(r"^\| ((?:oidcc|fapi2)-\S+) \|", section, re.MULTILINE)
        assert (len(modules), len(set(modules))) == (count, count), plan
        lists[plan] = modules
    basic, form_post = (lists[f"oidcc-{name}-certification-test-plan"] for name in ("basic", "formpost-basic"))
    assert form_post == basic, "the same modules, in another response mode"
