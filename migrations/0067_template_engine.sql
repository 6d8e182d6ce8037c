-- Whether placeholders of a template are filled in, or its subject, html and text are sent as written.
-- The engine of a single send and of a campaign's content stands in their `body`, where it is not the default.
alter table templates add column engine text not null default 'minijinja' check (engine in ('minijinja', 'none'));
alter table template_versions
    add column engine text not null default 'minijinja' check (engine in ('minijinja', 'none'));
