-- Work names the column by which its rows are shared out, so these say what they hold.
alter table account_mails rename column project_id to account_id;
alter table billing_accounts rename column project_id to account_id;
-- The project, or the account, that is deleted.
alter table deletions rename column project_id to target_id;

-- From PostgreSQL 18 on a NOT NULL has a name, which still says `project_id`.
do $$
declare
    old record;
begin
    for old in
        select conrelid::regclass as of, conname as name, replace(conname, 'project_id', attname) as new_name
        from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
        where contype = 'n' and conname like '%\_project\_id\_not\_null'
          and conrelid in ('account_mails'::regclass, 'billing_accounts'::regclass, 'deletions'::regclass)
    loop
        execute format('alter table %s rename constraint %I to %I', old.of, old.name, old.new_name);
    end loop;
end $$;
