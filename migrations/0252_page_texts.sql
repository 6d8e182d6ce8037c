-- The texts of hosted pages that a project has replaced, by language. `id` is that of the English text, which is kept
-- because an update can remove it or write it anew.
create table page_texts (
    project_id uuid not null,
    language text not null,
    id text not null,
    english text not null,
    text text not null,
    updated_at timestamptz not null,
    primary key (project_id, language, id)
);
select place_table('page_texts', 'project_id');
alter table page_texts
    add foreign key (project_id) references projects;
