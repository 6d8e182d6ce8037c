-- Which sign-in methods an organization allows its members (null for all), and how long their sessions last.
alter table organizations
    add column allowed_methods text[],
    add column session_lifetime_minutes integer,
    add column session_idle_minutes integer;
