"""The MTA-STS policies of recipients' domains (RFC 8461), which are fetched over HTTPS and kept in the database.

A policy stays in force until its `max_age` has passed, even if its record or its server disappears: otherwise an
attacker who can suppress both could have mail sent in plain text.
"""

import asyncio
from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import structlog

from postern.kernel.outbound.client import OutboundFailed, OutboundResponse
from postern.kernel.values import Moment
from postern.messaging.emails import sts_store as store
from postern.messaging.emails.sts_store import StoredStsPolicy
from postern.messaging.emails.tls_results import tls_results
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord
from postern.protocols.mail.mta_sts import POLICY_OCTETS, StsPolicy, StsPolicyInvalid, parse_policy, policy_id
from postern.protocols.mail.tls_report import TlsFailure
from postern.protocols.mail.transports.tls_sessions import policy_failure

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

CHECK_EVERY = timedelta(minutes=5)
"""How often the record of a domain is looked up, and how soon a fetch is tried again after a failure."""
REFRESH_AFTER = timedelta(days=1)
"""A policy is fetched again after this time even if its id is unchanged, so that it does not expire (RFC 8461 §3.3)."""
MAX_DOMAINS = 10_000
"""How many domains are kept in memory, with or without a policy."""
POLICY_PORT = 443
"""The port of the servers of policies (RFC 8461 §3.3)."""


class _CheckedPolicy(NamedTuple):
    """The policy of a domain, None if it has none, and when it must be checked again."""

    policy: StsPolicy | None
    check_at: Moment


class StsPolicies:
    """The policies that a process knows. Concurrent callers with the same domain share one check."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._resolver = world.resolver.separate()
        self._checked: OrderedDict[str, _CheckedPolicy] = OrderedDict()
        self._checks: dict[str, asyncio.Task[StsPolicy | None]] = {}

    async def find(self, domain: str) -> StsPolicy | None:
        """The policy of a domain (A-labels, lower case); None if it has none. Raises errors of the database."""
        checked = self._checked.get(domain)
        if checked is not None and self._world.clock() < checked.check_at:
            self._checked.move_to_end(domain)
            return checked.policy
        check = self._checks.get(domain)
        if check is None:
            check = self._checks[domain] = asyncio.create_task(self._check(domain))
            check.add_done_callback(lambda _: self._checks.pop(domain, None))
        # Cancelling one caller must not cancel the check for the others.
        return await asyncio.shield(check)

    async def _check(self, domain: str) -> StsPolicy | None:
        now = self._world.clock()
        stored = await store.valid_policy(self._world.db, domain=domain, now=now)
        try:
            record_id = await self._record_id(domain)
        except DnsUnavailable:
            # Whoever suppresses the record must not thereby make the policy expire (RFC 8461 §10.2).
            record_id = stored.policy_id if stored else None
        is_current = stored is not None and (
            record_id is None or (record_id == stored.policy_id and now - stored.fetched_at < REFRESH_AFTER)
        )
        if record_id is not None and not is_current:
            fetched = await self._fetch(domain, record_id, now, stored)
            if fetched is not None:
                await store.save_policy(self._world.db, fetched)
                stored = fetched
        policy = StsPolicy(mode=stored.mode, max_age=stored.max_age, mx=tuple(stored.mx)) if stored else None
        check_at = Moment.of(min(now + CHECK_EVERY, stored.expires_at) if stored else now + CHECK_EVERY)
        self._checked[domain] = _CheckedPolicy(policy, check_at)
        self._checked.move_to_end(domain)
        if len(self._checked) > MAX_DOMAINS:
            self._checked.popitem(last=False)
        return policy

    async def _record_id(self, domain: str) -> str | None:
        """The id of the policy that the domain announces; None if it announces none. Raises DnsUnavailable."""
        try:
            return policy_id(await self._resolver.txt(f"_mta-sts.{domain}"))
        except NoSuchRecord:
            return None

    async def _fetch(
        self, domain: str, record_id: str, now: Moment, stored: StoredStsPolicy | None
    ) -> StoredStsPolicy | None:
        """Fetch the policy over HTTPS, without redirects (RFC 8461 §3.3); None if that fails.

        The failure is logged, unless the `stored` policy says that the domain gives up MTA-STS (RFC 8461 §8.3).
        """
        port = "" if POLICY_PORT == 443 else f":{POLICY_PORT}"
        url = f"https://mta-sts.{domain}{port}/.well-known/mta-sts.txt"
        response = await self._world.outbound.get(url, keep=POLICY_OCTETS + 1)
        try:
            policy = _policy_in(response)
        except StsPolicyInvalid as error:
            if stored is None or stored.mode != "none":
                log.warning("mta_sts_policy_not_fetched", domain=domain, reason=str(error))
            tls_results(self._world).record(policy_failure(domain, _failure_of(response)))
            return None
        return StoredStsPolicy(
            domain=domain,
            policy_id=record_id,
            mode=policy.mode,
            mx=list(policy.mx),
            max_age=policy.max_age,
            fetched_at=now,
            expires_at=Moment.of(now + timedelta(seconds=policy.max_age)),
        )

    async def aclose(self) -> None:
        """Cancel the running checks."""
        for check in list(self._checks.values()):
            check.cancel()


def _policy_in(response: object) -> StsPolicy:
    """The policy in a response of `Outbound`. Raises StsPolicyInvalid."""
    if not isinstance(response, OutboundResponse):
        raise StsPolicyInvalid(str(getattr(response, "reason", "")))
    if response.status != 200:
        raise StsPolicyInvalid(f"The server of the policy replied with the status {response.status}.")
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != "text/plain":
        # RFC 8461 §3.2: other types may be the content of a user of the server.
        raise StsPolicyInvalid("The policy is not of the type text/plain.")
    if not response.complete:
        raise StsPolicyInvalid(f"The policy has more than {POLICY_OCTETS} octets.")
    return parse_policy(response.body)


def _failure_of(response: object) -> TlsFailure:
    """Why there is no valid policy in a response of `Outbound`, for the report to the domain (RFC 8460 §4.3.2.2)."""
    if isinstance(response, OutboundFailed) and response.kind == "tls":
        return TlsFailure("sts-webpki-invalid")
    if isinstance(response, OutboundFailed):
        return TlsFailure("sts-policy-fetch-error", response.kind)
    if isinstance(response, OutboundResponse) and response.status == 200:
        return TlsFailure("sts-policy-invalid")
    return TlsFailure(
        "sts-policy-fetch-error", f"HTTP {response.status}" if isinstance(response, OutboundResponse) else ""
    )


def sts_policies(world: "World") -> StsPolicies:
    """The policies of this process, created on first use."""
    return world.resources[StsPolicies]
