-- The active organization of a customer's session: the context of its access tokens. Like sso_organization_id, it is no
-- foreign key: the membership is read at every refresh.
alter table sessions add column organization_id uuid;
