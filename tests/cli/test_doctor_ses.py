"""`postern doctor ses` against an API like that of Amazon SES, and against moto's SNS and identities."""

import json

import msgspec
import pytest

from postern.cli.doctor_ses import AwsResponse, _check_identity, _check_subscription, _request, diagnose_ses
from postern.messaging.emails.transports import ses_account
from tests.peers.http_receiver import Reply, http_receiver
from tests.peers.moto_server import REGION
from tests.peers.ports import reserved_port

TOPIC = f"arn:aws:sns:{REGION}:123456789012:mail"
ENDPOINT = "https://mail.example.com/ses/notifications"
ACCOUNT = {
    "ProductionAccessEnabled": True,
    "SendingEnabled": True,
    "EnforcementStatus": "HEALTHY",
    "SendQuota": {"Max24HourSend": 50_000.0, "MaxSendRate": 14.0, "SentLast24Hours": 120.0},
}
DESTINATION = {
    "Name": "events",
    "Enabled": True,
    "MatchingEventTypes": ["BOUNCE", "COMPLAINT", "DELIVERY", "DELIVERY_DELAY", "REJECT"],
    "SnsDestination": {"TopicArn": TOPIC},
}
ACCOUNT_PATH = "/v2/email/account"
DESTINATIONS_PATH = "/v2/email/configuration-sets/postern/event-destinations"


def as_json(value, status=200, error=""):
    headers = {"x-amzn-errortype": error} if error else {}
    return Reply(status=status, body=json.dumps(value).encode(), headers=headers)


def subscriptions(*pairs, token=""):
    members = "".join(
        f"<member><SubscriptionArn>{arn}</SubscriptionArn><Protocol>https</Protocol><Endpoint>{endpoint}</Endpoint>"
        "</member>"
        for endpoint, arn in pairs
    )
    next_token = f"<NextToken>{token}</NextToken>" if token else ""
    return Reply(body=f"<R><Subscriptions>{members}</Subscriptions>{next_token}</R>".encode())


@pytest.fixture
def ses_settings(settings):
    def make(url, **more):
        values = {
            "transport": "ses",
            "base_url": "https://mail.example.com",
            "ses_region": REGION,
            "ses_access_key_id": "AKIDEXAMPLE",
            "ses_secret_access_key": "secret",
            "ses_endpoint": url,
            "ses_configuration_set": "postern",
            "ses_topics": (TOPIC,),
        }
        return msgspec.structs.replace(settings, **{**values, **more})

    return make


@pytest.fixture
async def api():
    """An API of an account without problems."""
    async with http_receiver() as receiver:
        receiver.script(ACCOUNT_PATH, as_json(ACCOUNT))
        receiver.script("/v2/email/identities/example.com", as_json({"VerifiedForSendingStatus": True}))
        receiver.script("/v2/email/identities/hello%40example.com", as_json({}, 404, "NotFoundException"))
        receiver.script(DESTINATIONS_PATH, as_json({"EventDestinations": [DESTINATION]}))
        receiver.script("/", subscriptions(("https://other.example", "arn:x"), (ENDPOINT, f"{TOPIC}:1")))
        yield receiver


async def results_of(settings, sender="Acme <hello@example.com>"):
    results = [result async for result in diagnose_ses(settings, sender)]
    assert all(result.advice for result in results if result.status == "problem"), "Every problem has advice."
    return {result.subject: result for result in results}


async def test_an_account_without_problems(api, ses_settings):
    results = await results_of(ses_settings(api.url().rstrip("/")))
    assert {result.status for result in results.values()} == {"ok"}, results
    assert list(results) == [
        *("Access key", "Sandbox", "Sending", "Quota", "Identity", "Configuration set", "Subscription", "Base URL")
    ]
    assert all(request.headers["authorization"].startswith("AWS4-HMAC-SHA256") for request in api.requests)
    assert "secret" not in str(results)


PROBLEMS = {
    "sandbox": (ACCOUNT_PATH, as_json(ACCOUNT | {"ProductionAccessEnabled": False}), "Sandbox", "verified addresses"),
    "paused": (ACCOUNT_PATH, as_json(ACCOUNT | {"SendingEnabled": False}), "Sending", "paused"),
    "probation": (ACCOUNT_PATH, as_json(ACCOUNT | {"EnforcementStatus": "PROBATION"}), "Sending", "PROBATION"),
    "quota": (
        ACCOUNT_PATH,
        as_json(ACCOUNT | {"SendQuota": {"Max24HourSend": 200.0, "SentLast24Hours": 199.0, "MaxSendRate": 1.0}}),
        "Quota",
        "199 of 200",
    ),
    "identity": (
        "/v2/email/identities/example.com",
        as_json({}, 404, "NotFoundException"),
        "Identity",
        "not an identity",
    ),
    "not verified": (
        "/v2/email/identities/example.com",
        as_json({"VerifiedForSendingStatus": False}),
        "Identity",
        "not verified",
    ),
    "no configuration set": (
        DESTINATIONS_PATH,
        as_json({"message": "does not exist"}, 404, "NotFoundException"),
        "Configuration set",
        "does not exist",
    ),
    "no destination": (DESTINATIONS_PATH, as_json({"EventDestinations": []}), "Configuration set", "no event dest"),
    "disabled": (
        DESTINATIONS_PATH,
        as_json({"EventDestinations": [DESTINATION | {"Enabled": False}]}),
        "Configuration set",
        "disabled",
    ),
    "event type": (
        DESTINATIONS_PATH,
        as_json({"EventDestinations": [DESTINATION | {"MatchingEventTypes": ["BOUNCE"]}]}),
        "Configuration set",
        "COMPLAINT, DELIVERY",
    ),
    "hostile destinations": (
        DESTINATIONS_PATH,
        as_json({"EventDestinations": [1, {"SnsDestination": []}, {"MatchingEventTypes": 7}]}),
        "Configuration set",
        "no event dest",
    ),
    "not subscribed": ("/", subscriptions(("https://other.example", "arn:x")), "Subscription", "does not deliver"),
    "not confirmed": ("/", subscriptions((ENDPOINT, "PendingConfirmation")), "Subscription", "not confirmed"),
    "no topic": (
        "/",
        Reply(status=404, body=b"<E><Code>NotFound</Code><Message>Topic does not exist</Message></E>"),
        "Topic",
        "Topic does not exist",
    ),
    "endless pages": ("/", subscriptions(token="again"), "Subscription", "does not deliver"),
}


@pytest.mark.parametrize(("path", "reply", "subject", "text"), PROBLEMS.values(), ids=PROBLEMS)
async def test_a_problem_says_what_to_do(api, ses_settings, path, reply, subject, text):
    api.script(path, reply)
    result = (await results_of(ses_settings(api.url().rstrip("/"))))[subject]
    assert (result.status, text in result.result) == ("problem", True), result


REFUSALS = {
    "unknown key": (as_json({"message": "The token is invalid."}, 403, "UnrecognizedClientException"), "Access key"),
    "wrong secret": (
        as_json({"message": "The request signature we calculated does not match"}, 403, "InvalidSignatureException"),
        "Access key",
    ),
    "clock": (as_json({"message": "Signature expired: 2020"}, 403, "InvalidSignatureException"), "Clock"),
    "away": (as_json({}, 503), "SES"),
    "no JSON": (Reply(status=400, body=b"\xff<html>"), "SES"),
    "hung up": (Reply(mode="hangup"), "SES"),
}


@pytest.mark.parametrize(("reply", "subject"), REFUSALS.values(), ids=REFUSALS)
async def test_a_refused_access_key_ends_the_checks(api, ses_settings, reply, subject):
    api.script(ACCOUNT_PATH, reply)
    results = await results_of(ses_settings(api.url().rstrip("/")))
    assert {name: result.status for name, result in results.items()} == {subject: "problem"}


async def test_a_server_that_cannot_be_reached(ses_settings):
    with reserved_port() as port:
        results = await results_of(ses_settings(f"http://127.0.0.1:{port.getsockname()[1]}"))
    assert results["SES"].status == "problem"


async def test_a_key_that_may_only_send_is_no_problem(api, ses_settings):
    """The guide recommends such a key."""
    denied = as_json({"Message": "User is not authorized to perform: ses:GetAccount"}, 403, "AccessDeniedException")
    for path in (ACCOUNT_PATH, "/v2/email/identities/example.com", DESTINATIONS_PATH):
        api.script(path, denied)
    api.script("/", Reply(status=403, body=b"<E><Code>AuthorizationError</Code><Message>not authorized</Message></E>"))
    results = await results_of(ses_settings(api.url().rstrip("/")))
    assert {result.status for result in results.values()} == {"ok", "note"}
    assert results["Access key"].status == "ok"
    assert "ses:GetAccount" in results["Account"].advice


async def test_without_topics_events_are_not_heard(api, ses_settings):
    results = await results_of(ses_settings(api.url().rstrip("/"), ses_topics=()))
    assert results["Topic"].status == "problem"
    results = await results_of(ses_settings(api.url().rstrip("/"), ses_topics=("mail",)))
    assert "not the ARN" in results["Topic"].result


async def test_against_moto(moto, ses_settings):
    """Identities and subscriptions as moto implements them; no identity of its version 2 is ever verified, and
    it has neither accounts nor event destinations."""
    moto.reset()
    moto.verify("example.com")
    settings = ses_settings(moto.url)
    account = ses_account(settings)
    assert "not verified" in (await _check_identity(account, "hello@example.com")).result
    assert "not an identity" in (await _check_identity(account, "hello@other.example")).result
    assert (await _check_subscription(settings, account, TOPIC)).subject == "Topic"
    created = await _sns(account, moto.url, "Action=CreateTopic&Name=mail")
    assert TOPIC in created.text
    assert (await _check_subscription(settings, account, TOPIC)).subject == "Subscription"
    form = f"Action=Subscribe&TopicArn={TOPIC}&Protocol=https&Endpoint={ENDPOINT}"
    assert (await _sns(account, moto.url, form)).status == 200
    assert (await _check_subscription(settings, account, TOPIC)).status == "ok"


async def _sns(account, url, form) -> AwsResponse:
    return await _request(account, f"{url}/", "sns", REGION, form.encode())
