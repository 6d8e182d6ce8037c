-- Mail that carries a one-time code or link: `body` and `message` hold it with the secret removed. The complete content
-- is encrypted with the master key in `sealed`, which is erased as soon as a send is settled; of a captured message it
-- stays, for callers with the permission `customers:impersonate`.
alter table send_bodies add column sealed bytea;
alter table captured_messages add column sealed bytea;

create index send_bodies_sealed on send_bodies (project_id, send_id) where sealed is not null;
