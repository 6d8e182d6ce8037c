-- Written by script/schema from migrations/; do not edit.

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE TABLE public.accounts (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
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

CREATE TABLE public.developer_sessions (
    id uuid NOT NULL,
    developer_id uuid NOT NULL,
    access_hash bytea NOT NULL,
    access_expires_at timestamp with time zone NOT NULL,
    refresh_hash bytea NOT NULL,
    previous_refresh_hash bytea,
    rotated_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    ip_address text DEFAULT ''::text NOT NULL,
    user_agent text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.developer_tokens (
    hash bytea NOT NULL,
    developer_id uuid NOT NULL,
    purpose text NOT NULL,
    email text,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT developer_tokens_purpose_check CHECK ((purpose = ANY (ARRAY['VERIFY_EMAIL'::text, 'RESET_PASSWORD'::text, 'INBOX'::text])))
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

CREATE TABLE public.domain_keys (
    project_id uuid NOT NULL,
    domain_id uuid NOT NULL,
    selector text NOT NULL,
    private_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
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
    CONSTRAINT domains_check CHECK (((verified_at IS NOT NULL) OR (status = ANY (ARRAY['PENDING'::text, 'FAILED'::text])))),
    CONSTRAINT domains_domain_check CHECK ((((length(domain) >= 3) AND (length(domain) <= 253)) AND (domain = lower(domain)))),
    CONSTRAINT domains_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'VERIFIED'::text, 'DEGRADED'::text, 'FAILED'::text])))
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
    erased_at timestamp with time zone
);

CREATE TABLE public.instance (
    only_one boolean DEFAULT true NOT NULL,
    key_check bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT instance_only_one_check CHECK (only_one)
);

CREATE TABLE public.projects (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT projects_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
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
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.workers (
    id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (chain_id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (chain_id, seq);

ALTER TABLE ONLY public.blocklist_entries
    ADD CONSTRAINT blocklist_entries_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.blocklist_entries
    ADD CONSTRAINT blocklist_entries_project_id_domain_id_list_name_subject_va_key UNIQUE (project_id, domain_id, list_name, subject_value);

ALTER TABLE ONLY public.blocklist_watches
    ADD CONSTRAINT blocklist_watches_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.developer_sessions
    ADD CONSTRAINT developer_sessions_access_hash_key UNIQUE (access_hash);

ALTER TABLE ONLY public.developer_sessions
    ADD CONSTRAINT developer_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.developer_sessions
    ADD CONSTRAINT developer_sessions_refresh_hash_key UNIQUE (refresh_hash);

ALTER TABLE ONLY public.developer_tokens
    ADD CONSTRAINT developer_tokens_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.developers
    ADD CONSTRAINT developers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.domain_keys
    ADD CONSTRAINT domain_keys_pkey PRIMARY KEY (project_id, domain_id, selector);

ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_project_id_domain_key UNIQUE (project_id, domain);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (only_one);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);

CREATE INDEX audit_log_account ON public.audit_log USING btree (account_id, id);

CREATE INDEX audit_log_target ON public.audit_log USING btree (chain_id, target_id, seq);

CREATE INDEX blocklist_watches_due ON public.blocklist_watches USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX developer_sessions_developer ON public.developer_sessions USING btree (developer_id);

CREATE INDEX developer_sessions_previous ON public.developer_sessions USING btree (previous_refresh_hash) WHERE (previous_refresh_hash IS NOT NULL);

CREATE INDEX developer_tokens_developer ON public.developer_tokens USING btree (developer_id, purpose);

CREATE INDEX developers_account ON public.developers USING btree (account_id);

CREATE UNIQUE INDEX developers_email ON public.developers USING btree (lower(email));

CREATE UNIQUE INDEX developers_owner ON public.developers USING btree (account_id) WHERE (role = 'OWNER'::text);

CREATE INDEX domains_due ON public.domains USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX events_subject ON public.events USING btree (project_id, subject_id, id);

CREATE INDEX projects_account ON public.projects USING btree (account_id, id);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (project_id, webhook_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX webhook_deliveries_list ON public.webhook_deliveries USING btree (project_id, webhook_id, id);

CREATE INDEX webhooks_due ON public.webhooks USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);

ALTER TABLE ONLY public.blocklist_entries
    ADD CONSTRAINT blocklist_entries_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.blocklist_watches
    ADD CONSTRAINT blocklist_watches_project_id_id_fkey FOREIGN KEY (project_id, id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.developer_sessions
    ADD CONSTRAINT developer_sessions_developer_id_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.developer_tokens
    ADD CONSTRAINT developer_tokens_developer_id_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.developers
    ADD CONSTRAINT developers_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.domain_keys
    ADD CONSTRAINT domain_keys_project_id_domain_id_fkey FOREIGN KEY (project_id, domain_id) REFERENCES public.domains(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_project_id_webhook_id_fkey FOREIGN KEY (project_id, webhook_id) REFERENCES public.webhooks(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);
