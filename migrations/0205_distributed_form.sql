-- Citus takes only IMMUTABLE functions where an INSERT resolves a conflict, and jsonb_build_object and to_char are
-- STABLE. Their results for these types depend on no setting: the time is formatted in UTC.
create function replaced_suppression(reason text, source text, detail text, send_id uuid, since timestamptz)
    returns jsonb language plpgsql immutable parallel safe as $$
begin
    return jsonb_build_object('reason', reason, 'source', source, 'detail', detail, 'sendId', send_id,
                              'since', to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
end $$;

-- As before, by a statement that `postern distribute` can change so that it reads the shard beside.
create or replace function keep_template_of_variant() returns trigger language plpgsql as $$
declare
    used bigint;
begin
    perform from campaigns c where (c.project_id, c.id) = (new.project_id, new.campaign_id) and c.status = 'SCHEDULED';
    get diagnostics used = row_count;
    if used > 0 then
        raise check_violation using constraint = 'used_by_a_campaign', message = 'A scheduled campaign uses it.';
    end if;
    return new;
end $$;
