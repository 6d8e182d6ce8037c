"""The handler of the SMTP server for submission (RFC 6409): credentials are API keys, messages become sends."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec
import structlog

from postern.kernel.http.call import Call, Caller, CredentialNotAccepted, Origin
from postern.kernel.http.handler import rate_of
from postern.kernel.http.problems import Unauthenticated
from postern.kernel.http.responses import HttpResponse, InternalError, as_problem
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import NO_ID, new_id
from postern.messaging.emails.operations import accept_batch, accept_email
from postern.messaging.emails.submission import parse_key
from postern.messaging.smtp_submission.rules import SubmittedMessage, field_of_path, read_message, reply_of
from postern.platform.projects.operations import read_key
from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.session import SmtpSession

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

USER: Final = "apikey"
"""The user name of every program; its password is a secret API key."""
ROUTE: Final = "smtp"
"""The route under which idempotency keys are stored, so that they are separate from those of the HTTP API."""
PERMISSION: Final = "emails:send"
FAILURES = RateLimit("smtp-failures", 30, timedelta(minutes=10))
"""How many wrong credentials a process answers for one network; after each further one it closes the connection."""
LARGE_OCTETS: Final = 262_144
"""From this size on, a message is parsed in a thread."""
LARGE_AT_ONCE: Final = 2
"""How many large messages are processed at the same time, because each takes several times its size in memory."""
HELLO_CHARACTERS: Final = 100

WELCOME = SmtpReply(235, "2.7.0", "Authenticated.")
WRONG = SmtpReply(
    535, "5.7.8", f"Wrong user or password. The user is `{USER}`, the password a secret key of the project."
)
TOO_MANY_FAILURES = SmtpReply(421, "4.7.0", "There were too many wrong passwords; try again later.")
ACCEPTED_SENDER = SmtpReply(250, "2.1.0", "OK")
ACCEPTED_RECIPIENT = SmtpReply(250, "2.1.5", "OK")


class SubmissionHandler:
    """Accepts messages for the projects of API keys, by the rules of `POST /projects/{projectId}/emails`.

    A key is checked again for every message, as it is for every request. The envelope sender is ignored: like all mail,
    messages are sent with the return path that `delivery.return_path` chooses.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def authenticate(self, session: SmtpSession, user: str, password: str) -> SmtpReply:
        """Check a log-in: the user must be `apikey`, the password a secret key with the permission `emails:send`.

        A valid key is accepted even after too many failures from the same network.
        """
        if user.strip().lower() != USER or not password.isascii():
            return self._wrong(session)
        try:
            await self._caller(session, password)
        except Unauthenticated:
            return self._wrong(session)
        except Exception as error:
            reply = self._reply_of(error)
            # RFC 4954 §6: 454 is a temporary failure, 535 any other.
            code, enhanced = (454, "4.7.0") if reply.code < 500 else (535, "5.7.8")
            return SmtpReply(code, enhanced, reply.text)
        session.state = password
        return WELCOME

    def _wrong(self, session: SmtpSession) -> SmtpReply:
        try:
            self._world.limiter.take(FAILURES, session.peer)
        except TooManyRequests:
            return TOO_MANY_FAILURES
        return WRONG

    async def mail(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Accept any sender; `From` in the message is checked."""
        return ACCEPTED_SENDER

    async def recipient(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Accept any recipient; all are checked with the message."""
        return ACCEPTED_RECIPIENT

    async def message(self, session: SmtpSession, content: bytes) -> SmtpReply:
        """Check and commit a message; the reply has the id of its send."""
        try:
            caller = await self._caller(session, session.state)
            self._world.limiter.take(rate_of(self._world, caller), str(caller.project_id))
            call = self._call(session, caller)
            if len(content) < LARGE_OCTETS:
                send_id = await _accept(call, _with_mail_parameters(session, read_message(content, session.recipients)))
            else:
                async with self._large:
                    submitted = await asyncio.to_thread(read_message, content, session.recipients)
                    send_id = await _accept(call, _with_mail_parameters(session, submitted))
        except Exception as error:
            return self._reply_of(error)
        return SmtpReply(250, "2.0.0", f"queued as {send_id}")

    async def _caller(self, session: SmtpSession, key: str) -> Caller:
        """The caller with an API key. Raises Unauthenticated, CredentialNotAccepted and PermissionMissing."""
        caller = await read_key(self._world, key, None, _origin(session))
        if caller is None:
            raise Unauthenticated("The password is not an API key.")
        if caller.kind != "secret_key":
            raise CredentialNotAccepted("A publishable key cannot send mail. Use a secret key.")
        self._call(session, caller).require(PERMISSION)
        return caller

    def _call(self, session: SmtpSession, caller: Caller) -> Call:
        return Call(
            world=self._world,
            db=self._world.db,
            caller=caller,
            now=self._world.clock(),
            request_id=str(new_id()),
            origin=_origin(session),
            project_id=caller.project_id or NO_ID,
        )

    def _reply_of(self, error: Exception) -> SmtpReply:
        problem = as_problem(error)
        if isinstance(problem, InternalError):
            log.error("smtp_submission_failed", exc_info=error)
            return SmtpReply(451, "4.3.0", "An internal error occurred; try again later.")
        return reply_of(problem.relocated(field_of_path))


def _origin(session: SmtpSession) -> Origin:
    return Origin(ip=session.peer, user_agent=f"SMTP {session.hello[:HELLO_CHARACTERS]}")


def _with_mail_parameters(session: SmtpSession, submitted: SubmittedMessage) -> SubmittedMessage:
    """The submitted message; with `require_tls` if the command MAIL had the parameter REQUIRETLS (RFC 8689)."""
    if "REQUIRETLS" not in session.parameters:
        return submitted
    emails = [msgspec.structs.replace(email, require_tls=True) for email in submitted.emails]
    return msgspec.structs.replace(submitted, emails=emails)


async def _accept(call: Call, submitted: SubmittedMessage) -> str:
    """Commit the e-mails of a message; the workers transmit them. Returns the id of the first send."""
    emails = submitted.emails
    key = parse_key(call, ROUTE, submitted.idempotency_key, emails)
    if len(emails) == 1:
        return _decoded(await accept_email(call, emails[0], key, wait=timedelta(0)))["id"]
    return _decoded(await accept_batch(call, emails, key, all_or_nothing=True))["data"][0]["id"]


def _decoded(response: HttpResponse) -> dict[str, Any]:
    assert isinstance(response.content, bytes)
    return msgspec.json.decode(response.content)
