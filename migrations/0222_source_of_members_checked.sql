-- Check the rows that were not checked when 0221 added the constraint.
alter table organization_members validate constraint organization_members_source_check;
