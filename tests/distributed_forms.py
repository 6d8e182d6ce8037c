"""Recognises in SQL statements the forms that Citus refuses, by the trees that PostgreSQL makes of the statements.

PostgreSQL sends the tree of each statement that it prepares as a notice (`debug_print_rewritten`), with all names
resolved: tables, columns, functions and operators. Citus decides on such trees (multi_router_planner.c), so that these
rules need no guess about the text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import psycopg

Node = dict[str, Any]
SELECT, INSERT = 1, 3
"""Values of `commandType`."""
SUBQUERY, CTE = 1, 6
COPIED = {"1", "3", "6"}
"""Values of `rtekind`, and those of what an INSERT can copy: subqueries, functions and common table expressions."""
INNER = 0
"""The value of `jointype` of an inner join."""
EXISTS, ANY = 0, 2
"""Values of `subLinkType`."""
UUID_EQUAL = "uuid_eq"
MUTABLE_NODES = {"SQLVALUEFUNCTION", "NEXTVALUEEXPR", "CURRENTOFEXPR"}
TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|[(){}]|\\?(?:\\.|[^\s(){}\\])+)')

CTID = "finds rows by ctid"
RECURSIVE = "is recursive over all projects"
LOCKS = "locks rows of all projects"
CASE = "has a function that is not IMMUTABLE in CASE or COALESCE"
COLUMNS = "changes rows with a function of columns that is not IMMUTABLE"
SIMPLE_CASE = "changes rows with CASE x WHEN y instead of CASE WHEN x = y"
CONFLICT = "has a function that is not IMMUTABLE in ON CONFLICT"
PARAMETER_IN_CONFLICT = "has a parameter in ON CONFLICT of an INSERT of rows of a query, outside of WITH"
RETURNING = "has a subquery or a function that is not IMMUTABLE in RETURNING"
VALUES = "has a subquery in the VALUES of an INSERT"


def changed_before(table: str) -> str:
    """The message for a table that a statement changes in a step of its own, before it reads it."""
    return f"reads {table} after it has changed it"


def unfiltered(table: str) -> str:
    """The message for a table whose project is not fixed by a parameter where Citus looks for it."""
    return f"does not name the project of {table}"


@dataclass
class Catalog:
    """What the trees refer to by number, and which tables are distributed by which column."""

    connection: psycopg.Connection
    distributed: dict[str, str]
    """The column by which each distributed table is distributed."""
    tables: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The distributed tables and the numbers of their columns, by oid."""
    volatility: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The name of each function and whether it is IMMUTABLE (i), STABLE (s) or VOLATILE (v), by oid."""
    notices: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns = self.connection.execute("""
            select c.relname, a.attname, c.oid::text, a.attnum::text from pg_class c
            join pg_attribute a on a.attrelid = c.oid
            where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0
        """).fetchall()
        self.tables = {
            oid: (table, number) for table, column, oid, number in columns if self.distributed.get(table) == column
        }
        functions = self.connection.execute("select oid::text, proname, provolatile from pg_proc").fetchall()
        self.volatility = {oid: (name, volatility) for oid, name, volatility in functions}
        self.connection.add_notice_handler(lambda notice: self.notices.append(notice.message_detail or ""))
        self.connection.execute("set debug_print_rewritten = on")
        self.connection.execute("set debug_pretty_print = off")
        self.connection.execute("set client_min_messages = log")

    def tree(self, text: str) -> Node:
        """The tree of a statement. Raises psycopg.Error if PostgreSQL cannot prepare it."""
        self.notices.clear()
        prepared = self.connection.pgconn.prepare(b"", text.encode())
        if prepared.status != psycopg.pq.ExecStatus.COMMAND_OK:
            raise psycopg.ProgrammingError(prepared.error_message.decode())
        (tree,) = [notice for notice in self.notices if notice.startswith("({QUERY")]
        return read(tree)[0]


def read(text: str) -> Any:
    """The value of a tree in the format of PostgreSQL's nodeToString: nodes as dictionaries with the key `node`, lists
    as lists, and all else as text."""
    tokens = TOKEN.findall(text)
    position = 0

    def value() -> Any:
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "(":
            items = []
            while tokens[position] != ")":
                items.append(value())
            position += 1
            return items
        if token == "{":
            node: Node = {"node": tokens[position]}
            position += 1
            while tokens[position] != "}":
                name = tokens[position].removeprefix(":")
                position += 1
                values = []
                while tokens[position] != "}" and not tokens[position].startswith(":"):
                    values.append(value())
                node[name] = values[0] if len(values) == 1 else values
            position += 1
            return node
        return token

    return value()


def walk(value: Any, *, into_queries: bool = True) -> Iterator[Node]:
    """All nodes of a tree, the outer ones first."""
    if isinstance(value, list):
        for item in value:
            yield from walk(item, into_queries=into_queries)
    elif isinstance(value, dict):
        yield value
        if into_queries or value["node"] != "QUERY":
            for part in value.values():
                yield from walk(part, into_queries=into_queries)


Place = tuple[int, str, str]
"""A column: the query that has the table, and the numbers of the table and of the column in it."""
PARAMETER: Place = (-1, "", "")


class Statement:
    """One statement: its queries, and which columns are equal to each other or to a parameter."""

    def __init__(self, tree: Node, catalog: Catalog) -> None:
        self.catalog = catalog
        self.equal: dict[Place, Place] = {}
        self.listed: set[Place] = set()
        """The columns that are equal to one of a list of values. PostgreSQL does not conclude that those equal to them
        are, too."""
        self.forms: set[str] = set()
        self.recursive: list[Node] = []
        self.tables: list[tuple[Place, str, bool]] = []
        """The columns by which tables are distributed, with the names of the tables, and whether their rows are
        locked."""
        self.tree = tree
        self._query(tree, [], {})

    def refused(self) -> set[str]:
        """What Citus refuses in this statement, or does not run on one node."""
        for place, table, locked in self.tables:
            if not self._is_filtered(place):
                self.forms |= {LOCKS} if locked else {unfiltered(table)}
        for query in self.recursive:
            inner = {id(node) for node in walk(query) if node["node"] == "QUERY"}
            if any(place[0] in inner and not self._is_filtered(place) for place, _, _ in self.tables):
                self.forms.add(RECURSIVE)
        self._read_after_change()
        return self.forms

    def _read_after_change(self) -> None:
        """If a common table expression inserts rows, Citus runs each of them as a statement of its own, one after the
        other: those behind it, and the query around them, do not read what was there before, as on one PostgreSQL."""
        steps = list(_steps(self.tree))
        if not any(query["commandType"] == str(INSERT) for step in steps[:-1] for query in step):
            return
        changed: set[str] = set()
        for step in steps:
            for query in step:
                conflict = query["onConflict"] if isinstance(query["onConflict"], dict) else {}
                own = {query["resultRelation"], conflict.get("exclRelIndex")}
                for number, entry in enumerate(items(query["rtable"]), 1):
                    if entry["rtekind"] == "0" and entry["relid"] in changed and str(number) not in own:
                        self.forms.add(changed_before(self.catalog.tables[entry["relid"]][0]))
            targets = {
                items(query["rtable"])[int(query["resultRelation"]) - 1]["relid"]
                for query in step
                if query["commandType"] != str(SELECT)
            }
            changed |= targets & self.catalog.tables.keys()

    def _is_filtered(self, place: Place) -> bool:
        return self._root(place) == self._root(PARAMETER) or place in self.listed

    def _root(self, place: Place) -> Place:
        while place in self.equal:
            place = self.equal[place]
        return place

    def _unite(self, first: Place, second: Place) -> None:
        first, second = self._root(first), self._root(second)
        if first != second:
            self.equal[first] = second

    def _query(self, query: Node, outer: list[Node], ctes: Mapping[str, tuple[Node, list[Node]]]) -> None:
        """Collect what a query says. `ctes` are the common table expressions that PostgreSQL puts in place of their
        name."""
        queries = [*outer, query]
        inlined = dict(ctes)
        query["ctes"] = MappingProxyType(inlined)
        for cte in items(query["cteList"]):
            inner = cte["ctequery"]
            if is_inlined(cte, query):
                inlined[cte["ctename"]] = (inner, queries)
            else:
                inlined.pop(cte["ctename"], None)
                self._query(inner, queries, query["ctes"])
            if cte["cterecursive"] == "true":
                self.recursive.append(inner)
        self._modification(query)
        marks = {mark["rti"] for mark in items(query["rowMarks"])}
        for index, entry in enumerate(items(query["rtable"]), 1):
            number = str(index)
            if entry["rtekind"] == "0" and entry["relid"] in self.catalog.tables:
                table, column = self.catalog.tables[entry["relid"]]
                is_inserted = query["commandType"] == str(INSERT) and query["resultRelation"] == number
                is_excluded = isinstance(query["onConflict"], dict) and query["onConflict"]["exclRelIndex"] == number
                if not is_inserted and not is_excluded:
                    self.tables.append(((id(query), number, column), table, number in marks))
            elif entry["rtekind"] == str(SUBQUERY):
                self._derived(query, number, entry["subquery"], queries)
            elif entry["rtekind"] == str(CTE) and entry["ctename"] in query["ctes"]:
                inner, scope = query["ctes"][entry["ctename"]]
                self._derived(query, number, inner, scope)
        self._from(query["jointree"], query, queries)
        for part in ("targetList", "returningList", "havingQual", "limitCount", "limitOffset", "onConflict"):
            self._sublinks(query[part], queries, correlated=False)
        for entry in items(query["rtable"]):
            for part in ("functions", "values_lists"):
                self._sublinks(entry.get(part), queries, correlated=False)
        for node in walk(query["targetList"], into_queries=False):
            self._system_column(node, queries)

    def _derived(self, query: Node, number: str, inner: Node, scope: list[Node]) -> None:
        """A query in FROM. PostgreSQL puts a simple one in the place of its name, so that its columns are those of the
        query around it; one that is not simple has only its own conditions."""
        is_simple = all(
            not items(inner[part]) for part in ("groupClause", "distinctClause", "rowMarks", "windowClause")
        ) and (inner["hasAggs"], inner["limitCount"], inner["limitOffset"], inner["setOperations"]) == (
            "false", "<>", "<>", "<>",
        )  # fmt: skip
        if is_simple:
            for target in items(inner["targetList"]):
                if target["expr"]["node"] == "VAR" and target["expr"]["varlevelsup"] == "0":
                    self._unite((id(query), number, target["resno"]), self._place(target["expr"], [*scope, inner]))
                elif is_parameter(target["expr"]):
                    self._unite((id(query), number, target["resno"]), PARAMETER)
        else:
            scope = [dict(outer) for outer in scope]
        self._query(inner, scope, query["ctes"])

    def _place(self, variable: Node, queries: list[Node]) -> Place:
        query = queries[-1 - int(variable["varlevelsup"])]
        return id(query), variable["varno"], variable["varattno"]

    def _from(self, part: Any, query: Node, queries: list[Node]) -> None:
        if not isinstance(part, dict):
            return
        if part["node"] == "FROMEXPR":
            for item in items(part["fromlist"]):
                self._from(item, query, queries)
            self._condition(part["quals"], queries)
        elif part["node"] == "JOINEXPR":
            self._from(part["larg"], query, queries)
            self._from(part["rarg"], query, queries)
            self._condition(part["quals"], queries)

    def _condition(self, condition: Any, queries: list[Node]) -> None:
        """Unite the columns that a condition in WHERE or ON compares."""
        if not isinstance(condition, dict):
            return
        if condition["node"] == "BOOLEXPR" and condition["boolop"] == "and":
            for part in items(condition["args"]):
                self._condition(part, queries)
            return
        if condition["node"] in ("OPEXPR", "SCALARARRAYOPEXPR"):
            name, _ = self.catalog.volatility[condition["opfuncid"]]
            if name == UUID_EQUAL and condition.get("useOr", "true") == "true":
                first, second = [self._place_or_parameter(part, queries) for part in items(condition["args"])]
                if first and second and condition["node"] == "OPEXPR":
                    self._unite(first, second)
                elif first and second == PARAMETER:
                    self.listed.add(first)
        negated = condition["node"] == "BOOLEXPR" and condition["boolop"] == "not"
        inner = items(condition["args"])[0] if negated else condition
        if inner["node"] == "SUBLINK" and inner["subLinkType"] in (str(EXISTS), str(ANY)):
            self._sublinks(inner, queries, correlated=True)
        else:
            self._sublinks(condition, queries, correlated=False)
        for node in walk(condition, into_queries=False):
            self._system_column(node, queries)

    def _place_or_parameter(self, part: Node, queries: list[Node]) -> Place | None:
        if part["node"] == "VAR":
            return self._place(part, queries)
        return PARAMETER if is_parameter(part) else None

    def _sublinks(self, part: Any, queries: list[Node], *, correlated: bool) -> None:
        """The subqueries of an expression. Without `correlated`, Citus does not see that a column is equal to one of
        the query around it."""
        for node in walk(part, into_queries=False):
            if node["node"] == "SUBLINK":
                inner = node["subselect"]
                if correlated:
                    self._query(inner, queries, queries[-1]["ctes"])
                else:
                    separate = [dict(query) for query in queries]
                    self._query(inner, separate, queries[-1]["ctes"])
                self._sublinks(node["testexpr"], queries, correlated=False)

    def _system_column(self, node: Node, queries: list[Node]) -> None:
        if node["node"] == "VAR" and node["varattno"].startswith("-"):
            entry = items(queries[-1 - int(node["varlevelsup"])]["rtable"])[int(node["varno"]) - 1]
            if entry.get("relid") in self.catalog.tables:
                self.forms.add(CTID)

    def _modification(self, query: Node) -> None:
        """The forms that Citus refuses in a query that changes rows."""
        if query["commandType"] == str(SELECT):
            return
        target = items(query["rtable"])[int(query["resultRelation"]) - 1]
        if target["relid"] not in self.catalog.tables:
            return
        for part in ("targetList", "jointree", "onConflict", "returningList"):
            for node in walk(query[part], into_queries=False):
                if node["node"] in ("CASEEXPR", "COALESCEEXPR") and self._is_mutable(node):
                    self.forms.add(CASE)
                if node["node"] == "CASEEXPR" and isinstance(node["arg"], dict):
                    self.forms.add(SIMPLE_CASE)
        if self._is_mutable(query["onConflict"]):
            self.forms.add(CONFLICT)
        returned = list(walk(query["returningList"], into_queries=False))
        if self._is_mutable(query["returningList"]) or any(node["node"] == "SUBLINK" for node in returned):
            self.forms.add(RETURNING)
        if query["commandType"] == str(INSERT):
            is_copy = any(entry["rtekind"] in COPIED for entry in items(query["rtable"]))
            if is_copy and query is self.tree and any(node["node"] == "PARAM" for node in walk(query["onConflict"])):
                self.forms.add(PARAMETER_IN_CONFLICT)
            values = [entry.get("values_lists") for entry in items(query["rtable"])]
            selects = any(entry["rtekind"] == str(SUBQUERY) for entry in items(query["rtable"]))
            targets = [] if selects else [query["targetList"]]
            if any(node["node"] == "SUBLINK" for node in walk([values, targets], into_queries=False)):
                self.forms.add(VALUES)
        else:
            for part in (query["targetList"], query["jointree"]):
                if any(self._takes_columns(node) for node in walk(part, into_queries=False)):
                    self.forms.add(COLUMNS)

    def _function(self, node: Node) -> str | None:
        """Whether the function that a node calls is IMMUTABLE (i), STABLE (s) or VOLATILE (v)."""
        number = node.get("funcid") or node.get("opfuncid")
        if number in self.catalog.volatility:
            return self.catalog.volatility[number][1]
        return "s" if node["node"] in MUTABLE_NODES else None

    def _is_mutable(self, part: Any) -> bool:
        return any(self._function(node) in ("s", "v") for node in walk(part, into_queries=False))

    def _takes_columns(self, node: Node) -> bool:
        return self._function(node) in ("s", "v") and any(
            inner["node"] == "VAR" for inner in walk(node, into_queries=False)
        )


def _steps(query: Node) -> Iterator[list[Node]]:
    """The queries of a statement that Citus runs together, in its order, if it divides the statement."""
    inlined = {cte["ctename"]: cte["ctequery"] for cte in items(query["cteList"]) if is_inlined(cte, query)}
    separate = [cte["ctequery"] for cte in items(query["cteList"]) if cte["ctename"] not in inlined]
    steps = [step for cte in separate for step in _steps(cte)]
    outside_ctes = [value for part, value in query.items() if part != "cteList"]
    steps.append([query, *(node for node in walk(outside_ctes) if node["node"] == "QUERY")])
    for step in steps:
        for node in step:  # It grows by the queries that take the place of a name in it.
            for entry in items(node["rtable"]):
                if entry["rtekind"] == str(CTE) and entry["ctename"] in inlined:
                    step += [inner for inner in walk(inlined.pop(entry["ctename"])) if inner["node"] == "QUERY"]
    yield from steps


def is_inlined(cte: Node, query: Node) -> bool:
    """Whether PostgreSQL puts a common table expression of a query in place of its name."""
    inner = cte["ctequery"]
    return (
        cte["cterefcount"] == "1"
        and cte["ctematerialized"] != "1"
        and inner["commandType"] == str(SELECT)
        and not items(inner["rowMarks"])
        and query["commandType"] == str(SELECT)
        and cte["cterecursive"] == "false"
    )


def items(value: Any) -> list[Node]:
    """A list of a tree; `<>` is an empty one."""
    return value if isinstance(value, list) else []


def is_parameter(part: Node) -> bool:
    """Whether an expression is a parameter or a constant, perhaps with a cast."""
    while part["node"] in ("RELABELTYPE", "COERCEVIAIO"):
        part = part["arg"]
    return part["node"] in ("PARAM", "CONST")
