"""No statement has a form that Citus refuses, or that it does not run on one node: see tests/distributed_forms.py.

These tests need no Citus.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, cast

import psycopg
import pytest
from psycopg.sql import SQL, Composable

from postern.app import REACTIONS, WORK
from postern.cli.placement import placement
from postern.identity.customers.rules import _has_status
from postern.identity.customers.tokens import SESSIONS as CUSTOMER_SESSIONS
from postern.kernel import due
from postern.kernel.database.distribution import TRIGGER_FUNCTIONS, body_for_shards
from postern.kernel.database.migration_effects import split_statements
from postern.kernel.database.migrations import migrations
from postern.kernel.database.statements import STATEMENTS, Statement, _composed_parts
from postern.kernel.values import NO_ID, Moment
from postern.messaging.audiences.rules import RuleCondition, Rules, compile_rules
from postern.messaging.emails.logs import _contains, _contains_each, _has_recipient
from postern.platform.accounts.operations import SESSIONS as DEVELOPER_SESSIONS
from tests import distributed_forms
from tests.distributed_forms import Catalog
from tests.test_house import with_numbers

ALL_PROJECTS = {
    "identity.scim.store.connection_of_token": "addresses of directories do not name the project",
    "identity.sso.store.project_of_connection": "addresses of single sign-on do not name the project",
    "messaging.analytics.store.merge_sums": "merges counters, every hour",
    "messaging.campaigns.store.count_pending": "the quota of an account, which is of its projects together",
    "messaging.certificates.store.domains_of_name": "a host name that a client asks for",
    "messaging.certificates.store.names_of_domain": "shares its SQL with new_project_names",
    "messaging.certificates.store.new_project_names": "certificates of all projects",
    "messaging.domains.store.all_keys": "the check of all keys with the master key",
    "messaging.domains.store.check_others_now": "a domain that is verified elsewhere",
    "messaging.domains.store.is_listed": "results of blocklists, which projects share",
    "messaging.domains.store.has_tracking_record": "a host name that must have one meaning",
    "messaging.certificates.store.served_pages_domains": "the host names that each process has in memory",
    "messaging.domains.store.verified_domain_of_any_project": "the domain of a report, in whatever project",
    "messaging.emails.content_store.insert_objects": "large contents, every ten minutes",
    "messaging.emails.content_store.oldest_content": "once, when contents are moved for the first time",
    "messaging.emails.site_store.delete_old_counts": "like delete_expired_keys",
    "messaging.emails.site_store.delete_unused_project_sites": "like delete_expired_keys",
    "messaging.emails.site_store.delete_unused_sites": "like delete_expired_keys",
    "messaging.emails.site_store.projects_of_site": "a mail server, which projects share",
    "messaging.emails.site_store.sites_of_instance": "the list of the operator",
    "messaging.emails.site_store.suspensions_of_projects": "mail servers, which projects share",
    "messaging.emails.store.delete_expired_bodies": "like delete_expired_keys",
    "messaging.emails.store.delete_expired_captured": "like delete_expired_keys",
    "messaging.emails.store.delete_expired_keys": "deletion of expired data, every ten minutes",
    "messaging.emails.store.erase_settled_secrets": "like delete_expired_keys",
    "messaging.emails.store.tracked_sends": "tokens of tracking do not name the project",
    "messaging.inbound.message_store.expired_messages": "like delete_expired_keys",
    "messaging.inbound.message_store.insert_objects": "large messages, every ten minutes",
    "messaging.inbound.message_store.oldest_message": "once, when messages are moved for the first time",
    "messaging.inbound.route_store.candidates": "the domain of received mail does not name the project",
    "messaging.inbound.route_store.has_route": "like candidates",
    "platform.audit.store.chains": "`postern audit verify`",
    "platform.audit.store.count_of_account": "like of_account",
    "platform.audit.store.delete_entries": "deletion of an account",
    "platform.audit.store.entries_after": "export of an account",
    "platform.audit.store.of_account": "the log of an account, which is in the chains of its projects",
    "platform.billing.store.usage": "usage of an account, which is of its projects together",
    "platform.events.store.count_recent": "event streams of several projects, read together",
}
"""Statements about all projects, or whose project is not known before: Citus runs them on all servers. It accepts their
forms; that is tested on a real one."""
SAME_AFTER_CHANGE = {
    "messaging.emails.store.check_interrupted": "reads `due_at` of sends that it does not change",
    "security.session_store.insert_session": "reads the organizations of earlier sessions, which it does not change",
}
"""Statements that read the same whether or not they have changed the table before: Citus divides them into steps."""


@pytest.fixture(scope="module")
def catalog(database_url: str) -> Iterator[Catalog]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        tables = connection.execute("""
            select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
            where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attname = 'project_id'
        """).fetchall()
        placed = placement()
        distributed = {table: "project_id" for (table,) in tables if table not in placed.local}
        yield Catalog(connection, distributed | dict(placed.columns))


def refused(catalog: Catalog, text: str) -> set[str]:
    """The forms of a statement with psycopg's placeholders. A composed part is a condition or a value."""
    for part in ("true", "null"):
        try:
            tree = catalog.tree(re.sub(r"{\w+}", part, with_numbers(text)))
        except psycopg.ProgrammingError:
            if part == "null":
                raise
        else:
            return distributed_forms.Statement(tree, catalog).refused()
    return set()


def test_no_statement_has_a_form_that_citus_refuses(catalog):
    texts = {
        # The view of Citus with the transactions of all servers has the columns of that of PostgreSQL.
        statement.name: statement.distributed_text.replace("citus_stat_activity", "pg_stat_activity")
        for statement in STATEMENTS
        if statement.text.split()[0] != "copy"
    }
    forms = {name.removeprefix("postern."): refused(catalog, text) for name, text in texts.items()}
    new = {
        name: sorted(kinds)
        for name, kinds in forms.items()
        if kinds and name not in ALL_PROJECTS and name not in SAME_AFTER_CHANGE
    }
    assert new == {}
    assert [name for name in ALL_PROJECTS if not forms[name]] == [], "take them from ALL_PROJECTS"
    others = {name for name in ALL_PROJECTS for kind in forms[name] if not kind.startswith(UNFILTERED)}
    assert others == set(), "they only may concern all projects"
    others = {name for name in SAME_AFTER_CHANGE for kind in forms[name] if not kind.startswith(CHANGED)}
    assert others == set(), "they only may read what they have changed"


def test_due_work_has_no_form_that_citus_refuses(catalog):
    for work in WORK:
        parts = due._parts(work, True)
        if work.partition_column == "project_id":
            for is_named in (False, True):
                forms = refused(catalog, due._due_query(*parts, is_named).decode())
                assert {kind for kind in forms if not kind.startswith(UNFILTERED)} == set(), work.name
            assert refused(catalog, due._claim_query(*parts, work.row_type).decode()) == set(), work.name


def composed(catalog: Catalog, statement: Statement, **parts: Composable) -> str:
    """The statement in a distributed database, with these parts."""
    is_list = "%(project_id)s::uuid[]" in statement.distributed_text
    values = {**parts, "project_id": [] if is_list else None}
    text = SQL(cast(Any, statement.distributed_text)).format(**_composed_parts(values, is_distributed=True))
    return text.as_string(catalog.connection)


SESSION_STATEMENTS = [
    statement for statement in STATEMENTS if "security.session_store." in statement.name and "{" in statement.text
]


@pytest.mark.parametrize("policy", [CUSTOMER_SESSIONS, DEVELOPER_SESSIONS], ids=["customers", "developers"])
@pytest.mark.parametrize("statement", SESSION_STATEMENTS, ids=lambda statement: statement.name.rpartition(".")[2])
def test_sessions_with_what_they_contain_have_no_refused_form(catalog, statement, policy):
    text = composed(
        catalog,
        statement,
        subject=policy.subject,
        may_activate=policy.may_activate,
        first_organization=policy.first_organization,
    )
    forms = refused(catalog, text)
    if statement.name.removeprefix("postern.") in SAME_AFTER_CHANGE:
        forms = {form for form in forms if not form.startswith(CHANGED)}
    assert forms == set()


RULES = Rules(
    conditions=[
        RuleCondition(field="events.ordered", operator="gte", value=2),
        RuleCondition(field="events.ordered", operator="exists"),
        RuleCondition(field="audience", operator="in", value=[str(NO_ID)]),
    ]
)
NOW = Moment.of(datetime(2026, 1, 1, tzinfo=UTC))
CUSTOMER_CONDITIONS = [_has_status("locked", NOW)]
LOG_CONDITIONS = [_contains(NO_ID, "ada"), _contains_each(NO_ID, "ada"), _has_recipient(NO_ID, "ada@example.com")]
REACTION_CONDITIONS = [SQL(", ".join([reaction.condition for reaction in REACTIONS]))]
RULE_CONDITIONS = [compile_rules(RULES, 0).sql]
CONDITIONS = {
    "identity.customers.store.list_customers": CUSTOMER_CONDITIONS,
    "identity.customers.store.search_customers": CUSTOMER_CONDITIONS,
    "identity.customers.store.count_customers": CUSTOMER_CONDITIONS,
    "identity.customers.store.export_customers": CUSTOMER_CONDITIONS,
    "messaging.audiences.store.update_memberships": RULE_CONDITIONS,
    "messaging.audiences.store.refill_members": RULE_CONDITIONS,
    "messaging.audiences.store.matching": RULE_CONDITIONS,
    "messaging.audiences.store.count_matching": RULE_CONDITIONS,
    "messaging.audiences.store.newest_matching": RULE_CONDITIONS,
    "messaging.automations.store.matching_events": [SQL("true")],
    "messaging.emails.store.list_log": LOG_CONDITIONS,
    "messaging.emails.store.count_log": LOG_CONDITIONS,
    "messaging.emails.store.count_log_up_to": LOG_CONDITIONS,
    "messaging.emails.store.stream_log": LOG_CONDITIONS,
    "platform.events.store.insert_events": REACTION_CONDITIONS,
}
"""Parts of statements that read other tables."""


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_have_no_refused_form(catalog, name):
    statement = next(statement for statement in STATEMENTS if statement.name == f"postern.{name}")
    part = re.search(r"{(\w+)}", statement.text)
    assert part
    texts = [composed(catalog, statement, **{part[1]: condition}) for condition in CONDITIONS[name]]
    assert [refused(catalog, text) for text in texts] == [set() for _ in texts]


UNFILTERED = distributed_forms.unfiltered("")
CHANGED = distributed_forms.changed_before("").split(" ")[0]
CTID = distributed_forms.CTID
LOCKS = distributed_forms.LOCKS
CASE = distributed_forms.CASE
RATES_CHANGED = distributed_forms.changed_before("mail_rates")
SENDS = distributed_forms.unfiltered("sends")
CONTACTS = distributed_forms.unfiltered("contacts")
REFUSED = {
    """
        delete from sends where project_id = %(p)s and ctid = any (array(select ctid from sends
        where project_id = %(p)s))
    """: {CTID},
    """
        with recursive s as (select project_id from sends union all select project_id from s) select
        * from s
    """: {
        distributed_forms.RECURSIVE,
        SENDS,
    },
    "select * from sends where id = %(id)s for update": {LOCKS},
    "select * from sends where project_id = any (%(p)s) or id = %(id)s": {SENDS},
    """
        update sends s set tries = v.tries from unnest(%(p)s::uuid[], %(n)s::int[]) as v (p, tries)
        where s.project_id = v.p
    """: {SENDS},
    "update sends set due_at = coalesce(due_at, now()) where project_id = %(p)s": {CASE},
    "update sends set reason = case status when 'SENT' then 'a' end where project_id = %(p)s": {
        distributed_forms.SIMPLE_CASE
    },
    "update sends set due_at = due_at + interval '1 day' where project_id = %(p)s": {distributed_forms.COLUMNS},
    "delete from sends where project_id = %(p)s and concat(subject, reason) = 'a'": {distributed_forms.COLUMNS},
    """
        insert into mail_rates as r (project_id, name, next_at) values (%(p)s, 'a', %(at)s) on
        conflict (project_id, name) do update set next_at = now()
    """: {distributed_forms.CONFLICT},
    """
        delete from sends where project_id = %(p)s returning (select count(*) from contacts where
        project_id = %(p)s)
    """: {distributed_forms.RETURNING},
    """
        insert into mail_rates (project_id, name, next_at) values (%(p)s, (select email from
        contacts where project_id = %(p)s), %(at)s)
    """: {distributed_forms.VALUES},
    """
        select (select c.email from contacts c where c.project_id = s.project_id and c.id =
        s.contact_id) from sends s where s.project_id = %(p)s
    """: {CONTACTS},
    """
        select n.n from sends s cross join lateral (select count(*) as n from contacts c where
        c.project_id = s.project_id) n where s.project_id = %(p)s
    """: {CONTACTS},
    """
        with v as materialized (select * from contacts where project_id = %(p)s) select from sends s
        join v on v.project_id = s.project_id
    """: {SENDS},
    """
        update sends set reason = 'a' where project_id = %(p)s and reason = (select max(reason) from
        sends)
    """: {SENDS},
    """
        with stored as (insert into mail_rates (project_id, name, next_at) values (%(p)s, 'a', now()))
        select count(*) from mail_rates where project_id = %(p)s
    """: {RATES_CHANGED},
    """
        with before as (select count(*) as rates from mail_rates where project_id = %(p)s), changed as (update
        mail_rates set next_at = now() where project_id = %(p)s returning name), stored as (insert into contents
        (project_id, id) values (%(p)s, %(i)s)) select rates from before, changed
    """: {RATES_CHANGED},
}
ACCEPTED = [
    "select * from sends where project_id = %(p)s and created_at > now() - interval '1 day' for update",
    """
        select * from sends s join contacts c on (c.project_id, c.id) = (s.project_id, s.contact_id)
        where s.project_id = %(p)s
    """,
    """
        select * from sends s where s.project_id = %(p)s and exists (select from contacts c where
        (c.project_id, c.id) = (s.project_id, s.contact_id))
    """,
    """
        select * from sends s where s.project_id = %(p)s and not exists (select from contacts c
        where (c.project_id, c.id) = (s.project_id, s.contact_id))
    """,
    "select * from projects p join sends s on s.project_id = p.id where p.id = %(p)s",
    """
        with v as (select * from contacts where project_id = %(p)s) select from sends s join v on
        v.project_id = s.project_id
    """,
    """
        update sends s set tries = v.tries from unnest(%(p)s::uuid[], %(n)s::int[]) as v (p, tries)
        where s.project_id = v.p and s.project_id = any (%(p)s)
    """,
    """
        update sends set reason = case when status = 'SENT' then 'a' else coalesce(reason, 'b') end,
        due_at = now() where project_id = %(p)s
    """,
    """
        insert into mail_rates as r (project_id, name, next_at) values (%(p)s, 'a', now()) on
        conflict (project_id, name) do update set next_at = excluded.next_at where r.next_at <
        %(at)s
    """,
    "select coalesce(due_at, now()) from sends where project_id = %(p)s",
    "delete from accounts where ctid = (select ctid from accounts limit 1)",
    """
        insert into sends (project_id, id) select project_id, id from unnest(%(p)s::uuid[],
        %(i)s::uuid[]) as v (project_id, id) on conflict do nothing
    """,
    """
        with before as materialized (select count(*) as rates from mail_rates where project_id = %(p)s), stored as
        (insert into mail_rates (project_id, name, next_at) values (%(p)s, 'a', now())) select rates from before
    """,
    """
        with changed as (update mail_rates set next_at = now() where project_id = %(p)s returning name)
        select (select count(*) from mail_rates where project_id = %(p)s) from changed
    """,
]


@pytest.mark.parametrize(("text", "forms"), REFUSED.items())
def test_refused_forms_are_recognised(catalog, text, forms):
    assert refused(catalog, text) == forms


@pytest.mark.parametrize("text", ACCEPTED)
def test_forms_for_one_node_are_accepted(catalog, text):
    assert refused(catalog, text) == set()


CLEARED_KEYS = {
    "campaign_variants_project_id_template_id_fkey",
    "campaigns_project_id_audience_id_fkey",
    "campaigns_project_id_domain_id_fkey",
    "campaigns_project_id_template_id_fkey",
    "invitations_project_id_accepted_by_fkey",
    "invitations_project_id_invited_by_fkey",
    "sso_sign_ons_project_id_customer_id_fkey",
}
"""Foreign keys with ON DELETE SET NULL, which `postern distribute` replaces by triggers. It cannot do so for new ones
in a database that is distributed already."""


def test_every_table_is_placed(catalog):
    placed = placement()
    tables = (
        "select relname from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace"
    )
    names = {name for (name,) in catalog.connection.execute(tables)}
    listed = placed.coordinator | placed.local | set(placed.reference) | catalog.distributed.keys()
    assert names == listed, "name a table without project_id in postern/cli/placement.py"
    assert not placed.coordinator & catalog.distributed.keys()


def test_distributed_tables_have_a_primary_key(catalog):
    """Otherwise Citus cannot copy a shard to another server while rows are changed."""
    rows = catalog.connection.execute("select indrelid::regclass::text from pg_index where indisprimary").fetchall()
    assert catalog.distributed.keys() - {table for (table,) in rows} == set()


def test_unique_indexes_contain_the_project(catalog):
    rows = catalog.connection.execute("""
        select indexrelid::regclass::text, indrelid::regclass::text,
               array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any (indkey::int2[]))
        from pg_index where indisunique and indrelid::regclass::text = any (%s)
    """, [list(catalog.distributed)])  # fmt: skip
    without = {name for name, table, columns in rows if catalog.distributed[table] not in columns}
    assert without == placement().indexes.keys(), "Citus cannot keep values unique over all projects"


def test_foreign_keys_stay_on_one_server(catalog):
    columns = "array(select attname::text from unnest({0}key) with ordinality as key (number, position) join "
    columns += "pg_attribute on attrelid = {0}relid and attnum = number order by position)"
    rows = catalog.connection.execute(f"""
        select conname, conrelid::regclass::text, confrelid::regclass::text, confdelsetcols is not null,
               {columns.format("con")}, {columns.format("conf")}
        from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
    """).fetchall()  # fmt: skip
    distributed, reference = catalog.distributed, placement().reference
    refused = []
    for name, child, parent, _, child_columns, parent_columns in rows:
        if parent in reference:
            continue
        both = child in distributed, parent in distributed
        if any(both) and (distributed.get(child), distributed.get(parent)) not in zip(
            child_columns, parent_columns, strict=True
        ):
            refused.append(name)
    assert refused == []
    assert {name for name, child, _, clears, *_ in rows if clears and child in distributed} == CLEARED_KEYS


def test_triggers_write_to_the_shards_beside(catalog):
    functions = catalog.connection.execute(TRIGGER_FUNCTIONS).fetchall()
    table = re.compile(r"\b(?:into|update|from|join) (" + "|".join(catalog.distributed) + r")\b")
    bodies = {name: body_for_shards(body, set(catalog.distributed)) for name, _, body in functions}
    assert {name: tables for name, body in bodies.items() if (tables := table.findall(body))} == {}


PLACED_SINCE = 211
"""The first migration that a distributed database may lack: there were none before."""
CREATED = re.compile(r"\s*create table (?:if not exists )?(\w+)\s*\((.*)\)", re.DOTALL | re.IGNORECASE)


def unplaced(text: str) -> list[str]:
    """The new tables of a migration that are created with foreign keys, or not placed at once (see its README.md)."""
    statements = split_statements(text)
    wrong = []
    for statement, following in zip_longest(statements, statements[1:]):
        match = CREATED.match(statement.text)
        if match is None or not re.search(r"\bproject_id\b", match[2]):
            continue
        is_placed = following is not None and f"place_table('{match[1]}', 'project_id')" in following.text
        if not is_placed or re.search(r"\breferences\b", match[2], re.IGNORECASE):
            wrong.append(match[1])
    return wrong


def test_new_migrations_place_their_tables():
    local = placement().local
    wrong = {new.name: unplaced(new.text) for new in migrations() if new.number >= PLACED_SINCE}
    assert {name: tables for name, tables in wrong.items() if set(tables) - local} == {}


def test_tables_that_are_not_placed_are_recognised():
    table = "create table notes (project_id uuid not null, id uuid not null, primary key (project_id, id))"
    key = "alter table notes add foreign key (project_id) references projects"
    place = "select place_table('notes', 'project_id')"
    assert unplaced(f"{table};\n{place};\n{key};") == []
    assert unplaced(f"{table};\n{key};\n{place};") == ["notes"]
    assert unplaced(f"{table};") == ["notes"]
    assert unplaced(f"{table.replace('not null,', 'references projects,', 1)};\n{place};") == ["notes"]
    assert unplaced("create table others (id uuid primary key);") == []
