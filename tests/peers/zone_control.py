"""Changes a DNS zone over HTTP, for tests that run in another process.

PUT /news.acme.example/TXT   ["v=spf1 -all"]     replace the records of that name and type
DELETE /news.acme.example                        remove all records of that name
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.peers.dns_zone import DnsZone


@contextmanager
def zone_control(zone: DnsZone) -> Iterator[str]:
    """Serve the zone for this block; yields the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            _, name, kind = self.path.split("/")
            values = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            zone.set(name, kind, *values)
            self._done()

        def do_DELETE(self) -> None:
            zone.remove(self.path.strip("/"))
            self._done()

        def _done(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the requests are not of interest."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
