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


# The implementation to compare with. It follows the documentation, not the SQL.


def moment_of(value):
    """The timestamp of a value, or None."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or len(value) > 40:
        return None
    parsed = re.fullmatch(
        r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:\d\d)?)?", value, re.ASCII
    )
    if not parsed:
        return None
    year, month, day, hour, minute, second, fraction, offset = parsed.groups()
    try:
        in_utc = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
            int((fraction or "0").ljust(6, "0")), tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        return None
    if offset in (None, "Z"):
        return in_utc
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    if hours > 13 or minutes > 59:
        return None
    return in_utc - (1 if offset[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)


def type_name(value):
    if isinstance(value, bool):
        return "flag"
    return {int: "number", float: "number", str: "text", list: "list", dict: "object"}.get(type(value), "other")


def equal_json(a, b):
    return type_name(a) == type_name(b) and a == b


def condition_holds(operator, actual, value):
    """Whether a condition holds for `actual`: an attribute's value, MISSING, or a datetime from a contact's column."""
    is_absent = actual is MISSING or actual is None
    if operator == "exists":
        return not is_absent
    if operator == "notExists":
        return is_absent
    if is_absent:
        return operator in ("neq", "notContains", "notIn", "notWithinDays")
    is_column = isinstance(actual, datetime)
    match operator:
        case "eq" | "neq":
            if is_column:
                moment = moment_of(value)
                return moment is not None and (actual == moment) == (operator == "eq")
            return type_name(actual) == type_name(value) and equal_json(actual, value) == (operator == "eq")
        case "in" | "notIn":
            if is_column:
                moments = [moment_of(item) for item in value if moment_of(item)]
                return bool(moments) and (actual in moments) == (operator == "in")
            if type_name(actual) not in {type_name(item) for item in value}:
                return False
            return any(equal_json(actual, item) for item in value) == (operator == "in")
        case "gt" | "gte" | "lt" | "lte" | "before" | "after":
            return compare(operator, actual, value)
        case "contains" | "notContains":
            if type_name(actual) == "list":
                return any(equal_json(item, value) for item in actual) == (operator == "contains")
            return type_name(actual) == type_name(value) == "text" and (value in actual) == (operator == "contains")
        case "startsWith":
            return type_name(actual) == "text" and actual.startswith(value)
        case "endsWith":
            return type_name(actual) == "text" and actual.endswith(value)
        case "withinDays" | "notWithinDays":
            moment = moment_of(actual)
            if moment is None:
                return False
            # Times that Postern recorded have no upper bound; see `since` in rules.py.
            recent = NOW - timedelta(days=value) < moment and (is_column or moment <= NOW)
            return recent == (operator == "withinDays")
    raise AssertionError(operator)


def compare(operator, actual, value):
    if type_name(value) == "number":
        if type_name(actual) != "number":
            return False
        left, right = actual, value
    elif moment_of(value) or isinstance(actual, datetime):
        left, right = moment_of(actual), moment_of(value)
        if left is None or right is None:
            return False
    elif type_name(actual) == "text":
        left, right = actual.encode(), value.encode()
    else:
        return False
    return {
        "gt": left > right,
        "after": left > right,
        "gte": left >= right,
        "lt": left < right,
        "before": left < right,
        "lte": left <= right,
    }[operator]


def group_matches(group, contact):
    results = [clause_matches(clause, contact) for clause in group["conditions"]]
    return all(results) if group.get("match", "all") == "all" else any(results)


def clause_matches(clause, contact):
    if "conditions" in clause:
        return group_matches(clause, contact)
    field, value = clause["field"], clause.get("value")
    columns = ("email", "createdAt", "unsubscribed", "lastOpenedAt", "lastClickedAt")
    if field in columns:
        actual = contact[field]
    else:
        actual = contact["attributes"].get(field.removeprefix("attributes."), MISSING)
    if field == "email":
        actual = actual.casefold()
        is_list = isinstance(value, list)
        value = [casefold_unless_date(item) for item in value] if is_list else casefold_unless_date(value)
    return condition_holds(clause["operator"], actual, value)


def casefold_unless_date(value):
    return value.casefold() if isinstance(value, str) and not moment_of(value) else value


# Strategies for contacts and rules.

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
attribute_values = scalars | st.none() | st.lists(scalars, max_size=3) | st.dictionaries(texts, scalars, max_size=2)
names = st.sampled_from(["plan", "a'b", "x y", "%s", "email"])
known_moments = st.sampled_from(
    [NOW, NOW - timedelta(days=1), NOW - timedelta(days=30), NOW + timedelta(hours=1), NOW - timedelta(days=400)]
)
moments = st.none() | known_moments
contacts = st.fixed_dictionaries(
    {
        "email": st.sampled_from(["ada@example.com", "Bob@example.com", "c+d@test.example"]),
        "unsubscribed": st.booleans(),
        "createdAt": known_moments,
        "lastOpenedAt": moments,
        "lastClickedAt": moments,
        "attributes": st.dictionaries(names, attribute_values, max_size=4),
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


def matches_in_sql(connection, many_rules, contact):
    """Whether each of many rules matches a contact, by one SQL statement."""
    compiled = [rules.compile_rules(rules.read_rules(rules_json), slot) for slot, rules_json in enumerate(many_rules)]
    query = SQL("""
        select array[{conditions}] from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
        cross join (
            select gen_random_uuid() as id, gen_random_uuid() as project_id, %(email)s::text as email_key,
                %(unsubscribed)s::boolean as unsubscribed, %(created)s::timestamptz as created_at,
                %(opened)s::timestamptz as last_opened_at, %(clicked)s::timestamptz as last_clicked_at,
                %(attributes)s::jsonb as attributes
        ) as c
    """).format(conditions=SQL(", ").join([condition.sql for condition in compiled]))
    parameters = {
        "values": Jsonb([condition.values for condition in compiled]),
        "now": NOW,
        "email": contact["email"].casefold(),
        "unsubscribed": contact["unsubscribed"],
        "created": contact["createdAt"],
        "opened": contact["lastOpenedAt"],
        "clicked": contact["lastClickedAt"],
        "attributes": Jsonb(contact["attributes"]),
    }
    (row,) = connection.execute(query, parameters).fetchone()
    return [matches is True for matches in row]


@pytest.fixture(scope="module")
def connection(database_url):
    with connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("operator", rules.OPERATORS)
def test_every_operator_on_values_of_every_type(connection, operator):
    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(fields, values[operator]), min_size=5, max_size=20), contacts)
    def check(field_values, contact):
        many_rules = [
            {"conditions": [{"field": field, "operator": operator, "value": value}]} for field, value in field_values
        ]
        for rules_json in many_rules:
            rules.check_rules(rules.read_rules(rules_json))
        results = matches_in_sql(connection, many_rules, contact)
        for rules_json, result in zip(many_rules, results, strict=True):
            assert result == group_matches(rules_json, contact), (rules_json, contact)

    check()


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(groups, min_size=1, max_size=8), contacts)
def test_nested_groups(connection, many_rules, contact):
    results = matches_in_sql(connection, many_rules, contact)
    for rules_json, result in zip(many_rules, results, strict=True):
        assert result == group_matches(rules_json, contact), (rules_json, contact)


EXAMPLES = [
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


@pytest.mark.parametrize(("field", "operator", "value", "attributes", "expected"), EXAMPLES)
def test_documented_examples(connection, field, operator, value, attributes, expected):
    contact = {"email": "Ada@example.com", "unsubscribed": False, "createdAt": NOW - timedelta(days=3)}
    contact |= {"lastOpenedAt": None, "lastClickedAt": None, "attributes": attributes}
    rules_json = {"conditions": [{"field": field, "operator": operator, "value": value}]}
    assert matches_in_sql(connection, [rules_json], contact) == [expected]
    assert group_matches(rules_json, contact) is expected


def test_the_examples_cover_every_operator():
    assert {operator for _, operator, *_ in EXAMPLES} == set(rules.OPERATORS)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dates | st.text(max_size=30) | st.dates().map(str) | st.datetimes().map(str) | st.from_regex(rules._MOMENT))
def test_sql_and_python_parse_timestamps_alike(connection, text):
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return
    (from_sql,) = connection.execute("select attribute_moment(%s)", (Jsonb(text),)).fetchone()
    from_python = rules.read_moment(text)
    # An offset can move times of these years out of the range of datetime.
    if from_python is not None and from_python.year in (1, 9999):
        return
    assert (from_sql is None) == (from_python is None), text
    assert from_sql == from_python


def test_values_are_never_part_of_sql():
    injection = "'; drop table contacts; --"
    conditions_with_injection = [
        {"field": injection, "operator": operator, "value": [injection] if operator in ("in", "notIn") else injection}
        for operator in rules.OPERATORS
        if operator not in ("exists", "notExists", "before", "after", "withinDays", "notWithinDays")
    ]
    text = rules.compile_rules(rules.read_rules({"conditions": conditions_with_injection}), 0).sql.as_string(None)
    assert "drop" not in text


def test_limits():
    condition = {"field": "a", "operator": "eq", "value": 1}
    rules.check_rules(rules.read_rules({"conditions": [condition] * 50}))
    nested = {"conditions": [condition]}
    for _ in range(3):
        nested = {"conditions": [nested]}
    rules.check_rules(rules.read_rules(nested))
    for invalid in (
        {"conditions": [{"conditions": [condition] * 26}] * 2},
        {"conditions": [nested]},
        {"conditions": [condition | {"operator": "in", "value": ["x"] * 1_001}]},
        {"conditions": [condition | {"value": "x" * 1_001}]},
        {"conditions": [condition | {"field": "x" * 101}]},
        {"conditions": [condition | {"value": 1e200}]},
    ):
        with pytest.raises(Invalid):
            rules.check_rules(rules.read_rules(invalid))
