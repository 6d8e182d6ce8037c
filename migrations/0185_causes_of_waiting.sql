-- Why a send waits until `due_at`, as a code. Null before the first attempt and if it is settled; only of interest while
-- it waits.
alter table sends add column waits_for text;
