"""Rules about source code that `tests/test_house.py` applies to all files: each returns what a syntax tree violates."""

import ast
import re
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CACHES = {"functools.cache", "functools.lru_cache"}
MUTATING_METHODS = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "move_to_end", "pop", "popitem", "remove",
    "setdefault", "update",
}  # fmt: skip
STATEFUL_TYPES = re.compile(
    r"(ContextVar|(Thread|Process)PoolExecutor|Lock|Semaphore|Event|Condition|Queue|local|count|cycle|Counter|iter)$"
)
"""Types whose instances change after they were created, whatever their arguments are."""
CONTAINERS = re.compile("(dict|list|(?<!frozen)set|deque|Dict|Dictionary)$")


def imported_names(tree: ast.Module) -> dict[str, str]:
    """The full name of each name that a module imports, anywhere in it."""
    full: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            full |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            full |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
    return full


def functions_in(node: ast.AST, outer: frozenset[str] = frozenset()) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Each function with the names that are local in it or in a function around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            names = outer | local_names(child)
            yield child, names
            yield from functions_in(child, names)
        else:
            yield from functions_in(child, outer)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions in it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, FUNCTIONS):
            yield from own_nodes(child)


def local_names(function: ast.AST) -> frozenset[str]:
    nodes = list(own_nodes(function))
    names = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.name for node in nodes if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar))}
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    return frozenset(name for name in names - shared if name)


def root_of(node: ast.AST) -> ast.AST:
    """The leftmost expression of `root.a[b].c`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node


def cached_functions(tree: ast.Module) -> list[str]:
    """The functions that `functools` caches, and the lines with other uses of its caches."""
    full, decorated, names = imported_names(tree), set(), []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            uses = [
                inner for decorator in node.decorator_list for inner in ast.walk(decorator) if is_cache(inner, full)
            ]
            decorated |= {id(inner) for inner in uses}
            names += [node.name] * bool(uses)
    return names + [
        f"line {node.lineno}" for node in ast.walk(tree) if is_cache(node, full) and id(node) not in decorated
    ]


def is_cache(node: ast.AST, full: dict[str, str]) -> bool:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return full.get(node.id) in CACHES
    return isinstance(node, ast.Attribute) and f"{full.get(ast.unparse(node.value))}.{node.attr}" in CACHES


def stateful_classes(trees: Iterable[ast.Module]) -> set[str]:
    """The classes with a method that changes an attribute of its object after its creation."""
    return {
        owner.name
        for tree in trees
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for method in owner.body
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
        and method.name not in ("__init__", "__new__", "__post_init__", "__init_subclass__")
        for changed in changed_objects(ast.walk(method))
        if isinstance(root_of(changed), ast.Name) and root_of(changed).id == "self"
    }


def changed_objects(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The objects of which attributes or items are set, deleted or changed by a method of containers."""
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in MUTATING_METHODS:
                yield node.func.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            yield node.args[0]


def module_state(tree: ast.Module, *, stateful: set[str], structs: set[str]) -> list[str]:
    """What a module, or a class itself, keeps and changes after its import: setters, global variables, containers,
    objects of the classes `stateful`, and attributes of classes that are not `structs`, whose defaults are copied."""
    assigned, state = {}, []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and re.match("set_(?!up_)", node.name):
            state.append(node.name)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                assigned |= {name.id: node.value for name in ast.walk(target) if isinstance(name, ast.Name)}
    state += [name for name, value in assigned.items() if changes_later(value, stateful)]
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef) and owner.name not in structs:
            state += [
                f"{owner.name}.{ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])}"
                for node in owner.body
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value and changes_later(node.value, stateful)
            ]
    imported = imported_names(tree)
    tops = {node.name for node in tree.body if hasattr(node, "name")} | set(assigned) | set(imported)
    state += [name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names]
    for function, local in functions_in(tree):
        if getattr(function, "name", "") == "__init_subclass__":  # Runs when a class is defined, so at import.
            continue
        nodes = list(own_nodes(function))
        methods = {id(node.func.value) for node in nodes if is_mutating_call(node)}
        for changed in changed_objects(nodes):
            root, text = root_of(changed), ast.unparse(changed)
            of_class = text == "cls" or text.startswith(("cls.", "type(")) or ".__class__" in text
            of_module = isinstance(root, ast.Name) and root.id in tops - local
            # `store.insert(…)` is a call of a function, but `LIMITS.insert(…)` changes a list.
            is_called = id(changed) in methods and text not in assigned and not text.rpartition(".")[2].isupper()
            if of_class or (of_module and not is_called):
                state.append(text)
    return sorted(set(state))


def is_mutating_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATING_METHODS


def changes_later(value: ast.expr, stateful: set[str]) -> bool:
    """Whether a value is an empty container or an object that is meant to change after its creation."""
    if isinstance(value, (ast.List, ast.Dict)):
        return ast.unparse(value) in ("[]", "{}")
    constructor = ast.unparse(value.func).partition("[")[0] if isinstance(value, ast.Call) else ""
    return bool(
        STATEFUL_TYPES.search(constructor)
        or constructor.rpartition(".")[2] in stateful
        or (CONTAINERS.search(constructor) and not value.args)
    )


def raw_sql(tree: ast.Module) -> list[str]:
    """The statements that are run without `@statement`."""
    return [
        f"line {node.lineno}: {ast.unparse(node.func)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in ("execute", "executemany") or (node.func.attr == "copy" and node.args))
    ]


def opens_connection(node: ast.AST) -> bool:
    """Whether an expression uses a connection of the pool: `db.transaction()`, `db.connection()`, or a call that gets
    `call.db` or `world.db`."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("transaction", "connection"):
        return re.search(r"\b_?db$", ast.unparse(node.func.value)) is not None
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(isinstance(argument, ast.Attribute) and argument.attr in ("db", "_db") for argument in arguments)


def second_connections(trees: dict[str, ast.Module]) -> list[str]:
    """The calls inside `async with ….transaction()` that use another connection, directly or in the functions that they
    call, by the names of their modules."""
    functions = {
        f"{module}.{node.name}": (module, node)
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    imported = {module: imported_names(tree) for module, tree in trees.items()}

    def callee(module: str, node: ast.AST) -> str | None:
        if not isinstance(node, ast.Call):
            return None
        first, _, rest = ast.unparse(node.func).partition(".")
        return ".".join(filter(None, (imported[module].get(first) or f"{module}.{first}", rest)))

    callers: dict[str, set[str]] = {}
    opening = set()
    for name, (module, node) in functions.items():
        for inner in own_nodes(node):
            if opens_connection(inner):
                opening.add(name)
            callers.setdefault(callee(module, inner) or "", set()).add(name)
    remaining = list(opening)
    while remaining:
        new = callers.get(remaining.pop(), set()) - opening
        opening |= new
        remaining += new
    return [
        f"{module}, line {inner.lineno}: {ast.unparse(inner.func)}"
        for module, tree in trees.items()
        for block in ast.walk(tree)
        if isinstance(block, ast.AsyncWith) and any(is_transaction(item.context_expr) for item in block.items)
        for statement in block.body
        for inner in own_nodes(ast.Module([statement], []))
        if opens_connection(inner) or callee(module, inner) in opening
    ]


def is_transaction(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr
        in (
            "transaction",
            "connection",
        )
    )


def defined_names(tree: ast.Module) -> Iterator[str]:
    """The names that a module gives: of functions, classes, parameters, variables, fields and imports with `as`."""
    for node in ast.walk(tree):
        if isinstance(node, (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            yield node.name or ""
        elif isinstance(node, ast.MatchMapping):
            yield node.rest or ""
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or ""
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def composed_tables(text: str) -> list[str]:
    """The places of a statement that write a table whose name is composed, so that its owner cannot be seen."""
    return re.findall(r"\b(?:insert\s+into|merge\s+into|delete\s+from|update)\s+(?:only\s+)?{\w+}", text, re.IGNORECASE)
