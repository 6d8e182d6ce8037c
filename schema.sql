-- Written by script/schema from migrations/; do not edit.

CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE FUNCTION public.attribute_moment(value jsonb) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
declare
    written text := value #>> '{}';
    year int;
begin
    if jsonb_typeof(value) is distinct from 'string' or length(written) > 40 or written !~
        ('^(?!0000)\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|[12]\d))'
         '([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-](0\d|1[0-3]):[0-5]\d)?)?$')
    then
        return null;
    end if;
    year := substr(written, 1, 4)::int;
    if substr(written, 6, 5) = '02-29' and not (year % 4 = 0 and (year % 100 <> 0 or year % 400 = 0))
        or substr(written, 6, 5) = '02-30'
    then
        return null;
    end if;
    if length(written) = 10 then
        return (written || ' 00:00Z')::timestamptz;
    elsif written ~ '(Z|[+-]\d\d:\d\d)$' then
        return written::timestamptz;
    end if;
    return (written || 'Z')::timestamptz;
end
$_$;

CREATE FUNCTION public.campaign_bucket(salt text, campaign_id uuid, contact_id uuid) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select (('x' || substr(md5(salt || campaign_id::text || contact_id::text), 1, 7))::bit(28)::int % 10000)
$$;

CREATE FUNCTION public.count_changed_sends() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    with changed as materialized (
        select project_id, campaign_id, variant_id, domain_id, is_test, status, failed_at, sent_at, delivered_at,
               opened_at, clicked_at, human_opened_at, human_clicked_at, bounced_at, complained_at,
               sum(step)::int as step
        from (
            select 1 as step, project_id, campaign_id, variant_id, domain_id, status, opened_at, clicked_at,
                   human_opened_at, human_clicked_at, bounced_at, complained_at,
                   test or coalesce('campaign-test' = any (tags), false) as is_test,
                   case when status in ('FAILED', 'EXPIRED', 'SUPPRESSED') then updated_at end as failed_at,
                   case when bounced_at is null or bounced_at < sent_at then sent_at end as sent_at,
                   case when bounced_at is null or bounced_at < delivered_at then delivered_at end as delivered_at
            from new_rows
            union all
            select -1, project_id, campaign_id, variant_id, domain_id, status, opened_at, clicked_at,
                   human_opened_at, human_clicked_at, bounced_at, complained_at,
                   test or coalesce('campaign-test' = any (tags), false),
                   case when status in ('FAILED', 'EXPIRED', 'SUPPRESSED') then updated_at end,
                   case when bounced_at is null or bounced_at < sent_at then sent_at end,
                   case when bounced_at is null or bounced_at < delivered_at then delivered_at end
            from old_rows
        ) as s
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 having sum(step) <> 0
    ), counted as (
        insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
        select c.project_id, coalesce(c.campaign_id, '00000000-0000-0000-0000-000000000000'),
               coalesce(c.variant_id, '00000000-0000-0000-0000-000000000000'), m.measure, pg_backend_pid() % 16,
               sum(c.step)
        from changed c cross join lateral (values
            (c.status, true),
            ('sent', c.sent_at is not null),
            ('delivered', c.delivered_at is not null),
            ('opened', c.human_opened_at is not null),
            ('clicked', c.human_clicked_at is not null),
            ('open_touched', c.opened_at is not null),
            ('click_touched', c.clicked_at is not null),
            ('bounced', c.bounced_at is not null),
            ('complained', c.complained_at is not null)
        ) as m (measure, holds)
        where m.holds
        group by 1, 2, 3, 4, 5 having sum(c.step) <> 0 order by 1, 2, 3, 4
        on conflict (project_id, campaign_id, variant_id, measure, slot)
        do update set count = counter.count + excluded.count
        returning 1
    )
    insert into send_rollups as rollup (project_id, campaign_id, bucket, domain_id, slot, sent, delivered, opened,
                                        clicked, open_touched, click_touched, bounced, complained, failed)
    select c.project_id, place.campaign_id, place.bucket, c.domain_id, pg_backend_pid() % 16,
           coalesce(sum(c.step) filter (where c.measure = 'sent'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'delivered'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'opened'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'clicked'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'open_touched'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'click_touched'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'bounced'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'complained'), 0),
           coalesce(sum(c.step) filter (where c.measure = 'failed'), 0)
    from (
        select r.project_id, r.campaign_id,
               coalesce(r.domain_id, '00000000-0000-0000-0000-000000000000'::uuid) as domain_id, m.measure,
               date_bin('15 minutes', m.at, 'epoch') as bucket, sum(r.step)::int as step
        from changed r cross join lateral (values
            ('sent', r.sent_at),
            ('delivered', r.delivered_at),
            ('opened', r.human_opened_at),
            ('clicked', r.human_clicked_at),
            ('open_touched', r.opened_at),
            ('click_touched', r.clicked_at),
            ('bounced', r.bounced_at),
            ('complained', r.complained_at),
            ('failed', r.failed_at)
        ) as m (measure, at)
        where not r.is_test and m.at is not null
        group by 1, 2, 3, 4, 5 having sum(r.step) <> 0
    ) as c
    cross join lateral (values
        ('00000000-0000-0000-0000-000000000000'::uuid, timestamptz '-infinity'),
        ('00000000-0000-0000-0000-000000000000'::uuid, c.bucket),
        (c.campaign_id, c.bucket)
    ) as place (campaign_id, bucket)
    where place.campaign_id is not null and (select count(*) from counted) >= 0
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, bucket, domain_id, slot) do update set
        sent = rollup.sent + excluded.sent,
        delivered = rollup.delivered + excluded.delivered,
        opened = rollup.opened + excluded.opened,
        clicked = rollup.clicked + excluded.clicked,
        open_touched = rollup.open_touched + excluded.open_touched,
        click_touched = rollup.click_touched + excluded.click_touched,
        bounced = rollup.bounced + excluded.bounced,
        complained = rollup.complained + excluded.complained,
        failed = rollup.failed + excluded.failed;
    return null;
end $$;

CREATE FUNCTION public.count_customers() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if tg_op = 'INSERT' then
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers,
               pg_backend_pid() % 8, count(*)
        from new_rows group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    elsif tg_op = 'DELETE' then
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers,
               pg_backend_pid() % 8, -count(*)
        from old_rows group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    else
        insert into customer_facets as facet (project_id, verified, mfa, providers, slot, number)
        select project_id, verified, mfa, providers, pg_backend_pid() % 8, sum(delta)
        from (
            select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers, 1 from new_rows
            union all
            select project_id, email_verified_at is not null, mfa_enabled_at is not null, providers, -1 from old_rows
        ) as change (project_id, verified, mfa, providers, delta)
        group by 1, 2, 3, 4 having sum(delta) <> 0 order by 1, 2, 3, 4
        on conflict (project_id, verified, mfa, providers, slot) do update set number = facet.number + excluded.number;
    end if;
    return null;
end
$$;

CREATE FUNCTION public.count_deleted_inbound_messages() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update inbound_usage as usage set messages = usage.messages - d.messages, octets = usage.octets - d.octets
    from (select project_id, count(*) as messages, sum(size) as octets from old_rows group by project_id) as d
    where usage.project_id = d.project_id;
    return null;
end $$;

CREATE FUNCTION public.count_email_usage() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into email_usage as usage (project_id, month, slot, emails)
    select project_id, date_trunc('month', created_at at time zone 'UTC')::date, pg_backend_pid() % 16, count(*)
    from new_rows where not test group by 1, 2 order by 1, 2
    on conflict (project_id, month, slot) do update set emails = usage.emails + excluded.emails;
    return null;
end $$;

CREATE FUNCTION public.count_gone_sends() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select project_id, coalesce(campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(variant_id, '00000000-0000-0000-0000-000000000000'), status, pg_backend_pid() % 16, -count(*)
    from old_rows group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count;
    return null;
end $$;

CREATE FUNCTION public.count_inserted_inbound_messages() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into inbound_usage as usage (project_id, messages, octets)
    select project_id, count(*), sum(size) from new_rows group by project_id order by project_id
    on conflict (project_id) do update
        set messages = usage.messages + excluded.messages, octets = usage.octets + excluded.octets;
    return null;
end $$;

CREATE FUNCTION public.count_new_sends() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into send_counters as counter (project_id, campaign_id, variant_id, measure, slot, count)
    select project_id, coalesce(campaign_id, '00000000-0000-0000-0000-000000000000'),
           coalesce(variant_id, '00000000-0000-0000-0000-000000000000'), status, pg_backend_pid() % 16, count(*)
    from new_rows group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, variant_id, measure, slot)
    do update set count = counter.count + excluded.count;
    return null;
end $$;

CREATE FUNCTION public.delete_content_object() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update content_objects as o
    set state = 'DELETED', attempt = o.attempt + 1,
        due_at = case when o.state = 'STORED' then now() else now() + interval '15 minutes' end
    where (o.project_id, o.id) = (old.project_id, old.send_id) and o.state <> 'DELETED';
    return null;
end $$;

CREATE FUNCTION public.delete_received_object() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update content_objects as o
    set state = 'DELETED', attempt = o.attempt + 1,
        due_at = case when o.state = 'STORED' then now() else now() + interval '15 minutes' end
    where (o.project_id, o.id) = (old.project_id, old.id) and o.state <> 'DELETED';
    return null;
end $$;

CREATE FUNCTION public.end_runs_of_deleted_contact() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    with ended as (
        update automation_runs set status = 'CANCELLED', due_at = null, waiting_for = null, calls = false,
            entered_at = null, attempt = attempt + 1, error = 'The contact was deleted.', finished_at = now()
        where project_id = old.project_id and contact_id = old.id and status in ('RUNNING', 'WAITING')
        returning project_id, automation_id
    )
    insert into automation_counters as counter (project_id, automation_id, measure, slot, count)
    select project_id, automation_id, 'CANCELLED', 0, count(*) from ended group by 1, 2
    on conflict (project_id, automation_id, measure, slot) do update set count = counter.count + excluded.count;
    return null;
end $$;

CREATE FUNCTION public.id_after(first uuid, number bigint) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    select encode(substring(uuid_send(first) from 1 for 12) || substring(int8send(number) from 5 for 4), 'hex')::uuid
$$;

CREATE FUNCTION public.keep_campaign_leavers() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into campaign_leavers (project_id, campaign_id, contact_id)
    select gone.project_id, campaign.id, gone.contact_id
    from old_rows gone join campaigns campaign
        on (campaign.project_id, campaign.audience_id) = (gone.project_id, gone.audience_id)
    where campaign.status in ('TESTING', 'SENDING', 'PAUSED') and gone.joined_at <= campaign.started_at
      and not (campaign.filled and coalesce(campaign.paused_from, campaign.status) = 'SENDING')
    on conflict do nothing;
    return null;
end $$;

CREATE FUNCTION public.keep_template_of_variant() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
    used bigint;
begin
    perform from campaigns c where (c.project_id, c.id) = (new.project_id, new.campaign_id) and c.status = 'SCHEDULED';
    get diagnostics used = row_count;
    if used > 0 then
        raise check_violation using constraint = 'used_by_a_campaign', message = 'A scheduled campaign uses it.';
    end if;
    return new;
end $$;

CREATE FUNCTION public.mark_test_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.test := true;
    return new;
end
$$;

CREATE FUNCTION public.new_send_id() RETURNS uuid
    LANGUAGE sql PARALLEL SAFE
    AS $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
        substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        52, 1), 53, 1), 'hex')::uuid
$$;

CREATE FUNCTION public.place_table(new_table regclass, tenant_column text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    beside regclass;
begin
    if to_regclass('pg_catalog.pg_dist_partition') is null then
        return;
    end if;
    execute 'select min(logicalrelid::oid)::regclass from pg_catalog.pg_dist_partition where partmethod = ''h'''
        into beside;
    if beside is null then
        return;
    end if;
    execute format('set local citus.multi_shard_modify_mode = sequential; '
                   'set local citus.enable_unsafe_triggers = on; '
                   'select create_distributed_table(%L::regclass, %L, colocate_with => %L)',
                   new_table, tenant_column, beside);
end $$;

CREATE FUNCTION public.replaced_suppression(reason text, source text, detail text, send_id uuid, since timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
    return jsonb_build_object('reason', reason, 'source', source, 'detail', detail, 'sendId', send_id,
                              'since', to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
end $$;

CREATE FUNCTION public.roll_up_contacts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if tg_op = 'INSERT' then
        insert into contact_rollups as rollup (project_id, day, measure, slot, count)
        select project_id, (created_at at time zone 'UTC')::date, m.measure, pg_backend_pid() % 16, sum(m.step)
        from new_rows cross join lateral (values ('total', 1), ('unsubscribed', unsubscribed::int)) as m (measure, step)
        where m.step <> 0 group by 1, 2, 3 order by 1, 2, 3
        on conflict (project_id, day, measure, slot) do update set count = rollup.count + excluded.count;
    elsif tg_op = 'DELETE' then
        insert into contact_rollups as rollup (project_id, day, measure, slot, count)
        select project_id, (created_at at time zone 'UTC')::date, m.measure, pg_backend_pid() % 16, -sum(m.step)
        from old_rows cross join lateral (values ('total', 1), ('unsubscribed', unsubscribed::int)) as m (measure, step)
        where m.step <> 0 group by 1, 2, 3 order by 1, 2, 3
        on conflict (project_id, day, measure, slot) do update set count = rollup.count + excluded.count;
    else
        insert into contact_rollups as rollup (project_id, day, measure, slot, count)
        select n.project_id, (n.created_at at time zone 'UTC')::date, 'unsubscribed', pg_backend_pid() % 16,
               sum(n.unsubscribed::int - o.unsubscribed::int)
        from old_rows o join new_rows n using (project_id, id)
        where o.unsubscribed <> n.unsubscribed group by 1, 2 order by 1, 2
        on conflict (project_id, day, measure, slot) do update set count = rollup.count + excluded.count;
    end if;
    return null;
end $$;

CREATE FUNCTION public.roll_up_new_sends() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into send_rollups as rollup (project_id, campaign_id, bucket, domain_id, slot, accepted)
    select c.project_id, place.campaign_id, place.bucket, c.domain_id, pg_backend_pid() % 16, sum(c.accepted)
    from (select project_id, campaign_id, coalesce(domain_id, '00000000-0000-0000-0000-000000000000'::uuid) as domain_id,
                 date_bin('15 minutes', created_at, 'epoch') as bucket, count(*) as accepted
          from new_rows where not test and not coalesce('campaign-test' = any (tags), false)
          group by 1, 2, 3, 4
    ) as c
    cross join lateral (values
        ('00000000-0000-0000-0000-000000000000'::uuid, timestamptz '-infinity'),
        ('00000000-0000-0000-0000-000000000000'::uuid, c.bucket),
        (c.campaign_id, c.bucket)
    ) as place (campaign_id, bucket)
    where place.campaign_id is not null
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, bucket, domain_id, slot)
    do update set accepted = rollup.accepted + excluded.accepted;
    return null;
end $$;

CREATE TABLE public.access_permissions (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    key text NOT NULL,
    description text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT access_permissions_key_check CHECK ((length(key) <= 128))
);

CREATE TABLE public.access_roles (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    description text,
    scope text NOT NULL,
    applies_to_all_organizations boolean DEFAULT false NOT NULL,
    permissions text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT access_roles_key_check CHECK ((upper(key) <> ALL (ARRAY['OWNER'::text, 'ADMIN'::text, 'MEMBER'::text]))),
    CONSTRAINT access_roles_scope_check CHECK ((scope = ANY (ARRAY['PROJECT'::text, 'ORGANIZATION'::text])))
);

CREATE TABLE public.account_invitations (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash bytea NOT NULL,
    invited_by text NOT NULL,
    inviter_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT account_invitations_role_check CHECK ((role = ANY (ARRAY['ADMIN'::text, 'DEVELOPER'::text, 'VIEWER'::text])))
);

CREATE TABLE public.account_mails (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    sealed bytea NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.accounts (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    unproven boolean DEFAULT false NOT NULL,
    CONSTRAINT accounts_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE TABLE public.acme_accounts (
    id uuid NOT NULL,
    directory text NOT NULL,
    private_key bytea NOT NULL,
    url text,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.api_keys (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    environment text NOT NULL,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    last_four text NOT NULL,
    permissions text[],
    ip_allow_list text[],
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_by uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT api_keys_environment_check CHECK ((environment = ANY (ARRAY['LIVE'::text, 'TEST'::text]))),
    CONSTRAINT api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT api_keys_type_check CHECK ((type = ANY (ARRAY['SECRET'::text, 'PUBLISHABLE'::text])))
);

CREATE TABLE public.assets (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    token text NOT NULL,
    name text NOT NULL,
    content_type text NOT NULL,
    size integer NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    sha256 bytea NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT assets_content_type_check CHECK ((content_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/gif'::text, 'image/webp'::text])))
);
ALTER TABLE ONLY public.assets ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE public.audience_members (
    project_id uuid NOT NULL,
    audience_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    joined_at timestamp with time zone NOT NULL
);

CREATE TABLE public.audiences (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    rules jsonb,
    rules_id uuid,
    level integer DEFAULT 0 NOT NULL,
    depends_on uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    watches_engagement boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT audiences_check CHECK (((type = 'DYNAMIC'::text) = (rules IS NOT NULL))),
    CONSTRAINT audiences_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT audiences_type_check CHECK ((type = ANY (ARRAY['STATIC'::text, 'DYNAMIC'::text])))
);

CREATE TABLE public.audit_heads (
    chain_id uuid NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE public.audit_log (
    chain_id uuid NOT NULL,
    seq bigint NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    actor_type text NOT NULL,
    actor_id uuid,
    actor_email text,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    ip_address text,
    salt bytea NOT NULL,
    details_digest bytea NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.automation_counters (
    project_id uuid NOT NULL,
    automation_id uuid NOT NULL,
    measure text NOT NULL,
    slot smallint NOT NULL,
    count bigint NOT NULL
);

CREATE TABLE public.automation_run_steps (
    project_id uuid NOT NULL,
    run_id uuid NOT NULL,
    step integer NOT NULL,
    type text NOT NULL,
    outcome text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL
);

CREATE TABLE public.automation_runs (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    automation_id uuid NOT NULL,
    version integer NOT NULL,
    contact_id uuid NOT NULL,
    once boolean NOT NULL,
    trigger_event_id uuid NOT NULL,
    status text DEFAULT 'RUNNING'::text NOT NULL,
    current_step integer DEFAULT 0 NOT NULL,
    entered_at timestamp with time zone,
    waiting_for text,
    event_id uuid,
    calls boolean DEFAULT false NOT NULL,
    tried integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    error text,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    test boolean DEFAULT false NOT NULL,
    CONSTRAINT automation_runs_check CHECK (((status = ANY (ARRAY['RUNNING'::text, 'WAITING'::text])) = (due_at IS NOT NULL))),
    CONSTRAINT automation_runs_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'WAITING'::text, 'COMPLETED'::text, 'EXITED'::text, 'FAILED'::text, 'CANCELLED'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.automation_versions (
    project_id uuid NOT NULL,
    automation_id uuid NOT NULL,
    version integer NOT NULL,
    steps jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.automations (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    trigger jsonb NOT NULL,
    steps jsonb NOT NULL,
    active boolean DEFAULT false NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    starts_on text NOT NULL,
    starts_on_audience uuid,
    once boolean NOT NULL,
    waits_for text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    max_runs_per_hour integer DEFAULT 1 NOT NULL,
    allow_loops boolean DEFAULT false NOT NULL,
    CONSTRAINT automations_max_runs_per_hour_check CHECK (((max_runs_per_hour >= 1) AND (max_runs_per_hour <= 1000))),
    CONSTRAINT automations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE TABLE public.billing_accounts (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    provider text NOT NULL,
    plan text DEFAULT 'free'::text NOT NULL,
    billing_cycle text,
    status text DEFAULT 'none'::text NOT NULL,
    current_period_end timestamp with time zone,
    b2b_enhanced boolean DEFAULT false NOT NULL,
    customer_ref text,
    closing boolean DEFAULT false NOT NULL,
    version integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT billing_accounts_billing_cycle_check CHECK ((billing_cycle = ANY (ARRAY['monthly'::text, 'yearly'::text]))),
    CONSTRAINT billing_accounts_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text]))),
    CONSTRAINT billing_accounts_status_check CHECK ((status = ANY (ARRAY['none'::text, 'active'::text, 'past_due'::text, 'cancelled'::text])))
);

CREATE TABLE public.billing_events (
    id text NOT NULL,
    type text NOT NULL,
    received_at timestamp with time zone NOT NULL
);

CREATE TABLE public.blocklist_entries (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    id uuid NOT NULL,
    list_name text NOT NULL,
    subject_value text NOT NULL,
    listed boolean DEFAULT false NOT NULL,
    status text DEFAULT 'UNKNOWN'::text NOT NULL,
    codes text[] DEFAULT '{}'::text[] NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    first_listed_at timestamp with time zone,
    last_checked_at timestamp with time zone,
    CONSTRAINT blocklist_entries_check CHECK ((listed = (first_listed_at IS NOT NULL))),
    CONSTRAINT blocklist_entries_status_check CHECK ((status = ANY (ARRAY['LISTED'::text, 'CLEAR'::text, 'UNKNOWN'::text])))
);

CREATE TABLE public.blocklist_watches (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.campaign_leavers (
    project_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    contact_id uuid NOT NULL
);

CREATE TABLE public.campaign_samples (
    project_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    variant_id uuid NOT NULL
);

CREATE TABLE public.campaign_variants (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    subject text,
    template_id uuid,
    weight integer NOT NULL,
    is_winner boolean DEFAULT false NOT NULL,
    content_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT campaign_variants_weight_check CHECK (((weight >= 1) AND (weight <= 100)))
);

CREATE TABLE public.campaigns (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    subject text,
    from_name text,
    from_email text,
    preview_text text,
    status text NOT NULL,
    scheduled_at timestamp with time zone,
    sent_at timestamp with time zone,
    template_id uuid,
    domain_id uuid,
    audience_id uuid,
    ab_test_enabled boolean DEFAULT false NOT NULL,
    ab_test_sample_percent integer,
    ab_test_metric text,
    ab_test_duration_minutes integer,
    ab_test_started_at timestamp with time zone,
    evidence jsonb,
    started_at timestamp with time zone,
    paused_from text,
    releasing boolean DEFAULT false NOT NULL,
    is_test boolean DEFAULT false NOT NULL,
    content_id uuid,
    cursor uuid,
    filled boolean DEFAULT false NOT NULL,
    expected bigint DEFAULT 0 NOT NULL,
    seen bigint DEFAULT 0 NOT NULL,
    skipped_unsubscribed bigint DEFAULT 0 NOT NULL,
    skipped_suppressed bigint DEFAULT 0 NOT NULL,
    reason text,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    skipped_frequency_cap bigint DEFAULT 0 NOT NULL,
    ab_test_sample_size integer,
    paused_at timestamp with time zone,
    ab_test_paused interval DEFAULT '00:00:00'::interval NOT NULL,
    CONSTRAINT campaigns_ab_test_duration_minutes_check CHECK (((ab_test_duration_minutes >= 15) AND (ab_test_duration_minutes <= 10080))),
    CONSTRAINT campaigns_ab_test_metric_check CHECK ((ab_test_metric = ANY (ARRAY['OPEN_RATE'::text, 'CLICK_RATE'::text]))),
    CONSTRAINT campaigns_ab_test_sample_percent_check CHECK (((ab_test_sample_percent >= 5) AND (ab_test_sample_percent <= 100))),
    CONSTRAINT campaigns_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT campaigns_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'SCHEDULED'::text, 'TESTING'::text, 'SENDING'::text, 'PAUSED'::text, 'SENT'::text, 'CANCELLED'::text, 'FAILED'::text]))),
    CONSTRAINT used_by_a_campaign CHECK ((((status <> 'SCHEDULED'::text) OR (((template_id IS NOT NULL) OR ab_test_enabled) AND (domain_id IS NOT NULL))) AND ((status <> ALL (ARRAY['SCHEDULED'::text, 'TESTING'::text, 'SENDING'::text, 'PAUSED'::text])) OR (audience_id IS NOT NULL))))
);

CREATE TABLE public.captured_messages (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    send_id uuid NOT NULL,
    mail_from text NOT NULL,
    recipients text[] NOT NULL,
    sender text NOT NULL,
    subject text NOT NULL,
    size integer NOT NULL,
    message bytea NOT NULL,
    captured_at timestamp with time zone NOT NULL,
    sealed bytea
);

CREATE TABLE public.certificate_orders (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    registered_domain text NOT NULL,
    ordered_at timestamp with time zone NOT NULL,
    counted_for uuid
);

CREATE TABLE public.certificates (
    account_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    order_url text,
    order_key bytea,
    token text,
    answer text,
    private_key bytea,
    chain text,
    issued_at timestamp with time zone,
    expires_at timestamp with time zone,
    renew_at timestamp with time zone,
    problem text,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    reported_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    counted_for uuid,
    CONSTRAINT certificates_check CHECK (((order_url IS NULL) = (order_key IS NULL))),
    CONSTRAINT certificates_check1 CHECK (((token IS NULL) = (answer IS NULL))),
    CONSTRAINT certificates_check2 CHECK ((((chain IS NULL) = (private_key IS NULL)) AND ((chain IS NULL) = (issued_at IS NULL)) AND ((chain IS NULL) = (expires_at IS NULL)) AND ((chain IS NULL) = (renew_at IS NULL)))),
    CONSTRAINT certificates_name_check CHECK (((length(name) <= 253) AND (name = lower(name))))
);

CREATE TABLE public.challenges (
    project_id uuid CONSTRAINT customer_challenges_project_id_not_null NOT NULL,
    id uuid CONSTRAINT customer_challenges_id_not_null NOT NULL,
    purpose text CONSTRAINT customer_challenges_purpose_not_null NOT NULL,
    subject_id uuid,
    identifier bytea,
    secret_hash bytea CONSTRAINT customer_challenges_secret_hash_not_null NOT NULL,
    tries integer DEFAULT 0 CONSTRAINT customer_challenges_tries_not_null NOT NULL,
    data bytea CONSTRAINT customer_challenges_data_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT customer_challenges_expires_at_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT customer_challenges_created_at_not_null NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 CONSTRAINT customer_challenges_attempt_not_null NOT NULL,
    developer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id = '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED
);

CREATE TABLE public.contact_attributes (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    inferred boolean NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT contact_attributes_description_check CHECK ((length(description) <= 500)),
    CONSTRAINT contact_attributes_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT contact_attributes_type_check CHECK ((type = ANY (ARRAY['string'::text, 'number'::text, 'boolean'::text, 'date'::text, 'list'::text])))
);

CREATE TABLE public.contact_import_pieces (
    project_id uuid NOT NULL,
    import_id uuid NOT NULL,
    starts_at bigint NOT NULL,
    data bytea NOT NULL
);
ALTER TABLE ONLY public.contact_import_pieces ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE public.contact_imports (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    mode text NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    line bigint DEFAULT 1 NOT NULL,
    rows bigint DEFAULT 0 NOT NULL,
    created bigint DEFAULT 0 NOT NULL,
    updated bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    errors jsonb DEFAULT '[]'::jsonb NOT NULL,
    actor_type text NOT NULL,
    actor_id uuid,
    actor_label text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    charset text,
    charset_from text,
    delimiter text,
    columns jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT contact_imports_charset_from_check CHECK ((charset_from = ANY (ARRAY['BOM'::text, 'DECLARED'::text, 'DETECTED'::text]))),
    CONSTRAINT contact_imports_mode_check CHECK ((mode = ANY (ARRAY['upsert'::text, 'skip'::text]))),
    CONSTRAINT contact_imports_status_check CHECK ((status = ANY (ARRAY['UPLOADING'::text, 'PENDING'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text])))
);

CREATE TABLE public.contact_rollups (
    project_id uuid NOT NULL,
    day date NOT NULL,
    measure text NOT NULL,
    slot smallint NOT NULL,
    count bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.contacts (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    unsubscribed boolean DEFAULT false NOT NULL,
    unsubscribed_at timestamp with time zone,
    last_opened_at timestamp with time zone,
    last_clicked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT contacts_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text))
);

CREATE TABLE public.content_objects (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    state text DEFAULT 'WAITING'::text NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    kind text DEFAULT 'emails'::text NOT NULL,
    CONSTRAINT content_objects_state_check CHECK ((state = ANY (ARRAY['WAITING'::text, 'STORED'::text, 'DELETED'::text])))
);

CREATE TABLE public.content_state (
    id smallint NOT NULL,
    scanned_until timestamp with time zone,
    marked_at timestamp with time zone
);

CREATE TABLE public.contents (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    body jsonb NOT NULL,
    state text DEFAULT 'GOING'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT contents_state_check CHECK ((state = ANY (ARRAY['GOING'::text, 'HELD'::text, 'STOPPED'::text])))
);

CREATE TABLE public.customer_facets (
    project_id uuid NOT NULL,
    verified boolean NOT NULL,
    mfa boolean NOT NULL,
    providers text[] NOT NULL,
    slot integer NOT NULL,
    number bigint NOT NULL
);

CREATE TABLE public.customer_former_addresses (
    project_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL
);

CREATE TABLE public.customer_identities (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    provider text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    email_key text,
    account_name text
);

CREATE TABLE public.customer_identity_requests (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    provider text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    connection_id uuid,
    email text,
    name text,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT customer_identity_requests_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'APPROVED'::text, 'REJECTED'::text])))
);

CREATE TABLE public.customer_mail_versions (
    project_id uuid NOT NULL,
    mail text NOT NULL,
    language text NOT NULL,
    version integer NOT NULL,
    content jsonb,
    created_by text,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.customer_mails (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid,
    sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.customer_merges (
    project_id uuid NOT NULL,
    merged_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    merged_at timestamp with time zone NOT NULL
);

CREATE TABLE public.customer_other_addresses (
    project_id uuid NOT NULL,
    email_key text NOT NULL,
    customer_id uuid NOT NULL,
    email text NOT NULL,
    identifier bytea NOT NULL,
    verified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.customer_providers (
    project_id uuid NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    issuer text NOT NULL,
    client_id text NOT NULL,
    client_secret bytea,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.customer_rsa_keys (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    public_key bytea NOT NULL,
    private_key bytea NOT NULL,
    active_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.customer_signing_keys (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    public_key bytea NOT NULL,
    private_key bytea NOT NULL,
    active_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.customers (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    external_id text,
    email text,
    email_key text,
    identifier bytea,
    email_verified_at timestamp with time zone,
    phone text,
    phone_verified_at timestamp with time zone,
    name text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    providers text[] DEFAULT '{}'::text[] NOT NULL,
    password_hash text,
    password_changed_at timestamp with time zone,
    last_sign_in_at timestamp with time zone,
    banned_at timestamp with time zone,
    ban_reason text,
    ban_expires_at timestamp with time zone,
    mfa_enabled_at timestamp with time zone,
    contact_id uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    search text GENERATED ALWAYS AS (lower(((((((COALESCE(email, ''::text) || ' '::text) || COALESCE(name, ''::text)) || ' '::text) || COALESCE(phone, ''::text)) || ' '::text) || COALESCE(external_id, ''::text)))) STORED NOT NULL,
    language text,
    CONSTRAINT customers_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 255)))
)
WITH (fillfactor='90');

CREATE TABLE public.deletions (
    target_id uuid NOT NULL,
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    swept_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT deletions_kind_check CHECK ((kind = ANY (ARRAY['PROJECT'::text, 'ACCOUNT'::text])))
);

CREATE TABLE public.developers (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    role text NOT NULL,
    password_hash text NOT NULL,
    email_verified_at timestamp with time zone,
    mfa_enabled_at timestamp with time zone,
    joined_at timestamp with time zone NOT NULL,
    last_sign_in_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT developers_role_check CHECK ((role = ANY (ARRAY['OWNER'::text, 'ADMIN'::text, 'DEVELOPER'::text, 'VIEWER'::text])))
);

CREATE TABLE public.directory_connections (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    default_roles text[] NOT NULL,
    group_roles jsonb DEFAULT '{}'::jsonb NOT NULL,
    allow_other_domains boolean DEFAULT false NOT NULL,
    last_synced_at timestamp with time zone,
    stored_user_count integer DEFAULT 0 NOT NULL,
    created_count integer DEFAULT 0 NOT NULL,
    roles_through uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT directory_connections_default_roles_check CHECK ((default_roles <> '{}'::text[])),
    CONSTRAINT directory_connections_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT directory_connections_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text, 'DELETED'::text])))
);

CREATE TABLE public.directory_errors (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status integer NOT NULL,
    scim_type text,
    detail text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.directory_group_members (
    project_id uuid NOT NULL,
    group_id uuid NOT NULL,
    user_id uuid NOT NULL,
    added_at timestamp with time zone NOT NULL
);

CREATE TABLE public.directory_groups (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    external_id text,
    display_name text NOT NULL,
    display_name_key text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.directory_tokens (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone
);

CREATE TABLE public.directory_users (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    external_id text,
    user_name text NOT NULL,
    user_name_key text NOT NULL,
    display_name text,
    active boolean NOT NULL,
    email_keys text[] NOT NULL,
    attributes jsonb NOT NULL,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.dmarc_reports (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    organization text NOT NULL,
    report_id text NOT NULL,
    email text NOT NULL,
    begins timestamp with time zone NOT NULL,
    ends timestamp with time zone NOT NULL,
    policy_domain text NOT NULL,
    policy text NOT NULL,
    messages bigint NOT NULL,
    received_at timestamp with time zone NOT NULL,
    counted boolean DEFAULT true NOT NULL,
    reporter text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.dmarc_sources (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    day date NOT NULL,
    source_ip inet NOT NULL,
    header_from text NOT NULL,
    organization text NOT NULL,
    disposition text NOT NULL,
    dkim boolean NOT NULL,
    spf boolean NOT NULL,
    messages bigint NOT NULL,
    reporter text DEFAULT ''::text NOT NULL,
    CONSTRAINT dmarc_sources_disposition_check CHECK ((disposition = ANY (ARRAY['NONE'::text, 'QUARANTINE'::text, 'REJECT'::text])))
);

CREATE TABLE public.domain_keys (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    selector text NOT NULL,
    private_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.domain_reputations (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    state text DEFAULT 'HEALTHY'::text NOT NULL,
    since timestamp with time zone NOT NULL,
    reason text,
    held_until timestamp with time zone,
    releasing timestamp with time zone,
    counted_from timestamp with time zone,
    uncounted_messages bigint DEFAULT 0 NOT NULL,
    uncounted_bounced bigint DEFAULT 0 NOT NULL,
    uncounted_complained bigint DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT domain_reputations_check CHECK (((state = 'HELD'::text) = (held_until IS NOT NULL))),
    CONSTRAINT domain_reputations_state_check CHECK ((state = ANY (ARRAY['HEALTHY'::text, 'WARNING'::text, 'HELD'::text])))
);

CREATE TABLE public.domain_warm_ups (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    starts_on date NOT NULL,
    steps integer[] NOT NULL,
    step integer DEFAULT 0 NOT NULL,
    day date NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    repeated integer DEFAULT 0 NOT NULL,
    ended_at timestamp with time zone,
    releasing timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT domain_warm_ups_check CHECK (((step >= 0) AND (step < cardinality(steps)))),
    CONSTRAINT domain_warm_ups_check1 CHECK (((status = ANY (ARRAY['COMPLETED'::text, 'CANCELLED'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT domain_warm_ups_status_check CHECK ((status = ANY (ARRAY['SCHEDULED'::text, 'ACTIVE'::text, 'COMPLETED'::text, 'CANCELLED'::text])))
);

CREATE TABLE public.domains (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    domain text NOT NULL,
    status text NOT NULL,
    keys jsonb NOT NULL,
    checks jsonb DEFAULT '[]'::jsonb NOT NULL,
    spf_verified boolean DEFAULT false NOT NULL,
    dkim_verified boolean DEFAULT false NOT NULL,
    ed25519_verified boolean DEFAULT false NOT NULL,
    return_path_verified boolean DEFAULT false NOT NULL,
    tracking_verified boolean DEFAULT false NOT NULL,
    dmarc_verified boolean DEFAULT false NOT NULL,
    verified_at timestamp with time zone,
    watched_since timestamp with time zone NOT NULL,
    failing_since timestamp with time zone,
    last_checked_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    findings jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT domains_check CHECK (((verified_at IS NOT NULL) OR (status = ANY (ARRAY['PENDING'::text, 'FAILED'::text])))),
    CONSTRAINT domains_domain_check CHECK (((length(domain) >= 3) AND (length(domain) <= 253) AND (domain = lower(domain)))),
    CONSTRAINT domains_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text, 'DEGRADED'::text, 'FAILED'::text])))
);

CREATE TABLE public.email_usage (
    project_id uuid NOT NULL,
    month date NOT NULL,
    slot smallint NOT NULL,
    emails bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01');

CREATE TABLE public.entitlement_overrides (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    feature_id uuid NOT NULL,
    enabled boolean NOT NULL,
    max_amount bigint,
    reason text,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT entitlement_overrides_max_amount_check CHECK ((max_amount >= 0))
);

CREATE TABLE public.entitlement_versions (
    project_id uuid NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE public.event_keys (
    project_id uuid NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    event_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.events (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    subject_id uuid,
    actor_type text NOT NULL,
    actor_id uuid,
    actor_label text,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    erased_at timestamp with time zone,
    test boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY public.events ALTER COLUMN actor_label SET STATISTICS 0;
ALTER TABLE ONLY public.events ALTER COLUMN data SET STATISTICS 0;

CREATE TABLE public.features (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    default_enabled boolean DEFAULT false NOT NULL,
    default_limit bigint,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT features_check CHECK (((type = 'LIMIT'::text) OR (default_limit IS NULL))),
    CONSTRAINT features_default_limit_check CHECK ((default_limit >= 0)),
    CONSTRAINT features_key_check CHECK ((length(key) <= 64)),
    CONSTRAINT features_type_check CHECK ((type = ANY (ARRAY['BOOLEAN'::text, 'LIMIT'::text])))
);

CREATE TABLE public.former_contacts (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    digest bytea NOT NULL
);

CREATE TABLE public.idempotency_keys (
    project_id uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    send_ids uuid[] NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    status smallint,
    response jsonb,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.inbound_messages (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    source text NOT NULL,
    sender text NOT NULL,
    recipients jsonb NOT NULL,
    addresses text[] NOT NULL,
    client_ip text,
    client_name text,
    from_name text NOT NULL,
    from_email text NOT NULL,
    to_addresses jsonb NOT NULL,
    subject text NOT NULL,
    message_id text,
    send_id uuid,
    size integer NOT NULL,
    attachments integer NOT NULL,
    automatic boolean NOT NULL,
    authentication jsonb NOT NULL,
    hints jsonb NOT NULL,
    fingerprint bytea NOT NULL,
    message bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    object_octets integer,
    CONSTRAINT inbound_messages_source_check CHECK ((source = ANY (ARRAY['smtp'::text, 'api'::text])))
);

CREATE TABLE public.inbound_routes (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    name text NOT NULL,
    domain text NOT NULL,
    local_part text,
    active boolean NOT NULL,
    mx_status text NOT NULL,
    mx_found text[] NOT NULL,
    mx_reason text,
    mx_checked_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT inbound_routes_mx_status_check CHECK ((mx_status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text, 'WRONG'::text, 'UNKNOWN'::text])))
);

CREATE TABLE public.inbound_usage (
    project_id uuid NOT NULL,
    messages bigint NOT NULL,
    octets bigint NOT NULL
);

CREATE TABLE public.instance (
    only_one boolean DEFAULT true NOT NULL,
    key_check bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    backed_up_at timestamp with time zone,
    CONSTRAINT instance_only_one_check CHECK (only_one)
);

CREATE TABLE public.invitations (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    role text NOT NULL,
    status text NOT NULL,
    accept_url text,
    invited_by uuid,
    accepted_by uuid,
    generation integer DEFAULT 1 NOT NULL,
    mailed integer DEFAULT 0 NOT NULL,
    mailed_at timestamp with time zone,
    mail_problem text,
    life interval NOT NULL,
    sent_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT invitations_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'ACCEPTED'::text, 'REVOKED'::text, 'EXPIRED'::text])))
);

CREATE TABLE public.mail_rates (
    project_id uuid NOT NULL,
    name text NOT NULL,
    next_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01');

CREATE TABLE public.mail_site_shares (
    project_id uuid NOT NULL,
    name text NOT NULL,
    process_id uuid NOT NULL,
    connections integer NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.mail_sites (
    project_id uuid NOT NULL,
    name text NOT NULL,
    transport text NOT NULL,
    provider text,
    hosts text[] NOT NULL,
    factor double precision DEFAULT 1 NOT NULL,
    strikes integer DEFAULT 0 NOT NULL,
    slowed_at timestamp with time zone,
    recovered_at timestamp with time zone,
    throttled_until timestamp with time zone,
    last_reply text,
    last_reply_at timestamp with time zone,
    suspended_at timestamp with time zone,
    suspended_until timestamp with time zone,
    suspension_reason text,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT mail_sites_factor_check CHECK (((factor > (0)::double precision) AND (factor <= (1)::double precision))),
    CONSTRAINT mail_sites_name_check CHECK (((length(name) >= 1) AND (length(name) <= 300))),
    CONSTRAINT mail_sites_transport_check CHECK ((transport = ANY (ARRAY['direct'::text, 'relay'::text, 'ses'::text])))
);

CREATE TABLE public.migration_progress (
    number integer NOT NULL,
    key jsonb,
    rows_done bigint DEFAULT 0 NOT NULL,
    rows_total bigint NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone
);

CREATE TABLE public.mta_sts_policies (
    domain text NOT NULL,
    policy_id text NOT NULL,
    mode text NOT NULL,
    mx text[] NOT NULL,
    max_age integer NOT NULL,
    fetched_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT mta_sts_policies_domain_check CHECK ((length(domain) <= 253)),
    CONSTRAINT mta_sts_policies_mode_check CHECK ((mode = ANY (ARRAY['enforce'::text, 'testing'::text, 'none'::text])))
);

CREATE TABLE public.oauth_clients (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    environment text NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    first_party boolean NOT NULL,
    secret_hash bytea,
    secret_last_four text,
    previous_secret_hash bytea,
    previous_secret_expires_at timestamp with time zone,
    redirect_uris text[] NOT NULL,
    post_logout_redirect_uris text[] NOT NULL,
    grant_types text[] NOT NULL,
    scopes text[] NOT NULL,
    website_url text,
    privacy_url text,
    terms_url text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    backchannel_logout_uri text,
    self_registered boolean DEFAULT false NOT NULL,
    require_dpop boolean DEFAULT false NOT NULL,
    jwks jsonb,
    jwks_uri text,
    security_profile text DEFAULT 'STANDARD'::text NOT NULL,
    metadata_url text,
    metadata_expires_at timestamp with time zone,
    id_token_signing_alg text DEFAULT 'ES256'::text NOT NULL
);

CREATE TABLE public.oauth_consents (
    project_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    client_id uuid NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    resource_scopes jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE public.oauth_devices (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    scopes text[] NOT NULL,
    user_code text NOT NULL,
    code_hash bytea NOT NULL,
    interval_seconds integer NOT NULL,
    polled_at timestamp with time zone,
    denied_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    resource text
);

CREATE TABLE public.oauth_grants (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    session_id uuid NOT NULL,
    scopes text[] NOT NULL,
    redirect_uri text NOT NULL,
    nonce text,
    code_hash bytea NOT NULL,
    code_challenge text NOT NULL,
    code_expires_at timestamp with time zone NOT NULL,
    code_used_at timestamp with time zone,
    generation integer DEFAULT 0 NOT NULL,
    rotated_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    resource text,
    dpop_jkt text,
    acr_values text[] DEFAULT '{}'::text[] NOT NULL
);

CREATE TABLE public.oauth_logouts (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    session_id uuid NOT NULL,
    tried integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.oauth_registrations (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.oauth_resources (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    environment text NOT NULL,
    identifier text NOT NULL,
    name text NOT NULL,
    scopes text[] NOT NULL,
    introspection_client_id uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.oauth_used_jwts (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.organization_domains (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    domain text NOT NULL,
    status text NOT NULL,
    token text NOT NULL,
    auto_join_enabled boolean DEFAULT false NOT NULL,
    verified_at timestamp with time zone,
    last_checked_at timestamp with time zone,
    reason text,
    watched_since timestamp with time zone NOT NULL,
    missing_since timestamp with time zone,
    misses integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT organization_domains_check CHECK (((NOT auto_join_enabled) OR (status = 'VERIFIED'::text))),
    CONSTRAINT organization_domains_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text, 'FAILED'::text, 'LAPSED'::text])))
);

CREATE TABLE public.organization_members (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    roles text[] NOT NULL,
    source text NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT organization_members_roles_check CHECK ((roles <> '{}'::text[])),
    CONSTRAINT organization_members_source_check CHECK ((source = ANY (ARRAY['API'::text, 'INVITATION'::text, 'DOMAIN'::text, 'SSO'::text, 'SCIM'::text])))
);

CREATE TABLE public.organization_plans (
    project_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    since timestamp with time zone NOT NULL
);

CREATE TABLE public.organization_removals (
    project_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    removed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.organizations (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    external_id text,
    status text DEFAULT 'ACTIVE'::text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    require_sso boolean DEFAULT false NOT NULL,
    require_mfa boolean DEFAULT false NOT NULL,
    entitlements_version bigint DEFAULT 0 NOT NULL,
    allowed_methods text[],
    session_lifetime_minutes integer,
    session_idle_minutes integer,
    CONSTRAINT organizations_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 255))),
    CONSTRAINT organizations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT organizations_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 100))),
    CONSTRAINT organizations_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text, 'DELETED'::text])))
);

CREATE TABLE public.page_texts (
    project_id uuid NOT NULL,
    language text NOT NULL,
    id text NOT NULL,
    english text NOT NULL,
    text text NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.passkeys (
    project_id uuid CONSTRAINT customer_passkeys_project_id_not_null NOT NULL,
    id uuid CONSTRAINT customer_passkeys_id_not_null NOT NULL,
    subject_id uuid CONSTRAINT customer_passkeys_customer_id_not_null NOT NULL,
    credential_id bytea CONSTRAINT customer_passkeys_credential_id_not_null NOT NULL,
    public_key bytea CONSTRAINT customer_passkeys_public_key_not_null NOT NULL,
    sign_count bigint CONSTRAINT customer_passkeys_sign_count_not_null NOT NULL,
    backed_up boolean CONSTRAINT customer_passkeys_backed_up_not_null NOT NULL,
    name text CONSTRAINT customer_passkeys_name_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT customer_passkeys_created_at_not_null NOT NULL,
    last_used_at timestamp with time zone,
    user_handle bytea,
    customer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED,
    developer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id = '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED
);

CREATE TABLE public.plan_features (
    project_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    feature_id uuid NOT NULL,
    enabled boolean NOT NULL,
    max_amount bigint,
    CONSTRAINT plan_features_max_amount_check CHECK ((max_amount >= 0))
);

CREATE TABLE public.plans (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT plans_key_check CHECK ((length(key) <= 64))
);

CREATE TABLE public.project_site_counts (
    project_id uuid NOT NULL,
    name text NOT NULL,
    hour timestamp with time zone NOT NULL,
    delivered bigint NOT NULL,
    deferred bigint NOT NULL,
    bounced bigint NOT NULL
);

CREATE TABLE public.project_sites (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    scope uuid NOT NULL,
    last_reply text,
    last_reply_at timestamp with time zone,
    suspended_at timestamp with time zone,
    suspended_until timestamp with time zone,
    suspension_reason text,
    suspended_by text,
    task text,
    task_until timestamp with time zone,
    task_reason text,
    bounced integer DEFAULT 0 NOT NULL,
    bounce_started_at timestamp with time zone,
    bounce_ended_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT project_sites_task_check CHECK ((task = ANY (ARRAY['BOUNCE'::text, 'RELEASE'::text])))
);

CREATE TABLE public.projects (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT projects_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE UNLOGGED TABLE public.rate_limits (
    key bytea NOT NULL,
    quota double precision NOT NULL,
    per_second double precision NOT NULL,
    taken double precision NOT NULL,
    balance double precision NOT NULL,
    demand double precision NOT NULL,
    used_at timestamp with time zone NOT NULL
);

CREATE TABLE public.recovery_codes (
    project_id uuid CONSTRAINT customer_recovery_codes_project_id_not_null NOT NULL,
    subject_id uuid CONSTRAINT customer_recovery_codes_customer_id_not_null NOT NULL,
    hash bytea CONSTRAINT customer_recovery_codes_hash_not_null NOT NULL,
    customer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED,
    developer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id = '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED
);

CREATE TABLE public.report_counts (
    kind text NOT NULL,
    reports bigint NOT NULL,
    CONSTRAINT report_counts_kind_check CHECK ((kind = ANY (ARRAY['complaint'::text, 'delivery'::text, 'ses'::text, 'unrecognized'::text, 'dmarc'::text])))
);

CREATE TABLE public.reputation_counters (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    hour timestamp with time zone NOT NULL,
    slot smallint NOT NULL,
    bounced bigint NOT NULL,
    complained bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.second_factors (
    project_id uuid CONSTRAINT customer_totp_project_id_not_null NOT NULL,
    subject_id uuid CONSTRAINT customer_totp_customer_id_not_null NOT NULL,
    secret bytea CONSTRAINT customer_totp_secret_not_null NOT NULL,
    confirmed_at timestamp with time zone,
    used_step bigint DEFAULT 0 CONSTRAINT customer_totp_used_step_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT customer_totp_created_at_not_null NOT NULL,
    customer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED,
    developer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id = '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED
);

CREATE TABLE public.send_attempts (
    project_id uuid NOT NULL,
    send_id uuid NOT NULL,
    attempt integer NOT NULL,
    outcome text NOT NULL,
    host text NOT NULL,
    results jsonb NOT NULL,
    dialogue text[] NOT NULL,
    duration_ms integer NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    signatures text,
    links_base text,
    unsubscribe_domain text,
    transport text,
    provider_id text,
    CONSTRAINT send_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['ACCEPTED'::text, 'DEFERRED'::text, 'REJECTED'::text, 'AMBIGUOUS'::text, 'FAILED'::text])))
);
ALTER TABLE ONLY public.send_attempts ALTER COLUMN host SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN results SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN dialogue SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN duration_ms SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN signatures SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN links_base SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN unsubscribe_domain SET STATISTICS 0;
ALTER TABLE ONLY public.send_attempts ALTER COLUMN transport SET STATISTICS 0;

CREATE TABLE public.send_bodies (
    project_id uuid NOT NULL,
    send_id uuid NOT NULL,
    body jsonb NOT NULL,
    sealed bytea,
    object_octets integer
);

CREATE TABLE public.send_counters (
    project_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    variant_id uuid NOT NULL,
    measure text NOT NULL,
    slot smallint NOT NULL,
    count bigint NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.01');

CREATE TABLE public.send_reports (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    send_id uuid NOT NULL,
    kind text NOT NULL,
    recipient text NOT NULL,
    source text NOT NULL,
    type text,
    code integer NOT NULL,
    enhanced_code text NOT NULL,
    text text NOT NULL,
    host text NOT NULL,
    feedback_type text,
    changed boolean NOT NULL,
    times integer DEFAULT 1 NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT send_reports_kind_check CHECK ((kind = ANY (ARRAY['DELIVERED'::text, 'DELAYED'::text, 'BOUNCED'::text, 'COMPLAINED'::text])))
);

CREATE TABLE public.send_rollups (
    project_id uuid NOT NULL,
    campaign_id uuid NOT NULL,
    bucket timestamp with time zone NOT NULL,
    domain_id uuid NOT NULL,
    slot smallint NOT NULL,
    accepted bigint DEFAULT 0 NOT NULL,
    sent bigint DEFAULT 0 NOT NULL,
    delivered bigint DEFAULT 0 NOT NULL,
    opened bigint DEFAULT 0 NOT NULL,
    clicked bigint DEFAULT 0 NOT NULL,
    open_touched bigint DEFAULT 0 NOT NULL,
    click_touched bigint DEFAULT 0 NOT NULL,
    bounced bigint DEFAULT 0 NOT NULL,
    complained bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.send_search (
    project_id uuid NOT NULL,
    send_id uuid NOT NULL,
    search_text text NOT NULL
);

CREATE TABLE public.senders (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    status text NOT NULL,
    dmarc_policy text,
    token_hash bytea NOT NULL,
    token_expires_at timestamp with time zone NOT NULL,
    verified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT senders_check CHECK (((verified_at IS NOT NULL) = (status = 'VERIFIED'::text))),
    CONSTRAINT senders_dmarc_policy_check CHECK ((dmarc_policy = ANY (ARRAY['none'::text, 'quarantine'::text, 'reject'::text]))),
    CONSTRAINT senders_email_check CHECK (((length(email) >= 3) AND (length(email) <= 320))),
    CONSTRAINT senders_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text])))
);

CREATE TABLE public.sends (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    lane smallint NOT NULL,
    test boolean DEFAULT false NOT NULL,
    message_id text NOT NULL,
    subject text NOT NULL,
    sender text NOT NULL,
    recipient text NOT NULL,
    to_addresses text[] NOT NULL,
    cc_addresses text[],
    bcc_addresses text[],
    contact_id uuid,
    campaign_id uuid,
    variant_id uuid,
    content_id uuid,
    once_key text,
    domain_id uuid,
    tags text[],
    pending jsonb,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    handed_over integer,
    ambiguous_attempts integer DEFAULT 0 NOT NULL,
    reason text,
    scheduled_at timestamp with time zone,
    expires_at timestamp with time zone,
    sent_at timestamp with time zone,
    delayed_at timestamp with time zone,
    delivered_at timestamp with time zone,
    opened_at timestamp with time zone,
    clicked_at timestamp with time zone,
    human_opened_at timestamp with time zone,
    human_clicked_at timestamp with time zone,
    bounced_at timestamp with time zone,
    complained_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    dated_at timestamp with time zone,
    outcomes jsonb,
    site text,
    retries_since timestamp with time zone,
    waits_for text,
    CONSTRAINT sends_lane_check CHECK ((lane = ANY (ARRAY[0, 1]))),
    CONSTRAINT sends_status_check CHECK ((status = ANY (ARRAY['SCHEDULED'::text, 'QUEUED'::text, 'SENT'::text, 'DELIVERED'::text, 'DELAYED'::text, 'BOUNCED'::text, 'COMPLAINED'::text, 'SUPPRESSED'::text, 'FAILED'::text, 'EXPIRED'::text, 'CANCELLED'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY public.sends ALTER COLUMN message_id SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN subject SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN sender SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN to_addresses SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN cc_addresses SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN bcc_addresses SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN pending SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN tries SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN ambiguous_attempts SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN expires_at SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN delayed_at SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN dated_at SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN outcomes SET STATISTICS 0;
ALTER TABLE ONLY public.sends ALTER COLUMN retries_since SET STATISTICS 0;

CREATE TABLE public.sessions (
    project_id uuid CONSTRAINT customer_sessions_project_id_not_null NOT NULL,
    id uuid CONSTRAINT customer_sessions_id_not_null NOT NULL,
    subject_id uuid CONSTRAINT customer_sessions_customer_id_not_null NOT NULL,
    generation integer DEFAULT 1 CONSTRAINT customer_sessions_generation_not_null NOT NULL,
    rotated_at timestamp with time zone,
    methods text[] CONSTRAINT customer_sessions_methods_not_null NOT NULL,
    authenticated_at timestamp with time zone CONSTRAINT customer_sessions_authenticated_at_not_null NOT NULL,
    user_agent text CONSTRAINT customer_sessions_user_agent_not_null NOT NULL,
    ip_address text CONSTRAINT customer_sessions_ip_address_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT customer_sessions_created_at_not_null NOT NULL,
    last_used_at timestamp with time zone CONSTRAINT customer_sessions_last_used_at_not_null NOT NULL,
    expires_at timestamp with time zone CONSTRAINT customer_sessions_expires_at_not_null NOT NULL,
    idle_expires_at timestamp with time zone CONSTRAINT customer_sessions_idle_expires_at_not_null NOT NULL,
    revoked_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 CONSTRAINT customer_sessions_attempt_not_null NOT NULL,
    sso_organization_id uuid,
    access_hash bytea,
    access_expires_at timestamp with time zone,
    customer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id <> '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED,
    developer_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (project_id = '00000000-0000-0000-0000-000000000000'::uuid) THEN subject_id
    ELSE NULL::uuid
END) STORED,
    organization_id uuid,
    test boolean DEFAULT false NOT NULL,
    impersonation jsonb
)
WITH (fillfactor='80');

CREATE TABLE public.setup_links (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    steps text[] NOT NULL,
    assignable_roles text[] NOT NULL,
    email text,
    test boolean NOT NULL,
    token_hash bytea NOT NULL,
    browser_hash bytea,
    provider text,
    sso_connection_id uuid,
    directory_connection_id uuid,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    opened_at timestamp with time zone,
    last_used_at timestamp with time zone,
    completed_at timestamp with time zone,
    revoked_at timestamp with time zone,
    session_id uuid,
    CONSTRAINT setup_links_steps_check CHECK (((steps <> '{}'::text[]) AND (steps <@ ARRAY['DOMAIN'::text, 'SSO'::text, 'SCIM'::text])))
);

CREATE TABLE public.sign_in_attempts (
    project_id uuid CONSTRAINT customer_failures_project_id_not_null NOT NULL,
    id uuid CONSTRAINT customer_failures_id_not_null NOT NULL,
    identifier bytea CONSTRAINT customer_failures_identifier_not_null NOT NULL,
    ip_address text CONSTRAINT customer_failures_ip_address_not_null NOT NULL,
    failures integer CONSTRAINT customer_failures_failures_not_null NOT NULL,
    locks integer DEFAULT 0 CONSTRAINT customer_failures_locks_not_null NOT NULL,
    locked_until timestamp with time zone,
    since timestamp with time zone CONSTRAINT customer_failures_since_not_null NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 CONSTRAINT customer_failures_attempt_not_null NOT NULL
);

CREATE TABLE public.sign_in_hooks (
    project_id uuid NOT NULL,
    kind text NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    active boolean NOT NULL,
    on_failure text NOT NULL,
    timeout_ms integer NOT NULL,
    sealed_secret bytea NOT NULL,
    previous_sealed_secret bytea,
    previous_secret_expires_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    retry_at timestamp with time zone,
    recent_failures jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_in_hooks_kind_check CHECK ((kind = ANY (ARRAY['BEFORE_SIGN_UP'::text, 'BEFORE_TOKEN'::text, 'MIGRATION'::text]))),
    CONSTRAINT sign_in_hooks_on_failure_check CHECK ((on_failure = ANY (ARRAY['CONTINUE'::text, 'REFUSE'::text])))
);

CREATE TABLE public.smtp_processes (
    id uuid NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    counters jsonb NOT NULL
);

CREATE TABLE public.soft_bounces (
    project_id uuid NOT NULL,
    address text NOT NULL,
    times integer NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    reported boolean DEFAULT false NOT NULL
);

CREATE TABLE public.source_places (
    address text NOT NULL,
    day date NOT NULL,
    message_id text NOT NULL
);

CREATE TABLE public.source_warm_ups (
    address text NOT NULL,
    status text NOT NULL,
    starts_on date NOT NULL,
    steps integer[] NOT NULL,
    step integer DEFAULT 0 NOT NULL,
    day date NOT NULL,
    used bigint DEFAULT 0 NOT NULL,
    repeated integer DEFAULT 0 NOT NULL,
    ended_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT source_warm_ups_check CHECK (((step >= 0) AND (step < cardinality(steps)))),
    CONSTRAINT source_warm_ups_check1 CHECK (((status = 'COMPLETED'::text) = (ended_at IS NOT NULL))),
    CONSTRAINT source_warm_ups_status_check CHECK ((status = ANY (ARRAY['SCHEDULED'::text, 'ACTIVE'::text, 'COMPLETED'::text])))
);

CREATE TABLE public.sso_connections (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    domain text NOT NULL,
    status text NOT NULL,
    idp_entity_id text,
    idp_sso_url text,
    idp_sso_binding text DEFAULT 'REDIRECT'::text NOT NULL,
    idp_slo_url text,
    idp_slo_binding text DEFAULT 'REDIRECT'::text NOT NULL,
    idp_slo_response_url text,
    idp_certificate text[] DEFAULT '{}'::text[] NOT NULL,
    idp_metadata_url text,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    tested_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    kind text DEFAULT 'SAML'::text NOT NULL,
    oidc_client_id text,
    oidc_client_secret bytea,
    CONSTRAINT sso_connections_idp_entity_id_check CHECK ((length(idp_entity_id) <= 1024)),
    CONSTRAINT sso_connections_idp_slo_binding_check CHECK ((idp_slo_binding = ANY (ARRAY['REDIRECT'::text, 'POST'::text]))),
    CONSTRAINT sso_connections_idp_sso_binding_check CHECK ((idp_sso_binding = ANY (ARRAY['REDIRECT'::text, 'POST'::text]))),
    CONSTRAINT sso_connections_kind_check CHECK ((kind = ANY (ARRAY['SAML'::text, 'OIDC'::text]))),
    CONSTRAINT sso_connections_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT sso_connections_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'ACTIVE'::text, 'INACTIVE'::text])))
);

CREATE TABLE public.sso_keys (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    place text NOT NULL,
    certificate text NOT NULL,
    private_key bytea NOT NULL,
    not_after timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT sso_keys_place_check CHECK ((place = ANY (ARRAY['CURRENT'::text, 'NEXT'::text, 'PREVIOUS'::text])))
);

CREATE TABLE public.sso_metadata (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    read_at timestamp with time zone NOT NULL,
    looked_at timestamp with time zone NOT NULL,
    problem text,
    failing_since timestamp with time zone,
    told boolean DEFAULT false NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.sso_requests (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    kind text NOT NULL,
    message_id text NOT NULL,
    browser bytea NOT NULL,
    redirect_url text,
    state text DEFAULT ''::text NOT NULL,
    code_challenge text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    answered_at timestamp with time zone,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT sso_requests_kind_check CHECK ((kind = ANY (ARRAY['SIGN_ON'::text, 'TEST'::text, 'LOGOUT'::text, 'PROVIDER_LOGOUT'::text])))
);

CREATE TABLE public.sso_sign_ons (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    issuer text NOT NULL,
    assertion_id text NOT NULL,
    customer_id uuid,
    name_id text,
    name_id_format text,
    session_index text,
    session_id uuid,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    logout_hint bytea
);

CREATE TABLE public.sso_traces (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    kind text NOT NULL,
    outcome text NOT NULL,
    reason text,
    detail text,
    steps jsonb NOT NULL,
    profile jsonb,
    customer_id uuid,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT sso_traces_kind_check CHECK ((kind = ANY (ARRAY['SIGN_ON'::text, 'TEST'::text, 'LOGOUT'::text]))),
    CONSTRAINT sso_traces_outcome_check CHECK ((outcome = ANY (ARRAY['ACCEPTED'::text, 'REFUSED'::text])))
);

CREATE TABLE public.suppressions (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    address text NOT NULL,
    reason text NOT NULL,
    source text NOT NULL,
    detail text,
    send_id uuid,
    created_at timestamp with time zone NOT NULL,
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    updated_at timestamp with time zone,
    CONSTRAINT suppressions_reason_check CHECK ((reason = ANY (ARRAY['BOUNCE'::text, 'COMPLAINT'::text, 'UNSUBSCRIBE'::text, 'MANUAL'::text])))
);

CREATE TABLE public.template_versions (
    project_id uuid NOT NULL,
    template_id uuid NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    subject text,
    builder_json jsonb,
    html text,
    text text,
    created_by text,
    created_at timestamp with time zone NOT NULL,
    engine text DEFAULT 'minijinja'::text NOT NULL,
    CONSTRAINT template_versions_engine_check CHECK ((engine = ANY (ARRAY['minijinja'::text, 'none'::text])))
);

CREATE TABLE public.templates (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    subject text,
    builder_json jsonb,
    html text,
    is_rendered boolean DEFAULT false NOT NULL,
    text text,
    variables text[] DEFAULT '{}'::text[] NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    engine text DEFAULT 'minijinja'::text NOT NULL,
    CONSTRAINT templates_engine_check CHECK ((engine = ANY (ARRAY['minijinja'::text, 'none'::text]))),
    CONSTRAINT templates_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE TABLE public.terms_acceptances (
    project_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    version text NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    ip_address text NOT NULL,
    user_agent text NOT NULL
);

CREATE TABLE public.tls_reports (
    instance_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    id uuid NOT NULL,
    day date NOT NULL,
    domain text NOT NULL,
    status text DEFAULT 'WAITING'::text NOT NULL,
    sent_to text[] DEFAULT '{}'::text[] NOT NULL,
    refused_by text[] DEFAULT '{}'::text[] NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT tls_reports_domain_check CHECK ((length(domain) <= 253)),
    CONSTRAINT tls_reports_status_check CHECK ((status = ANY (ARRAY['WAITING'::text, 'SENT'::text, 'NOT_WANTED'::text, 'FAILED'::text, 'OFF'::text])))
);

CREATE TABLE public.tls_results (
    day date NOT NULL,
    domain text NOT NULL,
    key bytea NOT NULL,
    policy_type text NOT NULL,
    policy_domain text NOT NULL,
    policy_lines text[] NOT NULL,
    policy_mx text[] NOT NULL,
    result text NOT NULL,
    sending_ip text NOT NULL,
    receiving_mx text NOT NULL,
    receiving_ip text NOT NULL,
    reason text NOT NULL,
    sessions bigint NOT NULL,
    CONSTRAINT tls_results_domain_check CHECK ((length(domain) <= 253)),
    CONSTRAINT tls_results_policy_type_check CHECK ((policy_type = ANY (ARRAY['sts'::text, 'tlsa'::text, 'no-policy-found'::text])))
);

CREATE TABLE public.tracking_hits (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    send_id uuid NOT NULL,
    kind text NOT NULL,
    url text,
    verdict text NOT NULL,
    reason text,
    ip_address text NOT NULL,
    user_agent text NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    CONSTRAINT tracking_hits_kind_check CHECK ((kind = ANY (ARRAY['OPEN'::text, 'CLICK'::text, 'UNSUBSCRIBE'::text]))),
    CONSTRAINT tracking_hits_verdict_check CHECK ((verdict = ANY (ARRAY['human'::text, 'machine'::text, 'proxy'::text])))
);

CREATE TABLE public.unattributed_reports (
    instance_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    sender text NOT NULL,
    subject text NOT NULL,
    size integer NOT NULL,
    message bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT unattributed_reports_kind_check CHECK ((kind = ANY (ARRAY['complaint'::text, 'delivery'::text, 'ses'::text])))
);

CREATE TABLE public.unrecognized_reports (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    send_id uuid,
    source text NOT NULL,
    reason text NOT NULL,
    sender text NOT NULL,
    subject text NOT NULL,
    size integer NOT NULL,
    message bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT unrecognized_reports_source_check CHECK ((source = ANY (ARRAY['smtp'::text, 'api'::text])))
);

CREATE TABLE public.unsubscribed_addresses (
    project_id uuid NOT NULL,
    digest bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.warm_up_places (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    day date NOT NULL,
    send_id uuid NOT NULL
);

CREATE TABLE public.webhook_deliveries (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event text NOT NULL,
    status text DEFAULT 'PENDING'::text NOT NULL,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    tried integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    response_status integer,
    response_body text,
    response_ms double precision,
    error_message text,
    created_at timestamp with time zone NOT NULL,
    attempted_at timestamp with time zone,
    delivered_at timestamp with time zone,
    CONSTRAINT webhook_deliveries_check CHECK (((status = 'PENDING'::text) = (due_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'SUCCEEDED'::text, 'FAILED'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_insert_scale_factor='0.05');

CREATE TABLE public.webhooks (
    project_id uuid NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    sealed_secret bytea NOT NULL,
    previous_sealed_secret bytea,
    previous_secret_expires_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    disabled_at timestamp with time zone,
    disabled_reason text,
    due_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    format text DEFAULT 'postern'::text NOT NULL
);

CREATE TABLE public.workers (
    id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.access_permissions
    ADD CONSTRAINT access_permissions_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.access_permissions
    ADD CONSTRAINT access_permissions_project_id_key_key UNIQUE (project_id, key);

ALTER TABLE ONLY public.access_roles
    ADD CONSTRAINT access_roles_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.access_roles
    ADD CONSTRAINT access_roles_project_id_key_key UNIQUE (project_id, key);

ALTER TABLE ONLY public.account_invitations
    ADD CONSTRAINT account_invitations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.account_invitations
    ADD CONSTRAINT account_invitations_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.account_mails
    ADD CONSTRAINT account_mails_pkey PRIMARY KEY (account_id, id);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.acme_accounts
    ADD CONSTRAINT acme_accounts_directory_key UNIQUE (directory);

ALTER TABLE ONLY public.acme_accounts
    ADD CONSTRAINT acme_accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_project_id_sha256_key UNIQUE (project_id, sha256);

ALTER TABLE ONLY public.audience_members
    ADD CONSTRAINT audience_members_pkey PRIMARY KEY (project_id, audience_id, contact_id);

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (chain_id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (chain_id, seq);

ALTER TABLE ONLY public.automation_counters
    ADD CONSTRAINT automation_counters_pkey PRIMARY KEY (project_id, automation_id, measure, slot);

ALTER TABLE ONLY public.automation_run_steps
    ADD CONSTRAINT automation_run_steps_pkey PRIMARY KEY (project_id, run_id, step);

ALTER TABLE ONLY public.automation_runs
    ADD CONSTRAINT automation_runs_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.automation_versions
    ADD CONSTRAINT automation_versions_pkey PRIMARY KEY (project_id, automation_id, version);

ALTER TABLE ONLY public.automations
    ADD CONSTRAINT automations_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.billing_accounts
    ADD CONSTRAINT billing_accounts_pkey PRIMARY KEY (account_id, id);

ALTER TABLE ONLY public.billing_events
    ADD CONSTRAINT billing_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.blocklist_entries
    ADD CONSTRAINT blocklist_entries_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.blocklist_entries
    ADD CONSTRAINT blocklist_entries_project_id_domain_id_list_name_subject_va_key UNIQUE (project_id, domain_id, list_name, subject_value);

ALTER TABLE ONLY public.blocklist_watches
    ADD CONSTRAINT blocklist_watches_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.campaign_leavers
    ADD CONSTRAINT campaign_leavers_pkey PRIMARY KEY (project_id, campaign_id, contact_id);

ALTER TABLE ONLY public.campaign_samples
    ADD CONSTRAINT campaign_samples_pkey PRIMARY KEY (project_id, campaign_id, contact_id);

ALTER TABLE ONLY public.campaign_variants
    ADD CONSTRAINT campaign_variants_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.captured_messages
    ADD CONSTRAINT captured_messages_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.certificate_orders
    ADD CONSTRAINT certificate_orders_pkey PRIMARY KEY (account_id, id);

ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_account_id_name_key UNIQUE (account_id, name);

ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_pkey PRIMARY KEY (account_id, id);

ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT challenges_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.contact_attributes
    ADD CONSTRAINT contact_attributes_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.contact_attributes
    ADD CONSTRAINT contact_attributes_project_id_name_key UNIQUE (project_id, name);

ALTER TABLE ONLY public.contact_import_pieces
    ADD CONSTRAINT contact_import_pieces_pkey PRIMARY KEY (project_id, import_id, starts_at);

ALTER TABLE ONLY public.contact_imports
    ADD CONSTRAINT contact_imports_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.contact_rollups
    ADD CONSTRAINT contact_rollups_pkey PRIMARY KEY (project_id, day, measure, slot);

ALTER TABLE ONLY public.contacts
    ADD CONSTRAINT contacts_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.content_objects
    ADD CONSTRAINT content_objects_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.content_state
    ADD CONSTRAINT content_state_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.customer_facets
    ADD CONSTRAINT customer_facets_pkey PRIMARY KEY (project_id, verified, mfa, providers, slot);

ALTER TABLE ONLY public.customer_former_addresses
    ADD CONSTRAINT customer_former_addresses_pkey PRIMARY KEY (project_id, customer_id, email_key);

ALTER TABLE ONLY public.customer_identities
    ADD CONSTRAINT customer_identities_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.customer_identities
    ADD CONSTRAINT customer_identities_project_id_provider_issuer_subject_key UNIQUE (project_id, provider, issuer, subject);

ALTER TABLE ONLY public.customer_identity_requests
    ADD CONSTRAINT customer_identity_requests_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.customer_identity_requests
    ADD CONSTRAINT customer_identity_requests_project_id_customer_id_provider__key UNIQUE (project_id, customer_id, provider, issuer, subject);

ALTER TABLE ONLY public.customer_mail_versions
    ADD CONSTRAINT customer_mail_versions_pkey PRIMARY KEY (project_id, mail, language, version);

ALTER TABLE ONLY public.customer_mails
    ADD CONSTRAINT customer_mails_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.customer_merges
    ADD CONSTRAINT customer_merges_pkey PRIMARY KEY (project_id, merged_id);

ALTER TABLE ONLY public.customer_other_addresses
    ADD CONSTRAINT customer_other_addresses_pkey PRIMARY KEY (project_id, email_key);

ALTER TABLE ONLY public.customer_providers
    ADD CONSTRAINT customer_providers_pkey PRIMARY KEY (project_id, key);

ALTER TABLE ONLY public.customer_rsa_keys
    ADD CONSTRAINT customer_rsa_keys_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.customer_signing_keys
    ADD CONSTRAINT customer_signing_keys_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.deletions
    ADD CONSTRAINT deletions_pkey PRIMARY KEY (target_id, id);

ALTER TABLE ONLY public.developers
    ADD CONSTRAINT developers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.directory_connections
    ADD CONSTRAINT directory_connections_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.directory_errors
    ADD CONSTRAINT directory_errors_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.directory_group_members
    ADD CONSTRAINT directory_group_members_pkey PRIMARY KEY (project_id, group_id, user_id);

ALTER TABLE ONLY public.directory_groups
    ADD CONSTRAINT directory_groups_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.directory_groups
    ADD CONSTRAINT directory_groups_project_id_connection_id_display_name_key_key UNIQUE (project_id, connection_id, display_name_key);

ALTER TABLE ONLY public.directory_tokens
    ADD CONSTRAINT directory_tokens_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.directory_users
    ADD CONSTRAINT directory_users_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.directory_users
    ADD CONSTRAINT directory_users_project_id_connection_id_customer_id_key UNIQUE (project_id, connection_id, customer_id);

ALTER TABLE ONLY public.directory_users
    ADD CONSTRAINT directory_users_project_id_connection_id_user_name_key_key UNIQUE (project_id, connection_id, user_name_key);

ALTER TABLE ONLY public.dmarc_reports
    ADD CONSTRAINT dmarc_reports_pkey PRIMARY KEY (project_id, domain_id, counted, reporter, organization, report_id);

ALTER TABLE ONLY public.dmarc_sources
    ADD CONSTRAINT dmarc_sources_pkey PRIMARY KEY (project_id, domain_id, day, source_ip, header_from, organization, reporter, disposition, dkim, spf);

ALTER TABLE ONLY public.domain_keys
    ADD CONSTRAINT domain_keys_pkey PRIMARY KEY (project_id, domain_id, selector);

ALTER TABLE ONLY public.domain_reputations
    ADD CONSTRAINT domain_reputations_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.domain_warm_ups
    ADD CONSTRAINT domain_warm_ups_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_project_id_domain_key UNIQUE (project_id, domain);

ALTER TABLE ONLY public.email_usage
    ADD CONSTRAINT email_usage_pkey PRIMARY KEY (project_id, month, slot);

ALTER TABLE ONLY public.entitlement_overrides
    ADD CONSTRAINT entitlement_overrides_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.entitlement_overrides
    ADD CONSTRAINT entitlement_overrides_project_id_organization_id_feature_id_key UNIQUE (project_id, organization_id, feature_id);

ALTER TABLE ONLY public.entitlement_versions
    ADD CONSTRAINT entitlement_versions_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.event_keys
    ADD CONSTRAINT event_keys_pkey PRIMARY KEY (project_id, key);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.features
    ADD CONSTRAINT features_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.features
    ADD CONSTRAINT features_project_id_key_key UNIQUE (project_id, key);

ALTER TABLE ONLY public.former_contacts
    ADD CONSTRAINT former_contacts_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (project_id, route, key);

ALTER TABLE ONLY public.inbound_messages
    ADD CONSTRAINT inbound_messages_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.inbound_messages
    ADD CONSTRAINT inbound_messages_project_id_fingerprint_key UNIQUE (project_id, fingerprint);

ALTER TABLE ONLY public.inbound_routes
    ADD CONSTRAINT inbound_routes_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.inbound_routes
    ADD CONSTRAINT inbound_routes_project_id_domain_local_part_key UNIQUE NULLS NOT DISTINCT (project_id, domain, local_part);

ALTER TABLE ONLY public.inbound_usage
    ADD CONSTRAINT inbound_usage_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (only_one);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.mail_rates
    ADD CONSTRAINT mail_rates_pkey PRIMARY KEY (project_id, name);

ALTER TABLE ONLY public.mail_site_shares
    ADD CONSTRAINT mail_site_shares_pkey PRIMARY KEY (project_id, name, process_id);

ALTER TABLE ONLY public.mail_sites
    ADD CONSTRAINT mail_sites_pkey PRIMARY KEY (project_id, name);

ALTER TABLE ONLY public.migration_progress
    ADD CONSTRAINT migration_progress_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.mta_sts_policies
    ADD CONSTRAINT mta_sts_policies_pkey PRIMARY KEY (domain);

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.oauth_consents
    ADD CONSTRAINT oauth_consents_pkey PRIMARY KEY (project_id, customer_id, client_id);

ALTER TABLE ONLY public.oauth_devices
    ADD CONSTRAINT oauth_devices_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.oauth_grants
    ADD CONSTRAINT oauth_grants_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.oauth_logouts
    ADD CONSTRAINT oauth_logouts_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.oauth_registrations
    ADD CONSTRAINT oauth_registrations_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.oauth_resources
    ADD CONSTRAINT oauth_resources_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.oauth_used_jwts
    ADD CONSTRAINT oauth_used_jwts_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.organization_domains
    ADD CONSTRAINT organization_domains_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.organization_domains
    ADD CONSTRAINT organization_domains_project_id_organization_id_domain_key UNIQUE (project_id, organization_id, domain);

ALTER TABLE ONLY public.organization_members
    ADD CONSTRAINT organization_members_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.organization_members
    ADD CONSTRAINT organization_members_project_id_organization_id_customer_id_key UNIQUE (project_id, organization_id, customer_id);

ALTER TABLE ONLY public.organization_plans
    ADD CONSTRAINT organization_plans_pkey PRIMARY KEY (project_id, organization_id);

ALTER TABLE ONLY public.organization_removals
    ADD CONSTRAINT organization_removals_pkey PRIMARY KEY (project_id, organization_id, customer_id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_project_id_slug_key UNIQUE (project_id, slug);

ALTER TABLE ONLY public.page_texts
    ADD CONSTRAINT page_texts_pkey PRIMARY KEY (project_id, language, id);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_project_id_credential_id_key UNIQUE (project_id, credential_id);

ALTER TABLE ONLY public.plan_features
    ADD CONSTRAINT plan_features_pkey PRIMARY KEY (project_id, plan_id, feature_id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_project_id_key_key UNIQUE (project_id, key);

ALTER TABLE ONLY public.project_site_counts
    ADD CONSTRAINT project_site_counts_pkey PRIMARY KEY (project_id, name, hour);

ALTER TABLE ONLY public.project_sites
    ADD CONSTRAINT project_sites_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.project_sites
    ADD CONSTRAINT project_sites_project_id_name_key UNIQUE (project_id, name);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (project_id, subject_id, hash);

ALTER TABLE ONLY public.report_counts
    ADD CONSTRAINT report_counts_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY public.reputation_counters
    ADD CONSTRAINT reputation_counters_pkey PRIMARY KEY (project_id, domain_id, hour, slot);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.second_factors
    ADD CONSTRAINT second_factors_pkey PRIMARY KEY (project_id, subject_id);

ALTER TABLE ONLY public.send_attempts
    ADD CONSTRAINT send_attempts_pkey PRIMARY KEY (project_id, send_id, attempt);

ALTER TABLE ONLY public.send_bodies
    ADD CONSTRAINT send_bodies_pkey PRIMARY KEY (project_id, send_id);

ALTER TABLE ONLY public.send_counters
    ADD CONSTRAINT send_counters_pkey PRIMARY KEY (project_id, campaign_id, variant_id, measure, slot);

ALTER TABLE ONLY public.send_reports
    ADD CONSTRAINT send_reports_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.send_reports
    ADD CONSTRAINT send_reports_project_id_send_id_kind_recipient_source_key UNIQUE (project_id, send_id, kind, recipient, source);

ALTER TABLE ONLY public.send_rollups
    ADD CONSTRAINT send_rollups_pkey PRIMARY KEY (project_id, campaign_id, bucket, domain_id, slot);

ALTER TABLE ONLY public.send_search
    ADD CONSTRAINT send_search_pkey PRIMARY KEY (project_id, send_id);

ALTER TABLE ONLY public.senders
    ADD CONSTRAINT senders_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sends
    ADD CONSTRAINT sends_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.setup_links
    ADD CONSTRAINT setup_links_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sign_in_attempts
    ADD CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sign_in_attempts
    ADD CONSTRAINT sign_in_attempts_project_id_identifier_ip_address_key UNIQUE (project_id, identifier, ip_address);

ALTER TABLE ONLY public.sign_in_hooks
    ADD CONSTRAINT sign_in_hooks_pkey PRIMARY KEY (project_id, kind);

ALTER TABLE ONLY public.smtp_processes
    ADD CONSTRAINT smtp_processes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.soft_bounces
    ADD CONSTRAINT soft_bounces_pkey PRIMARY KEY (project_id, address);

ALTER TABLE ONLY public.source_places
    ADD CONSTRAINT source_places_pkey PRIMARY KEY (address, day, message_id);

ALTER TABLE ONLY public.source_warm_ups
    ADD CONSTRAINT source_warm_ups_pkey PRIMARY KEY (address);

ALTER TABLE ONLY public.sso_connections
    ADD CONSTRAINT sso_connections_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sso_keys
    ADD CONSTRAINT sso_keys_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sso_keys
    ADD CONSTRAINT sso_keys_project_id_connection_id_place_key UNIQUE (project_id, connection_id, place) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.sso_metadata
    ADD CONSTRAINT sso_metadata_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sso_requests
    ADD CONSTRAINT sso_requests_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sso_requests
    ADD CONSTRAINT sso_requests_project_id_connection_id_message_id_key UNIQUE (project_id, connection_id, message_id);

ALTER TABLE ONLY public.sso_sign_ons
    ADD CONSTRAINT sso_sign_ons_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.sso_sign_ons
    ADD CONSTRAINT sso_sign_ons_project_id_connection_id_issuer_assertion_id_key UNIQUE (project_id, connection_id, issuer, assertion_id);

ALTER TABLE ONLY public.sso_traces
    ADD CONSTRAINT sso_traces_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.suppressions
    ADD CONSTRAINT suppressions_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.suppressions
    ADD CONSTRAINT suppressions_project_id_address_key UNIQUE (project_id, address);

ALTER TABLE ONLY public.template_versions
    ADD CONSTRAINT template_versions_pkey PRIMARY KEY (project_id, template_id, version);

ALTER TABLE ONLY public.templates
    ADD CONSTRAINT templates_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.terms_acceptances
    ADD CONSTRAINT terms_acceptances_pkey PRIMARY KEY (project_id, customer_id, version);

ALTER TABLE ONLY public.tls_reports
    ADD CONSTRAINT tls_reports_day_domain_key UNIQUE (day, domain);

ALTER TABLE ONLY public.tls_reports
    ADD CONSTRAINT tls_reports_pkey PRIMARY KEY (instance_id, id);

ALTER TABLE ONLY public.tls_results
    ADD CONSTRAINT tls_results_pkey PRIMARY KEY (day, domain, key);

ALTER TABLE ONLY public.tracking_hits
    ADD CONSTRAINT tracking_hits_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.unattributed_reports
    ADD CONSTRAINT unattributed_reports_pkey PRIMARY KEY (instance_id, id);

ALTER TABLE ONLY public.unrecognized_reports
    ADD CONSTRAINT unrecognized_reports_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.unsubscribed_addresses
    ADD CONSTRAINT unsubscribed_addresses_pkey PRIMARY KEY (project_id, digest);

ALTER TABLE ONLY public.warm_up_places
    ADD CONSTRAINT warm_up_places_pkey PRIMARY KEY (project_id, domain_id, day, send_id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX account_invitations_email ON public.account_invitations USING btree (account_id, lower(email));

CREATE INDEX account_invitations_inviter ON public.account_invitations USING btree (inviter_id);

CREATE INDEX account_mails_due ON public.account_mails USING btree (account_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX accounts_unproven ON public.accounts USING btree (created_at) WHERE unproven;

CREATE UNIQUE INDEX assets_token ON public.assets USING btree (token);

CREATE INDEX audience_members_contact ON public.audience_members USING btree (project_id, contact_id);

CREATE INDEX audiences_due ON public.audiences USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX audiences_dynamic ON public.audiences USING btree (project_id, level, id) WHERE (type = 'DYNAMIC'::text);

CREATE INDEX audit_log_account ON public.audit_log USING btree (account_id, id);

CREATE INDEX audit_log_target ON public.audit_log USING btree (chain_id, target_id, seq);

CREATE INDEX automation_runs_calls ON public.automation_runs USING btree (project_id, due_at) WHERE ((due_at IS NOT NULL) AND calls);

CREATE UNIQUE INDEX automation_runs_current ON public.automation_runs USING btree (project_id, automation_id, contact_id, test) WHERE (status = ANY (ARRAY['RUNNING'::text, 'WAITING'::text]));

CREATE INDEX automation_runs_due ON public.automation_runs USING btree (project_id, due_at) WHERE ((due_at IS NOT NULL) AND (NOT calls));

CREATE INDEX automation_runs_list ON public.automation_runs USING btree (project_id, automation_id, id);

CREATE UNIQUE INDEX automation_runs_once ON public.automation_runs USING btree (project_id, automation_id, contact_id, test) WHERE once;

CREATE INDEX automation_runs_recent ON public.automation_runs USING btree (project_id, contact_id, automation_id, started_at);

CREATE INDEX automation_runs_waiting ON public.automation_runs USING btree (project_id, contact_id, waiting_for) WHERE (waiting_for IS NOT NULL);

CREATE UNIQUE INDEX billing_accounts_account ON public.billing_accounts USING btree (account_id);

CREATE UNIQUE INDEX billing_accounts_customer ON public.billing_accounts USING btree (customer_ref) WHERE (customer_ref IS NOT NULL);

CREATE INDEX billing_accounts_due ON public.billing_accounts USING btree (account_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX billing_events_age ON public.billing_events USING btree (received_at);

CREATE INDEX blocklist_watches_due ON public.blocklist_watches USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX campaign_variants_campaign ON public.campaign_variants USING btree (project_id, campaign_id, "position");

CREATE INDEX campaigns_audience ON public.campaigns USING btree (project_id, audience_id);

CREATE INDEX campaigns_domain ON public.campaigns USING btree (project_id, domain_id);

CREATE INDEX campaigns_due ON public.campaigns USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX campaigns_name ON public.campaigns USING btree (project_id, lower(name), id);

CREATE INDEX campaigns_search ON public.campaigns USING gin (project_id, lower(((name || ' '::text) || COALESCE(subject, ''::text))) public.gin_trgm_ops);

CREATE INDEX campaigns_status ON public.campaigns USING btree (project_id, status, id);

CREATE INDEX campaigns_template ON public.campaigns USING btree (project_id, template_id);

CREATE INDEX campaigns_under_way ON public.campaigns USING btree (project_id, audience_id) WHERE (status = ANY (ARRAY['TESTING'::text, 'SENDING'::text, 'PAUSED'::text]));

CREATE INDEX campaigns_updated ON public.campaigns USING btree (project_id, updated_at, id);

CREATE UNIQUE INDEX captured_messages_send ON public.captured_messages USING btree (project_id, send_id);

CREATE INDEX certificate_orders_domain ON public.certificate_orders USING btree (account_id, registered_domain, ordered_at);

CREATE INDEX certificate_orders_project ON public.certificate_orders USING btree (account_id, counted_for, ordered_at) WHERE (counted_for IS NOT NULL);

CREATE INDEX certificate_orders_time ON public.certificate_orders USING btree (account_id, ordered_at);

CREATE INDEX certificates_due ON public.certificates USING btree (account_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX certificates_name ON public.certificates USING btree (name) WHERE (chain IS NOT NULL);

CREATE INDEX certificates_project ON public.certificates USING btree (account_id, counted_for) WHERE (counted_for IS NOT NULL);

CREATE INDEX certificates_token ON public.certificates USING btree (token) WHERE (token IS NOT NULL);

CREATE INDEX challenges_developer ON public.challenges USING btree (developer_id) WHERE (developer_id IS NOT NULL);

CREATE INDEX challenges_due ON public.challenges USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX challenges_identifier ON public.challenges USING btree (project_id, identifier, purpose);

CREATE INDEX challenges_subject ON public.challenges USING btree (project_id, subject_id, purpose);

CREATE INDEX contact_imports_due ON public.contact_imports USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX contacts_email ON public.contacts USING btree (project_id, email_key);

CREATE INDEX contacts_search ON public.contacts USING gin (project_id, email_key public.gin_trgm_ops) WITH (gin_pending_list_limit='16384');

CREATE INDEX contacts_unsubscribed ON public.contacts USING btree (project_id, id) WHERE unsubscribed;

CREATE INDEX content_objects_due ON public.content_objects USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX customer_identities_customer ON public.customer_identities USING btree (project_id, customer_id);

CREATE INDEX customer_identity_requests_newest ON public.customer_identity_requests USING btree (project_id, status, id);

CREATE INDEX customer_mails_customer ON public.customer_mails USING btree (project_id, customer_id);

CREATE INDEX customer_mails_due ON public.customer_mails USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX customer_merges_customer ON public.customer_merges USING btree (project_id, customer_id);

CREATE INDEX customer_other_addresses_customer ON public.customer_other_addresses USING btree (project_id, customer_id);

CREATE INDEX customers_banned ON public.customers USING btree (project_id, id) WHERE (banned_at IS NOT NULL);

CREATE UNIQUE INDEX customers_email ON public.customers USING btree (project_id, email_key text_pattern_ops);

CREATE UNIQUE INDEX customers_external ON public.customers USING btree (project_id, external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX customers_identifier ON public.customers USING btree (project_id, identifier);

CREATE INDEX customers_imported_hashes ON public.customers USING btree (project_id, "substring"(password_hash, '^\$[^$]+\$(?:v=\d+\$)?[^$]+'::text)) WHERE (password_hash !~~ '$argon2id$v=19$m=19456,t=2,p=1$%'::text);

CREATE INDEX customers_mfa ON public.customers USING btree (project_id, id) WHERE (mfa_enabled_at IS NOT NULL);

CREATE INDEX customers_providers ON public.customers USING gin (project_id, providers);

CREATE INDEX customers_roles ON public.customers USING gin (project_id, roles) WHERE (roles <> '{}'::text[]);

CREATE INDEX customers_search ON public.customers USING gin (project_id, search public.gin_trgm_ops);

CREATE INDEX customers_unverified ON public.customers USING btree (project_id, id) WHERE (email_verified_at IS NULL);

CREATE INDEX customers_verified ON public.customers USING btree (project_id, id) WHERE (email_verified_at IS NOT NULL);

CREATE INDEX deletions_account ON public.deletions USING btree (account_id);

CREATE INDEX deletions_due ON public.deletions USING btree (target_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX developers_account ON public.developers USING btree (account_id);

CREATE UNIQUE INDEX developers_email ON public.developers USING btree (lower(email)) WHERE (email_verified_at IS NOT NULL);

CREATE UNIQUE INDEX developers_owner ON public.developers USING btree (account_id) WHERE (role = 'OWNER'::text);

CREATE INDEX developers_unproven ON public.developers USING btree (lower(email), created_at) WHERE (email_verified_at IS NULL);

CREATE INDEX directory_connections_due ON public.directory_connections USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX directory_connections_newest ON public.directory_connections USING btree (project_id, organization_id, id);

CREATE INDEX directory_errors_connection ON public.directory_errors USING btree (project_id, connection_id, id);

CREATE INDEX directory_errors_due ON public.directory_errors USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX directory_group_members_user ON public.directory_group_members USING btree (project_id, user_id);

CREATE UNIQUE INDEX directory_groups_external ON public.directory_groups USING btree (project_id, connection_id, external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX directory_groups_newest ON public.directory_groups USING btree (project_id, connection_id, id);

CREATE INDEX directory_tokens_connection ON public.directory_tokens USING btree (project_id, connection_id, id);

CREATE INDEX directory_tokens_hash ON public.directory_tokens USING btree (hash);

CREATE INDEX directory_users_changed ON public.directory_users USING btree (project_id, connection_id, updated_at);

CREATE INDEX directory_users_customer ON public.directory_users USING btree (project_id, customer_id);

CREATE INDEX directory_users_emails ON public.directory_users USING gin (project_id, email_keys);

CREATE UNIQUE INDEX directory_users_external ON public.directory_users USING btree (project_id, connection_id, external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX directory_users_newest ON public.directory_users USING btree (project_id, connection_id, id);

CREATE INDEX dmarc_reports_received ON public.dmarc_reports USING btree (project_id, domain_id, counted, reporter, received_at);

CREATE INDEX domain_reputations_due ON public.domain_reputations USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX domain_reputations_held ON public.domain_reputations USING btree (project_id) WHERE (state = 'HELD'::text);

CREATE INDEX domain_warm_ups_active ON public.domain_warm_ups USING btree (project_id) WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'ACTIVE'::text]));

CREATE INDEX domain_warm_ups_due ON public.domain_warm_ups USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX domains_due ON public.domains USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX domains_names ON public.domains USING btree (domain) WHERE (status = ANY (ARRAY['VERIFIED'::text, 'DEGRADED'::text]));

CREATE INDEX domains_names_below ON public.domains USING btree (reverse(domain) COLLATE "C") WHERE (status = ANY (ARRAY['VERIFIED'::text, 'DEGRADED'::text]));

CREATE INDEX domains_verified_name ON public.domains USING btree (domain, id) WHERE (status = 'VERIFIED'::text);

CREATE INDEX domains_with_tracking ON public.domains USING btree (project_id, id) WHERE tracking_verified;

CREATE INDEX entitlement_overrides_due ON public.entitlement_overrides USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX entitlement_overrides_feature ON public.entitlement_overrides USING btree (project_id, feature_id);

CREATE INDEX event_keys_age ON public.event_keys USING btree (created_at);

CREATE INDEX events_subject ON public.events USING btree (project_id, subject_id, id);

CREATE INDEX former_contacts_digest ON public.former_contacts USING btree (project_id, digest);

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX inbound_messages_by_send ON public.inbound_messages USING btree (project_id, send_id, id) WHERE (send_id IS NOT NULL);

CREATE INDEX inbound_messages_by_sender ON public.inbound_messages USING btree (project_id, lower(from_email), id);

CREATE INDEX inbound_messages_by_time ON public.inbound_messages USING btree (project_id, received_at);

CREATE INDEX inbound_routes_by_domain ON public.inbound_routes USING btree (domain);

CREATE INDEX invitations_accepted_by ON public.invitations USING btree (project_id, accepted_by) WHERE (accepted_by IS NOT NULL);

CREATE INDEX invitations_address ON public.invitations USING btree (project_id, email_key) WHERE (status = 'PENDING'::text);

CREATE INDEX invitations_due ON public.invitations USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX invitations_invited_by ON public.invitations USING btree (project_id, invited_by) WHERE (invited_by IS NOT NULL);

CREATE INDEX invitations_newest ON public.invitations USING btree (project_id, organization_id, id);

CREATE UNIQUE INDEX invitations_pending ON public.invitations USING btree (project_id, organization_id, email_key) WHERE (status = 'PENDING'::text);

CREATE INDEX invitations_role ON public.invitations USING btree (project_id, role) WHERE (status = 'PENDING'::text);

CREATE INDEX mail_sites_seen ON public.mail_sites USING btree (seen_at);

CREATE INDEX mta_sts_policies_expiry ON public.mta_sts_policies USING btree (expires_at);

CREATE INDEX oauth_consents_client ON public.oauth_consents USING btree (project_id, client_id);

CREATE INDEX oauth_devices_client ON public.oauth_devices USING btree (project_id, client_id);

CREATE INDEX oauth_devices_due ON public.oauth_devices USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX oauth_devices_user_code ON public.oauth_devices USING btree (project_id, user_code);

CREATE INDEX oauth_grants_client ON public.oauth_grants USING btree (project_id, client_id);

CREATE INDEX oauth_grants_customer ON public.oauth_grants USING btree (project_id, customer_id, client_id);

CREATE INDEX oauth_grants_due ON public.oauth_grants USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX oauth_logouts_client ON public.oauth_logouts USING btree (project_id, client_id);

CREATE INDEX oauth_logouts_due ON public.oauth_logouts USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX oauth_registrations_due ON public.oauth_registrations USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX oauth_resources_identifier ON public.oauth_resources USING btree (project_id, identifier);

CREATE INDEX oauth_used_jwts_due ON public.oauth_used_jwts USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX organization_domains_due ON public.organization_domains USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX organization_domains_newest ON public.organization_domains USING btree (project_id, organization_id, id);

CREATE UNIQUE INDEX organization_domains_verified ON public.organization_domains USING btree (project_id, domain) WHERE (status = 'VERIFIED'::text);

CREATE INDEX organization_members_customer ON public.organization_members USING btree (project_id, customer_id);

CREATE INDEX organization_members_owners ON public.organization_members USING btree (project_id, organization_id) WHERE ('OWNER'::text = ANY (roles));

CREATE INDEX organization_members_roles ON public.organization_members USING gin (project_id, roles) WHERE (roles <> '{MEMBER}'::text[]);

CREATE INDEX organization_plans_plan ON public.organization_plans USING btree (project_id, plan_id);

CREATE INDEX organization_removals_customer ON public.organization_removals USING btree (project_id, customer_id);

CREATE INDEX organizations_due ON public.organizations USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE UNIQUE INDEX organizations_external ON public.organizations USING btree (project_id, external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX organizations_name ON public.organizations USING btree (project_id, lower(name), id);

CREATE INDEX organizations_search ON public.organizations USING gin (project_id, lower(((((name || ' '::text) || slug) || ' '::text) || COALESCE(external_id, ''::text))) public.gin_trgm_ops);

CREATE INDEX organizations_suspended ON public.organizations USING btree (project_id, id) WHERE (status = 'SUSPENDED'::text);

CREATE INDEX organizations_updated ON public.organizations USING btree (project_id, updated_at, id);

CREATE INDEX passkeys_customer ON public.passkeys USING btree (project_id, customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX passkeys_developer ON public.passkeys USING btree (developer_id) WHERE (developer_id IS NOT NULL);

CREATE INDEX passkeys_subject ON public.passkeys USING btree (project_id, subject_id);

CREATE INDEX plan_features_feature ON public.plan_features USING btree (project_id, feature_id);

CREATE INDEX project_site_counts_hour ON public.project_site_counts USING btree (hour);

CREATE INDEX project_sites_due ON public.project_sites USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX project_sites_name ON public.project_sites USING btree (name);

CREATE INDEX project_sites_updated ON public.project_sites USING btree (updated_at);

CREATE INDEX projects_account ON public.projects USING btree (account_id, id);

CREATE INDEX projects_host_names ON public.projects USING btree ((((settings -> 'signIn'::text) ->> 'pagesDomain'::text)), ((settings ->> 'trackingDomain'::text)));

CREATE UNIQUE INDEX projects_pages_domain ON public.projects USING btree ((((settings -> 'signIn'::text) ->> 'pagesDomain'::text))) WHERE ((((settings -> 'signIn'::text) ->> 'pagesDomain'::text) IS NOT NULL) AND (deleted_at IS NULL));

CREATE INDEX projects_with_tracking ON public.projects USING btree (id) WHERE ((settings ->> 'trackingDomain'::text) IS NOT NULL);

CREATE INDEX rate_limits_used_at ON public.rate_limits USING btree (used_at);

CREATE INDEX recovery_codes_customer ON public.recovery_codes USING btree (project_id, customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX recovery_codes_developer ON public.recovery_codes USING btree (developer_id) WHERE (developer_id IS NOT NULL);

CREATE INDEX second_factors_customer ON public.second_factors USING btree (project_id, customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX second_factors_developer ON public.second_factors USING btree (developer_id) WHERE (developer_id IS NOT NULL);

CREATE INDEX send_attempts_provider_id ON public.send_attempts USING btree (provider_id) WHERE (provider_id IS NOT NULL);

CREATE INDEX send_bodies_sealed ON public.send_bodies USING btree (project_id, send_id) WHERE (sealed IS NOT NULL);

CREATE INDEX send_rollups_loose ON public.send_rollups USING btree (bucket) WHERE ((slot <> 0) AND (bucket > '-infinity'::timestamp with time zone));

CREATE INDEX send_search_text ON public.send_search USING gin (project_id, search_text public.gin_trgm_ops) WITH (gin_pending_list_limit='16384');

CREATE UNIQUE INDEX senders_by_address ON public.senders USING btree (project_id, lower(email));

CREATE UNIQUE INDEX sends_campaign ON public.sends USING btree (project_id, campaign_id, contact_id) WHERE (campaign_id IS NOT NULL);

CREATE INDEX sends_campaign_exceptions ON public.sends USING btree (project_id, campaign_id, status, contact_id) WHERE ((campaign_id IS NOT NULL) AND (status <> ALL (ARRAY['SENT'::text, 'DELIVERED'::text])));

CREATE INDEX sends_contact_time ON public.sends USING btree (project_id, contact_id, created_at) WHERE (contact_id IS NOT NULL);

CREATE INDEX sends_due_marketing ON public.sends USING btree (project_id, due_at) WHERE ((lane = 1) AND (due_at IS NOT NULL));

CREATE INDEX sends_due_transactional ON public.sends USING btree (project_id, due_at) WHERE ((lane = 0) AND (due_at IS NOT NULL));

CREATE INDEX sends_id ON public.sends USING btree (id);

CREATE UNIQUE INDEX sends_once ON public.sends USING btree (project_id, once_key) WHERE (once_key IS NOT NULL);

CREATE INDEX sends_recipient ON public.sends USING btree (project_id, lower(recipient), id) WHERE (campaign_id IS NULL);

CREATE INDEX sends_site ON public.sends USING btree (project_id, site, id) WHERE (site IS NOT NULL);

CREATE INDEX sends_status ON public.sends USING btree (project_id, status, id) WHERE (status <> ALL (ARRAY['QUEUED'::text, 'SENT'::text, 'DELIVERED'::text]));

CREATE INDEX sends_tags ON public.sends USING gin (project_id, tags) WHERE (tags IS NOT NULL);

CREATE UNIQUE INDEX sessions_access ON public.sessions USING btree (access_hash) WHERE (access_hash IS NOT NULL);

CREATE INDEX sessions_customer ON public.sessions USING btree (project_id, customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX sessions_developer ON public.sessions USING btree (developer_id) WHERE (developer_id IS NOT NULL);

CREATE INDEX sessions_due ON public.sessions USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sessions_subject ON public.sessions USING btree (project_id, subject_id, id);

CREATE INDEX setup_links_newest ON public.setup_links USING btree (project_id, organization_id, id);

CREATE INDEX sign_in_attempts_due ON public.sign_in_attempts USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sign_in_attempts_locked ON public.sign_in_attempts USING btree (project_id, locked_until) WHERE (locked_until IS NOT NULL);

CREATE UNIQUE INDEX sso_connections_domain ON public.sso_connections USING btree (project_id, domain) WHERE (status = 'ACTIVE'::text);

CREATE INDEX sso_connections_due ON public.sso_connections USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sso_connections_id ON public.sso_connections USING btree (id);

CREATE INDEX sso_connections_newest ON public.sso_connections USING btree (project_id, organization_id, id);

CREATE INDEX sso_metadata_due ON public.sso_metadata USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sso_requests_browser ON public.sso_requests USING btree (project_id, connection_id, browser) WHERE (answered_at IS NULL);

CREATE INDEX sso_requests_due ON public.sso_requests USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sso_sign_ons_customer ON public.sso_sign_ons USING btree (project_id, customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX sso_sign_ons_due ON public.sso_sign_ons USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sso_sign_ons_name ON public.sso_sign_ons USING btree (project_id, connection_id, name_id) WHERE (name_id IS NOT NULL);

CREATE INDEX sso_sign_ons_session ON public.sso_sign_ons USING btree (project_id, session_id) WHERE (session_id IS NOT NULL);

CREATE INDEX sso_traces_customer ON public.sso_traces USING btree (project_id, customer_id) WHERE (customer_id IS NOT NULL);

CREATE INDEX sso_traces_due ON public.sso_traces USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX sso_traces_newest ON public.sso_traces USING btree (project_id, connection_id, id);

CREATE INDEX templates_name ON public.templates USING btree (project_id, lower(name), id);

CREATE INDEX templates_search ON public.templates USING gin (project_id, lower(((name || ' '::text) || COALESCE(subject, ''::text))) public.gin_trgm_ops);

CREATE INDEX templates_updated ON public.templates USING btree (project_id, updated_at, id);

CREATE INDEX tls_reports_due ON public.tls_reports USING btree (instance_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX tracking_hits_send ON public.tracking_hits USING btree (project_id, send_id, id);

CREATE INDEX unattributed_reports_due ON public.unattributed_reports USING btree (instance_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX unrecognized_reports_due ON public.unrecognized_reports USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (project_id, webhook_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX webhook_deliveries_list ON public.webhook_deliveries USING btree (project_id, webhook_id, id);

CREATE INDEX webhook_deliveries_said ON public.webhook_deliveries USING btree (project_id, event_id) WHERE (response_body <> ''::text);

CREATE INDEX webhooks_due ON public.webhooks USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE TRIGGER audience_members_left AFTER DELETE ON public.audience_members REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.keep_campaign_leavers();

CREATE TRIGGER campaign_variants_template BEFORE UPDATE OF template_id ON public.campaign_variants FOR EACH ROW WHEN (((old.template_id IS NOT NULL) AND (new.template_id IS NULL))) EXECUTE FUNCTION public.keep_template_of_variant();

CREATE CONSTRAINT TRIGGER contacts_deleted AFTER DELETE ON public.contacts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.end_runs_of_deleted_contact();

CREATE TRIGGER contacts_rolled_up_changed AFTER UPDATE ON public.contacts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.roll_up_contacts();

CREATE TRIGGER contacts_rolled_up_gone AFTER DELETE ON public.contacts REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.roll_up_contacts();

CREATE TRIGGER contacts_rolled_up_new AFTER INSERT ON public.contacts REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.roll_up_contacts();

CREATE TRIGGER content_deleted AFTER DELETE ON public.inbound_messages FOR EACH ROW WHEN (((old.object_octets IS NOT NULL) OR (pg_column_size(old.message) >= 8192))) EXECUTE FUNCTION public.delete_received_object();

CREATE TRIGGER content_deleted AFTER DELETE ON public.send_bodies FOR EACH ROW WHEN (((old.object_octets IS NOT NULL) OR (pg_column_size(old.body) >= 8192))) EXECUTE FUNCTION public.delete_content_object();

CREATE TRIGGER count_deleted AFTER DELETE ON public.inbound_messages REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_deleted_inbound_messages();

CREATE TRIGGER count_inserted AFTER INSERT ON public.inbound_messages REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_inserted_inbound_messages();

CREATE TRIGGER customers_change AFTER UPDATE ON public.customers REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_customers();

CREATE TRIGGER customers_come AFTER INSERT ON public.customers REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_customers();

CREATE TRIGGER customers_go AFTER DELETE ON public.customers REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_customers();

CREATE TRIGGER events_of_previous_release BEFORE INSERT ON public.events FOR EACH ROW WHEN (((NOT new.test) AND ((new.actor_type = 'TEST_KEY'::text) OR ((new.data @> '{"test": true}'::jsonb) AND (split_part(new.type, '.'::text, 1) = ANY (ARRAY['email'::text, 'customer'::text, 'invitation'::text, 'organization'::text])))))) EXECUTE FUNCTION public.mark_test_event();

CREATE TRIGGER sends_counted_changed AFTER UPDATE ON public.sends REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_changed_sends();

CREATE TRIGGER sends_counted_gone AFTER DELETE ON public.sends REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_gone_sends();

CREATE TRIGGER sends_counted_new AFTER INSERT ON public.sends REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_new_sends();

CREATE TRIGGER sends_rolled_up_new AFTER INSERT ON public.sends REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.roll_up_new_sends();

CREATE TRIGGER sends_used AFTER INSERT ON public.sends REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.count_email_usage();

ALTER TABLE ONLY public.access_permissions
    ADD CONSTRAINT access_permissions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.access_roles
    ADD CONSTRAINT access_roles_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.account_invitations
    ADD CONSTRAINT account_invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.account_invitations
    ADD CONSTRAINT account_invitations_inviter_id_fkey FOREIGN KEY (inviter_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.automation_counters
    ADD CONSTRAINT automation_counters_project_id_automation_id_fkey FOREIGN KEY (project_id, automation_id) REFERENCES public.automations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.automation_run_steps
    ADD CONSTRAINT automation_run_steps_project_id_run_id_fkey FOREIGN KEY (project_id, run_id) REFERENCES public.automation_runs(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.automation_runs
    ADD CONSTRAINT automation_runs_project_id_automation_id_fkey FOREIGN KEY (project_id, automation_id) REFERENCES public.automations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.automation_versions
    ADD CONSTRAINT automation_versions_project_id_automation_id_fkey FOREIGN KEY (project_id, automation_id) REFERENCES public.automations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.automations
    ADD CONSTRAINT automations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.blocklist_entries
    ADD CONSTRAINT blocklist_entries_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.blocklist_watches
    ADD CONSTRAINT blocklist_watches_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.campaign_variants
    ADD CONSTRAINT campaign_variants_project_id_campaign_id_fkey FOREIGN KEY (project_id, campaign_id) REFERENCES public.campaigns(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.campaign_variants
    ADD CONSTRAINT campaign_variants_project_id_template_id_fkey FOREIGN KEY (project_id, template_id) REFERENCES public.templates(project_id, id) ON DELETE SET NULL (template_id);

ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_project_id_audience_id_fkey FOREIGN KEY (project_id, audience_id) REFERENCES public.audiences(project_id, id) ON DELETE SET NULL (audience_id);

ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE SET NULL (domain_id);

ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.campaigns
    ADD CONSTRAINT campaigns_project_id_template_id_fkey FOREIGN KEY (project_id, template_id) REFERENCES public.templates(project_id, id) ON DELETE SET NULL (template_id);

ALTER TABLE ONLY public.certificate_orders
    ADD CONSTRAINT certificate_orders_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.acme_accounts(id);

ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.acme_accounts(id);

ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT challenges_developer_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.contact_attributes
    ADD CONSTRAINT contact_attributes_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.contact_import_pieces
    ADD CONSTRAINT contact_import_pieces_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES public.contact_imports(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.contact_imports
    ADD CONSTRAINT contact_imports_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.contents
    ADD CONSTRAINT contents_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.customer_former_addresses
    ADD CONSTRAINT customer_former_addresses_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_identities
    ADD CONSTRAINT customer_identities_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_identity_requests
    ADD CONSTRAINT customer_identity_requests_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_mail_versions
    ADD CONSTRAINT customer_mail_versions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.customer_mails
    ADD CONSTRAINT customer_mails_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_merges
    ADD CONSTRAINT customer_merges_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_other_addresses
    ADD CONSTRAINT customer_other_addresses_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.customer_providers
    ADD CONSTRAINT customer_providers_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.customer_rsa_keys
    ADD CONSTRAINT customer_rsa_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.customer_signing_keys
    ADD CONSTRAINT customer_signing_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.customers
    ADD CONSTRAINT customers_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.developers
    ADD CONSTRAINT developers_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.directory_connections
    ADD CONSTRAINT directory_connections_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_errors
    ADD CONSTRAINT directory_errors_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.directory_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_group_members
    ADD CONSTRAINT directory_group_members_project_id_group_id_fkey FOREIGN KEY (project_id, group_id) REFERENCES public.directory_groups(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_group_members
    ADD CONSTRAINT directory_group_members_project_id_user_id_fkey FOREIGN KEY (project_id, user_id) REFERENCES public.directory_users(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_groups
    ADD CONSTRAINT directory_groups_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.directory_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_tokens
    ADD CONSTRAINT directory_tokens_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.directory_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_users
    ADD CONSTRAINT directory_users_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.directory_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.directory_users
    ADD CONSTRAINT directory_users_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dmarc_reports
    ADD CONSTRAINT dmarc_reports_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.dmarc_sources
    ADD CONSTRAINT dmarc_sources_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.domain_keys
    ADD CONSTRAINT domain_keys_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.domain_reputations
    ADD CONSTRAINT domain_reputations_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.domain_warm_ups
    ADD CONSTRAINT domain_warm_ups_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.entitlement_overrides
    ADD CONSTRAINT entitlement_overrides_project_id_feature_id_fkey FOREIGN KEY (project_id, feature_id) REFERENCES public.features(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.entitlement_overrides
    ADD CONSTRAINT entitlement_overrides_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.entitlement_versions
    ADD CONSTRAINT entitlement_versions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.event_keys
    ADD CONSTRAINT event_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.features
    ADD CONSTRAINT features_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.former_contacts
    ADD CONSTRAINT former_contacts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.inbound_messages
    ADD CONSTRAINT inbound_messages_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.inbound_routes
    ADD CONSTRAINT inbound_routes_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.inbound_routes
    ADD CONSTRAINT inbound_routes_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.inbound_usage
    ADD CONSTRAINT inbound_usage_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_project_id_accepted_by_fkey FOREIGN KEY (project_id, accepted_by) REFERENCES public.customers(project_id, id) ON DELETE SET NULL (accepted_by);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_project_id_invited_by_fkey FOREIGN KEY (project_id, invited_by) REFERENCES public.customers(project_id, id) ON DELETE SET NULL (invited_by);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mail_site_shares
    ADD CONSTRAINT mail_site_shares_project_id_name_fkey FOREIGN KEY (project_id, name) REFERENCES public.mail_sites(project_id, name) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.oauth_consents
    ADD CONSTRAINT oauth_consents_project_id_client_id_fkey FOREIGN KEY (project_id, client_id) REFERENCES public.oauth_clients(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_consents
    ADD CONSTRAINT oauth_consents_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_devices
    ADD CONSTRAINT oauth_devices_project_id_client_id_fkey FOREIGN KEY (project_id, client_id) REFERENCES public.oauth_clients(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_grants
    ADD CONSTRAINT oauth_grants_project_id_client_id_fkey FOREIGN KEY (project_id, client_id) REFERENCES public.oauth_clients(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_grants
    ADD CONSTRAINT oauth_grants_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_logouts
    ADD CONSTRAINT oauth_logouts_project_id_client_id_fkey FOREIGN KEY (project_id, client_id) REFERENCES public.oauth_clients(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_registrations
    ADD CONSTRAINT oauth_registrations_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES public.oauth_clients(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.oauth_resources
    ADD CONSTRAINT oauth_resources_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.oauth_used_jwts
    ADD CONSTRAINT oauth_used_jwts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.organization_domains
    ADD CONSTRAINT organization_domains_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.organization_members
    ADD CONSTRAINT organization_members_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.organization_members
    ADD CONSTRAINT organization_members_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.organization_plans
    ADD CONSTRAINT organization_plans_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.organization_plans
    ADD CONSTRAINT organization_plans_project_id_plan_id_fkey FOREIGN KEY (project_id, plan_id) REFERENCES public.plans(project_id, id);

ALTER TABLE ONLY public.organization_removals
    ADD CONSTRAINT organization_removals_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.organization_removals
    ADD CONSTRAINT organization_removals_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.page_texts
    ADD CONSTRAINT page_texts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_developer_id_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.plan_features
    ADD CONSTRAINT plan_features_project_id_feature_id_fkey FOREIGN KEY (project_id, feature_id) REFERENCES public.features(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.plan_features
    ADD CONSTRAINT plan_features_project_id_plan_id_fkey FOREIGN KEY (project_id, plan_id) REFERENCES public.plans(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.project_site_counts
    ADD CONSTRAINT project_site_counts_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.project_sites
    ADD CONSTRAINT project_sites_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_developer_id_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reputation_counters
    ADD CONSTRAINT reputation_counters_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.second_factors
    ADD CONSTRAINT second_factors_developer_id_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.second_factors
    ADD CONSTRAINT second_factors_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.senders
    ADD CONSTRAINT senders_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sends
    ADD CONSTRAINT sends_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_customer_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_developer_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.setup_links
    ADD CONSTRAINT setup_links_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_in_hooks
    ADD CONSTRAINT sign_in_hooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.source_places
    ADD CONSTRAINT source_places_address_fkey FOREIGN KEY (address) REFERENCES public.source_warm_ups(address) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_connections
    ADD CONSTRAINT sso_connections_project_id_organization_id_fkey FOREIGN KEY (project_id, organization_id) REFERENCES public.organizations(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_keys
    ADD CONSTRAINT sso_keys_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.sso_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_metadata
    ADD CONSTRAINT sso_metadata_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES public.sso_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_requests
    ADD CONSTRAINT sso_requests_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.sso_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_sign_ons
    ADD CONSTRAINT sso_sign_ons_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.sso_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_sign_ons
    ADD CONSTRAINT sso_sign_ons_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE SET NULL (customer_id);

ALTER TABLE ONLY public.sso_traces
    ADD CONSTRAINT sso_traces_project_id_connection_id_fkey FOREIGN KEY (project_id, connection_id) REFERENCES public.sso_connections(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sso_traces
    ADD CONSTRAINT sso_traces_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.suppressions
    ADD CONSTRAINT suppressions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.template_versions
    ADD CONSTRAINT template_versions_project_id_template_id_fkey FOREIGN KEY (project_id, template_id) REFERENCES public.templates(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.templates
    ADD CONSTRAINT templates_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.terms_acceptances
    ADD CONSTRAINT terms_acceptances_project_id_customer_id_fkey FOREIGN KEY (project_id, customer_id) REFERENCES public.customers(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.unrecognized_reports
    ADD CONSTRAINT unrecognized_reports_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.warm_up_places
    ADD CONSTRAINT warm_up_places_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_project_id_webhook_id_fkey FOREIGN KEY (project_id, webhook_id) REFERENCES public.webhooks(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);
