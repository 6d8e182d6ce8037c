"""Fills a large project for `bench.dashboard` with SQL, with the rows that the application would have written.

Ids are UUIDv7 of the row's time, as the application makes them. The triggers of `sends` are off while it is filled;
their counters and rollups are then computed from the rows in one statement each. Triggers of the other tables stay on.
Differences from the application: no bodies and no log of attempts of sends, one event for ten sends, and hashes of the
audit log that do not verify; no list reads these.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
from psycopg import sql

CAMPAIGNS, TEMPLATES, AUDIENCES, DYNAMIC = 1_000, 500, 200, 40
CUSTOMERS, ORGANIZATIONS, SUPPRESSIONS = 100_000, 5_000, 10_000
WEBHOOKS, DELIVERIES, EVENTS, AUDIT_ENTRIES, CAPTURED = 12, 100_000, 1_000_000, 100_000, 10_000
SENT_CAMPAIGNS, LARGE_CAMPAIGNS = 700, 3
"""Campaigns with sends, and those among them that were sent to every contact."""
SINGLE_SHARE = 5
"""One of this many sends is a single message, without a campaign."""
DAYS = 29
CHUNK = 250_000
NIL = "00000000-0000-0000-0000-000000000000"

FUNCTIONS = """
    create schema if not exists bench;
    create or replace function bench.id_at(at timestamptz, seed text) returns uuid language sql immutable parallel safe
    as $$ select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(seed), 1, 3)
                  || 'a' || substr(md5(seed), 4, 15))::uuid $$;
    create or replace function bench.contact(n bigint, began timestamptz) returns uuid language sql immutable
    parallel safe as $$ select bench.id_at(began + n * interval '30 seconds', 'contact' || n) $$;
    create or replace function bench.address(n bigint) returns text language sql immutable parallel safe
    as $$ select 'user.' || n || '@mail' || n % 300 || '.example.com' $$;
"""

OUTCOMES = """
    cross join lateral (select
        case when r < 3 then 'SUPPRESSED' when r < 4 then 'FAILED' when r < 14 then 'BOUNCED' when r < 15 then 'EXPIRED'
             when r < 17 then 'COMPLAINED' when r < 717 then 'DELIVERED' else 'SENT' end as status
    ) as o
    cross join lateral (select
        case when o.status in ('SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED') then at + interval '2 seconds' end
            as sent_at,
        case when o.status in ('SENT', 'DELIVERED', 'COMPLAINED') and n %% 10 < 3 then at + interval '1 hour' end
            as opened_at,
        case when o.status in ('SENT', 'DELIVERED', 'COMPLAINED') and n %% 20 = 0 then at + interval '2 hours' end
            as clicked_at
    ) as t
"""
COLUMNS = """
    project_id, id, status, lane, message_id, subject, sender, recipient, to_addresses, contact_id, campaign_id,
    domain_id, tags, created_at, updated_at, dated_at, attempt, tries, handed_over, sent_at, delivered_at, opened_at,
    human_opened_at, clicked_at, human_clicked_at, bounced_at, complained_at, reason
"""
RESULTS = """
    at, at + interval '2 hours', t.sent_at, 1, 1, 1, t.sent_at,
    case when o.status = 'DELIVERED' then t.sent_at + interval '3 seconds' end, t.opened_at, t.opened_at, t.clicked_at,
    t.clicked_at, case when o.status = 'BOUNCED' then t.sent_at + interval '1 minute' end,
    case when o.status = 'COMPLAINED' then t.sent_at + interval '1 day' end,
    case when o.status in ('BOUNCED', 'FAILED') then '550 5.1.1 There is no such mailbox.' end
"""


class Filling:
    """Fills one project, with progress on standard output."""

    def __init__(self, url: str, project: str, domains: list[str], contacts: int, sends: int) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self.contacts, self.sends = contacts, sends
        self.scale = min(1.0, sends / 10_000_000)
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.values: dict[str, Any] = {
            "project": project,
            "domains": domains,
            "contacts": contacts,
            "now": self.now,
            "first": self.now - timedelta(days=DAYS),
            "joined": self.now - contacts * timedelta(seconds=30),
        }
        self.began = time.perf_counter()

    def run(self, text: LiteralString, **values: Any) -> int:
        """Run a statement; returns the number of its rows."""
        return self.connection.execute(text, {**self.values, **values}).rowcount

    def say(self, what: str) -> None:
        """Print `what` was done, and the seconds since the start."""
        print(f"  {time.perf_counter() - self.began:7.0f} s  {what}", flush=True)

    def fill(self) -> None:
        """Fill everything."""
        self.connection.execute(FUNCTIONS)
        self.connection.execute("set synchronous_commit = off")
        self.connection.execute("set maintenance_work_mem = '1GB'")
        self.connection.execute("set work_mem = '256MB'")
        self.connection.execute("set max_parallel_maintenance_workers = 0")
        for step in (
            self._contacts,
            self._audiences,
            self._templates,
            self._campaigns,
            self._sends,
            self._statistics,
            self._search,
            self._events,
            self._webhooks,
            self._customers,
            self._rest,
        ):
            step()
            self.say(step.__name__.removeprefix("_"))
        self.connection.execute("vacuum analyze")
        self.say("vacuum analyze")

    def _contacts(self) -> None:
        for start in range(0, self.contacts, CHUNK):
            self.run(
                """
                insert into contacts (project_id, id, email, email_key, attributes, unsubscribed, unsubscribed_at,
                                      created_at, updated_at)
                select %(project)s, bench.contact(n, %(joined)s), bench.address(n), bench.address(n),
                       jsonb_build_object('name', 'Ada Lovelace ' || n, 'seats', n %% 100,
                                          'plan', (array['free', 'pro', 'team'])[1 + n %% 3],
                                          'country', (array['IT', 'DE', 'FR', 'US'])[1 + n %% 4]),
                       n %% 40 = 0, case when n %% 40 = 0 then %(now)s::timestamptz end,
                       %(joined)s + n * interval '30 seconds', %(now)s
                from generate_series(%(start)s::bigint, %(end)s::bigint) as n
                """,
                start=start,
                end=min(start + CHUNK, self.contacts) - 1,
            )
        self.run("""
            insert into contact_attributes (project_id, id, name, type, inferred, created_at, updated_at)
            select %(project)s, bench.id_at(%(joined)s, name), name, type, true, %(joined)s, %(joined)s
            from (values ('name', 'string'), ('seats', 'number'), ('plan', 'string'), ('country', 'string'))
                as attribute (name, type)
        """)

    def _audiences(self) -> None:
        self.run(
            """
            insert into audiences (project_id, id, name, type, created_at, updated_at)
            select %(project)s, bench.id_at(%(first)s + n * interval '1 minute', 'audience' || n),
                   (array['Newsletter', 'Customers', 'Trial', 'Event'])[1 + n %% 4] || ' ' || n, 'STATIC',
                   %(first)s + n * interval '1 minute', %(first)s + n * interval '1 minute'
            from generate_series(1, %(audiences)s) as n
            """,
            audiences=AUDIENCES - DYNAMIC,
        )
        for number in range(1, AUDIENCES - DYNAMIC + 1):
            self.run(
                """
                insert into audience_members (project_id, audience_id, contact_id, joined_at)
                select %(project)s, bench.id_at(%(first)s + %(number)s * interval '1 minute', 'audience' || %(number)s),
                       bench.contact(n, %(joined)s), %(first)s
                from generate_series(0, %(contacts)s / case when %(number)s = 1 then 1 else 2 * %(number)s end - 1) as n
                """,
                number=number,
            )

    def _templates(self) -> None:
        self.run(
            """
            with added as (
                insert into templates (project_id, id, name, subject, html, text, variables, created_at, updated_at)
                select %(project)s, bench.id_at(at, 'template' || n),
                       (array['Welcome', 'Receipt', 'Newsletter', 'Reminder'])[1 + n %% 4] || ' ' || n,
                       'News for {{ name }}', repeat('<p>Hello {{ name }}, here is your news.</p>', 100),
                       repeat('Hello {{ name }}, here is your news. ', 100), array['name'], at,
                       at + n %% 17 * interval '1 hour'
                from generate_series(1, %(templates)s) as n
                cross join lateral (select %(first)s + n * interval '1 minute' as at) as moment
                returning project_id, id, name, subject, html, text, created_at)
            insert into template_versions (project_id, template_id, version, name, subject, html, text, created_at)
            select project_id, id, 1, name, subject, html, text, created_at from added
            """,
            templates=TEMPLATES,
        )

    def _campaigns(self) -> None:
        self.run(
            """
            insert into campaigns (project_id, id, name, subject, from_name, from_email, status, scheduled_at, sent_at,
                                   template_id, domain_id, audience_id, started_at, filled, created_at, updated_at)
            select %(project)s, bench.id_at(at, 'campaign' || n),
                   (array['Newsletter', 'Launch', 'Offer', 'Digest'])[1 + n %% 4] || ' ' || n, 'News of the week ' || n,
                   'Acme', 'news@acme.example', status,
                   case when status = 'SCHEDULED' then %(now)s + interval '9 days' end,
                   case when status = 'SENT' then at + interval '1 hour' end,
                   bench.id_at(%(first)s + (1 + n %% %(templates)s) * interval '1 minute',
                               'template' || 1 + n %% %(templates)s),
                   (%(domains)s::uuid[])[1],
                   bench.id_at(%(first)s + (1 + n %% 100) * interval '1 minute', 'audience' || 1 + n %% 100),
                   case when status = 'SENT' then at end, status = 'SENT', at, at + n %% 13 * interval '1 hour'
            from generate_series(1, %(campaigns)s) as n
            cross join lateral (select %(first)s + n * interval '40 minutes' as at,
                case when n <= %(sent)s then 'SENT' when n %% 20 = 0 then 'SCHEDULED' when n %% 30 = 1 then 'CANCELLED'
                     when n %% 30 = 2 then 'FAILED' else 'DRAFT' end as status) as value
            """,
            campaigns=CAMPAIGNS,
            sent=SENT_CAMPAIGNS,
            templates=TEMPLATES,
        )

    def _sizes(self) -> Iterator[tuple[int, int]]:
        """The number of each sent campaign, and of its sends."""
        total = self.sends - self.sends // SINGLE_SHARE
        large = min(self.contacts, total // (2 * LARGE_CAMPAIGNS))
        small, rest = divmod(total - LARGE_CAMPAIGNS * large, SENT_CAMPAIGNS - LARGE_CAMPAIGNS)
        for number in range(1, SENT_CAMPAIGNS + 1):
            is_large = number % (SENT_CAMPAIGNS // LARGE_CAMPAIGNS) == 0 and number <= SENT_CAMPAIGNS - 1
            yield number, large if is_large else small + (rest if number == 1 else 0)

    def _sends(self) -> None:
        self.connection.execute("alter table sends disable trigger user")
        indexes = self.connection.execute(
            "select indexname, indexdef from pg_indexes where tablename = 'sends' and indexdef not like '%%UNIQUE%%'"
        ).fetchall()
        for name, _ in indexes:
            self.connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
        written = 0
        for number, size in self._sizes():
            for start in range(0, size, CHUNK):
                written += self.run(
                    f"""
                    insert into sends ({COLUMNS})
                    select %(project)s, bench.id_at(at, 'send' || %(number)s || '.' || j), o.status, 1,
                           '<' || %(number)s || '.' || j || '@acme.example>', 'News of the week ' || %(number)s,
                           'Acme <news@acme.example>', bench.address(n), array[bench.address(n)],
                           bench.contact(n, %(joined)s),
                           bench.id_at(%(first)s + %(number)s * interval '40 minutes', 'campaign' || %(number)s),
                           (%(domains)s::uuid[])[1], null, {RESULTS}
                    from generate_series(%(start)s::bigint, %(end)s::bigint) as j
                    cross join lateral (select (j + %(number)s * 7919::bigint) %% %(contacts)s as n,
                        (j * 48271 + %(number)s) %% 1000 as r,
                        %(first)s + %(number)s * interval '40 minutes' + j * interval '2 milliseconds' as at) as v
                    {OUTCOMES}
                    """,
                    number=number,
                    start=start,
                    end=min(start + CHUNK, size) - 1,
                )
            if number % 100 == 0:
                self.say(f"{written:,} sends of campaigns")
        singles = self.sends - written
        for start in range(0, singles, CHUNK):
            self.run(
                f"""
                insert into sends ({COLUMNS})
                select %(project)s, bench.id_at(at, 'single' || n), o.status, 0, '<s' || n || '@acme.example>',
                       (array['Your receipt', 'Welcome to Acme', 'Reset your password', 'Your order'])[1 + n %% 4]
                           || ' #' || n,
                       'Acme <hello@acme.example>', bench.address(n * 3), array[bench.address(n * 3)],
                       case when n * 3 < %(contacts)s then bench.contact(n * 3, %(joined)s) end, null,
                       (%(domains)s::uuid[])[2 + n %% 2],
                       case when n %% 10000 = 0 then array['rare'] when n %% 2 = 0 then array['receipt', 'shop'] end,
                       {RESULTS}
                from generate_series(%(start)s::bigint, %(end)s::bigint) as n
                cross join lateral (select (n * 48271) %% 1000 as r, %(first)s + n * %(step)s::interval as at) as v
                {OUTCOMES}
                """,
                start=start,
                end=min(start + CHUNK, singles) - 1,
                step=timedelta(days=DAYS) / max(singles, 1),
            )
        self.say(f"{singles:,} single sends")
        # Messages that wait now: always 300, because their number does not grow with the number of all sends.
        self.run(
            """
            update sends set status = case when n %% 3 = 0 then 'DELAYED' else 'SCHEDULED' end,
                scheduled_at = case when n %% 3 > 0 then %(now)s + n * interval '1 hour' end,
                due_at = %(now)s + n * interval '1 hour' + interval '1 day', sent_at = null, delivered_at = null,
                opened_at = null, human_opened_at = null, clicked_at = null, human_clicked_at = null,
                bounced_at = null, complained_at = null, attempt = 0, tries = 0, handed_over = null, dated_at = null,
                delayed_at = case when n %% 3 = 0 then created_at end
            from (select id as newest, row_number() over () as n from sends where campaign_id is null
                  order by id desc limit 300) as waiting
            where project_id = %(project)s and id = newest
            """
        )
        for name, definition in indexes:
            self.connection.execute(sql.SQL(definition))  # pyright: ignore[reportArgumentType]
            self.say(f"index {name}")
        self.connection.execute("alter table sends enable trigger user")

    def _statistics(self) -> None:
        """What the triggers of `sends` would have counted (docs/decisions/0003)."""
        self.run(
            """
            insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
            select project_id, coalesce(campaign_id, %(nil)s), coalesce(variant_id, %(nil)s), m.measure, 0, count(*)
            from sends cross join lateral (values (status), (case when sent_at is not null then 'sent' end),
                (case when delivered_at is not null then 'delivered' end),
                (case when human_opened_at is not null then 'opened' end),
                (case when human_clicked_at is not null then 'clicked' end),
                (case when opened_at is not null then 'open_touched' end),
                (case when clicked_at is not null then 'click_touched' end),
                (case when bounced_at is not null then 'bounced' end),
                (case when complained_at is not null then 'complained' end)) as m (measure)
            where m.measure is not null group by 1, 2, 3, 4
            on conflict (project_id, campaign_id, variant_id, measure, slot)
            do update set count = counter.count + excluded.count
            """,
            nil=NIL,
        )
        self.run(
            """
            with measured as (
                select project_id, campaign_id, coalesce(domain_id, %(nil)s) as domain_id, m.measure,
                       date_bin('15 minutes', m.at, 'epoch') as bucket, count(*) as number
                from sends cross join lateral (values ('accepted', created_at), ('sent', sent_at),
                    ('delivered', delivered_at), ('opened', human_opened_at), ('clicked', human_clicked_at),
                    ('open_touched', opened_at), ('click_touched', clicked_at), ('bounced', bounced_at),
                    ('complained', complained_at),
                    ('failed', case when status in ('FAILED', 'EXPIRED', 'SUPPRESSED') then updated_at end))
                    as m (measure, at)
                where m.at is not null group by 1, 2, 3, 4, 5)
            insert into send_rollups as rollup (project_id, campaign_id, bucket, domain_id, slot, accepted, sent,
                delivered, opened, clicked, open_touched, click_touched, bounced, complained, failed)
            select project_id, place.campaign_id, place.bucket, domain_id, 0,
                   coalesce(sum(number) filter (where measure = 'accepted'), 0),
                   coalesce(sum(number) filter (where measure = 'sent'), 0),
                   coalesce(sum(number) filter (where measure = 'delivered'), 0),
                   coalesce(sum(number) filter (where measure = 'opened'), 0),
                   coalesce(sum(number) filter (where measure = 'clicked'), 0),
                   coalesce(sum(number) filter (where measure = 'open_touched'), 0),
                   coalesce(sum(number) filter (where measure = 'click_touched'), 0),
                   coalesce(sum(number) filter (where measure = 'bounced'), 0),
                   coalesce(sum(number) filter (where measure = 'complained'), 0),
                   coalesce(sum(number) filter (where measure = 'failed'), 0)
            from measured cross join lateral (values (%(nil)s::uuid, timestamptz '-infinity'),
                (%(nil)s::uuid, measured.bucket), (measured.campaign_id, measured.bucket))
                as place (campaign_id, bucket)
            where place.campaign_id is not null group by 1, 2, 3, 4
            on conflict do nothing
            """,
            nil=NIL,
        )
        self.run("""
            insert into email_usage (project_id, month, slot, emails)
            select project_id, date_trunc('month', created_at at time zone 'UTC')::date, 0, count(*)
            from sends where not test group by 1, 2 on conflict do nothing
        """)

    def _search(self) -> None:
        (definition,) = self.connection.execute(
            "select indexdef from pg_indexes where indexname = 'send_search_text'"
        ).fetchone() or ("",)
        self.connection.execute("drop index send_search_text")
        self.run("""
            insert into send_search (project_id, send_id, search_text)
            select project_id, id, lower(recipient || ' ' || subject || ' ' || message_id) from sends
            where campaign_id is null
        """)
        self.connection.execute(definition)

    def _events(self) -> None:
        number = round(EVENTS * self.scale)
        for start in range(0, number, CHUNK):
            self.run(
                """
                insert into events (project_id, id, type, subject_id, actor_type, data, occurred_at)
                select %(project)s, bench.id_at(at, 'event' || n),
                       case when n %% 10000 = 0 then 'domain.degraded' when n %% 10 < 5 then 'email.sent'
                            when n %% 10 < 8 then 'email.opened' when n %% 10 < 9 then 'contact.created'
                            else 'customer.signed_in' end,
                       case when n %% 10 < 8 then bench.id_at(%(first)s + n * %(step)s::interval, 'single' || n)
                            when n %% 10 < 9 then bench.contact(n %% %(contacts)s, %(joined)s)
                            else bench.id_at(%(first)s, 'customer' || n %% %(customers)s) end,
                       'SYSTEM', jsonb_build_object('emailId', md5(n::text), 'subject', 'Your receipt #' || n,
                                                    'to', jsonb_build_array(bench.address(n))), at
                from generate_series(%(start)s::bigint, %(end)s::bigint) as n
                cross join lateral (select %(first)s + n * %(event_step)s::interval as at) as v
                """,
                start=start,
                end=min(start + CHUNK, number) - 1,
                step=timedelta(days=DAYS) / max(self.sends // SINGLE_SHARE, 1),
                event_step=timedelta(days=DAYS) / number,
                customers=round(CUSTOMERS * self.scale),
            )

    def _webhooks(self) -> None:
        self.run(
            """
            insert into webhooks (project_id, id, url, events, sealed_secret, created_at, updated_at)
            select %(project)s, bench.id_at(%(first)s, 'webhook' || n), 'https://hooks' || n || '.example.com/postern',
                   array['email.sent', 'email.opened', 'customer.signed_in'], '', %(first)s, %(first)s
            from generate_series(1, %(webhooks)s) as n
            """,
            webhooks=WEBHOOKS,
        )
        number = round(DELIVERIES * self.scale)
        self.run(
            """
            insert into webhook_deliveries (project_id, id, webhook_id, event_id, event, status, due_at, tried,
                                            attempts, response_status, response_ms, created_at, attempted_at,
                                            delivered_at)
            select %(project)s, bench.id_at(at, 'delivery' || n),
                   bench.id_at(%(first)s, 'webhook' || case when n %% 10 < 6 then 1 else 1 + n %% %(webhooks)s end),
                   bench.id_at(%(first)s + n * 10 * %(step)s::interval, 'event' || n * 10),
                   case when n %% 1000 = 0 then 'customer.signed_in' when n %% 3 = 0 then 'email.opened'
                        else 'email.sent' end,
                   s.status, case when s.status = 'PENDING' then %(now)s + interval '1 day' end, 1, 1,
                   case when s.status = 'SUCCEEDED' then 200 else 500 end, 12.5, at, at,
                   case when s.status = 'SUCCEEDED' then at end
            from generate_series(0, %(number)s - 1) as n
            cross join lateral (select %(first)s + n * 10 * %(step)s::interval as at) as v
            cross join lateral (select case when n %% 501 = 0 then 'PENDING' when n %% 50 = 0 then 'FAILED'
                                       else 'SUCCEEDED' end as status) as s
            """,
            webhooks=WEBHOOKS,
            number=number,
            step=timedelta(days=DAYS) / round(EVENTS * self.scale),
        )

    def _customers(self) -> None:
        customers, organizations = round(CUSTOMERS * self.scale), round(ORGANIZATIONS * self.scale)
        self.run(
            """
            insert into customers (project_id, id, external_id, email, email_key, email_verified_at, name, providers,
                                   password_hash, last_sign_in_at, banned_at, ban_reason, mfa_enabled_at, contact_id,
                                   created_at, updated_at)
            select %(project)s, bench.id_at(%(first)s, 'customer' || n), 'crm-' || n, bench.address(n),
                   bench.address(n), case when n %% 8 > 0 then %(first)s::timestamptz end, 'Ada Lovelace ' || n,
                   case when n %% 4 = 0 then array['google'] when n %% 50 = 1 then array['github', 'google']
                        else '{}'::text[] end,
                   '$argon2id$v=19$m=19456,t=2,p=1$' || md5(n::text), %(now)s - n * interval '1 second',
                   case when n %% 200 = 0 then %(now)s::timestamptz end, case when n %% 200 = 0 then 'Fraud' end,
                   case when n %% 10 = 0 then %(first)s::timestamptz end,
                   case when n < %(contacts)s then bench.contact(n, %(joined)s) end, %(first)s, %(now)s
            from generate_series(0, %(customers)s - 1) as n
            """,
            customers=customers,
        )
        self.run(
            """
            insert into organizations (project_id, id, name, slug, external_id, status, created_at, updated_at)
            select %(project)s, bench.id_at(%(first)s, 'organization' || n), 'Company ' || n, 'company-' || n,
                   'org-' || n, case when n %% 100 = 0 then 'SUSPENDED' else 'ACTIVE' end, %(first)s,
                   %(first)s + n * interval '1 minute'
            from generate_series(0, %(organizations)s - 1) as n
            """,
            organizations=organizations,
        )
        self.run(
            """
            insert into organization_members (project_id, id, organization_id, customer_id, roles, source, joined_at,
                                              updated_at)
            select %(project)s, bench.id_at(%(first)s, 'member' || n),
                   bench.id_at(%(first)s, 'organization' || n %% %(organizations)s),
                   bench.id_at(%(first)s, 'customer' || n),
                   case when n < %(organizations)s then array['OWNER'] else array['MEMBER'] end, 'API', %(first)s,
                   %(first)s
            from generate_series(0, %(customers)s - 1) as n
            """,
            customers=customers,
            organizations=organizations,
        )

    def _rest(self) -> None:
        self.run(
            """
            insert into suppressions (project_id, id, address, reason, source, detail, created_at)
            select %(project)s, bench.id_at(%(first)s + n * interval '1 minute', 'suppression' || n),
                   bench.address(n * 7), (array['BOUNCE', 'BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL'])[1 + n %% 5],
                   (array['smtp', 'dsn', 'feedback', 'unsubscribe', 'api'])[1 + n %% 5],
                   '550 5.1.1 There is no such mailbox.', %(first)s + n * interval '1 minute'
            from generate_series(0, %(number)s - 1) as n
            """,
            number=round(SUPPRESSIONS * self.scale),
        )
        self.run(
            """
            insert into captured_messages (project_id, id, send_id, mail_from, recipients, sender, subject, size,
                                           message, captured_at)
            select %(project)s, bench.id_at(at, 'captured' || n), bench.id_at(at, 'test' || n), 'hello@acme.example',
                   array[bench.address(n)], 'Acme <hello@acme.example>', 'Your receipt #' || n, 2000,
                   convert_to(repeat('Subject: Your receipt' || chr(10), 90), 'UTF8'), at
            from generate_series(0, %(number)s - 1) as n
            cross join lateral (select %(first)s + n * interval '1 minute' as at) as v
            """,
            number=round(CAPTURED * self.scale),
        )
        self.run(
            """
            with head as (select chain_id, seq, account_id from audit_heads
                          join projects on projects.id = audit_heads.chain_id where chain_id = %(project)s),
            added as (
                insert into audit_log (chain_id, seq, id, account_id, actor_type, actor_email, actor_id, action,
                                       target_type, target_id, metadata, ip_address, salt, details_digest, hash,
                                       created_at)
                select head.chain_id, head.seq + n, bench.id_at(at, 'entry' || n), head.account_id, 'DEVELOPER',
                       'developer' || n %% 20 || '@acme.example', bench.id_at(%(first)s, 'developer' || n %% 20),
                       case when n %% 5000 = 0 then 'webhook.deleted'
                            else (array['template.updated', 'contact.deleted', 'campaign.updated'])[1 + n %% 3] end,
                       (array['template', 'contact', 'campaign'])[1 + n %% 3], gen_random_uuid()::text,
                       jsonb_build_object('name', 'Newsletter ' || n), '192.0.2.' || n %% 250, '',
                       sha256(n::text::bytea), sha256(n::text::bytea), at
                from head cross join generate_series(1, %(number)s) as n
                cross join lateral (select %(first)s + n * %(step)s::interval as at) as v
                returning seq, hash)
            update audit_heads set seq = last.seq, hash = last.hash
            from (select seq, hash from added order by seq desc limit 1) as last where chain_id = %(project)s
            """,
            number=round(AUDIT_ENTRIES * self.scale),
            step=timedelta(days=DAYS) / max(round(AUDIT_ENTRIES * self.scale), 1),
        )

    def copy_dynamic_audiences(self) -> None:
        """Copy the audiences with rules, and their members, until there are DYNAMIC of them."""
        self.run(
            """
            with copies as (
                insert into audiences (project_id, id, name, type, rules, rules_id, level, depends_on,
                                       watches_engagement, created_at, updated_at)
                select project_id, bench.id_at(created_at, name || n), name || ' ' || n, type, rules, rules_id, level,
                       depends_on, watches_engagement, created_at, updated_at
                from audiences cross join generate_series(1, %(copies)s) as n
                where project_id = %(project)s and type = 'DYNAMIC'
                returning id, rules_id)
            insert into audience_members (project_id, audience_id, contact_id, joined_at)
            select member.project_id, copies.id, member.contact_id, member.joined_at
            from copies join audiences as original
                on (original.project_id, original.rules_id) = (%(project)s, copies.rules_id)
            join audience_members as member
                on (member.project_id, member.audience_id) = (original.project_id, original.id)
            """,
            copies=DYNAMIC // 4 - 1,
        )
        self.connection.execute("vacuum analyze audience_members")
