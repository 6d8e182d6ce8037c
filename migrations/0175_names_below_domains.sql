-- When a project proves that it controls a domain, the domains of other projects with the same name or below it are
-- checked: their owners may have lost the name.
create index domains_names_below on domains (reverse(domain) collate "C") where status in ('VERIFIED', 'DEGRADED');
create index domains_names on domains (domain) where status in ('VERIFIED', 'DEGRADED');
