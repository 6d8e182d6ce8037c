"""DANE for SMTP (RFC 7672): the certificates of a mail server are checked against its TLSA records."""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from postern.protocols.mail.dns import TlsaRecord

DANE_TA, DANE_EE = 2, 3
"""The certificate usages for SMTP (RFC 7672 §3.1): a certificate authority of the server, or its own certificate."""
WHOLE_CERTIFICATE, PUBLIC_KEY = 0, 1
"""The selectors (RFC 6698 §2.1.2)."""
EXACT, SHA_256, SHA_512 = 0, 1, 2
"""The matching types (RFC 6698 §2.1.3)."""
DATA_OCTETS = 8_192
"""Maximum octets of the data of a record."""
MAX_CERTIFICATES = 16
"""How many certificates of a server are examined."""

_DIGEST_OCTETS = {SHA_256: 32, SHA_512: 64}


def usable_records(records: Sequence[TlsaRecord]) -> list[TlsaRecord]:
    """The records that can be checked (RFC 7672 §3.1); records with usage 0 or 1, for example, are left out.

    SHA-256 records are also left out if there is a SHA-512 record with the same usage and selector (RFC 7671 §9).
    """
    known = [
        record
        for record in records
        if record.usage in (DANE_TA, DANE_EE)
        and record.selector in (WHOLE_CERTIFICATE, PUBLIC_KEY)
        and record.matching_type in (EXACT, SHA_256, SHA_512)
        and 0 < len(record.data) <= DATA_OCTETS
        and len(record.data) == _DIGEST_OCTETS.get(record.matching_type, len(record.data))
    ]
    has_sha_512 = {(record.usage, record.selector) for record in known if record.matching_type == SHA_512}
    return [
        record
        for record in known
        if record.matching_type != SHA_256 or (record.usage, record.selector) not in has_sha_512
    ]


def has_authority(records: Sequence[TlsaRecord]) -> bool:
    """Whether one of the records is about a certificate authority; only then are the names of certificates checked."""
    return any(record.usage == DANE_TA for record in records)


def dane_error(
    records: Sequence[TlsaRecord], names: Sequence[str], now: datetime, certificates: Sequence[bytes]
) -> str | None:
    """What is wrong with the certificates that a server sent, its own first; None if one of the records matches.

    The name and the validity of the server's certificate count only for DANE-TA (RFC 7672 §3.1.1). Then the certificate
    must have one of `names` (§3.2.2): the host name of the records, the server's name, or that of the recipients'
    domain.
    """
    chain = certificates[:MAX_CERTIFICATES]
    if not chain:
        return "The server sent no certificate."
    if any(record.usage == DANE_EE and _matches(record, chain[0]) for record in records):
        return None
    authorities = [
        certificate
        for record in records
        if record.usage == DANE_TA
        for certificate in [*chain[1:], *_contained_certificate(record)]
        if _matches(record, certificate)
    ]
    if not authorities:
        return "None of the server's certificates matches its TLSA records (DANE)."
    errors = [_chain_error(authorities, chain, name, now) for name in names]
    return None if None in errors else errors[0]


def _matches(record: TlsaRecord, certificate: bytes) -> bool:
    selected = certificate if record.selector == WHOLE_CERTIFICATE else _public_key(certificate)
    if selected is None:
        return False
    if record.matching_type == SHA_256:
        selected = hashlib.sha256(selected).digest()
    elif record.matching_type == SHA_512:
        selected = hashlib.sha512(selected).digest()
    return hmac.compare_digest(selected, record.data)


def _contained_certificate(record: TlsaRecord) -> list[bytes]:
    """The certificate in the record itself, which the server need not send (RFC 7672 §3.2.1)."""
    is_contained = record.selector == WHOLE_CERTIFICATE and record.matching_type == EXACT
    return [record.data] if is_contained else []


def _public_key(certificate: bytes) -> bytes | None:
    """The public key (SubjectPublicKeyInfo) of a certificate as DER; None if the certificate cannot be parsed."""
    try:
        key = x509.load_der_x509_certificate(certificate).public_key()
        return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None


def _chain_error(authorities: Sequence[bytes], chain: Sequence[bytes], host: str, now: datetime) -> str | None:
    """What is wrong with the chain from the server's certificate to one of the authorities (RFC 7672 §3.1.2)."""
    try:
        store = x509.verification.Store([x509.load_der_x509_certificate(der) for der in authorities])
        server, *others = [x509.load_der_x509_certificate(der) for der in chain]
        verifier = x509.verification.PolicyBuilder().store(store).time(now).build_server_verifier(x509.DNSName(host))
        verifier.verify(server, others)
    except (x509.verification.VerificationError, ValueError, UnsupportedAlgorithm) as error:
        return f"The server's certificate is not valid under its TLSA records (DANE): {str(error)[:200]}"
    return None
