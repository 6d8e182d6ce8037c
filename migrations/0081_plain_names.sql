-- A column and a table by the names that they have in the code.
alter table send_search rename column haystack to search_text;
alter table customer_letters rename to customer_mails;
alter table customer_mails rename constraint customer_letters_pkey to customer_mails_pkey;
alter table customer_mails
    rename constraint customer_letters_project_id_customer_id_fkey to customer_mails_project_id_customer_id_fkey;
alter index customer_letters_due rename to customer_mails_due;
alter index customer_letters_customer rename to customer_mails_customer;

-- From PostgreSQL 18 on a NOT NULL has a name, which still says what the column and the table were called.
do $$
declare
    old record;
begin
    for old in
        select conrelid::regclass as of, conname as name,
            replace(replace(conname, 'customer_letters', 'customer_mails'), 'haystack', 'search_text') as new_name
        from pg_constraint
        where contype = 'n' and conrelid in ('customer_mails'::regclass, 'send_search'::regclass)
          and (conname like 'customer\_letters%' or conname like '%haystack%')
    loop
        execute format('alter table %s rename constraint %I to %I', old.of, old.name, old.new_name);
    end loop;
end $$;
