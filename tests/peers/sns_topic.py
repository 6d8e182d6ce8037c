"""A topic of Amazon SNS: signs messages as SNS does, with its own certificate."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

REGION = "eu-central-1"
HOST = f"sns.{REGION}.amazonaws.com"
CERTIFICATE_PATH = "/SimpleNotificationService-0123456789abcdef.pem"
SIGNED = {
    "Notification": ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
    "SubscriptionConfirmation": ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
    "UnsubscribeConfirmation": ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
}


class SnsTopic:
    """A topic with a key. `port` is that of the HTTPS server with its certificate and the confirmation page."""

    def __init__(self, port: int = 443, *, name: str = "mail") -> None:
        self.arn = f"arn:aws:sns:{REGION}:123456789012:{name}"
        self.base = f"https://{HOST}:{port}" if port != 443 else f"https://{HOST}"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def certificate(self) -> bytes:
        """The certificate of the key, in PEM."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        certificate = builder.not_valid_after(now + timedelta(days=1)).sign(self.key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM)

    def message(self, content: Any, *, at: datetime, version: str = "2", **fields: Any) -> dict[str, Any]:
        """A signed message; `fields` replace those of a notification before it is signed."""
        message = {
            "Type": "Notification",
            "MessageId": str(uuid4()),
            "TopicArn": self.arn,
            "Message": content if isinstance(content, str) else json.dumps(content),
            "Timestamp": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "SignatureVersion": version,
            "SigningCertURL": self.base + CERTIFICATE_PATH,
            "UnsubscribeURL": f"{self.base}/?Action=Unsubscribe",
            **fields,
        }
        names = [name for name in SIGNED[message["Type"]] if name in message]
        signed = "".join(f"{name}\n{message[name]}\n" for name in names).encode()
        algorithm = hashes.SHA1() if version == "1" else hashes.SHA256()
        signature = self.key.sign(signed, padding.PKCS1v15(), algorithm)
        return {**message, "Signature": base64.b64encode(signature).decode()}

    def confirmation(self, *, at: datetime, **fields: Any) -> dict[str, Any]:
        """A signed request to confirm a subscription."""
        url = f"{self.base}/confirm?Action=ConfirmSubscription&TopicArn={self.arn}&Token=abc"
        text = "You have chosen to subscribe to the topic."
        return self.message(
            text, at=at, **{"Type": "SubscriptionConfirmation", "Token": "abc", "SubscribeURL": url, **fields}
        )
