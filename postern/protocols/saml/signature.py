"""SAML signatures: detached ones of the Redirect binding, and enveloped ones in XML.

One form of enveloped signatures is verified; every other form is rejected before any cryptography.

SAML core §5.4 allows exactly this form: a signature that is a child of the element it signs, with one reference to
its parent's ID, the enveloped transform and exclusive canonicalization. Features used for attacks (XSLT, XPath,
several references, references to other elements, HMAC) are rejected. Callers must read only the tree that
`verify_enveloped` returns, which is parsed from the signed bytes.
"""

import base64
import binascii
import hashlib
import re
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature as BadRawSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from lxml import etree
from signxml.algorithms import DigestAlgorithm, SignatureMethod
from signxml.exceptions import InvalidDigest, SignXMLException
from signxml.verifier import SignatureConfiguration, VerifyResult, XMLVerifier

from postern.protocols.saml.certificates import fingerprint, load_certificate
from postern.protocols.saml.connection import MAX_IDP_CERTIFICATES, SamlConnection
from postern.protocols.saml.document import DS, EC, MAX_MESSAGE_BYTES, Element, children, identifier, parse, tag
from postern.protocols.saml.trace import SamlRejectionReason, SamlTrace

ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
METHODS = {
    method.value: method
    for method in (
        SignatureMethod.RSA_SHA256,
        SignatureMethod.RSA_SHA384,
        SignatureMethod.RSA_SHA512,
        SignatureMethod.ECDSA_SHA256,
        SignatureMethod.ECDSA_SHA384,
        SignatureMethod.ECDSA_SHA512,
        SignatureMethod.SHA256_RSA_MGF1,
        SignatureMethod.SHA384_RSA_MGF1,
        SignatureMethod.SHA512_RSA_MGF1,
    )
}
DIGESTS = {digest.value: digest for digest in (DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512)}
MAX_SIGNATURE_CHARS = 4096
MAX_PREFIXES = 32
"""Prefixes in an InclusiveNamespaces PrefixList: canonicalization looks up each of them at every element."""

_PREFIXES = re.compile(r"\A(?:#default|[A-Za-z_][\w.-]*)(?: (?:#default|[A-Za-z_][\w.-]*))*\Z")


def verify_enveloped(
    element: Element, connection: SamlConnection, now: datetime, trace: SamlTrace, step: str
) -> Element:
    """Verify the enveloped signature of `element` and return the element parsed from the signed bytes.

    The signature must be by one of the connection's certificates. The certificate in KeyInfo is not trusted; if it is
    another one, the error has its fingerprint. `step` is the name of the check in the trace. Raises SamlRejected.
    """
    signature = _only_signature(element, trace, step)
    method = _require_allowed_form(signature, element, trace, step)
    key_info_fingerprint = _key_info_fingerprint(signature)
    signed, certificate = _find_signer(element, method, connection, key_info_fingerprint, trace, step)
    _require_unexpired(certificate, connection, now, trace, step)
    root = parse(signed, SamlTrace())  # In a separate trace: `trace` has the steps of parsing the document already.
    if root.tag != element.tag or root.get("ID") != element.get("ID") or children(root, DS, "Signature"):
        raise trace.rejection(
            step, SamlRejectionReason.SIGNATURE_INVALID, "The signature does not cover the element that contains it."
        )
    trace.passed(step, f"{method.name} by certificate {fingerprint(certificate)}")
    return root


def _only_signature(element: Element, trace: SamlTrace, step: str) -> Element:
    """The only Signature among the direct children of `element`. Raises SamlRejected."""
    signatures = children(element, DS, "Signature")
    if not signatures:
        raise trace.rejection(step, SamlRejectionReason.UNSIGNED, "The element has no signature.")
    if len(signatures) > 1:
        raise trace.rejection(step, SamlRejectionReason.MISPLACED_SIGNATURE, "The element has several signatures.")
    return signatures[0]


def verify_detached(
    data: bytes,
    signature: bytes,
    method: str,
    connection: SamlConnection,
    now: datetime,
    trace: SamlTrace,
    step: str,
) -> None:
    """Verify the detached `signature` of an HTTP-Redirect message (SAML bindings §3.4.4.1) over `data`.

    `method` is the URI of the signature algorithm, `step` the name of the check in the trace. Raises SamlRejected.
    """
    if method not in METHODS:
        reason = SamlRejectionReason.WEAK_ALGORITHM if "sha1" in method.lower() else SamlRejectionReason.SIGNATURE_FORM
        raise trace.rejection(
            step, reason, f"The signature method {method!r} is not accepted: use RSA or ECDSA with SHA-256 or better."
        )
    for pem in connection.idp_certificates[:MAX_IDP_CERTIFICATES]:
        certificate = load_certificate(pem)
        if _is_valid_signature(certificate, data, signature, METHODS[method]):
            _require_unexpired(certificate, connection, now, trace, step)
            trace.passed(step, f"{METHODS[method].name} by certificate {fingerprint(certificate)}")
            return
    raise trace.rejection(
        step, SamlRejectionReason.SIGNATURE_INVALID, "The signature does not match any pinned certificate."
    )


def _require_unexpired(
    certificate: x509.Certificate, connection: SamlConnection, now: datetime, trace: SamlTrace, step: str
) -> None:
    if certificate.not_valid_after_utc < now and not connection.accept_expired_certificates:
        expiry = certificate.not_valid_after_utc.date().isoformat()
        detail = f"Signed with certificate {fingerprint(certificate)}, which expired on {expiry}."
        raise trace.rejection(step, SamlRejectionReason.CERTIFICATE_EXPIRED, detail)


def _require_allowed_form(signature: Element, parent: Element, trace: SamlTrace, step: str) -> SignatureMethod:
    """Check every element of the signature against the allowed form and return the signature method."""

    def children_of(element: Element, *allowed: tuple[str, ...]) -> list[Element]:
        """The children of an element, whose names must be one of the `allowed` sequences."""
        tags = tuple(str(child.tag) for child in element)
        if tags not in [tuple(tag(DS, name) for name in names) for names in allowed]:
            detail = f"{etree.QName(element).localname} has unexpected child elements."
            raise trace.rejection(step, SamlRejectionReason.SIGNATURE_FORM, detail)
        return list(element)

    signed_info, value, *_ = children_of(
        signature, ("SignedInfo", "SignatureValue"), ("SignedInfo", "SignatureValue", "KeyInfo")
    )
    canonicalization_method, method, reference = children_of(
        signed_info, ("CanonicalizationMethod", "SignatureMethod", "Reference")
    )
    transforms, digest, digest_value = children_of(reference, ("Transforms", "DigestMethod", "DigestValue"))
    enveloped, exclusive = children_of(transforms, ("Transform", "Transform"))
    parent_id = identifier(parent)
    if parent_id is None or reference.get("URI") != f"#{parent_id}":
        raise trace.rejection(
            step, SamlRejectionReason.SIGNATURE_FORM, "The signature does not reference its parent element."
        )
    if enveloped.get("Algorithm") != ENVELOPED or len(enveloped):
        raise trace.rejection(
            step, SamlRejectionReason.SIGNATURE_FORM, "The first transform is not enveloped-signature."
        )
    for canonicalization in (canonicalization_method, exclusive):
        _require_exclusive(canonicalization, trace, step)
    _require_strong(method, METHODS, trace, step)
    _require_strong(digest, DIGESTS, trace, step)
    for element in (value, digest_value):
        text = element.text or ""
        if len(element) or len(text) > MAX_SIGNATURE_CHARS or not _is_base64(text):
            detail = f"{etree.QName(element).localname} is not base64."
            raise trace.rejection(step, SamlRejectionReason.SIGNATURE_FORM, detail)
    return METHODS[method.get("Algorithm", "")]


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode("".join(text.split()), validate=True))
    except (binascii.Error, ValueError):
        return False


def _require_exclusive(element: Element, trace: SamlTrace, step: str) -> None:
    """Require exclusive canonicalization, with no parameter but a PrefixList of at most MAX_PREFIXES."""
    algorithm = element.get("Algorithm")
    if algorithm != EXCLUSIVE:
        detail = f"Only exclusive canonicalization without comments is accepted, not {algorithm!r}."
        raise trace.rejection(step, SamlRejectionReason.SIGNATURE_FORM, detail)
    if not len(element):
        return
    prefixes = element[0].get("PrefixList", "")
    has_only_prefix_list = (
        len(element) == 1 and element[0].tag == tag(EC, "InclusiveNamespaces") and not len(element[0])
    )
    if not has_only_prefix_list or not _PREFIXES.match(prefixes) or prefixes.count(" ") >= MAX_PREFIXES:
        raise trace.rejection(
            step, SamlRejectionReason.SIGNATURE_FORM, "The canonicalization has parameters that are not accepted."
        )


def _require_strong(
    element: Element,
    accepted: "dict[str, SignatureMethod] | dict[str, DigestAlgorithm]",
    trace: SamlTrace,
    step: str,
) -> None:
    """Require an algorithm in `accepted`, without parameters."""
    algorithm = element.get("Algorithm", "")
    if algorithm in accepted and not len(element):
        return
    weak = "sha1" in algorithm.lower() or "md5" in algorithm.lower()
    detail = f"The algorithm {algorithm!r} is not accepted: use SHA-256 or better."
    raise trace.rejection(
        step, SamlRejectionReason.WEAK_ALGORITHM if weak else SamlRejectionReason.SIGNATURE_FORM, detail
    )


def _key_info_fingerprint(signature: Element) -> str | None:
    """The fingerprint of the certificate in KeyInfo, for error messages only: it is neither trusted nor parsed."""
    element = signature.find("/".join(tag(DS, name) for name in ("KeyInfo", "X509Data", "X509Certificate")))
    if element is None or not element.text:
        return None
    try:
        return hashlib.sha256(base64.b64decode("".join(element.text.split()), validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return None


def _find_signer(
    element: Element,
    method: SignatureMethod,
    connection: SamlConnection,
    key_info_fingerprint: str | None,
    trace: SamlTrace,
    step: str,
) -> tuple[bytes, x509.Certificate]:
    """The signed bytes and the pinned certificate that signed them.

    Each certificate is first tried on the small SignedInfo. The complete verification, which processes the document
    several times, then runs at most once, so that a large message with an invalid signature is rejected quickly.
    """
    without_key_info = _without_key_info(element)
    signed_info, value = _canonical_signed_info(without_key_info)
    pinned_certificates = [load_certificate(pem) for pem in connection.idp_certificates[:MAX_IDP_CERTIFICATES]]
    for certificate in pinned_certificates:
        if not _is_valid_signature(certificate, signed_info, value, method):
            continue
        try:
            return _signed_bytes(without_key_info, certificate, method), certificate
        except InvalidDigest:
            detail = "The content was changed after signing."
            raise trace.rejection(step, SamlRejectionReason.CONTENT_CHANGED, detail) from None
        except (SignXMLException, BadRawSignature, etree.LxmlError, ValueError, TypeError) as error:
            raise trace.rejection(step, SamlRejectionReason.SIGNATURE_INVALID, str(error)) from None
    fingerprints = [fingerprint(certificate) for certificate in pinned_certificates]
    if key_info_fingerprint and key_info_fingerprint not in fingerprints:
        detail = (
            f"Signed with certificate {key_info_fingerprint}, which is not pinned for this connection "
            f"(pinned: {', '.join(fingerprints)})."
        )
        raise trace.rejection(step, SamlRejectionReason.UNKNOWN_CERTIFICATE, detail)
    raise trace.rejection(
        step, SamlRejectionReason.SIGNATURE_INVALID, "The signature does not match any pinned certificate."
    )


def _canonical_signed_info(element: Element) -> tuple[bytes, bytes]:
    """SignedInfo in canonical form, and the signature value."""
    signed_info, value = children(element, DS, "Signature")[0]
    canonicalization_method = signed_info[0]
    prefixes = canonicalization_method[0].get("PrefixList", "").split(" ") if len(canonicalization_method) else None
    canonical = etree.tostring(signed_info, method="c14n", exclusive=True, inclusive_ns_prefixes=prefixes)
    return canonical, base64.b64decode(value.text or "")


def _without_key_info(element: Element) -> Element:
    """A copy of the element without KeyInfo, so that only pinned certificates are used.

    The enveloped transform removes the whole Signature before the digest is computed, so signed content is unchanged.
    """
    # Serialization lengthens a document: by namespace declarations, for example.
    copy = parse(etree.tostring(element, with_tail=False), SamlTrace(), max_bytes=2 * MAX_MESSAGE_BYTES)
    signature = children(copy, DS, "Signature")[0]
    for key_info in children(signature, DS, "KeyInfo"):
        signature.remove(key_info)
    return copy


def _signed_bytes(element: Element, certificate: x509.Certificate, method: SignatureMethod) -> bytes:
    """Verify the signature of an element completely, and return the bytes that it covers."""
    result = XMLVerifier().verify(
        etree.tostring(element),
        x509_cert=certificate,
        validate_schema=False,
        id_attribute="ID",
        parser=etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False),
        expect_config=SignatureConfiguration(
            location="./",
            expect_references=1,
            signature_methods=frozenset({method}),
            digest_algorithms=frozenset(DIGESTS.values()),
            ignore_ambiguous_key_info=True,  # There is no KeyInfo any more.
            # _require_unexpired checks the dates, with its own rejection reason.
            verification_time=certificate.not_valid_before_utc,
        ),
    )
    if not isinstance(result, VerifyResult) or not result.signed_data:
        raise SignXMLException("The signature covers no data.")
    return result.signed_data


def _is_valid_signature(certificate: x509.Certificate, data: bytes, value: bytes, method: SignatureMethod) -> bool:
    key = certificate.public_key()
    digest = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}[
        next(bits for bits in ("256", "384", "512") if f"SHA{bits}" in method.name)
    ]()
    try:
        if isinstance(key, rsa.RSAPublicKey) and method.name.startswith("RSA_"):
            key.verify(value, data, padding.PKCS1v15(), digest)
        elif isinstance(key, rsa.RSAPublicKey) and method.name.endswith("_MGF1"):
            key.verify(value, data, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
        elif isinstance(key, ec.EllipticCurvePublicKey) and method.name.startswith("ECDSA_"):
            # XML signatures contain r and s with equal lengths (XML Signature 1.1 §6.4.3); the library expects DER.
            length = (key.key_size + 7) // 8
            if len(value) != 2 * length:
                return False
            der_signature = utils.encode_dss_signature(
                int.from_bytes(value[:length], "big"), int.from_bytes(value[length:], "big")
            )
            key.verify(der_signature, data, ec.ECDSA(digest))
        else:
            return False
    except BadRawSignature:
        return False
    return True


def decode_signature(value: str, trace: SamlTrace, step: str) -> bytes:
    """Decode the base64 value of a detached signature. Raises SamlRejected."""
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise trace.rejection(step, SamlRejectionReason.NOT_BASE64, "The signature is not base64.") from None
