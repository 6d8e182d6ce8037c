"""A real API process with far more requests than it can serve."""

import asyncio
import urllib.request

from bench.emails import Server, post
from bench.load import generate_load

CONNECTIONS = 768
SECONDS = 3.0


async def test_an_overload_ends_in_no_collapse(database_url, tmp_path):
    """With hundreds of requests at a time, a process serves some, others wait or are refused, and health checks are
    answered. `bench.fairness` measures how many it serves."""
    server = Server(tmp_path, database_url)
    try:
        server.start("api")
        project, key, _ = server.project()
        mail = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Code", "text": "12"}
        request = post(f"/projects/{project}/emails", key, mail, "Prefer: wait=0")

        def check_health() -> int:
            return urllib.request.urlopen(server.base + "/healthz", timeout=60).status

        overload = asyncio.create_task(
            generate_load(server.port, lambda _: request, connections=CONNECTIONS, seconds=SECONDS)
        )
        await asyncio.sleep(SECONDS / 2)
        health = await asyncio.to_thread(check_health)
        _, _, statuses = await overload
    finally:
        server.stop()
    assert set(statuses) <= {201, 429, 503}
    assert statuses[201] > 0
    assert health == 200
