-- The transport of each attempt: capture, relay or ses. Null for attempts that used none, and for those from before.
alter table send_attempts add column transport text;
