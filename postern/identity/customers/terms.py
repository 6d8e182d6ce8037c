"""Acceptance of a project's terms by its customers: at sign-up, and as a step of the next sign-in after their version
has changed.

The step is part of `sign_in.complete_sign_in`, so that every way to sign in has it. See decision 0159.
"""

import json
from datetime import UTC
from uuid import UUID

from postern.identity.customers import rules, store, terms_store
from postern.identity.customers.challenge_payloads import AcceptedTerms, PendingTerms
from postern.identity.customers.model import (
    SIGN_IN_CALLERS,
    CustomerMissing,
    CustomerRow,
    SignInBlocked,
    TermsAcceptance,
    TermsNotAccepted,
    Token,
)
from postern.identity.customers.operations import require_customer
from postern.identity.customers.remembered_devices import device_of_id
from postern.identity.customers.requirements import SignInMethodNotAllowed, SsoRequired
from postern.identity.customers.sign_in import ATTEMPTS, complete_sign_in, project_of_call
from postern.identity.customers.terms_store import TermsAcceptanceRow
from postern.identity.customers.tokens import HOOK_PROBLEMS, CustomerSignInResult, add_hook_claims
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get, post
from postern.kernel.http.problems import ProblemError
from postern.kernel.values import Body, Moment, build_view
from postern.platform.events import operations as events
from postern.platform.projects.model import SignInSettings, TermsVersion
from postern.security import challenges
from postern.security.attempts import throttle
from postern.security.challenges import CodeInvalid

TERMS_TRIES = 30
"""How often a token of a sign-in that waits for the terms can be sent, for example with an earlier version."""
ACCEPTANCES_LIMIT = 100
"""Maximum number of versions that a list contains, the newest."""


class TermsProof(Body):
    """The `termsToken` that the sign-in returned, and the version of the terms that the customer has accepted."""

    terms_token: Token
    accepted_terms: TermsVersion | None = None
    """Required, unless the project has stopped requiring its terms since."""


@post(
    "/projects/{project_id}/auth/terms/accept",
    accepts=SIGN_IN_CALLERS,
    problems=[
        *(CodeInvalid, TermsNotAccepted, SignInBlocked, SsoRequired, SignInMethodNotAllowed),
        *HOOK_PROBLEMS,
    ],
    example={"termsToken": "0199…", "acceptedTerms": "2026-07-01"},
    response_example={"termsToken": None, "terms": None},
)
async def accept_terms(call: Call, data: TermsProof) -> CustomerSignInResult:
    """Accept the terms that a sign-in requires (`termsRequired`), and continue the sign-in.

    The token works once, within ten minutes. If the version has changed since, the response is 422 and names the
    current one, and the token stays valid. If the project has stopped requiring its terms since, the sign-in continues
    without an acceptance.
    """
    throttle(call, ATTEMPTS, data.terms_token)
    project = await project_of_call(call)
    challenge = await challenges.answer_token(call, PendingTerms, data.terms_token, max_tries=TERMS_TRIES)
    settings, version = project.settings.sign_in, data.accepted_terms
    if not settings.require_terms and version != settings.terms_version:
        version = None
    accepted = check_acceptance(call, settings, version)
    assert challenge.subject_id is not None
    device = await device_of_id(call, challenge.payload.device_id)
    async with call.db.transaction() as tx:
        customer = await store.lock_customer(tx, project_id=call.project_id, id=challenge.subject_id)
        if customer is None:
            raise CodeInvalid
        pending = await challenges.consume(tx, challenge)
        signed_in = await complete_sign_in(
            *(tx, call, project, customer, pending.methods),
            second_factor_done=pending.second_factor_done,
            terms_checked=True,
            context=pending,
            device=device,
        )
        if not signed_in.mfa_required or signed_in.mfa_enrollment_required:
            # If the device is no longer remembered, the terms are asked for again after the second factor: only then
            # is it the customer who accepts them.
            await record_acceptance(tx, call, customer, accepted)
    return await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)


@get("/projects/{project_id}/customers/{id}/terms", needs="customers:read", problems=[CustomerMissing])
async def list_accepted_terms(call: Call, id: UUID) -> list[TermsAcceptance]:
    """The versions of the terms that a customer has accepted, the latest first; at most 100."""
    await require_customer(call.db, call.project_id, id)
    return await accepted_terms_of(call, id)


async def accepted_terms_of(call: Call, customer_id: UUID) -> list[TermsAcceptance]:
    """The versions of the terms that a customer has accepted, the latest first."""
    rows = await terms_store.acceptances(
        call.db, project_id=call.project_id, customer_id=customer_id, limit=ACCEPTANCES_LIMIT
    )
    return [build_view(TermsAcceptance, row) for row in rows]


async def is_pending(call: Call, token: str) -> bool:
    """Whether the token is that of a sign-in that waits for the terms. Does not count as a try."""
    try:
        challenge_id, _ = challenges.split_token(token)
    except CodeInvalid:
        return False
    return await challenges.get(call, PendingTerms, challenge_id) is not None


def check_acceptance(call: Call, settings: SignInSettings, version: str | None) -> AcceptedTerms | None:
    """The acceptance to record for the version that a person has accepted; None if they have accepted none and need
    not. Raises TermsNotAccepted if the current version is required, or if `version` is another one."""
    if version is None and not settings.require_terms:
        return None
    if version is None or version != settings.terms_version:
        current = rules.current_terms(settings)
        next_step = "Leave out `acceptedTerms`: the project has no version of its terms."
        if current is not None:
            next_step = (
                f'Show the terms ({current.terms_url}), and send `"acceptedTerms": {json.dumps(current.version)}`.'
            )
        problem = TermsNotAccepted(next=next_step)
        problem.errors = [ProblemError(path="/acceptedTerms", code=problem.code(), message=problem.detail)]
        raise problem
    return AcceptedTerms(
        version=version,
        accepted_at=call.now.timestamp(),
        ip_address=call.origin.ip,
        user_agent=call.origin.user_agent,
    )


async def record_acceptance(tx: Transaction, call: Call, customer: CustomerRow, accepted: AcceptedTerms | None) -> None:
    """Record that a customer has accepted a version of the terms, with an event, unless they have done so before. Does
    nothing for None."""
    if accepted is None:
        return
    row = TermsAcceptanceRow(
        project_id=call.project_id,
        customer_id=customer.id,
        version=accepted.version,
        accepted_at=Moment.fromtimestamp(accepted.accepted_at, UTC),
        ip_address=accepted.ip_address,
        user_agent=accepted.user_agent,
    )
    if not await terms_store.insert(tx, row):
        return
    event = events.make_event_by(
        rules.caller_for(call, customer.id),
        call.project_id,
        "customer.terms_accepted",
        customer.id,
        call.now,
        version=accepted.version,
        ipAddress=accepted.ip_address,
        userAgent=accepted.user_agent,
    )
    await events.record_all(tx, [event])
