"""PATCH of SCIM resources: the forms of the RFC, of Entra ID and of Okta."""

import copy

import pytest

from postern.protocols.scim.patch import apply_changes, read_changes, read_steps
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import ENTERPRISE_SCHEMA, USER, read_resource

ADA = {
    "userName": "ada",
    "active": True,
    "name": {"givenName": "Ada", "familyName": "Byron"},
    "emails": [
        {"value": "ada@work.example", "type": "work", "primary": True},
        {"value": "ada@home.example", "type": "home"},
    ],
}
WORK, HOME = ADA["emails"]


def patched(*operations, document=ADA):
    return apply_changes(USER, document, read_changes(USER, read_steps({"Operations": list(operations)})))


def changed(*operations):
    """The attributes that differ after the operations; None if they are gone."""
    before = copy.deepcopy(ADA)
    after = patched(*operations)
    assert before == ADA
    return {name: after.get(name) for name in {**ADA, **after} if after.get(name) != ADA.get(name)}


CHANGES = {
    "replace": ([{"op": "replace", "path": "userName", "value": "bob"}], {"userName": "bob"}),
    "upper case and a text for a boolean (Entra ID)": (
        [{"op": "Replace", "path": "active", "value": "False"}],
        {"active": False},
    ),
    "a list with one value (Entra ID)": (
        [{"op": "Add", "path": "displayName", "value": [{"value": "Ada"}]}],
        {"displayName": "Ada"},
    ),
    "without a path (Okta)": ([{"op": "replace", "value": {"active": False}}], {"active": False}),
    "read-only and unknown attributes without a path (Okta)": (
        [{"op": "replace", "value": {"id": "1", "groups": [], "password": "x", "title": "Dr"}}],
        {"title": "Dr"},
    ),
    "paths as names (Entra ID)": (
        [{"op": "Add", "value": {"name.familyName": "King", f"{ENTERPRISE_SCHEMA}:department": "R"}}],
        {"name": {"givenName": "Ada", "familyName": "King"}, ENTERPRISE_SCHEMA: {"department": "R"}},
    ),
    "a filter as a name (Entra ID)": (
        [{"op": "Add", "value": {'emails[type eq "work"].value': "new@work.example"}}],
        {"emails": [{**WORK, "value": "new@work.example"}, HOME]},
    ),
    "an extension without a path": (
        [{"op": "add", "value": {ENTERPRISE_SCHEMA: {"department": "R", "unknown": 1}}}],
        {ENTERPRISE_SCHEMA: {"department": "R"}},
    ),
    "an extension with a path": (
        [{"op": "add", "path": ENTERPRISE_SCHEMA, "value": {"costCenter": 42}}],
        {ENTERPRISE_SCHEMA: {"costCenter": "42"}},
    ),
    "the manager as a text (Entra ID)": (
        [{"op": "Add", "path": f"{ENTERPRISE_SCHEMA}:manager", "value": "7"}],
        {ENTERPRISE_SCHEMA: {"manager": {"value": "7"}}},
    ),
    "an extension that becomes empty": (
        [
            {"op": "add", "path": f"{ENTERPRISE_SCHEMA}:department", "value": "R"},
            {"op": "remove", "path": f"{ENTERPRISE_SCHEMA}:department"},
        ],
        {},
    ),
    "add to a complex attribute": (
        [{"op": "add", "path": "name", "value": {"middleName": "K"}}],
        {"name": {"givenName": "Ada", "familyName": "Byron", "middleName": "K"}},
    ),
    "add to a list": (
        [{"op": "add", "path": "emails", "value": [{"value": "x@y.example"}, HOME]}],
        {"emails": [WORK, HOME, {"value": "x@y.example"}]},
    ),
    "a new primary value takes the place of the old one": (
        [{"op": "add", "path": "emails", "value": [{"value": "x@y.example", "primary": "True"}]}],
        {"emails": [{"value": WORK["value"], "type": "work"}, HOME, {"value": "x@y.example", "primary": True}]},
    ),
    "replace a list": (
        [{"op": "replace", "path": "emails", "value": [{"value": "x@y.example"}]}],
        {"emails": [{"value": "x@y.example"}]},
    ),
    "add by a filter without a match (Entra ID)": (
        [{"op": "Add", "path": 'emails[type eq "other"].value', "value": "o@y.example"}],
        {"emails": [WORK, HOME, {"type": "other", "value": "o@y.example"}]},
    ),
    "replace an item": (
        [{"op": "replace", "path": 'emails[type eq "home"]', "value": {"value": "h@y.example"}}],
        {"emails": [WORK, {"value": "h@y.example"}]},
    ),
    "make another item primary": (
        [{"op": "replace", "path": 'emails[type eq "home"].primary', "value": True}],
        {"emails": [{"value": WORK["value"], "type": "work"}, {**HOME, "primary": True}]},
    ),
    "remove an item": ([{"op": "remove", "path": 'emails[type eq "home"]'}], {"emails": [WORK]}),
    "remove an item that is not there": ([{"op": "remove", "path": 'emails[type eq "x"]'}], {}),
    "remove items by value (Entra ID)": (
        [{"op": "Remove", "path": "emails", "value": [{"value": HOME["value"]}]}],
        {"emails": [WORK]},
    ),
    "remove a list": ([{"op": "remove", "path": "emails"}], {"emails": None}),
    "remove all items": ([{"op": "remove", "path": "emails[value pr]"}], {"emails": None}),
    "remove a sub-attribute": ([{"op": "remove", "path": "name.givenName"}], {"name": {"familyName": "Byron"}}),
    "null removes": ([{"op": "replace", "path": "name", "value": None}], {"name": None}),
    "an empty list removes": ([{"op": "replace", "path": "emails", "value": []}], {"emails": None}),
    "a sub-attribute of all items": (
        [{"op": "replace", "path": "emails.type", "value": "other"}],
        {"emails": [{**WORK, "type": "other"}, {**HOME, "type": "other"}]},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes(name):
    operations, expected = CHANGES[name]
    assert changed(*operations) == expected


REFUSED = [
    ({"op": "move", "path": "userName", "value": "x"}, "invalidSyntax"),
    ({"path": "userName", "value": "x"}, "invalidSyntax"),
    ({"op": "remove"}, "noTarget"),
    ({"op": "add", "path": "userName"}, "invalidValue"),
    ({"op": "add", "value": "x"}, "invalidValue"),
    ({"op": "add", "path": 7, "value": "x"}, "invalidPath"),
    ({"op": "add", "path": "nothing", "value": "x"}, "invalidPath"),
    ({"op": "add", "path": "emails[", "value": "x"}, "invalidPath"),
    ({"op": "add", "value": {"emails[": "x"}}, "invalidPath"),
    ({"op": "replace", "path": "id", "value": "x"}, "mutability"),
    ({"op": "replace", "path": "groups", "value": []}, "mutability"),
    ({"op": "replace", "path": "meta.version", "value": "x"}, "mutability"),
    ({"op": "remove", "path": "userName"}, "mutability"),
    ({"op": "replace", "path": "userName", "value": None}, "mutability"),
    ({"op": "replace", "path": "userName", "value": " "}, "invalidValue"),
    ({"op": "replace", "path": "userName", "value": {"a": 1}}, "invalidValue"),
    ({"op": "replace", "path": "userName", "value": "x" * 1_025}, "invalidValue"),
    ({"op": "replace", "path": "active", "value": "maybe"}, "invalidValue"),
    ({"op": "replace", "path": "active", "value": 1}, "invalidValue"),
    ({"op": "replace", "path": "name", "value": "Ada"}, "invalidValue"),
    ({"op": "replace", "path": 'emails[type eq "x"].value', "value": "x"}, "noTarget"),
    ({"op": "add", "path": 'emails[value sw "zzz"].type', "value": "x"}, "noTarget"),
    ({"op": "add", "path": "emails", "value": [{"value": str(n)} for n in range(21)]}, "invalidValue"),
    (
        {
            "op": "replace",
            "path": "emails",
            "value": [{"value": "a", "primary": True}, {"value": "b", "primary": True}],
        },
        "invalidValue",
    ),
]


@pytest.mark.parametrize(("operation", "scim_type"), REFUSED)
def test_refused_changes(operation, scim_type):
    with pytest.raises(ScimRequestInvalid) as problem:
        patched(operation)
    assert problem.value.scim_type == scim_type


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"Operations": {}},
        {"Operations": []},
        {"Operations": ["x"]},
        {"schemas": ["other"], "Operations": [{"op": "remove", "path": "title"}]},
    ],
)
def test_malformed_requests(body):
    with pytest.raises(ScimRequestInvalid) as problem:
        read_steps(body)
    assert problem.value.scim_type == "invalidSyntax"


def test_a_resource_keeps_only_what_the_schema_has_and_a_client_may_write():
    document = read_resource(
        USER,
        {
            "SCHEMAS": [USER.schema.id.upper()],
            "USERNAME": "ada",
            "id": "1",
            "meta": {"version": "9"},
            "groups": [{"value": "1"}],
            "roles": [{"value": "OWNER"}],
            "emailVerifiedAt": "2026-01-01",
            "Emails": {"VALUE": "a@b.example", "verified": True},
            "nickName": None,
            "phoneNumbers": [],
            ENTERPRISE_SCHEMA: {"EMPLOYEENUMBER": 7},
        },
    )
    assert document == {
        "userName": "ada",
        "emails": [{"value": "a@b.example"}],
        ENTERPRISE_SCHEMA: {"employeeNumber": "7"},
    }
    for data in (None, [], {}, {"schemas": "x"}, {"schemas": ["other"], "userName": "x"}):
        with pytest.raises(ScimRequestInvalid) as problem:
            read_resource(USER, data)
        assert problem.value.scim_type == "invalidSyntax"
    with pytest.raises(ScimRequestInvalid) as problem:
        read_resource(USER, {"schemas": [USER.schema.id]})
    assert problem.value.scim_type == "invalidValue"


def test_the_work_of_a_request_is_limited():
    step = {"op": "add", "path": "title", "value": "x"}
    assert patched(*[step] * 100)["title"] == "x"
    for operations in ([step] * 101, [{"op": "add", "value": {f"a{number}": 1 for number in range(101)}}]):
        with pytest.raises(ScimRequestInvalid) as refused:
            patched(*operations)
        assert refused.value.scim_type == "tooMany"
    path = "emails[" + " or ".join(['value co "y"'] * 50) + "]"
    document = {"userName": "ada", "emails": [{"value": f"{number}@x.example"} for number in range(20)]}
    remove = {"op": "remove", "path": path}
    assert patched(*[remove] * 50, document=document) == document
    with pytest.raises(ScimRequestInvalid) as refused:
        patched(*[remove] * 51, document=document)
    assert refused.value.scim_type == "tooMany"
