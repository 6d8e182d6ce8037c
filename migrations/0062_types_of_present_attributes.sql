-- In a transaction of its own: it reads every contact, and the one before locks `projects`.
-- Attributes that contacts have already: the type that all values have, else string. Objects and empty texts have none.
insert into contact_attributes (project_id, id, name, type, inferred, created_at, updated_at)
select project_id,
    (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' ||
        substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
    name, type, true, now(), now()
from (
    select project_id, name, row_number() over (partition by project_id order by occurrences desc, name) as place,
        case when kinds = '{number}' then 'number' when kinds = '{boolean}' then 'boolean'
             when kinds = '{date}' then 'date' when kinds = '{array}' then 'list' else 'string' end as type
    from (
        select project_id, name, sum(occurrences) as occurrences, array_agg(kind) as kinds
        from (
            select c.project_id, attribute.key as name, count(*) as occurrences,
                case when jsonb_typeof(attribute.value) <> 'string' then jsonb_typeof(attribute.value)
                     when attribute.value #>> '{}' !~ '^\d{4}-\d\d-\d\d' then 'string'
                     when attribute_moment(attribute.value) is null then 'string'
                     else 'date' end as kind
            from contacts c cross join lateral jsonb_each(c.attributes) as attribute
            where jsonb_typeof(attribute.value) not in ('object', 'null') and attribute.value <> '""'
              and length(attribute.key) between 1 and 100
            group by 1, 2, 4
        ) as of_kind
        group by project_id, name
    ) as of_name
) as ranked
where place <= 1000;
