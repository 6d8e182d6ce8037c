"""No statement has a form that Citus refuses, or that it does not run on one node: see tests/distributed_forms.py.

These tests need no Citus.
"""

import re
from collections.abc import Iterator

import psycopg
import pytest

from postern.kernel.database.statements import STATEMENTS
from tests import distributed_forms
from tests.distributed_forms import Catalog
from tests.test_house import with_numbers

NOT_DISTRIBUTED = {"api_keys", "assets", "mail_sites", "mail_site_shares"}
"""Tables with `project_id` whose rows are found without it."""
OTHER_COLUMNS = {"audit_log": "chain_id", "audit_heads": "chain_id"}

NOT_YET = """
identity.access.store.access_facts
identity.access.store.granted_permissions
identity.customers.requirement_store.password_sign_in_state
identity.customers.requirement_store.requirements
identity.customers.store.imported_schemes
identity.customers.store.list_customers
identity.customers.store.lock_by_email
identity.customers.store.refresh_providers
identity.customers.token_store.token_bearers
identity.entitlements.store.plans
identity.entitlements.store.set_override
identity.organizations.invitation_store.renew_invitation
identity.organizations.store.get_organization
identity.organizations.store.list_organizations
identity.organizations.store.mark_deleted
identity.sso.store.delete_traces_mentioning
identity.sso.store.list_connections
identity.sso.store.project_of_connection
identity.sso.store.shift_keys
messaging.analytics.store.merge_sums
messaging.audiences.store.contact_ids
messaging.audiences.store.contacts_with_ids
messaging.audiences.store.refill_members
messaging.audiences.store.update_memberships
messaging.automations.store.cancel_runs_of_contacts
messaging.automations.store.claim_keys
messaging.automations.store.customer_addresses
messaging.automations.store.lock_runs
messaging.automations.store.retry_runs
messaging.automations.store.start_runs
messaging.automations.store.update_runs
messaging.automations.store.wake_runs
messaging.campaigns.store.count_pending
messaging.campaigns.store.delete_leavers
messaging.campaigns.store.delete_sample
messaging.campaigns.store.fill_sends
messaging.certificates.store.domains_of_name
messaging.certificates.store.names_of_domain
messaging.certificates.store.new_tracking_names
messaging.domains.dmarc_store.delete_expired
messaging.domains.sender_store.verified_among
messaging.domains.store.all_keys
messaging.domains.store.check_others_now
messaging.domains.store.is_listed
messaging.domains.store.sending_domains_by_name
messaging.domains.store.update_entries
messaging.domains.store.verified_domain_of_any_project
messaging.emails.campaign_store.release_sends
messaging.emails.erasure_store.erase_idempotency_responses
messaging.emails.site_store.delete_old_counts
messaging.emails.site_store.delete_unused_project_sites
messaging.emails.site_store.delete_unused_sites
messaging.emails.site_store.list_sites
messaging.emails.site_store.lock_waiting
messaging.emails.site_store.projects_of_site
messaging.emails.site_store.release
messaging.emails.site_store.sites_of_instance
messaging.emails.site_store.suspensions_of_projects
messaging.emails.store.bring_forward
messaging.emails.store.check_before_sending
messaging.emails.store.claim_keys
messaging.emails.store.count_recent_marketing
messaging.emails.store.count_soft_bounce
messaging.emails.store.delete_expired_bodies
messaging.emails.store.delete_expired_captured
messaging.emails.store.delete_expired_keys
messaging.emails.store.delete_soft_bounces
messaging.emails.store.erase_settled_secrets
messaging.emails.store.finish_keys
messaging.emails.store.hold_sends
messaging.emails.store.insert_sends
messaging.emails.store.lease_times
messaging.emails.store.mark_engaged
messaging.emails.store.postpone
messaging.emails.store.renew_leases
messaging.emails.store.settle
messaging.emails.store.states_of
messaging.emails.store.store_reported
messaging.emails.store.suppress
messaging.emails.store.tracked_sends
messaging.inbound.message_store.expired_messages
messaging.inbound.route_store.candidates
messaging.inbound.route_store.has_route
messaging.reputation.store.count_failures
messaging.reputation.store.delete_expired_counters
messaging.reputation.store.delete_expired_reservations
platform.accounts.store.session_ip_addresses
platform.accounts.store.session_owner
platform.accounts.store.sessions_of_account
platform.audit.store.chains
platform.audit.store.count_of_account
platform.audit.store.delete_entries
platform.audit.store.entries_after
platform.audit.store.of_account
platform.billing.store.usage
platform.events.store.count_recent
platform.projects.usage_store.dependents
platform.webhooks.store.record_results
security.attempt_store.count_attempt
security.attempt_store.lock_identifier
security.session_store.insert_session
security.session_store.refresh_all
security.session_store.set_first_organization
"""
"""Statements that have such a form. The list only becomes shorter."""


@pytest.fixture(scope="module")
def catalog(database_url: str) -> Iterator[Catalog]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        tables = connection.execute("""
            select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
            where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attname = 'project_id'
        """).fetchall()
        distributed = {table: "project_id" for (table,) in tables if table not in NOT_DISTRIBUTED}
        yield Catalog(connection, distributed | OTHER_COLUMNS)


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
    texts = {statement.name: statement.text for statement in STATEMENTS if statement.text.split()[0] != "copy"}
    forms = {name.removeprefix("postern."): refused(catalog, text) for name, text in texts.items()}
    new = {name: sorted(kinds) for name, kinds in forms.items() if kinds and name not in NOT_YET.split()}
    assert new == {}
    assert [name for name in NOT_YET.split() if not forms.get(name)] == [], "take them from the list NOT_YET"


CTID = distributed_forms.CTID
LOCKS = distributed_forms.LOCKS
CASE = distributed_forms.CASE
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
]


@pytest.mark.parametrize(("text", "forms"), REFUSED.items())
def test_refused_forms_are_recognised(catalog, text, forms):
    assert refused(catalog, text) == forms


@pytest.mark.parametrize("text", ACCEPTED)
def test_forms_for_one_node_are_accepted(catalog, text):
    assert refused(catalog, text) == set()
