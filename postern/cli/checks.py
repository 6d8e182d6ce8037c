"""Validation of the settings at start-up, and the text about the configured transports and ports that is then printed.

The settings are parsed with the same functions that later use them.
"""

import re
from collections.abc import Callable
from importlib.util import find_spec
from urllib.parse import urlsplit

from postern.kernel.config import SettingInvalid, Settings, misspelled_variables
from postern.kernel.object_store import S3
from postern.kernel.values import is_loopback
from postern.messaging.certificates.authority import authority_tls
from postern.messaging.certificates.names import public_host
from postern.messaging.domains.rules import is_domain_name
from postern.messaging.emails.sites import read_shaping
from postern.messaging.emails.sources import parse_sources, parse_warm_ups
from postern.messaging.emails.transports import parse_relays, ses_account
from postern.platform.billing.rules import parse_limits
from postern.protocols.aws.sns import is_topic
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.blocklists import parse_zones
from postern.protocols.mail.dns import parse_nameservers
from postern.protocols.mail.smtp_server.certificate import CertificateInvalid, ServerCertificate

SMTP_PORT = 25


def check_settings(settings: Settings) -> None:
    """Raise SettingInvalid if a setting is invalid, so that the server does not fail later, at the first use of it."""
    if "relay" in settings.transports or settings.relay:
        parse_relays(settings.relay)
    if "ses" in settings.transports or settings.ses_region:
        ses_account(settings)
    parse_sources(settings.sources)
    parse_warm_ups(settings.sources)
    read_shaping(settings)
    _check_fallback(settings)
    for topic in settings.ses_topics:
        if not is_topic(topic):
            raise SettingInvalid(f"POSTERN_SES_TOPICS: {topic!r} is not the ARN of an SNS topic.")
    _check_base_url(settings)
    _check_tls(settings)
    _check_acme(settings)
    parse_limits(settings.plan_limits)
    if settings.billing == "stripe" and not settings.stripe_secret_key:
        raise SettingInvalid("POSTERN_BILLING=stripe needs POSTERN_STRIPE_SECRET_KEY.")
    if settings.archive and not (find_spec("duckdb") and find_spec("obstore")):
        raise SettingInvalid(
            "POSTERN_ARCHIVE needs the Python packages duckdb and obstore. Install them with Postern: "
            "pip install 'postern-server[archive]'"
        )
    if settings.content_store and settings.content_store.rstrip("/") == (settings.archive or "").rstrip("/"):
        raise SettingInvalid("POSTERN_CONTENT_STORE and POSTERN_ARCHIVE must be different places.")
    if (settings.content_store or "").startswith(S3) and not find_spec("obstore"):
        raise SettingInvalid(
            "POSTERN_CONTENT_STORE=s3://… needs the Python package obstore. Install it with Postern: "
            "pip install 'postern-server[archive]'"
        )
    if settings.billing == "stripe" and find_spec("stripe") is None:
        raise SettingInvalid(
            "POSTERN_BILLING=stripe needs the Python package stripe. Install it with Postern: "
            "pip install 'postern-server[stripe]'"
        )
    parsers: dict[str, tuple[str | None, Callable[[str], object]]] = {
        "POSTERN_DNS": (",".join(settings.dns), parse_nameservers),
        "POSTERN_BLOCKLISTS": (settings.blocklists, parse_zones),
        "POSTERN_MAIL_FROM": (settings.mail_from, parse_address),
        "POSTERN_ACME_EMAIL": (settings.acme_email, parse_address),
    }
    for variable, (text, parse) in parsers.items():
        try:
            parse(text) if text else None
        except (ValueError, AddressInvalid) as error:
            raise SettingInvalid(f"{variable}={text!r}: {error}") from None


def _check_fallback(settings: Settings) -> None:
    """Raise SettingInvalid if POSTERN_FALLBACK_TRANSPORTS contradicts POSTERN_TRANSPORT."""
    if settings.transport in settings.fallback_transports:
        raise SettingInvalid(f"POSTERN_FALLBACK_TRANSPORTS: {settings.transport} is POSTERN_TRANSPORT itself.")
    if settings.transport == "capture" and settings.fallback_transports:
        raise SettingInvalid("POSTERN_FALLBACK_TRANSPORTS: with POSTERN_TRANSPORT=capture, no mail is sent.")


def _check_base_url(settings: Settings) -> None:
    """Raise SettingInvalid if mail would be sent with links to a loopback address, which recipients cannot reach.

    A relay on this machine may be a mail catcher. With such a relay, a loopback base URL is accepted if
    POSTERN_BASE_URL sets it explicitly.
    """
    if settings.transport == "capture" or not settings.is_local:
        return
    if settings.base_url and _sends_to_this_machine(settings):
        return
    raise SettingInvalid(
        f"With POSTERN_TRANSPORT={settings.transport}, mail leaves this machine, but its links would lead to "
        f"{settings.public_url}, which recipients cannot reach. Set the URL at which they reach this server, for "
        "example: POSTERN_BASE_URL=https://mail.example.com"
    )


def _sends_to_this_machine(settings: Settings) -> bool:
    """Whether mail does not leave this machine: all relays, and the endpoint of SES, are on it, and `direct` is not
    used or uses a port other than 25, as tests do."""
    relays = parse_relays(settings.relay) if "relay" in settings.transports else []
    ses = [urlsplit(ses_account(settings).url).hostname or ""] if "ses" in settings.transports else []
    is_direct_local = "direct" not in settings.transports or settings.direct_port != SMTP_PORT
    return is_direct_local and all(is_loopback(host) for host in [*(relay.host for relay in relays), *ses])


def _check_tls(settings: Settings) -> None:
    """Check the certificate of the SMTP server, if there is one. Raises SettingInvalid."""
    certificate, key = settings.tls_certificate, settings.tls_key
    if (certificate is None) != (key is None):
        raise SettingInvalid("POSTERN_TLS_CERTIFICATE and POSTERN_TLS_KEY must be set together.")
    if settings.submissions_port is not None and certificate is None and not settings.acme_terms_agreed:
        raise SettingInvalid(
            "POSTERN_SUBMISSIONS_PORT needs POSTERN_TLS_CERTIFICATE and POSTERN_TLS_KEY, or POSTERN_ACME_TERMS_AGREED."
        )
    if certificate is not None and key is not None:
        try:
            ServerCertificate(certificate, key)
        except CertificateInvalid as error:
            raise SettingInvalid(f"POSTERN_TLS_CERTIFICATE and POSTERN_TLS_KEY: {error}") from None


def _check_acme(settings: Settings) -> None:
    """Check the settings for certificates by ACME. Raises SettingInvalid."""
    if settings.https_port is not None and not settings.acme_terms_agreed:
        raise SettingInvalid(
            "POSTERN_HTTPS_PORT needs certificates by ACME. Read the terms of service of the authority in "
            "POSTERN_ACME_DIRECTORY (Let's Encrypt by default), then set POSTERN_ACME_TERMS_AGREED=yes."
        )
    if not settings.acme_terms_agreed:
        return
    if settings.https_port is not None and not (settings.has_tls and is_domain_name(public_host(settings))):
        raise SettingInvalid(
            "POSTERN_HTTPS_PORT needs the public URL of this server with a domain name, for example: "
            "POSTERN_BASE_URL=https://mail.example.com"
        )
    if not settings.acme_directory.startswith("https://"):
        raise SettingInvalid("POSTERN_ACME_DIRECTORY: expected https://…")
    if (settings.acme_eab_key_id is None) != (settings.acme_eab_hmac_key is None):
        raise SettingInvalid("POSTERN_ACME_EAB_KEY_ID and POSTERN_ACME_EAB_HMAC_KEY must be set together.")
    if not re.fullmatch(r"[A-Za-z0-9_-]+=*", settings.acme_eab_hmac_key or "A"):
        raise SettingInvalid("POSTERN_ACME_EAB_HMAC_KEY: expected base64url.")
    try:
        authority_tls(settings.acme_ca_file)
    except (OSError, ValueError) as error:
        raise SettingInvalid(f"POSTERN_ACME_CA_FILE={str(settings.acme_ca_file)!r}: {error}") from None


def describe_mail_and_ports(settings: Settings) -> str:
    """The lines that are printed at start-up: the transports (without passwords), the base URL, the ports for SMTP and
    HTTPS, and variables that seem to be misspelled."""
    lines = [_describe_transport(settings), *_describe_ports(settings), *_describe_https(settings)]
    return "\n".join([*lines, *misspelled_variables()])


def _describe_https(settings: Settings) -> list[str]:
    if settings.https_port is None:
        return []
    authority = urlsplit(settings.acme_directory).hostname
    return [f"HTTPS is served at {settings.host}:{settings.https_port}, with certificates from {authority}."]


def _describe_transport(settings: Settings) -> str:
    if settings.transport != "capture":
        described = " or, if that cannot be reached, ".join(_describe(name, settings) for name in settings.transports)
        return f"Mail is sent {described}; links in it lead to {settings.public_url}."
    return (
        "Mail is not sent but captured (transport capture): read it in the inbox; "
        f"links in it lead to the base URL {settings.public_url}."
    )


def _describe(transport: str, settings: Settings) -> str:
    if transport == "ses":
        return f"through {ses_account(settings).url} (transport ses)"
    if transport == "direct":
        addresses = ", ".join(source.address for source in parse_sources(settings.sources))
        return f"{f'from {addresses} ' if addresses else ''}to the recipients' mail servers (transport direct)"
    relays = ", ".join(f"{relay.host}:{relay.port} ({relay.tls})" for relay in parse_relays(settings.relay))
    return f"through {relays} (transport relay)"


def _describe_ports(settings: Settings) -> list[str]:
    ports = {name: port for name, port in settings.mail_ports.items() if name != "inbound"}
    received = f"Mail is received by SMTP at {settings.inbound_host}:{settings.inbound_port}."
    inbound = [received] if settings.receives_mail else []
    if not ports:
        return inbound
    secured = (
        "STARTTLS"
        if settings.tls_certificate or settings.acme_terms_agreed
        else "without TLS: set POSTERN_TLS_CERTIFICATE and POSTERN_TLS_KEY"
    )
    kinds = {"submission": secured, "submissions": "TLS"}
    listeners = [f"{settings.smtp_host}:{port} ({kinds[name]})" for name, port in ports.items()]
    return [f"Programs can send by SMTP at {' and '.join(listeners)}: user apikey, password a secret key.", *inbound]
