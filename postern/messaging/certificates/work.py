"""The background work of certificates: find names without one, order, and renew.

An attempt stores each step before the next one, so that another worker can continue an order after a crash, with the
same key. Before it places an order, this server checks that the name resolves to its addresses, and that a request for
a challenge reaches it: the authority limits failed validations and orders, and these limits apply to all projects
together.
"""

import asyncio
import math
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import msgspec
import structlog
from cryptography import x509

from postern.kernel.due import Work, for_each_row
from postern.kernel.outbound.client import OutboundResponse
from postern.kernel.values import Moment, new_id
from postern.messaging.certificates import store
from postern.messaging.certificates.authority import UNREACHABLE, authority_of, key_context
from postern.messaging.certificates.model import (
    CERTIFICATES_LIMIT,
    CHECK_RETRY,
    DOMAIN_WINDOW,
    FIRST_POLL_SECONDS,
    FIRST_RETRY,
    LEASE,
    LONGEST_POLL_SECONDS,
    MAX_CHECK_RETRY_DELAY,
    MAX_RETRY_DELAY,
    NAMES_PER_PROJECT,
    ORDER_PAUSE,
    ORDER_TIME,
    ORDERS_KEPT,
    ORDERS_PER_DOMAIN,
    ORDERS_PER_NAME,
    ORDERS_PER_PROJECT,
    ORDERS_PER_WINDOW,
    ORDERS_WINDOW,
    RENEW_AT_SHARE,
    RENEWAL_CHECK,
    RENEWAL_PAUSE,
    REPORT_AFTER,
    REPORT_BEFORE,
    UNREACHABLE_RETRY,
    StoredCertificate,
)
from postern.messaging.certificates.names import address_problem, may_have_certificate, own_names
from postern.messaging.domains.rules import TRACKING_LABEL
from postern.platform.events.operations import make_event, record_all
from postern.protocols.acme.model import (
    CHALLENGE_PATH,
    AcmeFailed,
    AcmeOrder,
    as_utc,
    new_private_key,
    read_chain,
    signing_request,
)
from postern.protocols.mail.public_suffixes import registered_domain

if TYPE_CHECKING:
    from postern.protocols.acme.client import AcmeClient
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
TEST_TOKEN_BYTES: Final = 32
NO_ORDER: Final[dict[str, Any]] = {"order_url": None, "order_key": None, "token": None, "answer": None}
"""The columns of a certificate without an order."""


class LaterAttempt(Exception):
    """Another worker has begun a later attempt, or the certificate was deleted: this attempt must store nothing."""


async def plan_certificates(world: "World") -> None:
    """Add a certificate for each name that needs one and has none. Does nothing if ACME is not configured."""
    if not world.settings.acme_terms_agreed:
        return
    account = await authority_of(world).account()
    remaining = CERTIFICATES_LIMIT - await store.count_certificates(world.db, account_id=account.id)
    names: dict[str, UUID | None] = {}
    if world.settings.https_port is not None and remaining > 0:
        project_names = await store.new_project_names(
            world.db, account_id=account.id, label=TRACKING_LABEL, per_project=NAMES_PER_PROJECT, limit=remaining
        )
        names |= {row.name: row.project_id for row in project_names}
    names |= dict.fromkeys(own_names(world.settings))
    now = world.clock()
    async with world.db.transaction() as tx:
        for name, project_id in names.items():
            await store.insert_certificate(
                tx, account_id=account.id, id=new_id(), name=name, counted_for=project_id, now=now
            )
        tx.mark_due("certificates")
    await store.delete_orders(world.db, account_id=account.id, before=now - ORDERS_KEPT)


async def run_certificate(world: "World", certificate: StoredCertificate) -> None:
    """Order or renew a certificate if that is due, or continue its order."""
    attempt = CertificateAttempt(world, certificate)
    try:
        await attempt.run()
    except LaterAttempt:
        return
    except AcmeFailed as error:
        try:
            await attempt.fail(error)
        except LaterAttempt:
            return


class CertificateAttempt:
    """One attempt to obtain a certificate. `certificate` is its row as last stored."""

    def __init__(self, world: "World", certificate: StoredCertificate) -> None:
        self.world = world
        self.certificate = certificate

    async def run(self) -> None:
        """Do the next steps. Raises AcmeFailed if the authority refuses, LaterAttempt if a later attempt has begun."""
        world, name = self.world, self.certificate.name
        account = await authority_of(world).account()
        if not world.settings.acme_terms_agreed or self.certificate.account_id != account.id:
            await self._save(due_at=None)  # The certificate is from an authority that is no longer in the settings.
            return
        if not await may_have_certificate(world, name):
            await self._stop_renewing()
            return
        if self.certificate.order_url is None:
            if not await self._needs_order():
                return
            problem = await address_problem(world, name) or await self._self_test()
            if problem is not None:
                await self._fail(problem, CHECK_RETRY, MAX_CHECK_RETRY_DELAY)
                return
            if not await self._reserve_order():
                return
        client = await authority_of(world).client(account)
        order = await self._order(client)
        deadline = asyncio.get_running_loop().time() + ORDER_TIME.total_seconds()
        pause = FIRST_POLL_SECONDS
        while not await self._advance(client, order):
            if asyncio.get_running_loop().time() + pause > deadline:
                await self._save(due_at=world.clock() + ORDER_PAUSE)
                return
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_POLL_SECONDS)
            order = await client.order(order.url)

    async def fail(self, error: AcmeFailed) -> None:
        """Store why the authority refused, and when the next attempt is made. Raises LaterAttempt."""
        if error.code == UNREACHABLE:
            # An order that is in progress can still be continued.
            await self._fail(str(error), UNREACHABLE_RETRY, UNREACHABLE_RETRY, keep_order=True)
            return
        if error.code == "accountDoesNotExist":
            authority = authority_of(self.world)
            await authority.forget_registration(await authority.account())
        retry_after = timedelta(seconds=min(error.retry_after or 0, int(DOMAIN_WINDOW.total_seconds())))
        await self._fail(str(error), FIRST_RETRY, MAX_RETRY_DELAY, minimum_delay=retry_after)

    async def _stop_renewing(self) -> None:
        """Order nothing, because no project may use the name at present.

        A certificate is served until it expires; the row is deleted if there is none.
        """
        certificate, now = self.certificate, self.world.clock()
        if certificate.expires_at is not None and certificate.expires_at > now:
            due_at = min(certificate.expires_at, now + RENEWAL_CHECK)
            await self._save(**NO_ORDER, problem=None, failures=0, failing_since=None, due_at=due_at)
        else:
            await store.delete_certificate(
                self.world.db, account_id=certificate.account_id, id=certificate.id, attempt=certificate.attempt
            )

    async def _needs_order(self) -> bool:
        """Whether a certificate must be ordered now; otherwise the time of the next check is stored."""
        certificate, now = self.certificate, self.world.clock()
        if certificate.renew_at is None or certificate.renew_at <= now:
            return True
        renew_at = await self._suggested_renewal(certificate.renew_at)
        if renew_at <= now:
            return True
        due_at = min(renew_at, now + RENEWAL_CHECK)
        await self._save(renew_at=renew_at, problem=None, failures=0, failing_since=None, due_at=due_at)
        return False

    async def _suggested_renewal(self, planned: Moment) -> Moment:
        """When to renew: within the window that the authority suggests, but not later than planned (RFC 9773 §4.2)."""
        certificate = self.certificate
        assert certificate.chain is not None
        try:
            authority = authority_of(self.world)
            client = await authority.client(await authority.account())
            window = await client.renewal_window(x509.load_pem_x509_certificates(certificate.chain.encode())[0])
        except AcmeFailed as error:
            log.info("renewal_information_missing", name=certificate.name, error=str(error))
            return planned
        if window is None:
            return planned
        # The same point of the window at each check, but a different one for each certificate.
        share = certificate.id.int % 1_000 / 1_000
        return min(planned, Moment.of(as_utc(window.start) + share * (window.end - window.start)))

    async def _self_test(self) -> str | None:
        """Request a challenge from this server under the name. Returns why that fails; None if it succeeds."""
        settings, name = self.world.settings, self.certificate.name
        if not settings.acme_self_test:
            return None
        token, answer = secrets.token_urlsafe(TEST_TOKEN_BYTES), secrets.token_urlsafe(TEST_TOKEN_BYTES)
        await self._save(token=token, answer=answer)
        port = "" if settings.acme_http_port == 80 else f":{settings.acme_http_port}"
        outcome = await self.world.outbound.get(f"http://{name}{port}{CHALLENGE_PATH}{token}")
        await self._save(token=None, answer=None)
        if not isinstance(outcome, OutboundResponse):
            advice = "If this server cannot reach its own public address, set POSTERN_ACME_SELF_TEST=no."
            return f"This server cannot be reached at {name}, port {settings.acme_http_port}: {outcome.reason} {advice}"
        if outcome.status in (301, 302, 307, 308):
            return None  # The authority follows redirects, for example of a proxy to https.
        if outcome.status != 200 or outcome.body.strip() != answer.encode():
            return (
                f"A request to http://{name}{port}{CHALLENGE_PATH}… is not answered by this server: forward this path "
                "to it."
            )
        return None

    async def _reserve_order(self) -> bool:
        """Count an order towards the authority's limits. If one is reached, postpones the attempt and returns False."""
        world, certificate, now = self.world, self.certificate, self.world.clock()
        registered = registered_domain(certificate.name)
        using = await store.domains_of_name(world.db, label=TRACKING_LABEL, name=certificate.name)
        is_new = certificate.chain is None
        async with world.db.transaction() as tx:
            await store.lock_orders(tx, account_id=certificate.account_id)
            counts = await store.count_orders(
                tx,
                account_id=certificate.account_id,
                name=certificate.name,
                registered_domain=registered,
                projects=list({domain.project_id for domain in using}),
                per_project=ORDERS_PER_PROJECT,
                recent_since=now - ORDERS_WINDOW,
                domain_since=now - DOMAIN_WINDOW,
            )
            if counts.recent >= ORDERS_PER_WINDOW:
                problem = f"This server has ordered {counts.recent} certificates within three hours."
            elif counts.of_domain >= ORDERS_PER_DOMAIN and is_new:
                problem = f"{counts.of_domain} certificates below {registered} were ordered within seven days."
            elif counts.of_name >= max(ORDERS_PER_NAME, self._needed_orders()):
                problem = f"{counts.of_name} certificates of this name were ordered within seven days."
            elif using and not counts.projects and is_new:
                problem = f"{ORDERS_PER_PROJECT} certificates of the project were ordered within three hours."
            else:
                await store.insert_order(
                    tx,
                    account_id=certificate.account_id,
                    id=new_id(),
                    name=certificate.name,
                    registered_domain=registered,
                    counted_for=counts.projects[0] if is_new and counts.projects else None,
                    ordered_at=now,
                )
                return True
        problem += " Authorities limit this number, so the order is postponed."
        await self._save(problem=problem, due_at=now + FIRST_RETRY)
        return False

    def _needed_orders(self) -> int:
        """Twice the number of orders that the validity of the present certificate requires within DOMAIN_WINDOW."""
        certificate = self.certificate
        if certificate.expires_at is None or certificate.issued_at is None:
            return 0
        interval = max(RENEW_AT_SHARE * (certificate.expires_at - certificate.issued_at), RENEWAL_PAUSE)
        return math.ceil(2 * DOMAIN_WINDOW / interval)

    async def _order(self, client: "AcmeClient") -> AcmeOrder:
        """The order in progress, or a new one, which is stored together with its key."""
        certificate = self.certificate
        if certificate.order_url is not None:
            return await client.order(certificate.order_url)
        key = new_private_key()
        order = await client.place_order(certificate.name)
        sealed = self.world.secrets.seal(key, key_context(certificate.id))
        await self._save(order_url=order.url, order_key=sealed)
        return order

    async def _advance(self, client: "AcmeClient", order: AcmeOrder) -> bool:
        """Do the next step of an order. Returns whether it has ended; raises AcmeFailed if it failed."""
        match order.status:
            case "pending":
                await self._answer_challenge(client, order)
            case "ready":
                csr = signing_request(self._order_key(), self.certificate.name)
                await client.finalize(order, csr)
            case "valid" if order.certificate_url is not None:
                await self._finish(await client.certificate(order.certificate_url))
                return True
            case "invalid":
                # The order says less than the challenge that failed.
                challenge = await client.http_challenge(order)
                raise AcmeFailed(challenge.problem or order.problem or "The certificate authority refused the order.")
            case _:
                pass  # The authority is still working.
        return False

    async def _answer_challenge(self, client: "AcmeClient", order: AcmeOrder) -> None:
        challenge = await client.http_challenge(order)
        if challenge.status == "failed":
            raise AcmeFailed(challenge.problem or "The certificate authority refused the name.")
        if challenge.status == "pending" and not challenge.is_answered:
            await self._save(token=challenge.token, answer=challenge.key_authorization)
            await client.answer(challenge)

    def _order_key(self) -> bytes:
        assert self.certificate.order_key is not None
        return self.world.secrets.open(self.certificate.order_key, key_context(self.certificate.id))

    async def _finish(self, chain: str) -> None:
        """Store an issued certificate, and record an event for each project that uses the name."""
        world, now = self.world, self.world.clock()
        leaf = read_chain(chain, self._order_key(), self.certificate.name)
        begins, expires_at = leaf.not_valid_before_utc, Moment.of(leaf.not_valid_after_utc)
        planned = Moment.of(begins + RENEW_AT_SHARE * (leaf.not_valid_after_utc - begins))
        renew_at = max(planned, now + RENEWAL_PAUSE)
        domains = await store.domains_of_name(world.db, label=TRACKING_LABEL, name=self.certificate.name)
        events = [
            make_event(
                domain.project_id,
                "domain.certificate_issued",
                domain.id,
                now,
                domain=domain.domain,
                name=self.certificate.name,
                expiresAt=expires_at,
            )
            for domain in domains
        ]
        async with world.db.transaction() as tx:
            await self._save(
                tx,
                **{**NO_ORDER, "private_key": self.certificate.order_key, "chain": chain},
                issued_at=now,
                expires_at=expires_at,
                renew_at=renew_at,
                problem=None,
                failures=0,
                failing_since=None,
                reported_at=None,
                due_at=min(renew_at, now + RENEWAL_CHECK),
            )
            await record_all(tx, events)
        log.info("certificate_issued", name=self.certificate.name, expires_at=expires_at.isoformat())

    async def _fail(
        self,
        problem: str,
        first_delay: timedelta,
        delay_limit: timedelta,
        *,
        minimum_delay: timedelta = timedelta(),
        keep_order: bool = False,
    ) -> None:
        """Store a failure and the time of the next attempt.

        Records an event for each project if attempts have failed for long or the certificate expires soon, but only
        once until a certificate is issued. With `keep_order`, the next attempt continues the order.
        """
        world, certificate, now = self.world, self.certificate, self.world.clock()
        delay = max(minimum_delay, min(first_delay * 2 ** min(certificate.failures, 10), delay_limit))
        failing_since = certificate.failing_since or now
        log.warning("certificate_failed", name=certificate.name, problem=problem, again_in=str(delay))
        changes: dict[str, Any] = {} if keep_order else dict(NO_ORDER)
        changes |= {
            "problem": problem,
            "failures": certificate.failures + 1,
            "failing_since": failing_since,
            "due_at": now + delay,
        }
        if certificate.reported_at is not None or not self._is_urgent(failing_since, now):
            await self._save(**changes)
            return
        domains = await store.domains_of_name(world.db, label=TRACKING_LABEL, name=certificate.name)
        events = [
            make_event(
                domain.project_id,
                "domain.certificate_failed",
                domain.id,
                now,
                domain=domain.domain,
                name=certificate.name,
                expiresAt=certificate.expires_at,
                problem=problem,
            )
            for domain in domains
        ]
        async with world.db.transaction() as tx:
            await self._save(tx, **changes, reported_at=now)
            await record_all(tx, events)

    def _is_urgent(self, failing_since: Moment, now: Moment) -> bool:
        expires_at = self.certificate.expires_at
        return now - failing_since >= REPORT_AFTER or (expires_at is not None and expires_at - now <= REPORT_BEFORE)

    async def _save(self, db: Any = None, **changes: Any) -> None:
        """Store changed columns. Raises LaterAttempt."""
        changed = msgspec.structs.replace(self.certificate, **changes, updated_at=self.world.clock())
        saved = await store.save_certificate(db or self.world.db, changed)
        if saved is None:
            raise LaterAttempt
        self.certificate = saved


WORK: list[Work[Any]] = [
    Work(
        name="certificates",
        table="certificates",
        row_type=StoredCertificate,
        lease=LEASE,
        do=for_each_row(run_certificate, max_concurrent=4),
        claim_size=4,
        partition_column="account_id",
    )
]
"""The background work that the worker processes run."""
