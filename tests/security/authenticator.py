"""A software authenticator that can verify its user, and the JSON that a browser sends for its responses."""

from hashlib import sha256
from struct import pack
from typing import Any

import webauthn
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from soft_webauthn import SoftWebauthnDevice
from webauthn.helpers import bytes_to_base64url

ORIGIN = "http://127.0.0.1:8025"
USER_PRESENT, USER_VERIFIED = 0x01, 0x04
FLAGS_OFFSET = 32
"""The offset of the flags in authenticator data (WebAuthn §6.1): after the hash of the relying party's id."""


class Authenticator:
    """A device with one passkey."""

    def __init__(self, *, verifies_user: bool = True) -> None:
        self.device = SoftWebauthnDevice()
        self.flags = USER_PRESENT | (USER_VERIFIED if verifies_user else 0)

    def register(self, options: dict[str, Any], origin: str = ORIGIN) -> dict[str, Any]:
        """The credential that `navigator.credentials.create` returns for `options`, as JSON."""
        creation_options = {**_decode_binary(options), "attestation": "none"}
        credential = self.device.create({"publicKey": creation_options}, origin)
        attestation = cbor.decode(credential["response"]["attestationObject"])
        data = bytearray(attestation["authData"])
        data[FLAGS_OFFSET] |= self.flags
        credential["response"]["attestationObject"] = cbor.encode({**attestation, "authData": bytes(data)})
        return _as_json(credential)

    def sign_in(self, options: dict[str, Any], origin: str = ORIGIN) -> dict[str, Any]:
        """The credential that `navigator.credentials.get` returns for `options`, as JSON."""
        credential = self.device.get({"publicKey": _decode_binary(options)}, origin)
        data = sha256(self.device.rp_id.encode()).digest() + bytes([self.flags]) + pack(">I", self.device.sign_count)
        signed_data = data + sha256(credential["response"]["clientDataJSON"]).digest()
        signature = self.device.private_key.sign(signed_data, ECDSA(SHA256()))
        credential["response"] |= {"authenticatorData": data, "signature": signature}
        return _as_json(credential)


def _decode_binary(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the challenge and the user's id as bytes instead of base64url."""
    options = {**options, "challenge": webauthn.base64url_to_bytes(options["challenge"])}
    if "user" in options:
        options["user"] = {**options["user"], "id": webauthn.base64url_to_bytes(options["user"]["id"])}
    return options


def _as_json(credential: dict[str, Any]) -> dict[str, Any]:
    return {**_encode_binary(credential), "id": _encode_binary(credential["rawId"])}


def _encode_binary(value: Any) -> Any:
    """The value with all bytes as base64url."""
    if isinstance(value, bytes):
        return bytes_to_base64url(value)
    if isinstance(value, dict):
        return {name: _encode_binary(item) for name, item in value.items()}
    return value
