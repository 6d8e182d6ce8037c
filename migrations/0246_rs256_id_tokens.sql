-- ID tokens with RS256, for clients that ask for it: the RSA keys of projects that have such clients, and the algorithm
-- of each client. The keys are in a table of their own, because processes of the previous release would take them for
-- keys of access tokens.
create table customer_rsa_keys (
    project_id uuid not null,
    id uuid not null,
    public_key bytea not null,
    private_key bytea not null,
    active_at timestamptz not null,
    retired_at timestamptz,
    created_at timestamptz not null,
    primary key (project_id, id)
);
select place_table('customer_rsa_keys', 'project_id');
alter table customer_rsa_keys add foreign key (project_id) references projects;
alter table oauth_clients add column id_token_signing_alg text not null default 'ES256';
