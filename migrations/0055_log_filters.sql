-- The log of sends by tag, and a search that finds cc and bcc.

create index sends_tags on sends using gin (project_id, tags) where tags is not null;

update send_search as words
set haystack = words.haystack || ' ' || lower(array_to_string(s.cc_addresses || s.bcc_addresses, ' '))
from sends s
where (s.project_id, s.id) = (words.project_id, words.send_id)
  and (s.cc_addresses is not null or s.bcc_addresses is not null);
