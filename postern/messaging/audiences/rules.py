"""Audience rules: validation, and compilation to one SQL condition.

The condition consists of constant fragments from this file, of references to values in one JSON parameter, and of
integers that were checked; other input from callers never becomes SQL text. In a reference such as
`(input.rule_values -> 0 -> 7)`, the first number is the index of the audience, the second that of the value.

Comparison: numbers with numbers, strings with strings by code point (addresses case-insensitively), strings that are
ISO 8601 dates or times as timestamps. A value of another type never matches, with any operator. Absent values and null
match the negative operators `neq`, `notContains`, `notIn`, `notWithinDays` and `notExists`.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from typing import Literal as OneOf
from uuid import UUID

import msgspec
from psycopg.sql import SQL, Composable, Literal

from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID, Body, as_id
from postern.messaging.audiences.model import ATTRIBUTE_NAME_LIMIT
from postern.platform.events.model import is_custom_name
from postern.protocols.mail.address import normalize_part

DEPTH_LIMIT: Final = 4
"""Maximum nesting of groups, including the outermost."""
CONDITION_LIMIT: Final = 50
"""Maximum number of conditions, and of groups, in the rules of one audience."""
LIST_LIMIT: Final = 1_000
"""Maximum number of values of `in` or `notIn`."""
TEXT_LIMIT: Final = 1_000
"""Maximum characters of a string to compare with."""
DAYS_LIMIT: Final = 36_500

Match = OneOf["all", "any"]
FieldKind = OneOf["attribute", "email", "flag", "moment", "audience"]

OPERATORS: Final = (
    *("eq", "neq", "gt", "gte", "lt", "lte", "contains", "notContains", "startsWith", "endsWith"),
    *("in", "notIn", "exists", "notExists", "before", "after", "withinDays", "notWithinDays"),
)
MEMBERSHIP_OPERATORS: Final = ("eq", "neq", "in", "notIn")
FIELDS: Final[dict[str, FieldKind]] = {
    "email": "email",
    "createdAt": "moment",
    "unsubscribed": "flag",
    "lastOpenedAt": "moment",
    "lastClickedAt": "moment",
    "audience": "audience",
}
ENGAGEMENT_FIELDS: Final = frozenset(("lastOpenedAt", "lastClickedAt"))
EVENT_PREFIX: Final = "events."
"""`events.order.placed` is the time of the contact's last custom event `order.placed`."""
EVENT_OPERATORS: Final = ("exists", "notExists", "before", "after", "withinDays", "notWithinDays")
COUNT_OPERATORS: Final = ("eq", "neq", "gt", "gte", "lt", "lte")
"""Operators that compare how often a custom event happened, in total or within a number of days."""
COUNT_LIMIT: Final = 10_000
"""Maximum number of events that a rule can compare with."""


class RuleCondition(Body):
    """A condition (`field`, `operator`, `value`) or a group of them (`match`, `conditions`)."""

    field: str | None = None
    operator: str | None = None
    value: Any = None
    within_days: Annotated[float, msgspec.Meta(ge=0, le=DAYS_LIMIT)] | None = None
    """For conditions on how often an event happened: count only events within this number of days before now."""
    match: Match | None = None
    conditions: list["RuleCondition"] | None = None


class Rules(Body):
    """Contacts match if all conditions hold, or any of them, depending on `match`."""

    match: Match = "all"
    conditions: list[RuleCondition]


def check_rules(rules: Rules) -> None:
    """Raises Invalid, with a JSON pointer, if rules are not valid."""
    if len(list(conditions_of(rules))) > CONDITION_LIMIT:
        raise Invalid.at("/conditions", f"Rules have at most {CONDITION_LIMIT} conditions.", "too_many")
    if _count_groups(rules) > CONDITION_LIMIT:
        raise Invalid.at("/conditions", f"Rules have at most {CONDITION_LIMIT} groups.", "too_many")
    _check_group(rules.conditions, "/conditions", depth=1)


def conditions_of(rules: Rules) -> Iterator[RuleCondition]:
    """Yield all conditions, including those in nested groups, in no particular order."""
    pending = list(rules.conditions)
    while pending:
        clause = pending.pop()
        if clause.conditions is None:
            yield clause
        else:
            pending += clause.conditions


def _count_groups(rules: Rules) -> int:
    pending, count = list(rules.conditions), 0
    while pending:
        inner = pending.pop().conditions
        if inner is not None:
            count += 1
            pending += inner
    return count


def audiences_named(rules: Rules) -> set[UUID]:
    """Ids of the audiences that the rules refer to."""
    audience_ids: set[UUID] = set()
    for clause in conditions_of(rules):
        if clause.field == "audience":
            audience_ids |= {as_id(id_) for id_ in _as_list(clause.value)}
    return audience_ids


def uses_engagement(rules: Rules) -> bool:
    """Whether an open, a click or a custom event can change which contacts match."""
    return any(clause.field in ENGAGEMENT_FIELDS or event_of(clause.field or "") for clause in conditions_of(rules))


def uses_time(rules: Rules) -> bool:
    """Whether contacts can start or stop matching merely because time passes."""
    return any(
        clause.operator in ("withinDays", "notWithinDays") or clause.within_days is not None
        for clause in conditions_of(rules)
    )


def plain_rules(rules: Rules) -> dict[str, Any]:
    """Rules as JSON for storage and responses, without unset fields."""
    return {"match": rules.match, "conditions": [_plain(clause) for clause in rules.conditions]}


def read_rules(stored: Any) -> Rules:
    """Decode stored rules, as `plain_rules` returns them."""
    return msgspec.convert(stored, Rules)


def _plain(clause: RuleCondition) -> dict[str, Any]:
    if clause.conditions is not None:
        return {"match": clause.match or "all", "conditions": [_plain(condition) for condition in clause.conditions]}
    condition: dict[str, Any] = {"field": clause.field, "operator": clause.operator}
    if clause.within_days is not None:
        condition["withinDays"] = clause.within_days
    return condition if clause.operator in ("exists", "notExists") else condition | {"value": clause.value}


def _check_group(clauses: Sequence[RuleCondition], path: str, *, depth: int) -> None:
    if depth > DEPTH_LIMIT:
        raise Invalid.at(path, f"Groups are nested at most {DEPTH_LIMIT} deep.", "too_deep")
    for index, clause in enumerate(clauses):
        clause_path = f"{path}/{index}"
        if clause.conditions is not None:
            condition_parts = (clause.field, clause.operator, clause.value, clause.within_days)
            if any(part is not None for part in condition_parts):
                raise Invalid.at(clause_path, "This is both a condition and a group; write it as one of them.")
            _check_group(clause.conditions, f"{clause_path}/conditions", depth=depth + 1)
        else:
            _check_condition(clause, clause_path)


def _check_condition(clause: RuleCondition, path: str) -> None:
    if clause.match is not None:
        raise Invalid.at(path, "`match` belongs to a group, which has `conditions`.")
    if clause.field is None:
        raise Invalid.at(f"{path}/field", "`field` is required.", "required")
    if clause.operator is None:
        raise Invalid.at(f"{path}/operator", "`operator` is required.", "required")
    if clause.operator not in OPERATORS:
        message = f"There is no operator `{clause.operator[:40]}`. There are: {', '.join(OPERATORS)}."
        raise Invalid.at(f"{path}/operator", message, "unknown_operator")
    event = event_of(clause.field)
    if event is not None and not is_custom_name(event):
        raise Invalid.at(f"{path}/field", f"`{event[:100]}` is not a valid name of a custom event.", "unknown_event")
    if event is not None and clause.operator not in (*EVENT_OPERATORS, *COUNT_OPERATORS):
        allowed = ", ".join((*EVENT_OPERATORS, *COUNT_OPERATORS))
        raise Invalid.at(f"{path}/operator", f"An event takes the operators {allowed}.")
    compares_count = event is not None and clause.operator in COUNT_OPERATORS
    if compares_count and not _is_count(clause.value):
        raise Invalid.at(f"{path}/value", f"Expected a whole number from 0 to {COUNT_LIMIT}.")
    if clause.within_days is not None and not compares_count:
        message = f"`withinDays` requires an event and one of the operators {', '.join(COUNT_OPERATORS)}."
        raise Invalid.at(f"{path}/withinDays", message)
    name = attribute_of(clause.field)
    if name is not None and not 1 <= len(name) <= ATTRIBUTE_NAME_LIMIT:
        raise Invalid.at(f"{path}/field", f"An attribute's name must have 1 to {ATTRIBUTE_NAME_LIMIT} characters.")
    if clause.field == "audience":
        _check_membership(clause, path)
    elif error := _value_error(clause.operator, clause.value):
        raise Invalid.at(f"{path}/value", error)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_LIMIT


def _check_membership(clause: RuleCondition, path: str) -> None:
    if clause.operator not in MEMBERSHIP_OPERATORS:
        message = f"`audience` takes the operators {', '.join(MEMBERSHIP_OPERATORS)}."
        raise Invalid.at(f"{path}/operator", message)
    takes_list = clause.operator in ("in", "notIn")
    if takes_list != isinstance(clause.value, list) or not 1 <= len(_as_list(clause.value)) <= LIST_LIMIT:
        raise Invalid.at(
            f"{path}/value", "Expected a list of audience ids." if takes_list else "Expected the id of an audience."
        )
    for audience_id in _as_list(clause.value):
        if as_id(audience_id) == NO_ID:
            raise Invalid.at(f"{path}/value", "There is no such audience.", "audience_missing")


def _value_error(operator: str, value: Any) -> str | None:
    """A message that says what is wrong with the value of an operator, or None."""
    match operator:
        case "exists" | "notExists":
            return None if value is None or value is True else f"`{operator}` takes no value."
        case "in" | "notIn":
            if not isinstance(value, list) or not 1 <= len(_as_list(value)) <= LIST_LIMIT:
                return f"Expected a list of 1 to {LIST_LIMIT} values."
            return next((error for item in _as_list(value) if (error := _scalar_error(item))), None)
        case "withinDays" | "notWithinDays":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return None if is_number and 0 <= value <= DAYS_LIMIT else f"Expected a number of days, 0 to {DAYS_LIMIT}."
        case "before" | "after":
            is_moment = isinstance(value, str) and read_moment(value) is not None
            return None if is_moment else "Expected an ISO 8601 date, or date and time."
        case "startsWith" | "endsWith":
            return _scalar_error(value) if isinstance(value, str) else "Expected a string."
        case "gt" | "gte" | "lt" | "lte":
            return "Expected a number, a string or a date." if isinstance(value, bool) else _scalar_error(value)
        case _:
            return _scalar_error(value)


def _scalar_error(value: Any) -> str | None:
    if not isinstance(value, str | int | float):
        return "Expected a string, a number, true or false; use `exists` or `notExists` for absent values."
    if isinstance(value, str) and len(value) > TEXT_LIMIT:
        return f"A text to compare with has at most {TEXT_LIMIT} characters."
    if not isinstance(value, str) and abs(value) > 1e100:
        return "This number is out of range."
    return None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]


def attribute_of(field: str) -> str | None:
    """The name of the attribute that a field refers to; None for a contact's own fields and for events."""
    return None if field in FIELDS or event_of(field) is not None else field.removeprefix("attributes.")


def event_of(field: str) -> str | None:
    """The name of the custom event that a field refers to; None for other fields."""
    return field.removeprefix(EVENT_PREFIX) if field.startswith(EVENT_PREFIX) else None


_DAY = r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
_TIME = r"[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?"
_MOMENT = re.compile(rf"(?!0000)[0-9]{{4}}-{_DAY}({_TIME})?")


def read_moment(text: str) -> datetime | None:
    """Parse ISO 8601, UTC if there is no offset; None if invalid. Must agree with the SQL function attribute_moment."""
    if len(text) > 40 or not _MOMENT.fullmatch(text):
        return None
    try:
        parsed = datetime.fromisoformat(text)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class SqlCondition(msgspec.Struct, frozen=True):
    """Compiled rules: an SQL condition and the values that it refers to.

    A statement with the condition needs the alias `c` for a row of `contacts`, and `input` for a row with the current
    time (`now`) and a JSON list (`rule_values`), whose elements are the `values` of one or more conditions.
    """

    sql: Composable
    values: list[Any]


def compile_rules(rules: Rules, slot: int) -> SqlCondition:
    """Compile rules to one SQL condition. The rules must have been checked with `check_rules`.

    `slot` is the index in the list `input.rule_values` at which the caller puts the condition's values.
    """
    compiler = _Compiler(slot)
    sql = compiler.group(rules.match, rules.conditions)
    return SqlCondition(sql, compiler.values)


class _Compiler:
    """Builds SQL conditions and collects the values that they refer to."""

    def __init__(self, slot: int) -> None:
        self._slot = slot
        self.values: list[Any] = []

    def value(self, value: Any) -> Composable:
        """An SQL expression for a value, of type jsonb."""
        self.values.append(value)
        return SQL("(input.rule_values -> {slot} -> {index})").format(
            slot=Literal(self._slot), index=Literal(len(self.values) - 1)
        )

    def text(self, value: str) -> Composable:
        """An SQL expression for a value, of type text."""
        return SQL("({} #>> '{{}}')").format(self.value(value))

    def moment(self, value: datetime) -> Composable:
        """An SQL expression for a value, of type timestamptz."""
        return SQL("{}::timestamptz").format(self.text(value.isoformat()))

    def group(self, match: Match, clauses: Sequence[RuleCondition]) -> Composable:
        """The conditions of a group, joined by `and` or `or`."""
        if not clauses:
            return SQL("true") if match == "all" else SQL("false")
        conjunction = SQL(" and ") if match == "all" else SQL(" or ")
        return SQL("({})").format(conjunction.join([self.clause(inner) for inner in clauses]))

    def clause(self, clause: RuleCondition) -> Composable:
        """The SQL of a condition, or of a group of conditions."""
        if clause.conditions is not None:
            return self.group(clause.match or "all", clause.conditions)
        field, operator = clause.field or "", clause.operator or ""
        if (event := event_of(field)) is not None and operator in COUNT_OPERATORS:
            return self.on_count(event, operator, clause.value, clause.within_days)
        if event is not None:
            return self.on_moment(self.last_event_time(event), operator, clause.value)
        kind = FIELDS.get(field, "attribute")
        if kind == "audience":
            return self.membership(operator, _as_list(clause.value))
        if kind == "moment":
            return self.on_moment(_MOMENT_COLUMNS[field], operator, clause.value)
        if kind == "email":
            return self.on_value(SQL("to_jsonb(c.email_key)"), operator, _casefold(clause.value))
        if kind == "flag":
            return self.on_value(SQL("to_jsonb(c.unsubscribed)"), operator, clause.value)
        name = self.text(attribute_of(field) or "")
        return self.on_value(SQL("(c.attributes -> {})").format(name), operator, clause.value)

    def last_event_time(self, name: str) -> Composable:
        """An SQL expression for the time of the contact's last custom event of this name; null if there is none."""
        return SQL("""(select max(e.occurred_at) from events e
            where e.project_id = c.project_id and e.subject_id = c.id and e.type = {}
            /*distributed and e.project_id = :project */)""").format(self.text(name))

    def on_count(self, name: str, operator: str, value: int, within_days: float | None) -> Composable:
        """A condition on how often a custom event happened. Counts at most one event more than `value`."""
        since = SQL("true") if within_days is None else self.since(SQL("e.occurred_at"), within_days)
        return SQL("""((select count(*) from (
            select from events e
            where e.project_id = c.project_id and e.subject_id = c.id and e.type = {name} and {since}
            /*distributed and e.project_id = :project */
            limit {limit}) as counted) {comparison} {value})""").format(
            name=self.text(name),
            since=since,
            limit=Literal(value + 1),
            comparison=_COMPARISONS[operator],
            value=Literal(value),
        )

    def membership(self, operator: str, ids: list[Any]) -> Composable:
        """A condition on whether the contact belongs to any of these audiences."""
        audience_ids = [str(as_id(id_)) for id_ in ids]
        # `offset 0` keeps the planner from reading the members of all audiences before filtering by contact.
        member = SQL("""exists (
            select from audience_members m
            where m.project_id = c.project_id and m.contact_id = c.id /*distributed and m.project_id = :project */
              and m.audience_id in (select listed.id::uuid from jsonb_array_elements_text({}) as listed (id))
            offset 0)""").format(self.value(audience_ids))
        return member if operator in ("eq", "in") else SQL("not {}").format(member)

    def on_moment(self, column: Composable, operator: str, value: Any) -> Composable:
        """A condition on one of the contact's timestamp columns."""
        match operator:
            case "exists":
                return SQL("({} is not null)").format(column)
            case "notExists":
                return SQL("({} is null)").format(column)
            case "withinDays":
                return self.since(column, value)
            case "notWithinDays":
                return SQL("({} is null or not {})").format(column, self.since(column, value))
            case "in" | "notIn":
                moments = [moment for item in value if isinstance(item, str) and (moment := read_moment(item))]
                if not moments:
                    return _if_not_a_moment(column, operator)
                among = SQL("{} in ({})").format(column, SQL(", ").join([self.moment(moment) for moment in moments]))
                return among if operator == "in" else SQL("({} is null or not {})").format(column, among)
            case _:
                moment = read_moment(value) if isinstance(value, str) else None
                if moment is None or operator not in _COMPARISONS:
                    return _if_not_a_moment(column, operator)
                compared = SQL("({} {} {})").format(column, _COMPARISONS[operator], self.moment(moment))
                return compared if operator != "neq" else SQL("({} is null or {})").format(column, compared)

    def on_value(self, operand: Composable, operator: str, value: Any) -> Composable:
        """A condition on `operand`, an SQL expression for a JSON value of any type."""
        match operator:
            case "exists":
                return SQL("not {}").format(_absent(operand))
            case "notExists":
                return _absent(operand)
            case "eq":
                return SQL("({} = {})").format(operand, self.value(value))
            case "neq":
                condition = "({absent} or (jsonb_typeof({operand}) = jsonb_typeof({value}) and {operand} <> {value}))"
                return SQL(condition).format(absent=_absent(operand), operand=operand, value=self.value(value))
            case "gt" | "gte" | "lt" | "lte":
                return self.compared(operand, _COMPARISONS[operator], value)
            case "before" | "after":
                moment = self.moment(read_moment(value) or _FALLBACK_MOMENT)
                return SQL("(attribute_moment({}) {} {})").format(operand, _COMPARISONS[operator], moment)
            case "withinDays":
                return self.within_days(SQL("attribute_moment({})").format(operand), value)
            case "notWithinDays":
                is_within = self.within_days(SQL("attribute_moment({})").format(operand), value)
                return SQL("({} or not {})").format(_absent(operand), is_within)
            case "in":
                return SQL(
                    "(jsonb_typeof({operand}) in ('string', 'number', 'boolean') and {values} @> {operand})"
                ).format(operand=operand, values=self.value(value))
            case "notIn":
                kinds = sorted({_json_type(item) for item in value})
                return SQL(
                    "({absent} or ({kinds} @> to_jsonb(jsonb_typeof({operand})) and not {values} @> {operand}))"
                ).format(absent=_absent(operand), kinds=self.value(kinds), operand=operand, values=self.value(value))
            case "contains" | "notContains":
                return self.containing(operand, value, negative=operator == "notContains")
            case "startsWith":
                matches = SQL("starts_with({operand} #>> '{{}}', {text})").format(
                    operand=operand, text=self.text(value)
                )
                return SQL("(jsonb_typeof({}) = 'string' and {})").format(operand, matches)
            case "endsWith":
                text = self.text(value)
                matches = SQL("right({operand} #>> '{{}}', length({text})) = {text}").format(operand=operand, text=text)
                return SQL("(jsonb_typeof({}) = 'string' and {})").format(operand, matches)
            case _:
                raise AssertionError(operator)

    def compared(self, operand: Composable, comparison: Composable, value: Any) -> Composable:
        """A condition that compares by order: numbers, dates as timestamps, and other strings by code point."""
        if not isinstance(value, str):
            return SQL("(jsonb_typeof({operand}) = 'number' and {operand} {comparison} {value})").format(
                operand=operand, comparison=comparison, value=self.value(value)
            )
        moment = read_moment(value)
        if moment is not None:
            return SQL("(attribute_moment({}) {} {})").format(operand, comparison, self.moment(moment))
        by_code_point = SQL("({} #>> '{{}}') collate \"C\" {} {}").format(operand, comparison, self.text(value))
        return SQL("(jsonb_typeof({}) = 'string' and {})").format(operand, by_code_point)

    def containing(self, operand: Composable, value: Any, *, negative: bool) -> Composable:
        """A condition on whether a string contains a string, or a list contains an element."""
        negation = SQL("not") if negative else SQL("")
        parts: list[Composable] = [
            SQL("(jsonb_typeof({operand}) = 'array' and {negation} {operand} @> {value})").format(
                operand=operand, negation=negation, value=self.value([value])
            )
        ]
        if isinstance(value, str):
            contained = SQL("(strpos({operand} #>> '{{}}', {text}) > 0)").format(operand=operand, text=self.text(value))
            parts.append(
                SQL("(jsonb_typeof({operand}) = 'string' and {negation} {contained})").format(
                    operand=operand, negation=negation, contained=contained
                )
            )
        if negative:
            parts.append(_absent(operand))
        return SQL("({})").format(SQL(" or ").join(parts))

    def since(self, moment: Composable, days: float) -> Composable:
        """Like `within_days`, but without an upper bound; for times that Postern recorded itself.

        They are never in the future, but may be later than `input.now` if another transaction has recorded them since.
        """
        return SQL("({m} > input.now - {days}::float8 * interval '1 day')").format(m=moment, days=self.value(days))

    def within_days(self, moment: Composable, days: float) -> Composable:
        """A condition on whether `moment` is within the last `days` days; it is null if `moment` is null."""
        return SQL("({m} > input.now - {days}::float8 * interval '1 day' and {m} <= input.now)").format(
            m=moment, days=SQL("{}").format(self.value(days))
        )


_FALLBACK_MOMENT = datetime(9999, 12, 31, tzinfo=UTC)
"""Used if the value of `before` or `after` is no moment, which `check_rules` does not allow."""
# Truncated to milliseconds, as in API responses, so that a rule with a returned value matches.
_MOMENT_COLUMNS: dict[str, Composable] = {
    "createdAt": SQL("date_trunc('milliseconds', c.created_at)"),
    "lastOpenedAt": SQL("date_trunc('milliseconds', c.last_opened_at)"),
    "lastClickedAt": SQL("date_trunc('milliseconds', c.last_clicked_at)"),
}
_COMPARISONS: dict[str, Composable] = {
    "eq": SQL("="),
    "neq": SQL("<>"),
    "gt": SQL(">"),
    "gte": SQL(">="),
    "lt": SQL("<"),
    "lte": SQL("<="),
    "before": SQL("<"),
    "after": SQL(">"),
}


def _absent(operand: Composable) -> Composable:
    """A condition on whether a JSON value is absent or null."""
    return SQL("(coalesce(jsonb_typeof({}), 'null') = 'null')").format(operand)


def _if_not_a_moment(column: Composable, operator: str) -> Composable:
    """The condition on a timestamp column for a rule whose value is not a timestamp.

    A null column matches a negative operator; nothing else matches.
    """
    return SQL("({} is null)").format(column) if operator in ("neq", "notIn", "notContains") else SQL("false")


def _casefold(value: Any) -> Any:
    """Case-fold a value to compare with an address. Dates are not folded; they match no address anyway."""
    if isinstance(value, list):
        return [_casefold(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return normalize_part(value) if isinstance(value, str) and read_moment(value) is None else value


def _json_type(value: Any) -> str:
    """The type of a scalar as PostgreSQL's `jsonb_typeof` names it."""
    return "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
