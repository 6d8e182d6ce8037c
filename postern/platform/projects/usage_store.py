"""SQL that finds the automations and campaigns that use a template, an audience or a sending domain."""

from uuid import UUID

from postern.kernel.database.statements import Transaction, statement
from postern.kernel.values import Record


class Dependent(Record):
    """An automation or campaign that uses a record."""

    kind: str
    id: UUID
    name: str


# Wait for the lock on activations of automations in the project, and hold it until the transaction ends.
@statement("""
    select pg_advisory_xact_lock(hashtextextended('automations:' || %(project_id)s::text, 0))::text
""")
async def lock_activations(tx: Transaction, *, project_id: UUID) -> str: ...


# Up to `limit` automations and campaigns that use the record `id`; `text` is the id as text, `domain` the name of a
# sending domain.
# Steps of automations refer to templates, audiences and domains by id at any depth. Ids are unique, so the JSON text of
# the steps is searched for the id.
# A run keeps the version of the steps with which it started, so unfinished runs count even if the automation is
# inactive or was changed.
@statement("""
    select kind, id, name from (
        select 'automation' as kind, a.id, a.name from automations a
        where a.project_id = %(project_id)s and (
            a.active and (strpos(lower(a.trigger::text || a.steps::text), %(text)s) > 0 or exists (
                select from jsonb_path_query(a.steps, '$.**.fromEmail') as sender (address)
                where lower(sender.address #>> '{}') like '%%@' || %(domain)s
                   or lower(sender.address #>> '{}') like '%%@' || %(domain)s || '>'))
            or exists (
                select from automation_versions v
                where (v.project_id, v.automation_id) = (a.project_id, a.id)
                /*distributed and v.project_id = :project */
                  and strpos(lower(v.steps::text), %(text)s) > 0
                  and exists (
                      select from automation_runs r
                      where (r.project_id, r.automation_id, r.version) = (v.project_id, v.automation_id, v.version)
                        and r.status in ('RUNNING', 'WAITING') /*distributed and r.project_id = :project */)))
        union all
        select 'campaign', c.id, c.name from campaigns c
        where c.project_id = %(project_id)s and (
            (c.template_id = %(id)s or c.domain_id = %(id)s) and c.status = 'SCHEDULED'
            or c.audience_id = %(id)s and c.status in ('SCHEDULED', 'TESTING', 'SENDING', 'PAUSED')
            or c.status in ('DRAFT', 'SCHEDULED') and exists (
                select from campaign_variants v
                where (v.project_id, v.campaign_id) = (c.project_id, c.id) and v.template_id = %(id)s
                  /*distributed and v.project_id = :project */))
    ) as dependents
    order by kind, name, id limit %(limit)s
""")
async def dependents(
    tx: Transaction, *, project_id: UUID, id: UUID, text: str, domain: str | None, limit: int
) -> list[Dependent]: ...
