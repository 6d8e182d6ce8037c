-- The values of `acr` that a client has asked for with the code of a grant: its tokens have the first one that is met.
alter table oauth_grants add column acr_values text[] not null default '{}';
