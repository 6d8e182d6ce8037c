-- The site for which a send waits. Null for sends that were not tried yet, and for settled ones, so that most sends never
-- enter the index.
alter table sends add column site text;
create index sends_site on sends (project_id, site, id) where site is not null;
