-- One-time sends to an audience.

create table campaigns (
    project_id uuid not null references projects (id),
    id uuid not null,
    name text not null check (length(name) between 1 and 200),
    subject text,
    from_name text,
    from_email text,
    preview_text text,
    status text not null check (status in ('DRAFT', 'SCHEDULED', 'TESTING', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED',
                                           'FAILED')),
    scheduled_at timestamptz,
    sent_at timestamptz,
    template_id uuid,
    domain_id uuid,
    audience_id uuid,
    ab_test_enabled boolean not null default false,
    ab_test_sample_percent int check (ab_test_sample_percent between 5 and 100),
    ab_test_metric text check (ab_test_metric in ('OPEN_RATE', 'CLICK_RATE')),
    ab_test_duration_minutes int check (ab_test_duration_minutes between 15 and 10080),
    ab_test_started_at timestamptz,
    evidence jsonb,
    -- Where filling stands: `started_at` fixes the audience, `cursor` is the last contact that became a send,
    -- `filled` says that the present part (the sample, or everybody who is left) is through.
    started_at timestamptz,
    paused_from text,
    -- Resumed: what was held is being made due again, a chunk at a time.
    releasing boolean not null default false,
    -- Started with a TEST key: its mail only ever reaches the inbox view.
    is_test boolean not null default false,
    content_id uuid,
    cursor uuid,
    filled boolean not null default false,
    expected bigint not null default 0,
    seen bigint not null default 0,
    skipped_unsubscribed bigint not null default 0,
    skipped_suppressed bigint not null default 0,
    reason text,
    due_at timestamptz,
    attempt int not null default 0,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    foreign key (project_id, template_id) references templates (project_id, id) on delete set null (template_id),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete set null (domain_id),
    foreign key (project_id, audience_id) references audiences (project_id, id) on delete set null (audience_id),
    -- What a campaign that is on its way needs cannot be deleted under it.
    constraint used_by_a_campaign check (
        (status <> 'SCHEDULED' or (template_id is not null or ab_test_enabled) and domain_id is not null)
        and (status not in ('SCHEDULED', 'TESTING', 'SENDING', 'PAUSED') or audience_id is not null))
);
create index campaigns_due on campaigns (project_id, due_at) where due_at is not null;
create index campaigns_template on campaigns (project_id, template_id);
create index campaigns_audience on campaigns (project_id, audience_id);
create index campaigns_domain on campaigns (project_id, domain_id);
create index campaigns_under_way on campaigns (project_id, audience_id)
    where status in ('TESTING', 'SENDING', 'PAUSED');

-- Who was in the audience at the start and left it before their send was made: the audience is fixed at the start.
create table campaign_leavers (
    project_id uuid not null,
    campaign_id uuid not null,
    contact_id uuid not null,
    primary key (project_id, campaign_id, contact_id)
);

create function keep_campaign_leavers() returns trigger language plpgsql as $$
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

create trigger audience_members_left after delete on audience_members
    referencing old table as old_rows for each statement execute function keep_campaign_leavers();

create table campaign_variants (
    project_id uuid not null,
    id uuid not null,
    campaign_id uuid not null,
    position int not null,
    name text not null,
    subject text,
    template_id uuid,
    weight int not null check (weight between 1 and 100),
    is_winner boolean not null default false,
    content_id uuid,
    created_at timestamptz not null,
    primary key (project_id, id),
    foreign key (project_id, campaign_id) references campaigns (project_id, id) on delete cascade,
    foreign key (project_id, template_id) references templates (project_id, id) on delete set null (template_id)
);
create index campaign_variants_campaign on campaign_variants (project_id, campaign_id, position);

-- A variant that loses its template would speak with the campaign's words: not while it is scheduled.
create function keep_template_of_variant() returns trigger language plpgsql as $$
begin
    if exists (select from campaigns c
               where (c.project_id, c.id) = (new.project_id, new.campaign_id) and c.status = 'SCHEDULED') then
        raise check_violation using constraint = 'used_by_a_campaign', message = 'A scheduled campaign uses it.';
    end if;
    return new;
end $$;

create trigger campaign_variants_template before update of template_id on campaign_variants
    for each row when (old.template_id is not null and new.template_id is null)
    execute function keep_template_of_variant();

-- The few sends of a campaign that wait or went wrong, found without passing the many that went right.
create index sends_campaign_exceptions on sends (project_id, campaign_id, status, contact_id)
    where campaign_id is not null and status not in ('SENT', 'DELIVERED');

-- A number from 0 to 9,999 that a campaign and a contact always have together; `salt` keeps uses apart.
create function campaign_bucket(salt text, campaign_id uuid, contact_id uuid) returns int
language sql immutable parallel safe as $$
    select (('x' || substr(md5(salt || campaign_id::text || contact_id::text), 1, 7))::bit(28)::int % 10000)
$$;

-- UUIDv7 (RFC 9562 §5.7), for servers before PostgreSQL 18.
create function new_send_id() returns uuid language sql volatile parallel safe as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
        substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
        52, 1), 53, 1), 'hex')::uuid
$$;
