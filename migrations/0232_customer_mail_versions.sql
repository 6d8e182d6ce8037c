-- The texts that a project has written for its mails to customers, by mail and language. The newest version counts;
-- one without content is that of a text which was reset to the built-in one.
create table customer_mail_versions (
    project_id uuid not null,
    mail text not null,
    language text not null,
    version integer not null,
    content jsonb,
    created_by text,
    created_at timestamptz not null,
    primary key (project_id, mail, language, version)
);
select place_table('customer_mail_versions', 'project_id');
alter table customer_mail_versions
    add foreign key (project_id) references projects;
