"""Compare the clock of this machine with a time server (SNTP, RFC 4330), for `postern doctor`."""

import asyncio
import secrets
import struct
import time
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from postern.cli.doctor import CheckResult

if TYPE_CHECKING:
    from postern.protocols.mail.dns import Resolver

TIME_SERVER = "pool.ntp.org"
TIME_PORT = 123
REPLY_SECONDS = 5.0
"""How long to wait for the time server's reply."""
MAX_OFFSET = timedelta(seconds=30)
"""A greater difference is a problem: with it, valid TOTP codes can be refused (RFC 6238 §5.2)."""

_PACKET = struct.Struct("!BB22x8s8x8s")
"""Leap indicator, version and mode; stratum; originate timestamp; transmit timestamp (RFC 4330 §4)."""
_REQUEST = 0x23
"""Version 4, mode 3 (client)."""
_MODE_SERVER = 4
_LEAP_UNKNOWN = 3
"""The server's clock is not synchronized."""
_UNIX_EPOCH = 2_208_988_800
"""Seconds from 1900, where NTP timestamps begin, to 1970."""
_ERA = 1 << 32
"""Seconds after which NTP timestamps begin again at 0; also the fractions in a second."""


async def check_clock(resolver: "Resolver", time_server: str) -> CheckResult:
    """Compare the clock with that of `time_server`, a name or an IP address, which may be followed by `:port`."""
    try:
        parts = urlsplit(f"//{time_server}")
        host, port = parts.hostname or "", parts.port or TIME_PORT
    except ValueError:
        host, port = "", TIME_PORT
    if not host:
        return CheckResult(
            "problem", "Clock", f"{time_server} is not a host name or IP address", "give --time-server as name[:port]"
        )
    address = await _address(resolver, host)
    offset = await _offset(address, port) if address else None
    if offset is None:
        result = f"not checked: the time server {host} does not respond"
        return CheckResult(
            "note", "Clock", result, "give another one with --time-server, or compare the clock yourself"
        )
    if abs(offset) > MAX_OFFSET:
        behind_or_ahead = "behind" if offset > timedelta() else "ahead of"
        result = f"{abs(offset).total_seconds():,.0f} seconds {behind_or_ahead} that of {host}"
        advice = "set the clock of this machine with NTP: e-mails, signatures and TOTP codes depend on its time"
        return CheckResult("problem", "Clock", result, advice)
    return CheckResult("ok", "Clock", f"within {MAX_OFFSET.seconds} seconds of that of {host}")


async def _address(resolver: "Resolver", host: str) -> str | None:
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    try:
        return str(ip_address(host))
    except ValueError:
        pass
    try:
        addresses = await resolver.addresses(host)
    except (NoSuchRecord, DnsUnavailable):
        return None
    # The last one is an IPv4 address, if there is one: on many machines, IPv6 does not work.
    return addresses[-1]


async def _offset(address: str, port: int) -> timedelta | None:
    """How far the time server's clock is ahead of this machine's; None if the server does not know the time or does not
    respond."""
    nonce = secrets.token_bytes(8)
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.create_datagram_endpoint(lambda: _Query(nonce), remote_addr=(address, port))
    except OSError:
        return None
    try:
        began = time.monotonic()
        transport.sendto(_PACKET.pack(_REQUEST, 0, bytes(8), nonce))
        server_time = await asyncio.wait_for(protocol.reply, REPLY_SECONDS)
        round_trip = time.monotonic() - began
    except (TimeoutError, OSError):
        return None
    finally:
        transport.close()
    return None if server_time is None else timedelta(seconds=server_time + round_trip / 2 - time.time())


class _Query(asyncio.DatagramProtocol):
    """Receives the reply to one request, which has `nonce` as its transmit timestamp."""

    def __init__(self, nonce: bytes) -> None:
        self._nonce = nonce
        self.reply: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        """The server's time in seconds since 1970; None if its clock is not synchronized."""

    def datagram_received(self, data: bytes, addr: object) -> None:
        if len(data) < _PACKET.size or self.reply.done():
            return
        first, stratum, originate, transmit = _PACKET.unpack_from(data)
        if first & 7 != _MODE_SERVER or originate != self._nonce:
            return  # Not a reply to this request, perhaps forged.
        knows_time = first >> 6 != _LEAP_UNKNOWN and 1 <= stratum <= 15
        self.reply.set_result(_unix_time(transmit) if knows_time else None)

    def error_received(self, exc: Exception) -> None:
        if not self.reply.done():
            self.reply.set_exception(exc)


def _unix_time(timestamp: bytes) -> float:
    seconds, fraction = struct.unpack("!II", timestamp)
    # RFC 4330 §3: without the most significant bit, the time is in the era that begins in 2036.
    era = 0 if seconds >> 31 else _ERA
    return seconds + era - _UNIX_EPOCH + fraction / _ERA
