"""Paths with NUL characters, and clients that disconnect during a request."""

import pytest
import structlog

from postern.app import OPERATIONS


@pytest.mark.parametrize("path", ["/assets/postern.css%00.txt", "/assets/%00", "/docs/assets/a%00b", "/%00"])
async def test_a_path_with_nul_is_404(stranger, path):
    """Regression test of S12 (tests/defects.md)."""
    response = await stranger.get(path)
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


async def test_a_client_that_disconnects_during_its_body_causes_no_500(app, project):
    """For every operation with a body, the client sends half of the body.

    Regression test of S12 (tests/defects.md).
    """
    operations = [operation for operation in OPERATIONS if operation.body and "{project_id}" in operation.path]
    assert len(operations) > 50
    for operation in operations:
        path = operation.path.replace("{project_id}", project.id)
        messages = [{"type": "http.request", "body": b'{"na', "more_body": True}, {"type": "http.disconnect"}]

        async def receive(messages=messages):
            return messages.pop(0)

        response_messages = []

        async def send(message, response_messages=response_messages):
            response_messages.append(message)

        headers = [
            (b"host", b"postern.test"),
            (b"content-type", b"application/json"),
            (b"authorization", f"Bearer {project.secret_key}".encode()),
        ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": operation.method,
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
        assert not [line for line in logs if line["log_level"] in ("error", "critical")], (operation.name, logs)
        assert response_messages[0]["status"] < 500, operation.name
