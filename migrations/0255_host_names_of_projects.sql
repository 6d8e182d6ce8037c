-- Few projects have host names of their own, and each process looks for them every few seconds. The partial indexes
-- `projects_pages_domain` and `projects_with_tracking` find them, but say nothing about how few they are: the planner
-- expected a name in every project, and read all of them. The statistics of this index, which has all projects, do.
-- long migration: index on projects
create index concurrently projects_host_names on projects
    ((settings -> 'signIn' ->> 'pagesDomain'), (settings ->> 'trackingDomain'));
