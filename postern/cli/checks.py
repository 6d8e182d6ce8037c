"""What is wrong with the settings that only the features they belong to can say, before a server starts."""

from collections.abc import Callable

from postern.kernel.config import SettingInvalid, Settings
from postern.kernel.values import is_loopback
from postern.messaging.emails.transports import instance_relays
from postern.platform.billing.rules import parse_limits
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.blocklists import parse_zones
from postern.protocols.mail.dns import parse_nameservers


def check_settings(settings: Settings) -> None:
    """Refuse at the start what would otherwise come out at the first message. Raises SettingInvalid."""
    if settings.transport == "relay" or settings.relay:
        instance_relays(settings.relay)
    _check_base_url(settings)
    parse_limits(settings.plan_limits)
    if settings.billing == "stripe" and not settings.stripe_secret_key:
        raise SettingInvalid("POSTERN_BILLING=stripe needs POSTERN_STRIPE_SECRET_KEY.")
    read: dict[str, tuple[str | None, Callable[[str], object]]] = {
        "POSTERN_DNS": (",".join(settings.dns), parse_nameservers),
        "POSTERN_BLOCKLISTS": (settings.blocklists, parse_zones),
        "POSTERN_MAIL_FROM": (settings.mail_from, parse_address),
    }
    for variable, (text, parse) in read.items():
        try:
            parse(text) if text else None
        except (ValueError, AddressInvalid) as error:
            raise SettingInvalid(f"{variable}={text!r}: {error}") from None


def _check_base_url(settings: Settings) -> None:
    """Refuse to send mail whose links would lead every recipient to their own machine. Raises SettingInvalid.

    A relay on this machine may be a mail catcher, so with one a loopback base URL is taken where it is set.
    """
    if settings.transport != "relay" or not settings.is_local:
        return
    if settings.base_url and all(is_loopback(relay.host) for relay in instance_relays(settings.relay)):
        return
    raise SettingInvalid(
        f"With POSTERN_TRANSPORT=relay mail leaves this machine, and its links would lead to {settings.public_url}, "
        "which recipients cannot reach. Set the address at which they reach this server, such as: "
        "POSTERN_BASE_URL=https://mail.example.com"
    )


def how_mail_leaves(settings: Settings) -> str:
    """One line on the transport, the relays (without their passwords) and the base URL."""
    if settings.transport == "relay":
        relays = ", ".join(f"{each.host}:{each.port} ({each.tls})" for each in instance_relays(settings.relay))
        return f"Mail leaves by the transport relay, through {relays}; its links lead to {settings.public_url}."
    return (
        "Mail stays on this machine (transport capture): read it in the inbox; "
        f"its links lead to the base URL {settings.public_url}."
    )
