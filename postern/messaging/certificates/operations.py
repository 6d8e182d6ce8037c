"""HTTP operations of certificates and of the host names of hosted pages, and the paths that authorities and proxies
request."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from litestar import Request, Response, get
from litestar.params import Parameter

from postern.kernel.http.call import Call
from postern.kernel.http.operation import get as read_operation
from postern.kernel.http.responses import NotFound
from postern.kernel.limits import RateLimit
from postern.messaging.certificates import store
from postern.messaging.certificates.model import (
    CertificateStatus,
    DomainCertificate,
    NamedCertificate,
    PagesDomainMissing,
    PagesDomainStatus,
)
from postern.messaging.certificates.names import check_pages_record, may_have_certificate
from postern.messaging.certificates.pages_domains import PagesDomains
from postern.messaging.domains.model import DomainMissing
from postern.messaging.domains.operations import require_domain
from postern.messaging.domains.rules import TRACKING_LABEL
from postern.platform.projects import operations as projects
from postern.protocols.acme.model import CHALLENGE_PATH, TOKEN

ALLOWED_PATH = "/.well-known/postern/tls-allowed"
"""The path that a proxy requests before it obtains a certificate for a name by itself."""
NAME_CHARACTERS = 253
"""Maximum characters of a name."""
ALLOWED_RATE = RateLimit("tls-allowed", 600, timedelta(minutes=1))
PAGES_CHECK_RATE = RateLimit("pages-domain", 30, timedelta(minutes=1))
"""For each project: each request makes DNS queries."""
CHALLENGE_RATE = RateLimit("acme-challenge", 600, timedelta(minutes=1))


@read_operation("/projects/{project_id}/domains/{id}/certificates", needs="domains:read", problems=(DomainMissing,))
async def list_domain_certificates(call: Call, id: UUID) -> list[DomainCertificate]:
    """List the TLS certificates of the names below the domain: `links.<domain>` once its CNAME record is verified, the
    project's `trackingDomain` if it is this domain or below it, and its `pagesDomain`.

    Empty if the domain has no such name, or if this server does not obtain certificates itself.
    """
    await require_domain(call, id)
    return await _certificates_of(call, id)


@read_operation(
    "/projects/{project_id}/pages-domain",
    needs="projects:read",
    problems=(PagesDomainMissing,),
    response_example={
        "record": {
            "type": "CNAME",
            "name": "login.example.com",
            "value": "post.example.net",
            "purpose": "PAGES",
            "status": "VERIFIED",
            "found": ["post.example.net"],
        },
        "certificate": {"name": "login.example.com"},
    },
)
async def get_pages_domain(call: Call) -> PagesDomainStatus:
    """Check whether the project's host name for hosted pages, `settings.signIn.pagesDomain`, can be used.

    The response has the DNS record to publish, and whether it is published: it is looked up for each request, so a
    project can make 30 in a minute. If the name has other addresses, such as those of a CDN, the server requests the
    metadata of the OpenID provider at the name, and the record is VERIFIED if they are those of the project. It also
    has the state of the sending domain above the name, and of the TLS certificate. A record that could not be looked up
    has the status UNKNOWN.
    """
    settings = await projects.settings_of(call)
    name = settings.sign_in.pages_domain
    if name is None:
        raise PagesDomainMissing
    call.world.limiter.take(PAGES_CHECK_RATE, str(call.project_id))
    record = await check_pages_record(call.world, call.project_id, name)
    domains = await store.domains_of_name(call.db, label=TRACKING_LABEL, name=name)
    domain = next((domain for domain in domains if domain.project_id == call.project_id), None)
    return PagesDomainStatus(
        name=name,
        record=record,
        domain_verified=domain is not None,
        certificate=None if domain is None else await _pages_certificate(call, domain.id, name),
        in_use=call.world.resources[PagesDomains].name_of(call.project_id) == name,
    )


async def _pages_certificate(call: Call, domain_id: UUID, name: str) -> DomainCertificate | None:
    """The certificate of a name of hosted pages below a domain; None if this server does not obtain certificates."""
    if not _obtains_certificates(call):
        return None
    certificates = await _certificates_of(call, domain_id)
    # Nothing is stored about a name until the first search for names that need a certificate.
    none_yet = DomainCertificate(
        name=name, status="PENDING", problem=None, issued_at=None, expires_at=None, next_attempt_at=None
    )
    return next((row for row in certificates if row.name == name), none_yet)


def _obtains_certificates(call: Call) -> bool:
    """Whether this server obtains certificates for names of projects."""
    settings = call.world.settings
    return settings.acme_terms_agreed and settings.https_port is not None


async def _certificates_of(call: Call, domain_id: UUID) -> list[DomainCertificate]:
    """The certificates of the names of projects below a domain; none if this server does not obtain certificates."""
    account = await store.find_account(call.db, directory=call.world.settings.acme_directory)
    if account is None or not _obtains_certificates(call):
        return []
    names = await store.names_of_domain(
        call.db, account_id=account.id, project_id=call.project_id, domain_id=domain_id, label=TRACKING_LABEL
    )
    return [_to_certificate(name) for name in names]


def _to_certificate(row: NamedCertificate) -> DomainCertificate:
    return DomainCertificate(
        name=row.name,
        status=status_of(
            has_order=bool(row.has_order), failures=row.failures or 0, is_issued=row.issued_at is not None
        ),
        problem=row.problem,
        issued_at=row.issued_at,
        expires_at=row.expires_at,
        next_attempt_at=row.due_at,
    )


def status_of(*, has_order: bool, failures: int, is_issued: bool) -> CertificateStatus:
    """The status of a certificate."""
    if failures:
        return "FAILED"
    if has_order:
        return "RENEWING" if is_issued else "PENDING"
    return "ISSUED" if is_issued else "PENDING"


def routes() -> list[Any]:
    """The Litestar handlers of CHALLENGE_PATH and ALLOWED_PATH."""
    return [acme_challenge, tls_allowed]


@get(CHALLENGE_PATH + "{token:str}")
async def acme_challenge(request: Request[Any, Any, Any], token: str) -> Response[bytes]:
    """The answer to a challenge http-01 (RFC 8555 §8.3). Raises NotFound."""
    world = request.app.state.world
    world.limiter.take(CHALLENGE_RATE, request.client.host if request.client else "")
    published = await store.published_answer(world.db, token=token) if TOKEN.fullmatch(token) else None
    if published is None:
        raise NotFound
    return Response(published.answer.encode(), media_type="application/octet-stream")


@get(ALLOWED_PATH)
async def tls_allowed(
    request: Request[Any, Any, Any], domain: str = Parameter(max_length=NAME_CHARACTERS)
) -> Response[bytes]:
    """Whether a proxy may obtain a certificate for a name: 200 or 404."""
    world = request.app.state.world
    world.limiter.take(ALLOWED_RATE, request.client.host if request.client else "")
    name = domain.rstrip(".").lower()
    if not name.isascii() or not name.isprintable() or not await may_have_certificate(world, name):
        raise NotFound
    return Response(b"", media_type="text/plain")
