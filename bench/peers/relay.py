"""Mail servers that sign and deliver what is submitted to them: Postfix with OpenDKIM, Haraka, and Postern's port."""

import asyncio
import os
import shutil
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Final

import uvloop

from bench.campaigns import newsletter, running
from bench.emails import free_port, relay_environment, verified_domain
from bench.peers.postern import SIGNATURES, parts
from bench.peers.running import (
    Measurement,
    PeerMissing,
    Seconds,
    Sink,
    counting_sink,
    find_program,
    listens,
    measure_at,
    own,
    scratch,
    seconds_of,
    started,
)
from bench.submission import connect, expect
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.dkim import generate_rsa
from postern.protocols.mail.mime import Message, compose
from postern.protocols.mail.templates.content import TrackingOptions, compile_content
from tests.peers.mail_servers import postfix, wait_until_open

DOMAIN: Final = "acme.example"
SELECTOR: Final = "bench"
CONNECTIONS: Final = 20
SIGNED_FIELDS: Final = (
    "From,Reply-To,Subject,Date,To,Cc,Message-ID,MIME-Version,Content-Type,Content-Transfer-Encoding,List-Unsubscribe,"
    "List-Unsubscribe-Post"
)
HARAKA_PLUGIN: Final = """
exports.hook_connect = (next, connection) => { connection.relaying = true; next(); };
exports.hook_mail = (next) => next(OK);
exports.hook_rcpt = (next) => next(OK);
exports.hook_get_mx = (next) => next(OK, { priority: 0, exchange: '127.0.0.1', port: SINK });
"""
"""Accepts everything for delivery to the sink. Haraka stores each message in its queue before it accepts it."""


def composed() -> bytes:
    """The newsletter as a campaign composes it, unsigned, with `NUMBER` in the places that differ by recipient.

    Full stops at the beginning of a line are doubled (RFC 5321 §4.5.2).
    """
    tracking = TrackingOptions(base="http://127.0.0.1:8025", key=b"k" * 32)
    content = compile_content(subject="Hello {{name}}", html=newsletter())
    variables = {"name": "User 1", "unsubscribe_url": "http://127.0.0.1:8025/u/01"}
    rendered = content.render(variables, send_id="01", tracking=tracking)
    message = compose(
        Message(
            from_=parse_address("Acme <news@acme.example>"),
            to=[parse_address("userNUMBER@example.org")],
            subject=rendered.subject,
            date=datetime.now(UTC),
            message_id="<NUMBER@acme.example>",
            own_headers=[
                ("List-Unsubscribe", "<https://acme.example/u/01>"),
                ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
            ],
            text=rendered.text,
            html=rendered.html,
        )
    )
    return message.replace(b"\r\n.", b"\r\n..")


async def submit(port: int, count: int, message: bytes, key: str | None) -> None:
    """Submit messages on CONNECTIONS connections, each pipelined up to DATA; with AUTH PLAIN if there is a key.

    Raises AssertionError if the server does not accept one.
    """
    numbers = iter(range(count))

    async def send() -> None:
        reader, writer = await connect(port, key)
        for number in numbers:
            writer.write(b"MAIL FROM:<news@acme.example>\r\nRCPT TO:<user%d@example.org>\r\nDATA\r\n" % number)
            await expect(reader, b"250", b"250", b"354")
            writer.write(message.replace(b"NUMBER", b"%d" % number) + b".\r\n")
            await expect(reader, b"250")
        writer.write(b"QUIT\r\n")
        await expect(reader, b"221")
        writer.close()

    await asyncio.gather(*(send() for _ in range(CONNECTIONS)))


def pass_on(sink: Sink, count: int, port: int, seconds: Seconds, key: str | None = None) -> Measurement:
    """Submit messages to a server and measure them at the sink. The processor time of the load is not counted."""
    message, done = composed(), Future[None]()

    def load() -> None:
        try:
            done.set_result(uvloop.run(submit(port, count, message, key)))
        except BaseException as error:
            done.set_exception(error)

    def failure() -> BaseException | None:
        return done.exception() if done.done() else None

    # A daemon: if the server no longer answers, it is not waited for.
    thread = Thread(target=load, daemon=True)
    return measure_at(sink, count, seconds, thread.start, done.result, failure)


def submission(count: int, signatures: str = "RSA") -> Measurement:
    """Postern's port for submission, in two processes (`smtp` and `worker`) beside the API."""
    port = free_port()
    with counting_sink() as sink:
        environment = {
            **relay_environment(sink.port),
            "POSTERN_SUBMISSION_PORT": str(port),
            "POSTERN_DKIM": SIGNATURES[signatures],
        }
        with running(**environment) as (server, url):
            project, key, token = server.project()
            verified_domain(url, server, project, token)
            for part in ("smtp", "worker"):
                server.start(part)
            wait_until_open("127.0.0.1", port)
            return pass_on(sink, count, port, parts, key)


def postfix_with_opendkim(count: int) -> Measurement:
    """Postfix, which queues on disk, with OpenDKIM as its milter. Raises PeerMissing."""
    install = "install the packages postfix and opendkim; they need not run. Postfix needs root"
    opendkim = find_program("OPENDKIM", "opendkim", install)
    find_program("POSTFIX", "postfix", install)
    if os.geteuid() != 0:
        raise PeerMissing(install)
    milter_port, port = free_port(), free_port()
    with counting_sink() as sink, scratch() as folder:
        private_key(folder / "private.pem", folder)
        settings = {
            "Mode": "s",
            "Domain": DOMAIN,
            "Selector": SELECTOR,
            "KeyFile": folder / "private.pem",
            "Socket": f"inet:{milter_port}@127.0.0.1",
            "InternalHosts": "127.0.0.1",
            "Canonicalization": "relaxed/relaxed",
            "SignatureAlgorithm": "rsa-sha256",
            "SignHeaders": SIGNED_FIELDS,
            "Syslog": "no",
            # The key is in a folder of /tmp, which OpenDKIM does not accept otherwise.
            "RequireSafeKeys": "no",
        }
        configuration = folder / "opendkim.conf"
        configuration.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
        command = [opendkim, "-f", "-x", configuration]
        postfix_settings = {
            "smtpd_milters": f"inet:127.0.0.1:{milter_port}",
            "milter_default_action": "tempfail",
            "relayhost": f"[127.0.0.1]:{sink.port}",
            "smtp_tls_security_level": "none",
            "smtpd_tls_security_level": "none",
            # Without these, Postfix holds senders back and starts with few connections.
            "in_flow_delay": 0,
            "initial_destination_concurrency": CONNECTIONS,
            "default_destination_concurrency_limit": CONNECTIONS,
        }
        with (
            started(command, folder, ready=lambda: listens(milter_port)) as milter,
            postfix("127.0.0.1", port, postfix_settings) as postfix_folder,
        ):
            master = int((postfix_folder / "queue/pid/master.pid").read_text())
            return pass_on(sink, count, port, seconds_of(Postfix=master, OpenDKIM=milter.pid))


def haraka(count: int) -> Measurement:
    """Haraka with two processes, its queue on disk and its DKIM plugin. Raises PeerMissing."""
    install = "run `npm install Haraka haraka-plugin-dkim` and set HARAKA to node_modules/Haraka"
    node = find_program("NODE", "node", "install Node.js")
    package = Path(os.environ.get("HARAKA", "node_modules/Haraka")).absolute()
    if not (package / "bin/haraka").exists() or not (package.parent / "haraka-plugin-dkim").exists():
        raise PeerMissing(f"there is no Haraka with haraka-plugin-dkim in {package.parent}: {install}")
    port = free_port()
    with counting_sink() as sink, scratch() as folder:
        files = {
            "config/smtp.ini": f"listen=127.0.0.1:{port}\nnodes={os.cpu_count()}\n",
            "config/plugins": "accept_all\ndkim\n",
            "config/dkim.ini": f"[sign]\nenabled=true\nselector={SELECTOR}\ndomain={DOMAIN}\n"
            f"headers={SIGNED_FIELDS}\n[verify]\nenabled=false\n[canon]\nbody=relaxed\n",
            "config/outbound.ini": "enable_tls=false\nlocal_mx_ok=true\n",
            "config/loglevel": "WARN\n",
            "config/me": "bench.example\n",
            "plugins/accept_all.js": HARAKA_PLUGIN.replace("SINK", str(sink.port)),
        }
        shutil.copytree(package / "config", folder / "config")
        (folder / "plugins").mkdir()
        for name, text in files.items():
            path = folder / name
            path.write_text(text)
        private_key(folder / "config/dkim.private.key", folder)
        (folder / "queue").mkdir()
        (folder / "node_modules").symlink_to(package.parent)
        for path in (folder / "queue", folder / "config"):
            own(path, folder)
        command = [node, package / "bin/haraka", "-c", folder]
        with started(command, folder, ready=lambda: listens(port)) as process:
            return pass_on(sink, count, port, seconds_of(Haraka=process.pid))


def private_key(path: Path, folder: Path) -> None:
    """Write a new RSA-2048 key, which only the account of the peers can read."""
    path.write_bytes(generate_rsa())
    path.chmod(0o600)
    own(path, folder)
