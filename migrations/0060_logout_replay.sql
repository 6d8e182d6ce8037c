-- A logout message of an identity provider counts once: its id is kept for as long as the message could be shown again.
alter table sso_requests drop constraint sso_requests_kind_check;
alter table sso_requests add constraint sso_requests_kind_check
    check (kind in ('SIGN_ON', 'TEST', 'LOGOUT', 'PROVIDER_LOGOUT'));
