"""Standard Webhooks signatures, verified with the published test vector and with other libraries."""

from datetime import UTC, datetime, timedelta

import pytest
import standardwebhooks
import svix

from postern.security.signatures import new_webhook_secret, webhook_headers

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
BODY = b'{"type":"email.sent","data":{"name":"J\xc3\xbcrgen"}}'


def test_the_published_test_vector_verifies():
    headers = webhook_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        datetime.fromtimestamp(1_614_265_330, UTC),
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert headers["webhook-timestamp"] == "1614265330"
    assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"


@pytest.mark.parametrize(
    ("library", "verification_error"),
    [(standardwebhooks.Webhook, standardwebhooks.WebhookVerificationError),
     (svix.Webhook, svix.WebhookVerificationError)],
    ids=["standardwebhooks", "svix"],
)  # fmt: skip
def test_other_libraries_verify_the_signature(library, verification_error):
    old, new, other = new_webhook_secret(), new_webhook_secret(), new_webhook_secret()
    now = datetime.now(UTC)  # The libraries compare with the machine's clock, and reject what is older than 5 minutes.
    headers = webhook_headers("0198", now, BODY, [new, old])
    for secret in (old, new):
        library(secret).verify(BODY, headers)
    for secret, body, changed_headers in (
        (other, BODY, {}),
        (new, BODY + b" ", {}),
        (new, BODY, {"webhook-id": "0199"}),
        (new, BODY, {"webhook-timestamp": str(int(now.timestamp()) + 1)}),
    ):
        with pytest.raises(verification_error):
            library(secret).verify(body, headers | changed_headers)
    stale = webhook_headers("0198", now - timedelta(minutes=6), BODY, [new])
    with pytest.raises(verification_error):
        library(new).verify(BODY, stale)


def test_a_secret_without_padding_signs_the_same():
    secret = new_webhook_secret()
    assert secret.endswith("=")
    assert webhook_headers("a", NOW, BODY, [secret]) == webhook_headers("a", NOW, BODY, [secret.rstrip("=")])
    assert new_webhook_secret() != secret


@pytest.mark.parametrize(("id", "secrets"), [("a.b", ["whsec_AAAA"]), ("a", [])])
def test_invalid_ids_and_secrets_are_rejected(id, secrets):
    with pytest.raises(ValueError):
        webhook_headers(id, NOW, BODY, secrets)
