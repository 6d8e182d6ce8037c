-- How the file of an import is read: decided while it is uploaded, shown, and used by the worker.
-- Rows without `charset` were uploaded by the previous release; the worker reads their header itself, as it did.
alter table contact_imports
    add column charset text,
    add column charset_from text check (charset_from in ('BOM', 'DECLARED', 'DETECTED')),
    add column delimiter text,
    add column columns jsonb not null default '[]';
