-- A host name shows the hosted pages of one project at most (`settings.signIn.pagesDomain`).
-- long migration: index on projects
-- holds: the previous release writes no such name
create unique index concurrently projects_pages_domain on projects ((settings -> 'signIn' ->> 'pagesDomain'))
    where settings -> 'signIn' ->> 'pagesDomain' is not null and deleted_at is null;
