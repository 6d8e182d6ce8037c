-- Members may have joined by a directory.
-- holds: it allows what the previous constraint allowed.
alter table organization_members drop constraint organization_members_source_check,
    add constraint organization_members_source_check
        check (source in ('API', 'INVITATION', 'DOMAIN', 'SSO', 'SCIM')) not valid;
