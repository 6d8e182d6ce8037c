-- Finds the contacts whose address contains a text without reading all contacts of the project.
create index contacts_search on contacts using gin (project_id, email_key gin_trgm_ops)
    with (gin_pending_list_limit = 16384);
