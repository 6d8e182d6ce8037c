-- When `postern backup` last wrote a backup, for `postern upgrade --check`.
alter table instance add column backed_up_at timestamptz;
