"""Filters of users in the database and in Python, which must give the same results."""

from datetime import timedelta
from uuid import UUID

import pytest

from postern.identity.scim import rules, scans
from postern.kernel.limits import RateLimit
from postern.protocols.scim.filters import matches, parse_filter
from postern.protocols.scim.schemas import USER as USER_TYPE
from tests.identity.scim.conftest import ENTERPRISE, USER

PERSONS = {
    "Ada": {"displayName": "Ada Lovelace", "externalId": "Object-1", ENTERPRISE: {"department": "Research"}},
    "bob": {"displayName": "Bob 100%_'", "active": False, "nickName": "Bobby"},
    "eve": {"externalId": "object-2", "emails": [{"value": "EVE@{domain}"}, {"value": "eve@{domain}"}]},
}
FILTERS = [
    'userName eq "ADA@{domain}"',
    'userName ne "ada@{domain}"',
    'userName sw "a"',
    'userName ew "{domain}" and active eq true',
    'userName co "O"',
    'userName gt "b"',
    "userName pr",
    'displayName co "100%_\'"',
    'displayName eq "ADA lovelace"',
    'displayName ne "x"',
    "not (displayName pr)",
    "displayName eq null",
    'externalId eq "object-2"',
    'externalId sw "object"',
    'not (externalId eq "object-2")',
    'externalId ne "object-2"',
    "active eq false",
    'active eq "True"',
    "active ne true",
    'emails.value eq "Eve@{domain}"',
    'emails eq "ada@{domain}" or emails[value eq "bob@{domain}"]',
    'not (emails.value eq "ada@{domain}")',
    'emails[type eq "work" and value co "ada"]',
    'emails.value co "eve"',
    'id eq "{id}"',
    'id eq "x"',
    'groups.value eq "{group}"',
    'not (groups eq "{group}")',
    'groups.display eq "Everyone" and active eq true',
    'meta.created gt "2000-01-01T00:00:00Z" and meta.lastModified lt "2100-01-01T00:00:00+01:00"',
    'meta.resourceType eq "User"',
    f'{ENTERPRISE}:department eq "research"',
    "active eq true and nickName pr",
    'nickName eq "bobby" or userName eq "eve@{domain}"',
    "userName eq 7",
    'userName eq ""',
    'userName ew ""',
]


async def test_the_database_and_python_filter_alike(acme, monkeypatch):
    created = {}
    for name, fields in PERSONS.items():
        emails = [{"value": email["value"].replace("{domain}", acme.domain)} for email in fields.get("emails", [])]
        created[name] = await acme.user(name, **{**fields, **({"emails": emails} if emails else {})})
    group = await acme.group("Everyone", created["Ada"], created["bob"])
    everyone = [(await acme.scim.get(f"/Users/{user['id']}")).json() for user in created.values()]
    monkeypatch.setattr(scans, "SCAN_RATE", RateLimit("scans-test", 100, timedelta(seconds=10)))
    in_database = 0
    for template in FILTERS:
        text = template.replace("{domain}", acme.domain).replace("{id}", created["bob"]["id"])
        text = text.replace("{group}", group["id"])
        parsed = parse_filter(USER_TYPE, text)
        expected = [user["userName"] for user in everyone if matches(parsed, user)]
        assert [user["userName"] for user in await acme.find(text)] == expected, text
        in_database += rules.user_condition(parsed) is not None
    assert in_database > 20


async def test_what_the_database_cannot_filter_is_limited(acme, monkeypatch):
    for number in range(5):
        await acme.user(f"user{number}", nickName=f"nick{number % 2}", active=number < 3)
    monkeypatch.setattr("postern.identity.scim.users.SCAN_CHUNK", 2)
    page = (await acme.scim.get('/Users?filter=nickName eq "nick0"&startIndex=2&count=1')).json()
    assert (page["totalResults"], len(page["Resources"])) == (3, 1)
    assert page["Resources"][0]["userName"] == acme.address("user2")
    monkeypatch.setattr("postern.identity.scim.users.SCAN_LIMIT", 4)
    too_many = await acme.scim.get('/Users?filter=nickName eq "nick0"')
    assert (too_many.status_code, too_many.json()["scimType"]) == (400, "tooMany")
    narrowed = (await acme.scim.get('/Users?filter=nickName eq "nick0" and active eq true')).json()
    assert narrowed["totalResults"] == 2


async def test_the_work_of_a_filter_is_limited(acme, monkeypatch):
    emails = [{"value": f"{number}-{'x' * 40}@{acme.domain}"} for number in range(20)]
    for number in range(3):
        await acme.user(f"user{number}", nickName="n", emails=[{"value": acme.address()}, *emails[1:]])
    monkeypatch.setattr(scans, "SCAN_WORK", 3 * 20 * 2)
    monkeypatch.setattr(scans, "SCAN_RATE", RateLimit("scans-test", 5, timedelta(hours=1)))
    terms = " or ".join(['emails.value co "y"'] * 2)
    assert (await acme.scim.get("/Users", params={"filter": terms})).json()["totalResults"] == 0
    for attributes in (f'{terms} or nickName eq "x"', f"{terms} or {terms}"):
        refused = await acme.scim.get("/Users", params={"filter": attributes})
        assert (refused.status_code, refused.json()["scimType"]) == (400, "tooMany")
    for endpoint, text in (("Groups", 'displayName co "x" and meta.version eq "x"'), ("Users", "nickName pr")):
        assert (await acme.scim.get(f"/{endpoint}", params={"filter": text})).status_code == 200
    limited = await acme.scim.get("/Users?filter=nickName pr")
    assert limited.status_code == 429
    assert (await acme.scim.get('/Users?filter=userName eq "x"')).status_code == 200


ATTACKS = [
    'userName eq "\' or 1=1 --"',
    'userName eq "%"',
    'userName eq "%(project_id)s"',
    'userName eq "%s"',
    'userName co "{}"',
    "displayName eq \"\\\\' or true or \\\\'\"",
    'externalId eq "$$; select pg_sleep(10); $$"',
    'emails.value eq "\'},{"',
    'id eq "\' or true"',
]


@pytest.mark.parametrize("filter", ATTACKS)
async def test_values_of_filters_are_only_values(acme, filter):
    await acme.user("ada", displayName="Ada")
    assert await acme.find(filter) == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("filter=userName", 400),
        ("filter=" + "(" * 1_000, 400),
        ("filter=" + "%20or%20".join(["active%20pr"] * 51), 400),
        ("filter=userName%20eq%20%22%00%22", 400),
        ("filter=userName%20eq%20%22%ED%A0%80%22", 200),
        ("filter=userName%20eq%20%22%5Cud800%22", 400),
        ("filter=meta.created%20gt%20%229999-12-31T23:59:59-23:59%22", 400),
        ("filter=meta.created%20gt%20%220001-01-01T00:00:00%2B23:59%22", 400),
        ("attributes=%00", 400),
        ("attributes=" + "x," * 2_000, 400),
        ("sortBy=userName&sortOrder=descending", 200),
        ("cursor=abc", 200),
    ],
)
async def test_hostile_queries_are_refused_or_harmless(acme, query, status):
    assert (await acme.scim.get(f"/Users?{query}")).status_code == status


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"null", 400),
        (b"[" * 200 + b"]" * 200, 400),
        (b'{"schemas": ["%s"], "userName": "\\u0000"}' % USER.encode(), 400),
        (b'{"schemas": ["%s"], "userName": "\\ud800"}' % USER.encode(), 400),
        (b'{"schemas": ["%s"], "userName": {"$ne": 1}}' % USER.encode(), 400),
        (b'{"schemas": ["%s"], "userName": "a", "emails": "x"}' % USER.encode(), 400),
        (b'{"schemas": ["%s"], "userName": "a", "emails": [{"value": "not an address"}]}' % USER.encode(), 400),
        (b'{"schemas": ["%s"], "userName": "a", "active": "maybe"}' % USER.encode(), 400),
        (b" " * 1_048_577, 413),
    ],
)
async def test_hostile_bodies_are_refused(acme, content, status):
    response = await acme.scim.request("POST", "/Users", content=content)
    assert response.status_code == status
    assert (await acme.scim.get("/Users")).json()["totalResults"] == 0


async def test_paths_and_methods_that_do_not_exist(acme):
    ada = await acme.user("ada")
    for method, path, status in (
        ("GET", "/Nothing", 404),
        ("GET", f"/Users/{UUID(int=1)}", 404),
        ("GET", "/Users/not-an-id", 404),
        ("GET", f"/Groups/{ada['id']}", 404),
        ("POST", f"/Users/{ada['id']}", 405),
        ("DELETE", "/Users", 405),
        ("GET", "/Bulk", 405),
        ("POST", "/Schemas", 405),
        ("GET", "/Schemas/nothing", 404),
        ("GET", "/Schemas?filter=id pr", 403),
        ("GET", "/ResourceTypes/User", 200),
        ("GET", f"/Schemas/{USER}", 200),
        ("GET", "/ServiceProviderConfig", 200),
    ):
        assert (await acme.scim.request(method, path)).status_code == status, (method, path)
    form = await acme.scim.request(
        "POST", "/Users", content=b"userName=ada", headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert form.status_code == 415
