-- Who sent a DMARC report: the domain that authenticated the e-mail; empty if the project added the report itself.
-- Reports whose senders were not authenticated are kept, but not counted.
alter table dmarc_reports add column counted boolean not null default true,
    add column reporter text not null default '';
alter table dmarc_reports drop constraint dmarc_reports_pkey,
    add primary key (project_id, domain_id, counted, reporter, organization, report_id);
create index dmarc_reports_received on dmarc_reports (project_id, domain_id, counted, reporter, received_at);

alter table dmarc_sources add column reporter text not null default '';
alter table dmarc_sources drop constraint dmarc_sources_pkey,
    add primary key (project_id, domain_id, day, source_ip, header_from, organization, reporter, disposition, dkim, spf);
