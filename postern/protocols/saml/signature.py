"""Enveloped XML signatures: one narrow form is verified, everything else is refused before any cryptography.

SAML core §5.4 allows exactly this form: a signature that is a child of what it signs, with one
reference to its parent's ID, the enveloped transform and exclusive canonicalization. What an attacker
needs (XSLT, XPath, several references, other elements' IDs, HMAC) therefore never gets as far as a key.
Whoever verifies reads the tree that `verified` returns, which is parsed from the signed bytes alone.
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
from postern.protocols.saml.trace import SamlRefusalReason, SamlTrace

ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
METHODS = {
    each.value: each
    for each in (
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
DIGESTS = {each.value: each for each in (DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512)}
MAX_SIGNATURE_CHARS = 4096
MAX_PREFIXES = 32
"""Prefixes in an InclusiveNamespaces list: each is looked up at every element."""

_PREFIXES = re.compile(r"\A(?:#default|[A-Za-z_][\w.-]*)(?: (?:#default|[A-Za-z_][\w.-]*))*\Z")


def verified(element: Element, connection: SamlConnection, now: datetime, trace: SamlTrace, step: str) -> Element:
    """What the enveloped signature of `element` really covers, parsed again from the signed bytes.

    Any of the connection's certificates may have made it; the certificate that came along in
    KeyInfo is never believed, only named when it is the reason of a refusal.
    """
    signature = one_signature(element, trace, step)
    method = _refuse_other_forms(signature, element, trace, step)
    carried = _carried_fingerprint(signature)
    signed, certificate = _find_signer(element, method, connection, carried, trace, step)
    _need_unexpired(certificate, connection, now, trace, step)
    root = parse(signed, SamlTrace())
    if root.tag != element.tag or root.get("ID") != element.get("ID") or children(root, DS, "Signature"):
        raise trace.refusal(
            step, SamlRefusalReason.SIGNATURE_INVALID, "The signed bytes are not the element that carries them."
        )
    trace.passed(step, f"{method.name} by certificate {fingerprint(certificate)}")
    return root


def one_signature(element: Element, trace: SamlTrace, step: str) -> Element:
    """The one signature that is a direct child of `element`."""
    found = children(element, DS, "Signature")
    if not found:
        raise trace.refusal(step, SamlRefusalReason.UNSIGNED, "There is no signature.")
    if len(found) > 1:
        raise trace.refusal(step, SamlRefusalReason.MISPLACED_SIGNATURE, "There are several signatures in one place.")
    return found[0]


def verify_raw(
    data: bytes,
    value: bytes,
    method: str,
    connection: SamlConnection,
    now: datetime,
    trace: SamlTrace,
    step: str,
) -> None:
    """Check the detached signature of a redirect (SAML bindings §3.4.4.1) over exactly the bytes sent."""
    if method not in METHODS:
        reason = SamlRefusalReason.WEAK_ALGORITHM if "sha1" in method.lower() else SamlRefusalReason.SIGNATURE_FORM
        raise trace.refusal(step, reason, f"The signature method {method!r} is not accepted.")
    for pem in connection.idp_certificates[:MAX_IDP_CERTIFICATES]:
        certificate = load_certificate(pem)
        if _raw_holds(certificate, data, value, METHODS[method]):
            _need_unexpired(certificate, connection, now, trace, step)
            trace.passed(step, f"{METHODS[method].name} by certificate {fingerprint(certificate)}")
            return
    raise trace.refusal(
        step, SamlRefusalReason.SIGNATURE_INVALID, "None of the pinned certificates made this signature."
    )


def _need_unexpired(
    certificate: x509.Certificate, connection: SamlConnection, now: datetime, trace: SamlTrace, step: str
) -> None:
    if certificate.not_valid_after_utc < now and not connection.accept_expired_certificates:
        ended = certificate.not_valid_after_utc.date().isoformat()
        detail = f"Signed with certificate {fingerprint(certificate)}, which ended on {ended}."
        raise trace.refusal(step, SamlRefusalReason.CERTIFICATE_EXPIRED, detail)


def _refuse_other_forms(signature: Element, parent: Element, trace: SamlTrace, step: str) -> SignatureMethod:
    """The signature method, once every element of the signature is one we know, in its one place."""

    def need(element: Element, *allowed: tuple[str, ...]) -> list[Element]:
        names = tuple(str(each.tag) for each in element)
        if names not in [tuple(tag(DS, name) for name in each) for each in allowed]:
            detail = f"{etree.QName(element).localname} holds something unexpected."
            raise trace.refusal(step, SamlRefusalReason.SIGNATURE_FORM, detail)
        return list(element)

    signed_info, value, *_ = need(
        signature, ("SignedInfo", "SignatureValue"), ("SignedInfo", "SignatureValue", "KeyInfo")
    )
    canon, method, reference = need(signed_info, ("CanonicalizationMethod", "SignatureMethod", "Reference"))
    transforms, digest, digest_value = need(reference, ("Transforms", "DigestMethod", "DigestValue"))
    enveloped, exclusive = need(transforms, ("Transform", "Transform"))
    own = identifier(parent)
    if own is None or reference.get("URI") != f"#{own}":
        raise trace.refusal(
            step, SamlRefusalReason.SIGNATURE_FORM, "The signature points at something other than its parent."
        )
    if enveloped.get("Algorithm") != ENVELOPED or len(enveloped):
        raise trace.refusal(
            step, SamlRefusalReason.SIGNATURE_FORM, "The first transform is not the enveloped signature."
        )
    for each in (canon, exclusive):
        _need_exclusive(each, trace, step)
    _need_strong(method, METHODS, trace, step)
    _need_strong(digest, DIGESTS, trace, step)
    for each in (value, digest_value):
        text = each.text or ""
        if len(each) or len(text) > MAX_SIGNATURE_CHARS or not _is_base64(text):
            raise trace.refusal(step, SamlRefusalReason.SIGNATURE_FORM, f"{etree.QName(each).localname} is not base64.")
    return METHODS[method.get("Algorithm", "")]


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode("".join(text.split()), validate=True))
    except (binascii.Error, ValueError):
        return False


def _need_exclusive(element: Element, trace: SamlTrace, step: str) -> None:
    algorithm = element.get("Algorithm")
    if algorithm != EXCLUSIVE:
        detail = f"Only exclusive canonicalization without comments is accepted, not {algorithm!r}."
        raise trace.refusal(step, SamlRefusalReason.SIGNATURE_FORM, detail)
    if not len(element):
        return
    prefixes = element[0].get("PrefixList", "")
    alone = len(element) == 1 and element[0].tag == tag(EC, "InclusiveNamespaces") and not len(element[0])
    if not alone or not _PREFIXES.match(prefixes) or prefixes.count(" ") >= MAX_PREFIXES:
        raise trace.refusal(
            step, SamlRefusalReason.SIGNATURE_FORM, "The canonicalization has parameters that are not accepted."
        )


def _need_strong(
    element: Element,
    accepted: "dict[str, SignatureMethod] | dict[str, DigestAlgorithm]",
    trace: SamlTrace,
    step: str,
) -> None:
    algorithm = element.get("Algorithm", "")
    if algorithm in accepted and not len(element):
        return
    weak = "sha1" in algorithm.lower() or "md5" in algorithm.lower()
    detail = f"The algorithm {algorithm!r} is not accepted: SHA-256 or better is needed."
    raise trace.refusal(step, SamlRefusalReason.WEAK_ALGORITHM if weak else SamlRefusalReason.SIGNATURE_FORM, detail)


def _carried_fingerprint(signature: Element) -> str | None:
    """The fingerprint of the certificate in KeyInfo: said in refusals, never believed, never parsed."""
    found = signature.find("/".join(tag(DS, name) for name in ("KeyInfo", "X509Data", "X509Certificate")))
    if found is None or not found.text:
        return None
    try:
        return hashlib.sha256(base64.b64decode("".join(found.text.split()), validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return None


def _find_signer(
    element: Element,
    method: SignatureMethod,
    connection: SamlConnection,
    carried: str | None,
    trace: SamlTrace,
    step: str,
) -> tuple[bytes, x509.Certificate]:
    """The signed bytes, and which pinned certificate signed them.

    Trying each certificate on the small SignedInfo first keeps a large message with a wrong signature
    cheap: the whole verification, which reads the document several times over, is done at most once.
    """
    bare = _without_key_info(element)
    signed_info, value = _sealed_info(bare)
    pinned = [load_certificate(pem) for pem in connection.idp_certificates[:MAX_IDP_CERTIFICATES]]
    for certificate in pinned:
        if not _raw_holds(certificate, signed_info, value, method):
            continue
        try:
            return _signed_bytes(bare, certificate, method), certificate
        except InvalidDigest:
            detail = "The content was changed after it was signed."
            raise trace.refusal(step, SamlRefusalReason.CONTENT_CHANGED, detail) from None
        except (SignXMLException, BadRawSignature, etree.LxmlError, ValueError, TypeError) as error:
            raise trace.refusal(step, SamlRefusalReason.SIGNATURE_INVALID, str(error)) from None
    known = [fingerprint(certificate) for certificate in pinned]
    if carried and carried not in known:
        detail = f"Signed with certificate {carried}, which is not pinned here ({', '.join(known)} are)."
        raise trace.refusal(step, SamlRefusalReason.UNKNOWN_CERTIFICATE, detail)
    raise trace.refusal(
        step, SamlRefusalReason.SIGNATURE_INVALID, "None of the pinned certificates made this signature."
    )


def _sealed_info(bare: Element) -> tuple[bytes, bytes]:
    """SignedInfo in its canonical form, and the signature over it."""
    signed_info, value = children(bare, DS, "Signature")[0]
    canon = signed_info[0]
    prefixes = canon[0].get("PrefixList", "").split(" ") if len(canon) else None
    canonical = etree.tostring(signed_info, method="c14n", exclusive=True, inclusive_ns_prefixes=prefixes)
    return canonical, base64.b64decode(value.text or "")


def _without_key_info(element: Element) -> Element:
    """The element by itself, without KeyInfo: no certificate but a pinned one can play a part.

    The enveloped transform takes the whole Signature out before the digest is made, so this changes
    nothing that is signed.
    """
    copy = parse(etree.tostring(element, with_tail=False), SamlTrace(), max_bytes=2 * MAX_MESSAGE_BYTES)
    signature = children(copy, DS, "Signature")[0]
    for each in children(signature, DS, "KeyInfo"):
        signature.remove(each)
    return copy


def _signed_bytes(bare: Element, certificate: x509.Certificate, method: SignatureMethod) -> bytes:
    found = XMLVerifier().verify(
        etree.tostring(bare),
        x509_cert=certificate,
        validate_schema=False,
        id_attribute="ID",
        parser=etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False),
        expect_config=SignatureConfiguration(
            location="./",
            expect_references=1,
            signature_methods=frozenset({method}),
            digest_algorithms=frozenset(DIGESTS.values()),
            ignore_ambiguous_key_info=True,
            # The dates of a certificate are judged above, with a reason of their own.
            verification_time=certificate.not_valid_before_utc,
        ),
    )
    if not isinstance(found, VerifyResult) or not found.signed_data:
        raise SignXMLException("Nothing was signed.")
    return found.signed_data


def _raw_holds(certificate: x509.Certificate, data: bytes, value: bytes, method: SignatureMethod) -> bool:
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
            half = (key.key_size + 7) // 8
            if len(value) != 2 * half:
                return False
            pair = utils.encode_dss_signature(int.from_bytes(value[:half], "big"), int.from_bytes(value[half:], "big"))
            key.verify(pair, data, ec.ECDSA(digest))
        else:
            return False
    except BadRawSignature:
        return False
    return True


def raw_base64(value: str, trace: SamlTrace, step: str) -> bytes:
    """The bytes of a detached signature."""
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise trace.refusal(step, SamlRefusalReason.NOT_BASE64, "The signature is not base64.") from None
