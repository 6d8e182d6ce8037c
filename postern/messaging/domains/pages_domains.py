"""Who may have a host name for hosted pages (`settings.signIn.pagesDomain`)."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid
from postern.messaging.domains import store
from postern.messaging.domains.rules import TRACKING_LABEL, name_and_parents, parse_domain
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.kernel.config import Settings


async def claim_pages_domain(tx: Transaction, call: Call, text: str) -> str:
    """Check that the call's project may have a host name for its hosted pages. Returns the name in lower-case A-labels.

    A project that has the name without a verified domain loses it. Raises Invalid.
    """
    path = projects.PAGES_DOMAIN_PATH
    try:
        name = parse_domain(text)
    except Invalid:
        message = f"{text!r} is not a host name such as login.example.com."
        raise Invalid.at(path, message, "invalid_domain") from None
    _, _, parent = name.partition(".")
    if name in _own_hosts(call.world.settings):
        raise Invalid.at(path, f"{name} is a name of this server.", "not_allowed")
    if not await store.has_verified_domain(tx, project_id=call.project_id, names=name_and_parents(parent)):
        message = f"{name} is not below a verified sending domain of this project. Add and verify {parent} first."
        raise Invalid.at(path, message, "domain_not_verified")
    label = name.removesuffix(f".{parent}")
    if await store.is_tracking_domain(tx, name=name) or (
        label == TRACKING_LABEL and await store.has_tracking_record(tx, domain=parent)
    ):
        raise Invalid.at(path, f"{name} is the host of tracking links; choose another name.", "taken")
    holder = await projects.project_of_pages_domain(tx, name)
    if holder is not None and holder != call.project_id:
        if await store.has_verified_domain(tx, project_id=holder, names=name_and_parents(parent)):
            raise Invalid.at(path, f"{name} shows the hosted pages of another project.", "taken")
        await projects.release_pages_domain(tx, holder, call.now)
    return name


def _own_hosts(settings: "Settings") -> set[str]:
    """The host names of this server."""
    zone = [settings.dns_zone] if settings.dns_zone else []
    names = [urlsplit(settings.public_url).hostname or "", settings.mx_name, *settings.smtp_names, *zone]
    return {name.rstrip(".").lower() for name in names}
