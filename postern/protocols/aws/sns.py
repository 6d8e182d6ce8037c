"""Messages that Amazon SNS posts to HTTPS endpoints, and the verification of their signatures."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import load_pem_x509_certificate

from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json

SnsType = Literal["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]

_TOPIC = re.compile(
    r"arn:aws(?:-us-gov)?:sns:([a-z]{2}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}):[0-9]{12}:[A-Za-z0-9_.-]{1,256}"
)
_CERTIFICATE_PATH = re.compile(r"^https://[^/?#]+/SimpleNotificationService-[A-Za-z0-9]{1,128}\.pem\Z")
_SIGNED_FIELDS = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    "UnsubscribeConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}
_HASHES = {"1": hashes.SHA1(), "2": hashes.SHA256()}  # noqa: S303 - SNS defines that version 1 uses SHA-1.


class SnsRefused(ValueError):
    """A request body is not a valid message of SNS; the exception's message says why."""


class SnsMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message whose signature is not verified yet."""

    type: SnsType
    message_id: str
    topic: str
    message: str
    at: datetime
    certificate_url: str
    subscribe_url: str
    """For SubscriptionConfirmation: the URL whose GET request confirms the subscription; otherwise empty."""
    signed: bytes
    """The octets that are signed."""
    signature: bytes
    signature_version: str


def is_topic(arn: str) -> bool:
    """Whether the text is the ARN of an SNS topic."""
    return _TOPIC.fullmatch(arn) is not None


def read_message(body: bytes) -> SnsMessage:
    """Parse a message. Its URLs must have the host of SNS in the region of its topic. Raises SnsRefused."""
    try:
        fields = read_untrusted_json(body)
    except JsonRefused as error:
        raise SnsRefused(f"The body is {error}.") from None
    if not isinstance(fields, dict):
        raise SnsRefused("The body is not a JSON object.")
    type_ = _text(fields, "Type")
    if type_ not in _SIGNED_FIELDS:
        raise SnsRefused("The field Type is unknown. Turn off raw message delivery of the subscription.")
    topic = _text(fields, "TopicArn")
    match = _TOPIC.fullmatch(topic)
    if match is None:
        raise SnsRefused("The field TopicArn is not the ARN of a topic.")
    host = f"sns.{match[1]}.amazonaws.com"
    certificate_url = _text(fields, "SigningCertURL")
    subscribe_url = _text(fields, "SubscribeURL") if type_ == "SubscriptionConfirmation" else ""
    if not _is_at(certificate_url, host) or not _CERTIFICATE_PATH.search(certificate_url):
        raise SnsRefused(f"The field SigningCertURL is not a certificate at https://{host}.")
    if subscribe_url and not _is_at(subscribe_url, host):
        raise SnsRefused(f"The field SubscribeURL is not at https://{host}.")
    try:
        signature = b64decode(_text(fields, "Signature"), validate=True)
        at = datetime.fromisoformat(_text(fields, "Timestamp"))
    except (Base64Error, ValueError):
        raise SnsRefused("The field Signature or Timestamp is invalid.") from None
    if at.tzinfo is None:
        raise SnsRefused("The field Timestamp has no time zone.")
    names = [name for name in _SIGNED_FIELDS[type_] if name != "Subject" or fields.get(name) is not None]
    return SnsMessage(
        type=cast("SnsType", type_),
        message_id=_text(fields, "MessageId"),
        topic=topic,
        message=_text(fields, "Message"),
        at=at,
        certificate_url=certificate_url,
        subscribe_url=subscribe_url,
        signed="".join(f"{name}\n{_text(fields, name)}\n" for name in names).encode(),
        signature=signature,
        signature_version=_text(fields, "SignatureVersion"),
    )


def read_certificate(pem: bytes) -> RSAPublicKey:
    """The public key of a certificate. Raises SnsRefused.

    The certificate is trusted because it came over HTTPS from the host of SNS.
    """
    try:
        key = load_pem_x509_certificate(pem).public_key()
    except ValueError:
        raise SnsRefused("The certificate cannot be read.") from None
    if not isinstance(key, RSAPublicKey):
        raise SnsRefused("The certificate has no RSA key.")
    return key


def verify_signature(message: SnsMessage, key: RSAPublicKey) -> None:
    """Verify the signature of a message. Raises SnsRefused if it was not made with the private key of `key`."""
    algorithm = _HASHES.get(message.signature_version)
    if algorithm is None:
        raise SnsRefused("The field SignatureVersion is neither 1 nor 2.")
    try:
        key.verify(message.signature, message.signed, PKCS1v15(), algorithm)
    except InvalidSignature:
        raise SnsRefused("The signature is wrong.") from None


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise SnsRefused(f"The field {name} is missing.")
    return value


def _is_at(url: str, host: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and parts.hostname == host and parts.username is None
    except ValueError:
        return False
