"""Audience rules, compared with an implementation in Python: SQL and Python choose the same contacts."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import connect
from psycopg.sql import SQL

from postern.kernel.database.statements import Jsonb
from postern.kernel.http.problems import Invalid
from postern.messaging.audiences import rules

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
MISSING = object()


# The oracle. Written from the documentation, and not from the SQL.


def moment_of(value):
    """The timestamp of a value, or None."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or len(value) > 40:
        return None
    found = re.fullmatch(
        r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:\d\d)?)?", value, re.ASCII
    )
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        naive = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
            int((fraction or "0").ljust(6, "0")), tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        return None
    if zone in (None, "Z"):
        return naive
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 13 or minutes > 59:
        return None
    return naive - (1 if zone[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)


def kind(value):
    if isinstance(value, bool):
        return "flag"
    return {int: "number", float: "number", str: "text", list: "list", dict: "object"}.get(type(value), "other")


def same(a, b):
    return kind(a) == kind(b) and a == b


def holds(operator, actual, value):
    """Whether a condition holds for a value; MISSING stands for an absent attribute."""
    absent = actual is MISSING or actual is None
    if operator == "exists":
        return not absent
    if operator == "notExists":
        return absent
    if absent:
        return operator in ("neq", "notContains", "notIn", "notWithinDays")
    kept = isinstance(actual, datetime)
    match operator:
        case "eq" | "neq":
            if kept:
                moment = moment_of(value)
                return moment is not None and (actual == moment) == (operator == "eq")
            return kind(actual) == kind(value) and same(actual, value) == (operator == "eq")
        case "in" | "notIn":
            if kept:
                moments = [moment_of(each) for each in value if moment_of(each)]
                return bool(moments) and (actual in moments) == (operator == "in")
            if kind(actual) not in {kind(each) for each in value}:
                return False
            return any(same(actual, each) for each in value) == (operator == "in")
        case "gt" | "gte" | "lt" | "lte" | "before" | "after":
            return compare(operator, actual, value)
        case "contains" | "notContains":
            if kind(actual) == "list":
                return any(same(actual_, value) for actual_ in actual) == (operator == "contains")
            return kind(actual) == kind(value) == "text" and (value in actual) == (operator == "contains")
        case "startsWith":
            return kind(actual) == "text" and actual.startswith(value)
        case "endsWith":
            return kind(actual) == "text" and actual.endswith(value)
        case "withinDays" | "notWithinDays":
            moment = moment_of(actual)
            if moment is None:
                return False
            # What we recorded ourselves lies ahead only of those who judge late.
            recent = NOW - timedelta(days=value) < moment and (kept or moment <= NOW)
            return recent == (operator == "withinDays")
    raise AssertionError(operator)


def compare(operator, actual, value):
    if kind(value) == "number":
        if kind(actual) != "number":
            return False
        a, b = actual, value
    elif moment_of(value) or isinstance(actual, datetime):
        a, b = moment_of(actual), moment_of(value)
        if a is None or b is None:
            return False
    elif kind(actual) == "text":
        a, b = actual.encode(), value.encode()
    else:
        return False
    return {"gt": a > b, "after": a > b, "gte": a >= b, "lt": a < b, "before": a < b, "lte": a <= b}[operator]


def belongs(group, contact):
    verdicts = [verdict(each, contact) for each in group["conditions"]]
    return all(verdicts) if group.get("match", "all") == "all" else any(verdicts)


def verdict(clause, contact):
    if "conditions" in clause:
        return belongs(clause, contact)
    field, value = clause["field"], clause.get("value")
    kept = ("email", "createdAt", "unsubscribed", "lastOpenedAt", "lastClickedAt")
    actual = contact[field] if field in kept else contact["attributes"].get(field.removeprefix("attributes."), MISSING)
    if field == "email":
        actual = actual.casefold()
        value = [fold(each) for each in value] if isinstance(value, list) else fold(value)
    return holds(clause["operator"], actual, value)


def fold(value):
    return value.casefold() if isinstance(value, str) and not moment_of(value) else value


# What is asked.

texts = st.sampled_from(
    [
        "",
        "a",
        "A",
        "b",
        "abc",
        "ä",
        "Zürich",
        "%",
        "_",
        "a%b",
        "'; drop table contacts; --",
        "{}",
        "%(now)s",
        "\\",
        "null",
    ]
)
numbers = st.sampled_from([0, 1, -1, 2, 1.5, 0.1, 1e20, 10**19, -0.0])
dates = st.sampled_from(
    ["2026-03-01", "2026-03-15", "2026-03-15T12:00:00Z", "2026-03-15 13:00+01:00", "2024-02-29", "2025-02-29",
     "2026-02-30", "2026-13-01", "0000-01-01", "2026-03-14T24:00:00Z", "2026-03-10T01:02:03.5",
     "2026-03-14T23:59:59.999999-13:59",
     "2026-3-1", "2026-03-15T12:00:00+14:00", "2026-04-31", "9999-12-31", "0001-01-01", "x2026-03-01", "2026-03-01\n"]
)  # fmt: skip
scalars = texts | numbers | st.booleans() | dates
stored = scalars | st.none() | st.lists(scalars, max_size=3) | st.dictionaries(texts, scalars, max_size=2)
names = st.sampled_from(["plan", "a'b", "x y", "%s", "email"])
known = st.sampled_from(
    [NOW, NOW - timedelta(days=1), NOW - timedelta(days=30), NOW + timedelta(hours=1), NOW - timedelta(days=400)]
)
moments = st.none() | known
contacts = st.fixed_dictionaries(
    {
        "email": st.sampled_from(["ada@example.com", "Bob@example.com", "c+d@test.example"]),
        "unsubscribed": st.booleans(),
        "createdAt": known,
        "lastOpenedAt": moments,
        "lastClickedAt": moments,
        "attributes": st.dictionaries(names, stored, max_size=4),
    }
)
fields = st.sampled_from(["email", "createdAt", "unsubscribed", "lastOpenedAt", "lastClickedAt"]) | names.map(
    lambda name: f"attributes.{name}"
)
values = {
    **dict.fromkeys(("eq", "neq", "contains", "notContains"), scalars | st.sampled_from(["ADA@example.com", "@"])),
    **dict.fromkeys(("gt", "gte", "lt", "lte"), texts | numbers | dates),
    **dict.fromkeys(("startsWith", "endsWith"), texts | st.sampled_from(["ADA@", "example.com"])),
    **dict.fromkeys(("in", "notIn"), st.lists(scalars | st.just("BOB@example.com"), min_size=1, max_size=4)),
    **dict.fromkeys(("exists", "notExists"), st.none()),
    **dict.fromkeys(
        ("before", "after"),
        st.sampled_from(["2026-03-15", "2026-03-15T12:00:00Z", "2026-03-14 23:00-13:59", "0001-01-01"]),
    ),
    **dict.fromkeys(("withinDays", "notWithinDays"), st.sampled_from([0, 0.5, 1, 7, 30, 365, 36_500])),
}
conditions = st.sampled_from(rules.OPERATORS).flatmap(
    lambda operator: st.fixed_dictionaries({"field": fields, "operator": st.just(operator), "value": values[operator]})
)
groups = st.recursive(
    st.fixed_dictionaries({"match": st.sampled_from(["all", "any"]), "conditions": st.lists(conditions, max_size=3)}),
    lambda inner: st.fixed_dictionaries(
        {"match": st.sampled_from(["all", "any"]), "conditions": st.lists(inner | conditions, max_size=3)}
    ),
    max_leaves=4,
)


def asked(connection, many_rules, contact):
    """Which of many rules match a contact, by one SQL statement."""
    compiled = [rules.compile_rules(rules.read_rules(each), slot) for slot, each in enumerate(many_rules)]
    query = SQL("""
        select array[{conditions}] from (select %(values)s::jsonb as v, %(now)s::timestamptz as now) as given
        cross join (
            select gen_random_uuid() as id, gen_random_uuid() as project_id, %(email)s::text as email_key,
                %(unsubscribed)s::boolean as unsubscribed, %(created)s::timestamptz as created_at,
                %(opened)s::timestamptz as last_opened_at, %(clicked)s::timestamptz as last_clicked_at,
                %(attributes)s::jsonb as attributes
        ) as c
    """).format(conditions=SQL(", ").join([each.sql for each in compiled]))
    given = {
        "values": Jsonb([each.values for each in compiled]),
        "now": NOW,
        "email": contact["email"].casefold(),
        "unsubscribed": contact["unsubscribed"],
        "created": contact["createdAt"],
        "opened": contact["lastOpenedAt"],
        "clicked": contact["lastClickedAt"],
        "attributes": Jsonb(contact["attributes"]),
    }
    (answers,) = connection.execute(query, given).fetchone()
    return [answer is True for answer in answers]


@pytest.fixture(scope="module")
def connection(database_url):
    with connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("operator", rules.OPERATORS)
def test_every_operator_on_every_type(connection, operator):
    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(fields, values[operator]), min_size=5, max_size=20), contacts)
    def check(asks, contact):
        many = [{"conditions": [{"field": field, "operator": operator, "value": value}]} for field, value in asks]
        for each in many:
            rules.check_rules(rules.read_rules(each))
        answers = asked(connection, many, contact)
        for each, answer in zip(many, answers, strict=True):
            assert answer == belongs(each, contact), (each, contact)

    check()


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(groups, min_size=1, max_size=8), contacts)
def test_nested_groups(connection, many, contact):
    answers = asked(connection, many, contact)
    for each, answer in zip(many, answers, strict=True):
        assert answer == belongs(each, contact), (each, contact)


TABLE = [
    ("plan", "eq", "pro", {"plan": "pro"}, True),
    ("plan", "eq", "pro", {"plan": "Pro"}, False),
    ("attributes.plan", "eq", "pro", {"plan": "pro"}, True),
    ("plan", "neq", "pro", {"plan": "free"}, True),
    ("plan", "neq", "pro", {}, True),
    ("plan", "neq", "pro", {"plan": 5}, False),
    ("seats", "gt", 4, {"seats": 4.5}, True),
    ("seats", "gt", 4, {"seats": "5"}, False),
    ("seats", "gte", 4, {"seats": 4}, True),
    ("seats", "lt", 4, {"seats": -1}, True),
    ("seats", "lte", 4, {}, False),
    ("name", "lt", "b", {"name": "a"}, True),
    ("tags", "contains", "vip", {"tags": ["new", "vip"]}, True),
    ("tags", "contains", "vip", {"tags": ["vips"]}, False),
    ("name", "contains", "da", {"name": "Ada"}, True),
    ("name", "notContains", "da", {"name": "Bob"}, True),
    ("name", "notContains", "da", {"name": 7}, False),
    ("name", "startsWith", "A", {"name": "Ada"}, True),
    ("name", "endsWith", "a", {"name": "Ada"}, True),
    ("country", "in", ["IT", "DE"], {"country": "DE"}, True),
    ("country", "notIn", ["IT", "DE"], {"country": "FR"}, True),
    ("country", "notIn", ["IT", "DE"], {}, True),
    ("country", "notIn", ["IT", "DE"], {"country": 39}, False),
    ("country", "exists", None, {"country": None}, False),
    ("country", "notExists", None, {}, True),
    ("renews", "before", "2026-03-16", {"renews": "2026-03-15"}, True),
    ("renews", "after", "2026-03-15T10:00:00+02:00", {"renews": "2026-03-15T09:00:00Z"}, True),
    ("renews", "before", "2026-03-16", {"renews": "soon"}, False),
    ("renews", "withinDays", 7, {"renews": "2026-03-10"}, True),
    ("renews", "withinDays", 7, {"renews": "2026-03-20"}, False),
    ("renews", "notWithinDays", 7, {"renews": "2026-03-01"}, True),
    ("renews", "notWithinDays", 7, {}, True),
    ("renews", "notWithinDays", 7, {"renews": "soon"}, False),
    ("email", "eq", "ADA@example.com", {}, True),
    ("email", "endsWith", "@EXAMPLE.com", {}, True),
    ("unsubscribed", "eq", False, {}, True),
    ("unsubscribed", "eq", "false", {}, False),
    ("createdAt", "withinDays", 30, {}, True),
    ("createdAt", "before", "2026-03-15", {}, True),
    ("createdAt", "contains", "2026", {}, False),
    ("lastOpenedAt", "notWithinDays", 30, {}, True),
    ("lastOpenedAt", "exists", None, {}, False),
]


@pytest.mark.parametrize(("field", "operator", "value", "attributes", "wanted"), TABLE)
def test_documented_examples(connection, field, operator, value, attributes, wanted):
    contact = {"email": "Ada@example.com", "unsubscribed": False, "createdAt": NOW - timedelta(days=3)}
    contact |= {"lastOpenedAt": None, "lastClickedAt": None, "attributes": attributes}
    asked_for = {"conditions": [{"field": field, "operator": operator, "value": value}]}
    assert asked(connection, [asked_for], contact) == [wanted]
    assert belongs(asked_for, contact) is wanted


def test_the_documentation_lists_every_operator():
    assert {each[1] for each in TABLE} == set(rules.OPERATORS)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dates | st.text(max_size=30) | st.dates().map(str) | st.datetimes().map(str) | st.from_regex(rules._MOMENT))
def test_sql_and_python_parse_timestamps_alike(connection, text):
    if "\0" in text or any("\ud800" <= each <= "\udfff" for each in text):
        return
    (found,) = connection.execute("select attribute_moment(%s)", (Jsonb(text),)).fetchone()
    wanted = rules.read_moment(text)
    if wanted is not None and wanted.year in (1, 9999):  # Python cannot show what a zone moves out of its years.
        return
    assert (found is None) == (wanted is None), text
    assert found == wanted


def test_values_are_never_part_of_sql():
    poison = "'; drop table contacts; --"
    many = [
        {"field": poison, "operator": operator, "value": [poison] if operator in ("in", "notIn") else poison}
        for operator in rules.OPERATORS
        if operator not in ("exists", "notExists", "before", "after", "withinDays", "notWithinDays")
    ]
    text = rules.compile_rules(rules.read_rules({"conditions": many}), 0).sql.as_string(None)
    assert "drop" not in text


def test_limits():
    condition = {"field": "a", "operator": "eq", "value": 1}
    rules.check_rules(rules.read_rules({"conditions": [condition] * 50}))
    deep = {"conditions": [condition]}
    for _ in range(3):
        deep = {"conditions": [deep]}
    rules.check_rules(rules.read_rules(deep))
    for wrong in (
        {"conditions": [{"conditions": [condition] * 26}] * 2},
        {"conditions": [deep]},
        {"conditions": [condition | {"operator": "in", "value": ["x"] * 1_001}]},
        {"conditions": [condition | {"value": "x" * 1_001}]},
        {"conditions": [condition | {"field": "x" * 101}]},
        {"conditions": [condition | {"value": 1e200}]},
    ):
        with pytest.raises(Invalid):
            rules.check_rules(rules.read_rules(wrong))
