"""Stops and starts a server over HTTP, for tests that run in another process.

POST /stop     shut the server down as SIGTERM does; the response comes when nothing listens any more
POST /start    serve again at the same URL; the response comes when the server answers
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.peers.whole_server import WholeServer


@contextmanager
def server_control(controlled: WholeServer) -> Iterator[str]:
    """Offer the control of a server for this block; yields the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if self.path == "/stop":
                controlled.pause()
            elif self.path == "/start":
                controlled.resume()
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
