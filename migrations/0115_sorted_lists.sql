-- Lists of campaigns, templates and organizations by name, by time of the last change and by a search text.
create index campaigns_name on campaigns (project_id, lower(name), id);
create index campaigns_updated on campaigns (project_id, updated_at, id);
create index campaigns_status on campaigns (project_id, status, id);
create index campaigns_search on campaigns
    using gin (project_id, lower(name || ' ' || coalesce(subject, '')) gin_trgm_ops);

create index templates_name on templates (project_id, lower(name), id);
create index templates_updated on templates (project_id, updated_at, id);
create index templates_search on templates
    using gin (project_id, lower(name || ' ' || coalesce(subject, '')) gin_trgm_ops);

create index organizations_name on organizations (project_id, lower(name), id);
create index organizations_updated on organizations (project_id, updated_at, id);
create index organizations_suspended on organizations (project_id, id) where status = 'SUSPENDED';
create index organizations_search on organizations
    using gin (project_id, lower(name || ' ' || slug || ' ' || coalesce(external_id, '')) gin_trgm_ops);
