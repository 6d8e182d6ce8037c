-- Citus takes only IMMUTABLE functions where an INSERT resolves a conflict, and jsonb_build_object and to_char are
-- STABLE. Their results for these types depend on no setting: the time is formatted in UTC.
create function replaced_suppression(reason text, source text, detail text, send_id uuid, since timestamptz)
    returns jsonb language plpgsql immutable parallel safe as $$
begin
    return jsonb_build_object('reason', reason, 'source', source, 'detail', detail, 'sendId', send_id,
                              'since', to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
end $$;
