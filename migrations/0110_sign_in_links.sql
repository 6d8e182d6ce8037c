-- Links that sign a developer in to the dashboard. Processes of the previous release do not create them.
alter table developer_tokens drop constraint developer_tokens_purpose_check;
alter table developer_tokens add constraint developer_tokens_purpose_check
    check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'INBOX', 'SIGN_IN'));
