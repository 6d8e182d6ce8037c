"""Tampering with the audit log is detected, also by `postern audit verify`."""

import os

import pytest

from postern.platform.audit.operations import verify_chain
from tests.commands import run_command

CHANGES = {
    "an entry altered": "update audit_log set action = 'customer.praised' where chain_id = %s and seq = 2",
    "details altered": "update audit_log set metadata = '{\"a\": 1}' where chain_id = %s and seq = 2",
    "details added to an entry that is marked as erased": "update audit_log set actor_email = 'eve@example.com',"
    " salt = '' where chain_id = %s and seq = 2",
    "an entry removed": "delete from audit_log where chain_id = %s and seq = 2",
    "the last entry removed": "delete from audit_log where chain_id = %s and seq = (select max(seq) from audit_log l"
    " where l.chain_id = audit_log.chain_id)",
    "two entries swapped": "update audit_log set seq = case when seq = 2 then 1002 else seq end where chain_id = %s",
}


async def create_customers(project):
    for number in range(3):
        await project.client.post("/customers", {"email": f"ada{number}@example.com"})


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_tampering_is_detected(project, world, change):
    await create_customers(project)
    report = await verify_chain(world.db, project.id)
    assert (report.intact, report.broken_at) == (True, None)
    async with world.db.connection() as connection:
        await connection.execute(change, [project.id])
    report = await verify_chain(world.db, project.id)
    assert not report.intact
    assert report.broken_at is not None


async def test_the_command_finds_the_chain_that_was_altered(project, new_project, world, database_url, tmp_path):
    await create_customers(project)
    other = await new_project()
    await create_customers(other)

    def run(*arguments):
        environment = {**os.environ, "DATABASE_URL": database_url, "POSTERN_DATA": str(tmp_path)}
        return run_command("audit", "verify", *arguments, environment=environment)

    intact_chain = run("--project", other.id)
    assert (intact_chain.returncode, "intact" in intact_chain.stdout) == (0, True), intact_chain.stderr
    async with world.db.connection() as connection:
        await connection.execute(CHANGES["an entry removed"], [project.id])
    all_chains = run()
    assert all_chains.returncode == 1
    assert f"{project.id}: broken at entry" in all_chains.stdout
    assert other.id not in all_chains.stdout
    assert run("--project", other.id).returncode == 0
    assert run("--project", "nonsense").returncode == 78
