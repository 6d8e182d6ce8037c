"""The settings of an instance, read once from environment variables."""

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from postern.kernel.values import is_loopback

INTEGER_RANGES = {
    "port": (0, 65_535),
    "direct_port": (1, 65_535),
    "inbound_port": (0, 65_535),
    "database_pool": (2, 1_000),
    "project_rate": (1, 1_000_000),
    "free_space": (0, 1_000_000_000),
    "header_limit": (1_024, 1_048_576),
    "connections": (1, 1_000_000),
    "connections_per_address": (1, 1_000_000),
    "concurrent_requests": (1, 100_000),
    "concurrent_requests_per_project": (1, 100_000),
    "submission_port": (0, 65_535),
    "submissions_port": (0, 65_535),
    "smtp_connections": (1, 1_000_000),
    "smtp_connections_per_address": (1, 1_000_000),
    "smtp_memory": (32, 1_000_000),
    "https_port": (0, 65_535),
    "acme_http_port": (1, 65_535),
}
"""The smallest and largest value of each setting that is an integer."""
SECONDS_RANGES = {
    "send_wait": (0.0, 30.0),
    "drain": (0.0, 3_600.0),
    "shutdown_delay": (0.0, 600.0),
    "lease": (0.1, 3_600.0),
    "database_wait": (0.0, 86_400.0),
    "header_wait": (0.1, 3_600.0),
    "body_wait": (0.1, 3_600.0),
    "idle_wait": (1.0, 3_600.0),
    "queue_wait": (0.1, 60.0),
}
"""The smallest and largest value of each setting that is a duration, in seconds."""
MAX_RATES = {"bounce_rates": 10.0, "complaint_rates": 0.5}
"""The largest values, in percent, of the rates at which marketing mail is held. At these rates, Amazon SES pauses an
account."""
CHOICES = {
    "transport": ("capture", "relay", "direct", "ses"),
    "dkim": ("rsa+ed25519", "rsa", "none"),
    "dnssec": ("auto", "yes", "no"),
    "log_format": ("auto", "json", "console"),
    "log_level": ("debug", "info", "warning", "error", "critical"),
    "billing": ("manual", "stripe"),
}
FALLBACK_TRANSPORTS = ("relay", "direct", "ses")
"""The possible values of `fallback_transports`."""
PREFIX = "POSTERN_"
"""The beginning of the names of variables."""
SIMILARITY = 0.85
"""From which similarity on (difflib's ratio) a variable counts as a misspelled setting."""
DATABASE_URLS = ("database_url", "database_pooler_url", "database_replica_url")
"""Settings with a connection string. Their variables do not begin with `POSTERN_`."""
WEB_URLS = ("base_url", "stripe_api", "ses_endpoint", "archive_endpoint", "content_store_endpoint", "acme_directory")
"""Settings with an HTTP or HTTPS URL."""
SECRET_SETTINGS = (
    "secret",
    *DATABASE_URLS,
    "admin_token",
    "relay",
    "ses_secret_access_key",
    "stripe_secret_key",
    "stripe_webhook_secret",
    "acme_eab_hmac_key",
)
"""Settings that hold a password or a key."""
MIN_SECRET_CHARS = 32
BOUNCE_LABEL = "bounce"
"""The first label of the domains to which bounces are sent: `bounce.<sending domain>` and `bounce.<dns_zone>`."""
DOMAIN = re.compile(r"(?=.{1,253}$)([\w-]{1,63}\.)*[\w-]{1,63}")
Number = TypeVar("Number", int, float)
TRUE_WORDS, FALSE_WORDS = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


class SettingInvalid(Exception):
    """An environment variable is invalid; the message names it and the expected value."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The settings of an instance. The variable of a field is `POSTERN_<NAME>` unless stated otherwise."""

    host: str = "127.0.0.1"
    port: int = 8025
    data: Path = msgspec.field(default_factory=lambda: default_data_folder())
    """The data folder. The default depends on the installation, not on the current folder."""
    database_url: str | None = None
    """`DATABASE_URL`; without it, the embedded PostgreSQL server in the data folder is used."""
    database_pooler_url: str | None = None
    """`DATABASE_POOLER_URL`: a connection pooler in front of the same database, such as PgBouncer, which may give each
    transaction another connection. Processes use it for everything but notifications and migrations."""
    database_replica_url: str | None = None
    """`DATABASE_REPLICA_URL`: a hot standby of the same database, which logs, statistics and exports are read from."""
    secret: str | None = None
    """The master key, for several hosts with one database; without it, a file in the data folder is used."""
    base_url: str | None = None
    """The public URL of this server, for tracking links, invitations and SAML. Default: http://host:port."""
    admin_token: str | None = None
    """The bearer token for /metrics and /zone; required if the base URL is not loopback, or behind a proxy."""
    security_contact: str | None = None
    """Where to report vulnerabilities of this server, for /.well-known/security.txt: `mailto:…` or `https://…`."""
    archive: str | None = None
    """Where projects may archive records before they are deleted: a folder, or `s3://bucket/prefix`."""
    archive_endpoint: str | None = None
    """The URL of the object store of `archive`; default: that of Amazon S3 in the region `AWS_REGION`."""
    content_store: str | None = None
    """Where large contents of sent e-mails are moved: a folder, or `s3://bucket/prefix`; without it, they stay in the
    database."""
    content_store_endpoint: str | None = None
    """The URL of the object store of `content_store`; default: that of Amazon S3 in the region `AWS_REGION`."""
    free_space: int = 200
    """Megabytes that must be free on the data folder's disk; with less, /readyz reports not ready."""
    transport: str = "capture"
    """The transport of projects without their own: `capture`, `relay`, `direct` or `ses`."""
    fallback_transports: tuple[str, ...] = ()
    """The transports to use, in this order, if `transport` cannot be reached: `relay`, `direct` or `ses`,
    comma-separated."""
    dkim: str = "rsa+ed25519"
    """The DKIM signatures of messages: by both keys of the sending domain, by its RSA key only, or `none` if the relay
    signs."""
    relay: str | None = None
    """`smtp://user:password@host:port?tls=starttls|starttls-required|implicit|none`, several separated by spaces."""
    sources: str | None = None
    """The IP addresses from which the transport `direct` sends, each as
    `address=name?lane=…&project=…&warm-up=…&days=…&start=…`, separated by spaces."""
    direct_port: int = 25
    """The port of the recipients' mail servers; only tests and labs use another one than 25."""
    shaping_file: Path | None = None
    """TOML file with limits on sending to sites (groups of recipients' mail servers). They take precedence over
    Postern's own."""
    dnssec: str = "auto"
    """Whether the DNS servers validate DNSSEC, for DANE: `yes`, `no` or `auto` (if all have loopback addresses)."""
    tls_report_contact: str | None = None
    """The contact address in the TLS reports that are sent to recipients' domains (RFC 8460); without it, no report is
    sent."""
    ses_region: str | None = None
    """The AWS region of Amazon SES, such as `eu-central-1`."""
    ses_access_key_id: str | None = None
    ses_secret_access_key: str | None = None
    ses_configuration_set: str | None = None
    """The SES configuration set, which determines where SES publishes events."""
    ses_topics: tuple[str, ...] = ()
    """The ARNs of the SNS topics whose notifications /ses/notifications accepts, comma-separated."""
    ses_forward_feedback: bool = False
    """Whether SES also mails bounces and complaints to the return path, whose domain must be verified in SES."""
    ses_endpoint: str | None = None
    """The URL of the SES API, for tests; default: that of the region."""
    mail_from: str | None = None
    """The sender of mail to developers (invitations, resets): `Name <a@b>`; default: postern@ the base URL's host."""
    dns: tuple[str, ...] = ()
    """DNS servers, `address` or `address:port`, comma-separated; empty means the system's."""
    dns_zone: str | None = None
    """The zone in which this service publishes DKIM and return-path records, if it runs one."""
    return_path_domain: str | None = None
    """Domain of the envelope sender if a sending domain has no return-path of its own."""
    inbound_host: str = "127.0.0.1"
    """The address on which this server receives mail by SMTP: bounces, complaints, and mail to routes."""
    inbound_port: int | None = None
    """The port on which this server receives mail by SMTP, usually 25; without it, or with 0, it receives no mail."""
    mx_host: str | None = None
    """The name of this server in MX records; default: the base URL's host."""
    outbound_allow: tuple[IPv4Network | IPv6Network, ...] = ()
    """Special-purpose networks (private, loopback …) to which webhooks, relays and identity providers of projects may
    connect."""
    sending_addresses: tuple[str, ...] = ()
    """The IP addresses from which mail is sent, for SPF advice and blocklist checks."""
    blocklists: str | None = None
    """The blocklists to check: `address:zen.spamhaus.org, domain:dbl.spamhaus.org`; default: eight common lists."""
    bounce_rates: tuple[float, float] = (2.0, 5.0)
    """`2,5`: the percentage of messages with a hard bounce at which a sending domain is in WARNING, and that at which
    its marketing mail is held."""
    complaint_rates: tuple[float, float] = (0.1, 0.3)
    """The same for messages that recipients report as spam."""
    send_wait: timedelta = timedelta(seconds=2)
    """`POSTERN_SEND_WAIT` in seconds: how long a send request waits for delivery to the relay before it responds."""
    lease: timedelta = timedelta(seconds=60)
    """`POSTERN_LEASE` in seconds: after how long another process takes over the sends of a process that died.

    A running process renews its leases every third of this time.
    """
    database_pool: int = 16
    database_wait: timedelta = timedelta(seconds=60)
    """`POSTERN_DATABASE_WAIT` in seconds: how long a starting process waits for the database to respond."""
    drain: timedelta = timedelta(seconds=20)
    """`POSTERN_DRAIN` in seconds: how long a stopping process may finish running work."""
    shutdown_delay: timedelta = timedelta(0)
    """`POSTERN_SHUTDOWN_DELAY` in seconds: how long an API process still accepts requests after SIGTERM, while /readyz
    says that it is not ready, so that load balancers stop using it."""
    log_format: str = "auto"
    """`json`, `console` or `auto` (console on a terminal)."""
    log_level: str = "info"
    project_rate: int = 5_000
    """Requests per second of one project to all processes together, unless the project sets its own limit."""
    breached_passwords: str | None = None
    """A range API of breached passwords, `https://api.pwnedpasswords.com/range`; without it there is no check."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = (ip_network("127.0.0.1"), ip_network("::1"))
    """Proxies whose `X-Forwarded-For` header is trusted."""
    header_limit: int = 65_536
    """Bytes of a request's head: request line and header fields."""
    header_wait: timedelta = timedelta(seconds=10)
    """`POSTERN_HEADER_WAIT` in seconds: how long the head of a request may take, from the start of the connection."""
    body_wait: timedelta = timedelta(seconds=30)
    """`POSTERN_BODY_WAIT` in seconds: the time for each 4 KiB of a request body, and for the client to read a
    response."""
    idle_wait: timedelta = timedelta(seconds=60)
    """`POSTERN_IDLE_WAIT` in seconds: how long an idle keep-alive connection is kept open."""
    connections: int = 2_000
    """Maximum concurrent connections of one API process."""
    connections_per_address: int = 200
    """Maximum concurrent connections from one IP address (or IPv6 /64 network), unless it is a trusted proxy."""
    concurrent_requests: int = 128
    """Maximum concurrent requests of one API process; further ones wait."""
    concurrent_requests_per_project: int = 16
    """The same for requests of one project, while there are others."""
    queue_wait: timedelta = timedelta(seconds=2)
    """`POSTERN_QUEUE_WAIT` in seconds: how long a request may wait for others before it gets 503."""
    smtp_host: str = "127.0.0.1"
    """The address on which the SMTP server listens, if one of its ports is set."""
    submission_port: int | None = None
    """The port for mail that programs submit with an API key, with STARTTLS (RFC 6409, usually 587)."""
    submissions_port: int | None = None
    """The same with implicit TLS (RFC 8314, usually 465)."""
    tls_certificate: Path | None = None
    """PEM file with the certificate chain of the SMTP server; read again when it changes."""
    tls_key: Path | None = None
    """PEM file with the private key of `tls_certificate`."""
    smtp_plain_auth: tuple[IPv4Network | IPv6Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1"))
    """Networks from which programs may authenticate by SMTP without TLS."""
    smtp_connections: int = 10_000
    """Maximum concurrent SMTP connections of one process."""
    smtp_connections_per_address: int = 200
    """Maximum concurrent SMTP connections from one IP address (or IPv6 /64 network)."""
    smtp_memory: int = 256
    """Maximum megabytes of memory of one process for messages that it is receiving by SMTP and commands that wait."""
    sign_up: bool = True
    """Whether anyone may create a developer account."""

    https_port: int | None = None
    """The port on which the API is served with TLS, usually 443, with certificates by ACME."""
    acme_terms_agreed: bool = False
    """Whether the operator agrees to the terms of service of the certificate authority; otherwise no certificate is
    requested."""
    acme_directory: str = "https://acme-v02.api.letsencrypt.org/directory"
    """The URL of the authority's directory (RFC 8555 §7.1.1)."""
    acme_email: str | None = None
    """Where the authority may send notices about the account."""
    acme_eab_key_id: str | None = None
    """The key identifier of the account at the authority, if it requires one (RFC 8555 §7.3.4)."""
    acme_eab_hmac_key: str | None = None
    """The HMAC key that belongs to `acme_eab_key_id`, in base64url."""
    acme_ca_file: Path | None = None
    """PEM file with the CA certificate to verify the TLS certificate of `acme_directory`, if a private CA issued it."""
    acme_http_port: int = 80
    """The port at which the authority requests http-01 challenges; only tests and labs use another one than 80."""
    acme_self_test: bool = True
    """Whether this server first requests its own challenge, to find errors before the authority does. Behind some NAT
    routers a server cannot reach its own public address; then set it to no."""

    billing: str = "manual"
    """How accounts choose a plan: `manual` (on a page of this server, without payment) or `stripe`."""
    stripe_secret_key: str | None = None
    stripe_webhook_secret: str | None = None
    """The signing secret of Stripe's webhook endpoint /billing/stripe/events."""
    stripe_api: str = "https://api.stripe.com"
    stripe_price_monthly: str | None = None
    stripe_price_yearly: str | None = None
    stripe_price_b2b_monthly: str | None = None
    stripe_price_b2b_yearly: str | None = None
    plan_limits: str | None = None
    """`free: projects=3 customers=1000 emails=10000; pro: emails=500000` (emails per month); without it there are no
    limits."""

    @cached_property
    def public_url(self) -> str:
        """`base_url`, or the URL that the server listens on. Without a trailing slash."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104 - compared, not bound
        return (self.base_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def mail_ports(self) -> dict[str, int]:
        """The ports of the SMTP server that are set, keyed by `inbound` or by the name of their service (RFC 6335)."""
        ports = {"submission": self.submission_port, "submissions": self.submissions_port}
        ports["inbound"] = self.inbound_port or None
        return {name: port for name, port in ports.items() if port is not None}

    def address_of_port(self, name: str) -> str:
        """The address on which the SMTP server listens with the port of this name."""
        return self.inbound_host if name == "inbound" else self.smtp_host

    @property
    def transports(self) -> tuple[str, ...]:
        """The transport and those to use if it cannot be reached, in order."""
        return (self.transport, *self.fallback_transports)

    @property
    def relay_hosts(self) -> tuple[str, ...]:
        """The hosts of `relay` in lower case; empty if `relay` is not one of the `transports`."""
        if "relay" not in self.transports:
            return ()
        return tuple(host for part in (self.relay or "").split() if (host := urlsplit(part).hostname))

    @property
    def known_sending_addresses(self) -> tuple[str, ...]:
        """`sending_addresses`, or those of `sources` if mail is sent by `direct`; empty if neither is set."""
        if self.sending_addresses or "direct" not in self.transports:
            return self.sending_addresses
        return tuple(dict.fromkeys(part.partition("=")[0] for part in (self.sources or "").split()))

    @property
    def offers_direct(self) -> bool:
        """Whether projects can use the transport `direct`: the operator has chosen it, or set addresses for it."""
        return "direct" in self.transports or bool(self.sources)

    @cached_property
    def receives_mail(self) -> bool:
        """Whether this server receives mail by SMTP."""
        return bool(self.inbound_port)

    @cached_property
    def has_inbound_zone(self) -> bool:
        """Whether this server receives the bounces to the return paths of sending domains. Return paths are CNAMEs that
        point to a name in `dns_zone`."""
        return self.receives_mail and self.dns_zone is not None

    @cached_property
    def bounce_domain(self) -> str | None:
        """The domain of signed return paths: `return_path_domain`, or `bounce.<dns_zone>` if this server receives mail;
        None if there is neither."""
        if self.return_path_domain is None and self.has_inbound_zone:
            return f"{BOUNCE_LABEL}.{(self.dns_zone or '').rstrip('.')}"
        return self.return_path_domain and self.return_path_domain.rstrip(".")

    @property
    def mx_name(self) -> str:
        """The name of this server in MX records."""
        return (self.mx_host or urlsplit(self.public_url).hostname or "localhost").rstrip(".").lower()

    @property
    def smtp_names(self) -> tuple[str, ...]:
        """The host names for which the SMTP server needs certificates by ACME: the host of the base URL for submission,
        `mx_name` for inbound. Empty if `tls_certificate` is set."""
        if self.tls_certificate is not None:
            return ()
        host = (urlsplit(self.public_url).hostname or "").lower()
        is_submission = self.submission_port is not None or self.submissions_port is not None
        return tuple(dict.fromkeys([host] * is_submission + [self.mx_name] * self.receives_mail))

    @property
    def origin(self) -> str:
        """The base URL as in the `Origin` header: scheme, host, and the port unless it is the default."""
        parts = urlsplit(self.public_url.lower())
        default_port = {"http": "80", "https": "443"}.get(parts.scheme)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host.removesuffix(f':{default_port}')}"

    @cached_property
    def has_tls(self) -> bool:
        """Whether the base URL is https."""
        return self.public_url.lower().startswith("https:")

    @property
    def is_local(self) -> bool:
        """Whether the base URL is loopback, so that it works on this machine only."""
        return is_loopback(urlsplit(self.public_url).hostname or "")


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return name.upper() if name in DATABASE_URLS else f"{PREFIX}{name.upper()}"


def misspelled_variables(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each variable whose name is that of a setting but for a few letters. Other variables that begin
    with POSTERN_ belong to commands, SDKs and the user's own programs."""
    variables = {field.name.upper(): variable_of(field.name) for field in msgspec.structs.fields(Settings)}
    sentences: list[str] = []
    for variable in sorted(set(environment) - set(variables.values())):
        if variable.startswith(PREFIX):
            similar = get_close_matches(variable.removeprefix(PREFIX), variables, n=1, cutoff=SIMILARITY)
            sentences += [f"{variable} has no effect. Did you mean {variables[name]}?" for name in similar]
    return sentences


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from the environment; an empty variable counts as not set.

    Raises SettingInvalid for a value that cannot be parsed. Further checks are in `cli/checks.py`.
    """
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        variable = variable_of(field.name)
        text = environment.get(variable, "").strip()
        if text:
            try:
                values[field.name] = _read(field.name, text)
            except ValueError as error:
                # The message is logged, so it must not contain a secret.
                assignment = variable if field.name in SECRET_SETTINGS else f"{variable}={text!r}"
                raise SettingInvalid(f"{assignment}: {error}") from None
    if "data" in values:
        values["data"] = values["data"].expanduser().absolute()
    return Settings(**values)


def default_data_folder() -> Path:
    """The default data folder: `var` in a source tree, a folder in the user's data directory for an installed package.

    It never depends on the current folder, so that commands find the server's database.
    """
    source = Path(__file__).resolve().parents[2]
    if (source / "pyproject.toml").is_file() and (source / "migrations").is_dir():
        return source / "var"
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "postern"


def _read(name: str, text: str) -> Any:
    if name in INTEGER_RANGES:
        return _require_range(_number(text, int, "whole number"), *INTEGER_RANGES[name])
    if name in SECONDS_RANGES:
        return timedelta(seconds=_require_range(_number(text, float, "number"), *SECONDS_RANGES[name]))
    if name in MAX_RATES:
        return _rates(text, MAX_RATES[name])
    if name in CHOICES and text not in CHOICES[name]:
        raise ValueError(f"expected one of {', '.join(CHOICES[name])}")
    if name in WEB_URLS:
        return _web_url(text)
    if name == "breached_passwords" and not re.match(r"https?://[^/\s]+(/\S*)?$", text):
        raise ValueError("expected the URL of a range API, like https://api.pwnedpasswords.com/range")
    if name in ("archive", "content_store") and not re.fullmatch(r"/.*|s3://[^/\s]+(/\S*)?", text):
        raise ValueError("expected the absolute path of a folder, or s3://bucket/prefix")
    if name == "secret" and text.startswith("base64:") and len(text) < MIN_SECRET_CHARS:
        raise ValueError("after base64: comes the content of a master.key, which has 44 characters")
    if name == "secret" and len(text) < MIN_SECRET_CHARS:
        raise ValueError(f"a master key has {MIN_SECRET_CHARS} characters or more")
    if name in ("dns_zone", "return_path_domain", "mx_host") and not DOMAIN.fullmatch(text.rstrip(".")):
        raise ValueError("expected the name of a domain, like mail.example.com")
    if name == "tls_report_contact" and not re.fullmatch(r"[!-?A-~]+@[\w.-]+", text, re.ASCII):
        raise ValueError("expected an e-mail address, like postmaster@example.com")
    if name == "security_contact" and not re.match(r"(mailto:\S+@\S+|https://\S+|tel:\S+)$", text):
        raise ValueError("expected mailto:security@example.com or https://…")
    if name in DATABASE_URLS:
        return _database_url(text)
    if name in ("data", "tls_certificate", "tls_key", "shaping_file", "acme_ca_file"):
        return Path(text)
    if name == "sending_addresses":
        return tuple(str(ip_address(part.strip())) for part in text.split(",") if part.strip())
    if name == "fallback_transports":
        names = tuple(part.strip() for part in text.split(",") if part.strip())
        if not set(names) <= set(FALLBACK_TRANSPORTS) or len(set(names)) < len(names):
            raise ValueError(f"expected some of {', '.join(FALLBACK_TRANSPORTS)}, each at most once")
        return names
    if name in ("dns", "ses_topics"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if name in ("outbound_allow", "trusted_proxies", "smtp_plain_auth"):
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    if name in ("sign_up", "ses_forward_feedback", "acme_terms_agreed", "acme_self_test"):
        if text.lower() not in (*TRUE_WORDS, *FALSE_WORDS):
            raise ValueError(f"expected {TRUE_WORDS[0]} or {FALSE_WORDS[0]}")
        return text.lower() in TRUE_WORDS
    return text


def _rates(text: str, highest: float) -> tuple[float, float]:
    """Two percentages above 0, the first one lower than the second one. Raises ValueError."""
    rates = [_number(part.strip(), float, "number") for part in text.split(",")]
    if len(rates) != 2 or not 0 < rates[0] < rates[1] <= highest:
        raise ValueError(f"expected two percentages, the lower one first and the higher one at most {highest:g}")
    return rates[0], rates[1]


def _number(text: str, kind: type[Number], expected: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected a {expected}") from None


def _web_url(text: str) -> str:
    """An http or https URL with a host and optional port and path. Raises ValueError."""
    try:
        parts = urlsplit(text)
        is_complete = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        is_bare = not (parts.query or parts.fragment or parts.username or re.search(r"\s", text))
    except ValueError:
        is_complete = is_bare = False
    if not is_complete or not is_bare:
        raise ValueError("expected http://host or https://host, perhaps with a port")
    return text


def _database_url(text: str) -> str:
    """A connection URL or libpq connection string. Raises ValueError; the message does not contain the password."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(text)
    except ProgrammingError:
        raise ValueError("expected postgresql://user:password@host:port/database") from None
    return text


def _require_range(number: Number, minimum: Number, maximum: Number) -> Number:
    if not minimum <= number <= maximum:  # Also rejects NaN.
        raise ValueError(f"expected a number from {minimum:g} to {maximum:g}")
    return number
