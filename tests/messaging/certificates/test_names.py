"""The host names of projects: what each process looks for every few seconds costs nothing when there are few."""

import psycopg
import pytest

from bench.growth import PROJECT_COPIES
from postern.kernel.database.statements import STATEMENTS

PROJECTS = 3_000
DOMAIN_OF_EACH = """
    insert into domains
    select (jsonb_populate_record(null::domains, to_jsonb(original)
            || jsonb_build_object('id', gen_random_uuid(), 'project_id', copy.id,
                                  'status', 'VERIFIED', 'verified_at', now()))).*
    from domains as original cross join projects as copy
    where original.project_id = %(project)s and copy.id <> original.project_id and copy.name ~ '^Copy '
"""


@pytest.mark.usefixtures("one_server")
@pytest.mark.parametrize("name", ["new_project_names", "claimed_pages_domains", "served_pages_domains"])
async def test_host_names_are_found_without_reading_all_projects(project, database_url, name):
    statement = next(one for one in STATEMENTS if one.name == f"postern.messaging.certificates.store.{name}")
    created = await project.client.post("/domains", {"domain": "acme.example"})
    assert created.status_code == 201
    values = {"project": project.id, "copies": PROJECTS, "label": "links", "limit": 100, "per_project": 10}
    values["account_id"] = project.id
    with psycopg.connect(database_url) as connection:
        connection.execute(PROJECT_COPIES, values)
        connection.execute(DOMAIN_OF_EACH, values)
        connection.execute("analyze projects, domains")
        plan = "\n".join(line for (line,) in connection.execute(f"explain {statement.text}", values).fetchall())
        connection.rollback()
    assert "Seq Scan on projects" not in plan, plan
    assert "Seq Scan on domains" not in plan, plan
