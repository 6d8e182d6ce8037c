"""Encrypted assertions: RSA-OAEP carries a key, AES-GCM carries the assertion (XML Encryption 1.1).

RSA 1.5 and Triple-DES are refused. AES-CBC is taken only by a connection that says so, because whoever
holds the ciphertext can change it and learn from our answers; every failure therefore reads the same.
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
from postern.protocols.saml.trace import SamlRefusalReason, SamlTrace

GCM_KEY_BYTES = {f"{XENC11}aes128-gcm": 16, f"{XENC11}aes192-gcm": 24, f"{XENC11}aes256-gcm": 32}
CBC_KEY_BYTES = {f"{XENC}aes128-cbc": 16, f"{XENC}aes192-cbc": 24, f"{XENC}aes256-cbc": 32}
OAEP_MGF1P = f"{XENC}rsa-oaep-mgf1p"
OAEP = f"{XENC11}rsa-oaep"
HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    # SHA-1 is only a mixer inside OAEP (RFC 8017 §7.1): nothing depends on its collisions.
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
    """The bytes inside an EncryptedAssertion, opened with whichever of our keys fits."""
    data = _one(encrypted, XENC, "EncryptedData", trace)
    method = _one(data, XENC, "EncryptionMethod", trace).get("Algorithm", "")
    lengths = GCM_KEY_BYTES | (CBC_KEY_BYTES if connection.allow_aes_cbc else {})
    if method not in lengths:
        detail = f"The encryption {method!r} is not accepted here: use AES-GCM."
        raise trace.refusal(STEP, SamlRefusalReason.ENCRYPTION_REFUSED, detail)
    carrier = _encrypted_key(encrypted, data, trace)
    oaep = _oaep(carrier, trace)
    sealed_key, sealed = _cipher_value(carrier, trace), _cipher_value(data, trace)
    for pem in connection.decryption_keys[:MAX_DECRYPTION_KEYS]:
        try:
            key = _private_key(pem).decrypt(sealed_key, oaep)
        except ValueError:
            continue
        if len(key) == lengths[method]:
            plain = _open(method, key, sealed)
            if plain is not None:
                trace.passed(STEP, method.rpartition("#")[2])
                return plain
    raise trace.refusal(STEP, SamlRefusalReason.DECRYPTION_FAILED, "None of our keys opens this assertion.")


def is_malleable(encrypted: Element) -> bool:
    """Whether the cipher does not notice a change of the ciphertext: AES-CBC."""
    methods = [
        m for data in children(encrypted, XENC, "EncryptedData") for m in children(data, XENC, "EncryptionMethod")
    ]
    return any(method.get("Algorithm", "") in CBC_KEY_BYTES for method in methods)


def _encrypted_key(encrypted: Element, data: Element, trace: SamlTrace) -> Element:
    """The EncryptedKey, which stands either in the data's KeyInfo or beside the data (SAML core §6.1)."""
    beside = children(encrypted, XENC, "EncryptedKey")
    inside = [key for info in children(data, DS, "KeyInfo") for key in children(info, XENC, "EncryptedKey")]
    if len(beside) + len(inside) != 1:
        raise trace.refusal(STEP, SamlRefusalReason.ENCRYPTION_REFUSED, "There must be exactly one EncryptedKey.")
    return (beside + inside)[0]


def _oaep(carrier: Element, trace: SamlTrace) -> padding.OAEP:
    method = _one(carrier, XENC, "EncryptionMethod", trace)
    algorithm = method.get("Algorithm", "")
    if algorithm not in {OAEP_MGF1P, OAEP}:
        raise trace.refusal(
            STEP, SamlRefusalReason.ENCRYPTION_REFUSED, f"The key transport {algorithm!r} is not accepted."
        )
    digest = _named_hash(children(method, DS, "DigestMethod"), f"{DS}sha1", trace)
    mask = _named_hash(children(method, XENC11, "MGF"), f"{XENC11}mgf1sha1", trace)
    if children(method, XENC, "OAEPparams"):
        raise trace.refusal(STEP, SamlRefusalReason.ENCRYPTION_REFUSED, "OAEP parameters are not accepted.")
    # The older name always means MGF1 with SHA-1 (XML Encryption 1.1 §5.5.2).
    return padding.OAEP(padding.MGF1(hashes.SHA1() if algorithm == OAEP_MGF1P else mask), digest, None)  # noqa: S303


def _named_hash(found: list[Element], otherwise: str, trace: SamlTrace) -> hashes.HashAlgorithm:
    name = found[0].get("Algorithm", "") if found else otherwise
    if name not in HASHES or len(found) > 1:
        raise trace.refusal(STEP, SamlRefusalReason.ENCRYPTION_REFUSED, f"The digest {name!r} is not accepted.")
    return HASHES[name]()


def _cipher_value(element: Element, trace: SamlTrace) -> bytes:
    value = _one(_one(element, XENC, "CipherData", trace), XENC, "CipherValue", trace)
    try:
        return base64.b64decode("".join((text_of(value) or "").split()), validate=True)
    except (binascii.Error, ValueError):
        raise trace.refusal(STEP, SamlRefusalReason.ENCRYPTION_REFUSED, "The cipher value is not base64.") from None


def _private_key(pem: str) -> rsa.RSAPrivateKey:
    # We made this key ourselves, and checking its primes again takes longer than using it.
    key = serialization.load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError("A decryption key must be RSA.")
    return key


def _open(method: str, key: bytes, sealed: bytes) -> bytes | None:
    if method in GCM_KEY_BYTES:
        if len(sealed) < GCM_NONCE_BYTES + GCM_TAG_BYTES:
            return None
        try:
            return AESGCM(key).decrypt(sealed[:GCM_NONCE_BYTES], sealed[GCM_NONCE_BYTES:], None)
        except InvalidTag:
            return None
    blocks, rest = divmod(len(sealed), CBC_BLOCK_BYTES)
    if rest or blocks < 2:
        return None
    opener = Cipher(algorithms.AES(key), modes.CBC(sealed[:CBC_BLOCK_BYTES])).decryptor()
    padded = opener.update(sealed[CBC_BLOCK_BYTES:]) + opener.finalize()
    # Only the last byte says how long the padding is; the rest of it is chance (XML Encryption 1.1 §5.2).
    return padded[: -padded[-1]] if 1 <= padded[-1] <= CBC_BLOCK_BYTES else None


def _one(element: Element, namespace: str, name: str, trace: SamlTrace) -> Element:
    found = children(element, namespace, name)
    if len(found) != 1:
        raise trace.refusal(STEP, SamlRefusalReason.ENCRYPTION_REFUSED, f"There must be exactly one {name}.")
    return found[0]
