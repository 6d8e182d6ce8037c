"""Decryption of EncryptedAssertion: RSA-OAEP transports the key, AES-GCM encrypts the assertion (XML Encryption 1.1).

RSA 1.5 and Triple-DES are rejected. AES-CBC is accepted only for connections that allow it: it is
unauthenticated, and distinguishable errors would be a decryption oracle. Every decryption failure therefore
returns the same error.
"""

import base64
import binascii

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from postern.protocols.saml.connection import SamlConnection
from postern.protocols.saml.document import DS, XENC, XENC11, Element, children, text_of
from postern.protocols.saml.trace import SamlRejectionReason, SamlTrace

GCM_KEY_BYTES = {f"{XENC11}aes128-gcm": 16, f"{XENC11}aes192-gcm": 24, f"{XENC11}aes256-gcm": 32}
CBC_KEY_BYTES = {f"{XENC}aes128-cbc": 16, f"{XENC}aes192-cbc": 24, f"{XENC}aes256-cbc": 32}
OAEP_MGF1P = f"{XENC}rsa-oaep-mgf1p"
OAEP = f"{XENC11}rsa-oaep"
HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    # OAEP does not depend on the collision resistance of its hash (RFC 8017 §7.1), so SHA-1 is safe here.
    f"{DS}sha1": hashes.SHA1,
    f"{XENC}sha256": hashes.SHA256,
    f"{XENC}sha512": hashes.SHA512,
    "http://www.w3.org/2001/04/xmldsig-more#sha384": hashes.SHA384,
    f"{XENC11}mgf1sha1": hashes.SHA1,
    f"{XENC11}mgf1sha256": hashes.SHA256,
    f"{XENC11}mgf1sha384": hashes.SHA384,
    f"{XENC11}mgf1sha512": hashes.SHA512,
}
GCM_NONCE_BYTES = 12
GCM_TAG_BYTES = 16
CBC_BLOCK_BYTES = 16
MAX_DECRYPTION_KEYS = 4
STEP = "decryption"


def decrypt(encrypted: Element, connection: SamlConnection, trace: SamlTrace) -> bytes:
    """Decrypt an EncryptedAssertion with the first of the connection's keys that can. Raises SamlRejected.

    At most MAX_DECRYPTION_KEYS keys are tried. The plaintext is untrusted, and may be anything.
    """
    data = _only_child(encrypted, XENC, "EncryptedData", trace)
    method = _only_child(data, XENC, "EncryptionMethod", trace).get("Algorithm", "")
    key_lengths = GCM_KEY_BYTES | (CBC_KEY_BYTES if connection.allow_aes_cbc else {})
    if method not in key_lengths:
        detail = f"The encryption algorithm {method!r} is not accepted: configure AES-GCM at the identity provider."
        raise trace.rejection(STEP, SamlRejectionReason.ENCRYPTION_REFUSED, detail)
    encrypted_key = _encrypted_key(encrypted, data, trace)
    oaep = _oaep_padding(encrypted_key, trace)
    wrapped_key, ciphertext = _cipher_value(encrypted_key, trace), _cipher_value(data, trace)
    for pem in connection.decryption_keys[:MAX_DECRYPTION_KEYS]:
        try:
            key = _private_key(pem).decrypt(wrapped_key, oaep)
        except ValueError:
            continue
        if len(key) == key_lengths[method]:
            plaintext = _decrypt_data(method, key, ciphertext)
            if plaintext is not None:
                trace.passed(STEP, method.rpartition("#")[2])
                return plaintext
    raise trace.rejection(
        STEP, SamlRejectionReason.DECRYPTION_FAILED, "None of this connection's keys decrypts the assertion."
    )


def uses_aes_cbc(encrypted: Element) -> bool:
    """Whether the assertion is encrypted with AES-CBC, which does not detect changes of the ciphertext."""
    methods = [
        method
        for data in children(encrypted, XENC, "EncryptedData")
        for method in children(data, XENC, "EncryptionMethod")
    ]
    return any(method.get("Algorithm", "") in CBC_KEY_BYTES for method in methods)


def _encrypted_key(encrypted: Element, data: Element, trace: SamlTrace) -> Element:
    """The EncryptedKey, either inside EncryptedData's KeyInfo or beside EncryptedData (SAML core §6.1)."""
    beside = children(encrypted, XENC, "EncryptedKey")
    inside = [key for info in children(data, DS, "KeyInfo") for key in children(info, XENC, "EncryptedKey")]
    if len(beside) + len(inside) != 1:
        raise trace.rejection(STEP, SamlRejectionReason.ENCRYPTION_REFUSED, "There must be exactly one EncryptedKey.")
    return (beside + inside)[0]


def _oaep_padding(encrypted_key: Element, trace: SamlTrace) -> padding.OAEP:
    method = _only_child(encrypted_key, XENC, "EncryptionMethod", trace)
    algorithm = method.get("Algorithm", "")
    if algorithm not in {OAEP_MGF1P, OAEP}:
        raise trace.rejection(
            STEP,
            SamlRejectionReason.ENCRYPTION_REFUSED,
            f"The key transport algorithm {algorithm!r} is not accepted: use RSA-OAEP.",
        )
    digest = _named_hash(children(method, DS, "DigestMethod"), f"{DS}sha1", trace)
    mask_hash = _named_hash(children(method, XENC11, "MGF"), f"{XENC11}mgf1sha1", trace)
    if children(method, XENC, "OAEPparams"):
        raise trace.rejection(STEP, SamlRejectionReason.ENCRYPTION_REFUSED, "OAEP parameters are not accepted.")
    # rsa-oaep-mgf1p always means MGF1 with SHA-1 (XML Encryption 1.1 §5.5.2).
    return padding.OAEP(padding.MGF1(hashes.SHA1() if algorithm == OAEP_MGF1P else mask_hash), digest, None)  # noqa: S303


def _named_hash(methods: list[Element], default: str, trace: SamlTrace) -> hashes.HashAlgorithm:
    name = methods[0].get("Algorithm", "") if methods else default
    if name not in HASHES or len(methods) > 1:
        raise trace.rejection(
            STEP, SamlRejectionReason.ENCRYPTION_REFUSED, f"The hash algorithm {name!r} of RSA-OAEP is not accepted."
        )
    return HASHES[name]()


def _cipher_value(element: Element, trace: SamlTrace) -> bytes:
    value = _only_child(_only_child(element, XENC, "CipherData", trace), XENC, "CipherValue", trace)
    try:
        return base64.b64decode("".join((text_of(value) or "").split()), validate=True)
    except (binascii.Error, ValueError):
        raise trace.rejection(STEP, SamlRejectionReason.ENCRYPTION_REFUSED, "CipherValue is not base64.") from None


def _private_key(pem: str) -> rsa.RSAPrivateKey:
    # This service generated the key; validating its primes again takes longer than the decryption.
    key = serialization.load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError("A decryption key must be RSA.")
    return key


def _decrypt_data(method: str, key: bytes, ciphertext: bytes) -> bytes | None:
    """Decrypt with AES-GCM or AES-CBC; None if the ciphertext is invalid."""
    if method in GCM_KEY_BYTES:
        if len(ciphertext) < GCM_NONCE_BYTES + GCM_TAG_BYTES:
            return None
        try:
            return AESGCM(key).decrypt(ciphertext[:GCM_NONCE_BYTES], ciphertext[GCM_NONCE_BYTES:], None)
        except InvalidTag:
            return None
    blocks, remainder = divmod(len(ciphertext), CBC_BLOCK_BYTES)
    if remainder or blocks < 2:
        return None
    decryptor = Cipher(algorithms.AES(key), modes.CBC(ciphertext[:CBC_BLOCK_BYTES])).decryptor()
    padded = decryptor.update(ciphertext[CBC_BLOCK_BYTES:]) + decryptor.finalize()
    # The last byte is the padding length; the other padding bytes are arbitrary (XML Encryption 1.1 §5.2).
    return padded[: -padded[-1]] if 1 <= padded[-1] <= CBC_BLOCK_BYTES else None


def _only_child(element: Element, namespace: str, name: str, trace: SamlTrace) -> Element:
    matches = children(element, namespace, name)
    if len(matches) != 1:
        raise trace.rejection(STEP, SamlRejectionReason.ENCRYPTION_REFUSED, f"There must be exactly one {name}.")
    return matches[0]
