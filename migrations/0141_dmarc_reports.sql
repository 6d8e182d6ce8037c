-- Aggregate reports of DMARC that a domain has received: one row for each, so that none is counted twice.
create table dmarc_reports (
    project_id uuid not null,
    domain_id uuid not null,
    organization text not null,
    report_id text not null,
    email text not null,
    begins timestamptz not null,
    ends timestamptz not null,
    policy_domain text not null,
    policy text not null,
    messages bigint not null,
    received_at timestamptz not null,
    primary key (project_id, domain_id, organization, report_id),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);

-- What the reports say: messages by day, host and result.
create table dmarc_sources (
    project_id uuid not null,
    domain_id uuid not null,
    day date not null,
    source_ip inet not null,
    header_from text not null,
    organization text not null,
    disposition text not null check (disposition in ('NONE', 'QUARANTINE', 'REJECT')),
    dkim boolean not null,
    spf boolean not null,
    messages bigint not null,
    primary key (project_id, domain_id, day, source_ip, header_from, organization, disposition, dkim, spf),
    foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);
