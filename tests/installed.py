"""`python -m tests.installed POSTERN`: checks that an installed package is complete. `script/release` checks the wheel.

POSTERN is the path of the installed command. The check starts a server, sends a message, and opens a guide, the API
reference, the inbox and a style sheet, because a wheel could lack such files.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

START_SECONDS = 60
PAGES = (
    "/",
    "/docs",
    "/openapi.json",
    "/guide",
    "/guide/quickstart",
    "/inbox",
    "/assets/postern.css",
)


def main(postern: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("POSTERN_", "DATABASE_"))
        }
        environment = {**inherited, "POSTERN_DATA": f"{folder}/data", "POSTERN_PORT": str(port)}
        with (Path(folder) / "log").open("w+") as log:
            server = subprocess.Popen([postern, "serve"], cwd=folder, env=environment, stdout=log, stderr=log)
            try:
                wait_until_ready(url, server)
                bootstrap = subprocess.run(
                    [postern, "bootstrap", "--json"], cwd=folder, env=environment, stdout=subprocess.PIPE, check=True
                )
                project = json.loads(bootstrap.stdout)
                mail = {"to": ["a@example.org"], "from": "a@acme.example", "subject": "Hello", "html": "<p>Hello</p>"}
                headers = {"Authorization": f"Bearer {project['secretKey']}"}
                sent = httpx.post(f"{url}/projects/{project['projectId']}/emails", json=mail, headers=headers)
                assert sent.status_code == 201, sent.text
                for page in PAGES:
                    response = httpx.get(f"{url}{page}", headers={"Accept": "text/html"}, follow_redirects=True)
                    assert response.status_code == 200, (page, response.status_code)
            except BaseException:
                log.seek(0)
                sys.stderr.write(log.read())
                raise
            finally:
                server.send_signal(signal.SIGINT)
                server.wait(START_SECONDS)
    print("The installed package serves, sends and shows its pages.")


def wait_until_ready(url: str, server: subprocess.Popen[bytes]) -> None:
    """Wait for `/readyz`. Raises AssertionError if the server ends or is not ready within START_SECONDS."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.poll() is None, "the server ended"
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError("the server did not become ready")


if __name__ == "__main__":
    main(sys.argv[1])
