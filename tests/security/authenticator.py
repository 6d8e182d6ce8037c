"""An authenticator in software that verifies its user, and what a browser sends of it."""

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
FLAGS_AT = 32
"""Where the flags are in authenticator data (WebAuthn §6.1): after the hash of the relying party's id."""


class Authenticator:
    """A device with one passkey."""

    def __init__(self, *, verifies_user: bool = True) -> None:
        self.device = SoftWebauthnDevice()
        self.flags = USER_PRESENT | (USER_VERIFIED if verifies_user else 0)

    def register(self, options: dict[str, Any], origin: str = ORIGIN) -> dict[str, Any]:
        """The credential that `navigator.credentials.create` gives, as JSON."""
        given = {**_with_bytes(options), "attestation": "none"}
        made = self.device.create({"publicKey": given}, origin)
        attestation = cbor.decode(made["response"]["attestationObject"])
        data = bytearray(attestation["authData"])
        data[FLAGS_AT] |= self.flags
        made["response"]["attestationObject"] = cbor.encode({**attestation, "authData": bytes(data)})
        return _as_json(made)

    def sign_in(self, options: dict[str, Any], origin: str = ORIGIN) -> dict[str, Any]:
        """The credential that `navigator.credentials.get` gives, as JSON."""
        made = self.device.get({"publicKey": _with_bytes(options)}, origin)
        data = sha256(self.device.rp_id.encode()).digest() + bytes([self.flags]) + pack(">I", self.device.sign_count)
        signed = data + sha256(made["response"]["clientDataJSON"]).digest()
        signature = self.device.private_key.sign(signed, ECDSA(SHA256()))
        made["response"] |= {"authenticatorData": data, "signature": signature}
        return _as_json(made)


def _with_bytes(options: dict[str, Any]) -> dict[str, Any]:
    options = {**options, "challenge": webauthn.base64url_to_bytes(options["challenge"])}
    if "user" in options:
        options["user"] = {**options["user"], "id": webauthn.base64url_to_bytes(options["user"]["id"])}
    return options


def _as_json(made: dict[str, Any]) -> dict[str, Any]:
    return {**_encoded(made), "id": _encoded(made["rawId"])}


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return bytes_to_base64url(value)
    if isinstance(value, dict):
        return {name: _encoded(each) for name, each in value.items()}
    return value
