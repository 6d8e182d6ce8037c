"""All operations: unusual paths, and clients that disconnect."""

import pytest
import structlog

from postern.app import OPERATIONS


@pytest.mark.parametrize("path", ["/assets/postern.css%00.txt", "/assets/%00", "/docs/assets/a%00b", "/%00"])
async def test_a_path_with_nul_is_404(stranger, path):
    """Defects: S12"""
    answer = await stranger.get(path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


async def test_a_client_that_disconnects_during_its_body_causes_no_500(app, project):
    """Every operation with a body, of which only half is sent.

    Defects: S12
    """
    concerned = [each for each in OPERATIONS if each.body is not None and "{project_id}" in each.path]
    assert len(concerned) > 50
    for each in concerned:
        path = each.path.replace("{project_id}", project.id)
        messages = [{"type": "http.request", "body": b'{"na', "more_body": True}, {"type": "http.disconnect"}]

        async def receive(messages=messages):
            return messages.pop(0)

        sent = []

        async def send(message, sent=sent):
            sent.append(message)

        headers = [
            (b"host", b"postern.test"),
            (b"content-type", b"application/json"),
            (b"authorization", f"Bearer {project.secret_key}".encode()),
        ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": each.method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": headers,
            "client": ("127.0.0.1", 40_000),
            "server": ("127.0.0.1", 80),
        }
        with structlog.testing.capture_logs() as logs:
            await app(scope, receive, send)
        assert not [line for line in logs if line["log_level"] in ("error", "critical")], (each.name, logs)
        assert sent[0]["status"] < 500, each.name
