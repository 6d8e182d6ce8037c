-- Features that a project declares, plans that bundle them, and what organizations have of them.

create table features (
    project_id uuid not null references projects (id),
    id uuid not null,
    key text not null check (length(key) <= 64),
    name text not null,
    type text not null check (type in ('BOOLEAN', 'LIMIT')),
    default_enabled boolean not null default false,
    -- Null is unlimited, here and below.
    default_limit bigint check (default_limit >= 0),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key),
    check (type = 'LIMIT' or default_limit is null)
);

create table plans (
    project_id uuid not null references projects (id),
    id uuid not null,
    key text not null check (length(key) <= 64),
    name text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (project_id, id),
    unique (project_id, key)
);

create table plan_features (
    project_id uuid not null,
    plan_id uuid not null,
    feature_id uuid not null,
    enabled boolean not null,
    max_amount bigint check (max_amount >= 0),
    primary key (project_id, plan_id, feature_id),
    foreign key (project_id, plan_id) references plans (project_id, id) on delete cascade,
    foreign key (project_id, feature_id) references features (project_id, id) on delete cascade
);
create index plan_features_feature on plan_features (project_id, feature_id);

create table organization_plans (
    project_id uuid not null,
    organization_id uuid not null,
    plan_id uuid not null,
    since timestamptz not null,
    primary key (project_id, organization_id),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade,
    foreign key (project_id, plan_id) references plans (project_id, id)
);
create index organization_plans_plan on organization_plans (project_id, plan_id);

-- What one organization has whatever its plan says. Due when it ends, to be told of; reads do not wait for that.
create table entitlement_overrides (
    project_id uuid not null,
    id uuid not null,
    organization_id uuid not null,
    feature_id uuid not null,
    enabled boolean not null,
    max_amount bigint check (max_amount >= 0),
    reason text,
    expires_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    due_at timestamptz,
    attempt int not null default 0,
    primary key (project_id, id),
    unique (project_id, organization_id, feature_id),
    foreign key (project_id, organization_id) references organizations (project_id, id) on delete cascade,
    foreign key (project_id, feature_id) references features (project_id, id) on delete cascade
);
create index entitlement_overrides_feature on entitlement_overrides (project_id, feature_id);
create index entitlement_overrides_due on entitlement_overrides (project_id, due_at) where due_at is not null;
