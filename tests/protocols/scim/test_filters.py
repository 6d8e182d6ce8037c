"""Filters and paths of SCIM: grammar, precedence, comparisons, and limits."""

import pytest

from postern.protocols.scim.filters import (
    FILTER_DEPTH,
    FILTER_LENGTH,
    FILTER_TERMS,
    matches,
    parse_filter,
    parse_path,
)
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import ENTERPRISE_SCHEMA, GROUP, USER, USER_SCHEMA

ADA = {
    "id": "1",
    "userName": "Ada@Acme.example",
    "externalId": "Object-1",
    "name": {"familyName": "O'Malley", "givenName": "Ada"},
    "active": True,
    "emails": [
        {"value": "ada@acme.example", "type": "work", "primary": True},
        {"value": "ada@home.example", "type": "home"},
    ],
    ENTERPRISE_SCHEMA: {"department": "Research", "manager": {"value": "7"}},
    "meta": {"lastModified": "2026-05-13T04:42:34.000Z"},
}

# Those of RFC 7644 §3.4.2.2 come first; attributes that Postern does not have are replaced by others.
FILTERS = {
    'userName Eq "ada@acme.example"': True,
    'name.familyName co "O\'Malley"': True,
    'userName sw "A"': True,
    f'{USER_SCHEMA}:userName sw "A"': True,
    "title pr": False,
    'meta.lastModified gt "2026-05-13T04:42:33Z"': True,
    'meta.lastModified ge "2026-05-13T06:42:34+02:00"': True,
    'meta.lastModified lt "2026-05-13T04:42:34Z"': False,
    'meta.lastModified le "2026-05-13T04:42:34Z"': True,
    'title pr and userType eq "Employee"': False,
    "title pr or active eq true": True,
    'userType eq "Employee" and (emails co "acme.example" or emails.value co "acme.org")': False,
    'userType ne "Employee" and not (emails co "other.com" or emails.value co "other.org")': True,
    'emails[type eq "work" and value co "@acme.example"]': True,
    'emails[type eq "home" and value co "@acme.example"]': False,
    'emails[type eq "work" and value co "@acme.com"] or emails[type eq "home" and value ew "home.example"]': True,
    # `and` binds more tightly than `or`, and `not` more tightly than both.
    "active eq true or active eq true and active eq false": True,
    "(active eq true or active eq true) and active eq false": False,
    "not (active eq true) or active eq true": True,
    "not (active eq true or active eq false)": False,
    # Letter case: only of attributes with `caseExact`.
    'externalId eq "object-1"': False,
    'externalId eq "Object-1"': True,
    'EXTERNALID EQ "Object-1" AND USERNAME PR': True,
    'userName ew "EXAMPLE"': True,
    f'{ENTERPRISE_SCHEMA}:department eq "research"': True,
    f'{ENTERPRISE_SCHEMA}:manager.value eq "7"': True,
    f'{ENTERPRISE_SCHEMA.upper()}:MANAGER eq "7"': True,
    # Types and absent values.
    'active eq "True"': True,
    "active ne false": True,
    "nickName eq null": True,
    "userName eq null": False,
    "userName ne null": True,
    "userName eq 7": False,
    'nickName ne "x"': True,
    "emails.primary eq true": True,
    'userName gt "aaa"': True,
    'name.givenName eq "\\u0041da"': True,
}


@pytest.mark.parametrize("text", FILTERS)
def test_filters_match_as_the_rfc_says(text):
    assert matches(parse_filter(USER, text), ADA) is FILTERS[text]


INVALID = [
    "",
    " ",
    "userName",
    "userName eq",
    "userName eq ada",
    'userName eq "ada',
    'userName is "ada"',
    'nothing eq "ada"',
    'userName.nothing eq "ada"',
    'urn:other:userName eq "ada"',
    'userName eq "ada" and',
    'userName eq "ada" or or',
    '(userName eq "ada"',
    'userName eq "ada")',
    'not userName eq "ada"',
    'emails[type eq "work"',
    'emails[nothing eq "work"]',
    'emails[emails[type eq "work"]]',
    'emails[type eq "work"].value eq "x"',
    'userName[value eq "x"]',
    "emails[]",
    "active gt true",
    'active co "t"',
    'name eq "Ada"',
    'meta.lastModified gt "yesterday"',
    'meta.lastModified gt "2026-05-13T04:42:34"',
    'userName eq "a\\u0000"',
    'userName eq "\\ud800"',
    'userName eq "a\nb"',
    "userName eq {}",
    "userName eq 0x10",
    "userName eq 1_000",
    "userName; drop table customers",
    "userName eq 'ada'",
    "\x00",
    "💥",
]


@pytest.mark.parametrize("text", INVALID)
def test_invalid_filters_are_refused(text):
    with pytest.raises(ScimRequestInvalid) as problem:
        parse_filter(USER, text)
    assert problem.value.scim_type == "invalidFilter"


def test_filters_have_limits():
    parse_filter(USER, " or ".join(["active pr"] * FILTER_TERMS))
    parse_filter(USER, "(" * FILTER_DEPTH + "active pr" + ")" * FILTER_DEPTH)
    bombs = [
        " or ".join(["active pr"] * (FILTER_TERMS + 1)),
        "(" * (FILTER_DEPTH + 1) + "active pr" + ")" * (FILTER_DEPTH + 1),
        "(" * FILTER_LENGTH,
        "not (" * (FILTER_DEPTH + 1) + "active pr" + ")" * (FILTER_DEPTH + 1),
        f'userName eq "{"x" * FILTER_LENGTH}"',
        '"' + "\\" * (FILTER_LENGTH - 1),
        "-" * FILTER_LENGTH,
    ]
    for bomb in bombs:
        with pytest.raises(ScimRequestInvalid):
            parse_filter(USER, bomb)


def test_paths_of_changes():
    path = parse_path(USER, 'emails[type eq "work" or primary eq true].value')
    assert path.attribute is not None
    assert path.sub is not None
    assert (path.attribute.name, path.sub.name, path.filter is not None) == ("emails", "value", True)
    assert parse_path(USER, ENTERPRISE_SCHEMA.lower()).extension == ENTERPRISE_SCHEMA
    department = parse_path(USER, f"{ENTERPRISE_SCHEMA}:department")
    assert department.attribute is not None
    assert (department.extension, department.attribute.name) == (ENTERPRISE_SCHEMA, "department")
    assert parse_path(GROUP, 'members[value eq "1"]').filter is not None
    for text in (
        "",
        "nothing",
        "emails[type eq]",
        'emails[type eq "x"].nothing',
        "name.",
        "userName[value pr]",
        "members",
        "emails.value.x",
        "emails [",
        '"x"',
        "emails[type pr].value.x",
    ):
        with pytest.raises(ScimRequestInvalid) as problem:
            parse_path(USER, text)
        assert problem.value.scim_type == "invalidPath", text
