"""What an operator may set, read once from the environment."""

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from postern.kernel.values import is_loopback

WHOLE = {
    "port": (0, 65_535),
    "database_pool": (2, 1_000),
    "project_rate": (1, 1_000_000),
    "free_space": (0, 1_000_000_000),
    "header_limit": (1_024, 1_048_576),
    "connections": (1, 1_000_000),
    "connections_per_address": (1, 1_000_000),
}
SECONDS = {
    "send_wait": (0.0, 30.0),
    "drain": (0.0, 3_600.0),
    "lease": (0.1, 3_600.0),
    "database_wait": (0.0, 86_400.0),
    "header_wait": (0.1, 3_600.0),
    "body_wait": (0.1, 3_600.0),
    "idle_wait": (1.0, 3_600.0),
}
CHOICES = {
    "transport": ("capture", "relay"),
    "log_format": ("auto", "json", "console"),
    "log_level": ("debug", "info", "warning", "error", "critical"),
    "billing": ("manual", "stripe"),
}
SECRET = ("secret", "database_url", "admin_token", "relay", "stripe_secret_key", "stripe_webhook_secret")
"""Settings that hold a password or a key."""
LEAST_SECRET = 32
DOMAIN = re.compile(r"(?=.{1,253}$)([\w-]{1,63}\.)*[\w-]{1,63}")
Number = TypeVar("Number", int, float)
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


class SettingInvalid(Exception):
    """An environment variable that makes no sense; the message names it."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The instance's settings. Every field's variable is `POSTERN_<NAME>` unless said otherwise."""

    host: str = "127.0.0.1"
    port: int = 8025
    data: Path = msgspec.field(default_factory=lambda: default_data_folder())
    """The data folder; the default belongs to the installation, so it is the same from whatever folder one starts."""
    database_url: str | None = None
    """`DATABASE_URL`; absent means the embedded server in the data folder."""
    secret: str | None = None
    """Master key for several hosts on one database; absent means a file in the data folder."""
    base_url: str | None = None
    """How the outside reaches this server: tracking links, invitations, SAML. Default: http://host:port."""
    admin_token: str | None = None
    """Lets a scraper read /metrics; needed once the base URL is not loopback, or behind a proxy."""
    security_contact: str | None = None
    """Whom to tell of a weakness of this server, for /.well-known/security.txt: `mailto:…` or `https://…`."""
    free_space: int = 200
    """Megabytes that must be free where the data folder is; with less, /readyz says that the server is not ready."""
    transport: str = "capture"
    """The instance's way out for projects that set none: `capture` or `relay`."""
    relay: str | None = None
    """`smtp://user:password@host:port?tls=starttls|starttls-required|implicit|none`, several separated by spaces."""
    mail_from: str | None = None
    """Who writes to developers (invitations, resets): `Name <a@b>`; default: postern@ the server's own name."""
    dns: tuple[str, ...] = ()
    """Nameservers, `address` or `address:port`, comma-separated; empty means the system's."""
    dns_zone: str | None = None
    """The zone this service publishes DKIM and return-path records in, if it runs one."""
    return_path_domain: str | None = None
    """Domain of the envelope sender when a sending domain has no return-path of its own."""
    outbound_allow: tuple[IPv4Network | IPv6Network, ...] = ()
    """Special address ranges that hosts named by projects (webhooks, relays, providers) may have all the same."""
    sending_addresses: tuple[str, ...] = ()
    """The addresses mail leaves from, for SPF advice and blocklists."""
    blocklists: str | None = None
    """Which blocklists are watched: `address:zen.spamhaus.org, domain:dbl.spamhaus.org`; default: the usual eight."""
    send_wait: timedelta = timedelta(seconds=2)
    """`POSTERN_SEND_WAIT` in seconds: how long an accepting request waits for the hand-over."""
    lease: timedelta = timedelta(seconds=60)
    """`POSTERN_LEASE` in seconds: after how long the sends of a process that died are taken up by another.

    A living process renews what it has in hand three times as often.
    """
    database_pool: int = 16
    database_wait: timedelta = timedelta(seconds=60)
    """`POSTERN_DATABASE_WAIT` in seconds: how long a starting process waits for a database that does not answer yet."""
    drain: timedelta = timedelta(seconds=20)
    """`POSTERN_DRAIN` in seconds: how long a stopping process may finish what it has in hand."""
    log_format: str = "auto"
    """`json`, `console` or `auto` (console on a terminal)."""
    log_level: str = "info"
    project_rate: int = 5_000
    """Requests a second that one project may make to one API process, unless the project sets its own."""
    breached_passwords: str | None = None
    """A service that knows breached passwords by ranges, `https://api.pwnedpasswords.com/range`; absent means none."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = (ip_network("127.0.0.1"), ip_network("::1"))
    """Proxies that may say in `X-Forwarded-For` for whom they ask."""
    header_limit: int = 65_536
    """Bytes of a request's head: its first line and all fields."""
    header_wait: timedelta = timedelta(seconds=10)
    """`POSTERN_HEADER_WAIT` in seconds: how long the head of a request may take, from when the connection was made."""
    body_wait: timedelta = timedelta(seconds=30)
    """`POSTERN_BODY_WAIT` in seconds: within which a body must end or go on by 4 KiB, and an answer must be read on."""
    idle_wait: timedelta = timedelta(seconds=60)
    """`POSTERN_IDLE_WAIT` in seconds: how long a connection is kept open between two requests."""
    connections: int = 2_000
    """Connections that one API process has at a time."""
    connections_per_address: int = 200
    """How many of them one address (or IPv6 network of 64 bits) has, unless it is a trusted proxy."""
    sign_up: bool = True
    """Whether strangers may create developer accounts."""

    billing: str = "manual"
    """Where accounts book plans: `manual` (a page of this server, no money) or `stripe`."""
    stripe_secret_key: str | None = None
    stripe_webhook_secret: str | None = None
    """Signs what Stripe sends to /billing/stripe/events."""
    stripe_api: str = "https://api.stripe.com"
    stripe_price_monthly: str | None = None
    stripe_price_yearly: str | None = None
    stripe_price_b2b_monthly: str | None = None
    stripe_price_b2b_yearly: str | None = None
    plan_limits: str | None = None
    """`free: projects=3 customers=1000 emails=10000; pro: emails=500000` (e-mails a month); absent means no limits."""

    @property
    def public_url(self) -> str:
        """`base_url`, or what the server listens on."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104 - compared, not bound
        return (self.base_url or f"http://{shown}:{self.port}").rstrip("/")

    @property
    def relay_hosts(self) -> tuple[str, ...]:
        """The hosts of `relay`, in lower case; empty where mail is captured."""
        if self.transport != "relay":
            return ()
        return tuple(host for part in (self.relay or "").split() if (host := urlsplit(part).hostname))

    @property
    def origin(self) -> str:
        """The base URL as browsers write it in `Origin`: scheme, host, and the port if it is not the scheme's own."""
        parts = urlsplit(self.public_url.lower())
        own_port = {"http": "80", "https": "443"}.get(parts.scheme)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host.removesuffix(f':{own_port}')}"

    @property
    def has_tls(self) -> bool:
        """Whether the outside reaches this server over TLS."""
        return self.public_url.lower().startswith("https:")

    @property
    def is_local(self) -> bool:
        """Whether the base URL is one of this machine alone, so that nobody else can have followed it."""
        return is_loopback(urlsplit(self.public_url).hostname or "")


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that the environment spells. Raises SettingInvalid naming the variable."""
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        variable = "DATABASE_URL" if field.name == "database_url" else f"POSTERN_{field.name.upper()}"
        text = environment.get(variable, "").strip()
        if text:
            try:
                given[field.name] = _read(field.name, text)
            except ValueError as error:
                # A secret is not shown, not even to whoever mistyped it: the sentence goes to logs.
                shown = variable if field.name in SECRET else f"{variable}={text!r}"
                raise SettingInvalid(f"{shown}: {error}") from None
    if "data" in given:
        given["data"] = given["data"].expanduser().absolute()
    return Settings(**given)


def default_data_folder() -> Path:
    """The data folder of this installation: `var` of a source tree, or one of the user's for an installed package.

    It never depends on the current folder: a command must find the database that the server made.
    """
    source = Path(__file__).resolve().parents[2]
    if (source / "pyproject.toml").is_file() and (source / "migrations").is_dir():
        return source / "var"
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "postern"


def _read(name: str, text: str) -> Any:
    if name in WHOLE:
        return _within(_number(text, int, "whole number"), *WHOLE[name])
    if name in SECONDS:
        return timedelta(seconds=_within(_number(text, float, "number"), *SECONDS[name]))
    if name in CHOICES and text not in CHOICES[name]:
        raise ValueError(f"expected one of {', '.join(CHOICES[name])}")
    if name in ("base_url", "stripe_api"):
        return _web_address(text)
    if name == "breached_passwords" and not re.match(r"https?://[^/\s]+(/\S*)?$", text):
        raise ValueError("expected the address of a range service, like https://api.pwnedpasswords.com/range")
    if name == "secret" and len(text) < LEAST_SECRET:
        raise ValueError(f"a master key has {LEAST_SECRET} characters or more")
    if name in ("dns_zone", "return_path_domain") and not DOMAIN.fullmatch(text.rstrip(".")):
        raise ValueError("expected the name of a domain, like mail.example.com")
    if name == "security_contact" and not re.match(r"(mailto:\S+@\S+|https://\S+|tel:\S+)$", text):
        raise ValueError("expected mailto:security@example.com or https://…")
    if name == "database_url":
        return _database(text)
    if name == "data":
        return Path(text)
    if name == "sending_addresses":
        return tuple(str(ip_address(part.strip())) for part in text.split(",") if part.strip())
    if name == "dns":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if name in ("outbound_allow", "trusted_proxies"):
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    if name == "sign_up":
        if text.lower() not in (*YES, *NO):
            raise ValueError(f"expected {YES[0]} or {NO[0]}")
        return text.lower() in YES
    return text


def _number(text: str, kind: type[Number], words: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected a {words}") from None


def _web_address(text: str) -> str:
    """A URL of a server: a scheme, a host, perhaps a port and a path. Raises ValueError."""
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        is_plain = not (parts.query or parts.fragment or parts.username or re.search(r"\s", text))
    except ValueError:
        is_whole = is_plain = False
    if not is_whole or not is_plain:
        raise ValueError("expected http://host or https://host, perhaps with a port")
    return text


def _database(text: str) -> str:
    """The URL of a database, or libpq's words for one. Raises ValueError without its password."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(text)
    except ProgrammingError:
        raise ValueError("expected postgresql://user:password@host:port/database") from None
    return text


def _within(number: Number, least: Number, most: Number) -> Number:
    if not least <= number <= most:  # Also what is not a number.
        raise ValueError(f"expected a number from {least:g} to {most:g}")
    return number
