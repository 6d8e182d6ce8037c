----- Whether an address is invited anywhere: an invitation lets somebody sign up where strangers may not.

create index invitations_address on invitations (project_id, email_key) where status = 'PENDING';
