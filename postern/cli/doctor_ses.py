"""`postern doctor ses`: check the server's Amazon SES account, and that its events arrive, without sending mail."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

import typer

from postern.cli.doctor import EXIT_PROBLEM, STEP_TIMEOUT, CheckResult, From, check_base_url, print_results
from postern.kernel.config import Settings

if TYPE_CHECKING:
    from postern.protocols.mail.transports.ses import SesAccount

RESPONSE_OCTETS = 1_000_000
"""Longer responses are cut."""
SUBSCRIPTION_PAGES = 20
"""How many pages of a topic's subscriptions are read; each has up to 100."""
EVENT_TYPES = ("BOUNCE", "COMPLAINT", "DELIVERY", "DELIVERY_DELAY", "REJECT")
"""The events that Postern uses."""
IAM_PERMISSIONS = (
    "ses:GetAccount",
    "ses:GetEmailIdentity",
    "ses:GetConfigurationSetEventDestinations",
    "sns:ListSubscriptionsByTopic",
)
"""The IAM permissions that the access key needs for these checks. Sending needs none of them."""
_REGION_OF_TOPIC = re.compile(r"arn:aws[\w-]*:sns:([a-z0-9-]{4,30}):\d{12}:[\w.-]{1,256}")


def check_ses(sender: From = None) -> None:
    """Check the access key, sandbox and quota in POSTERN_SES_REGION, without sending mail.

    Also check, with --from, the identity of a sender; and that events arrive: configuration set, topic and
    subscription. The access key needs read permissions that sending does not need; without them, checks are left out.
    Exits with 1 if there is a problem.
    """
    from postern.kernel.config import read_settings

    if asyncio.run(print_results(diagnose_ses(read_settings(), sender))):
        raise typer.Exit(EXIT_PROBLEM)


class AwsResponse(NamedTuple):
    """A response of SES or SNS."""

    status: int
    """The HTTP status; 0 if the server could not be reached."""
    error: str
    """The name of the error; empty if the request succeeded."""
    text: str
    """The body; for an error, its message."""

    @property
    def lacks_permission(self) -> bool:
        """Whether the access key is valid but has no permission for the request."""
        return self.error.startswith(("AccessDenied", "AuthorizationError"))


async def diagnose_ses(settings: Settings, sender: str | None = None) -> AsyncIterator[CheckResult]:
    """Yield the results of all checks. Raises SettingInvalid if a setting of SES is invalid."""
    from postern.messaging.emails.transports import ses_account

    if "ses" not in settings.transports:
        advice = "set POSTERN_TRANSPORT=ses, or leave it and set `ses` of the projects that use it"
        result = "no mail is sent through the server's account of SES, except that of projects that choose it"
        yield CheckResult("note", "Transport", result, advice)
    account = ses_account(settings)
    response = await _ses(account, "/v2/email/account")
    if response.status != 200 and not response.lacks_permission:
        yield _failed_request(response, account)
        return
    if response.status == 200:
        for result in _account_results(_fields(response), account):
            yield result
    else:
        yield CheckResult("ok", "Access key", f"Amazon accepts it in {account.region}")
        yield _without_permission("Account", response)
    yield await _check_identity(account, sender)
    async for result in _check_events(settings, account):
        yield result
    yield check_base_url(settings)


def _failed_request(response: AwsResponse, account: "SesAccount") -> CheckResult:
    """Why the first request failed, and what to do."""
    if response.status == 0:
        advice = "check POSTERN_SES_REGION, and that this machine may open connections to port 443"
        return CheckResult("problem", "SES", response.text, advice)
    failure = f"{response.error or response.status}: {response.text[:300]}"
    if "Signature" in response.error and "expired" in response.text.lower():
        return CheckResult("problem", "Clock", failure, "set the clock of this machine, for example with NTP")
    if response.status in (401, 403):
        advice = (
            "check POSTERN_SES_ACCESS_KEY_ID and POSTERN_SES_SECRET_ACCESS_KEY: the key must exist and be active. The "
            "password of an SMTP user of SES is no access key"
        )
        return CheckResult("problem", "Access key", failure, advice)
    return CheckResult("problem", "SES", f"{account.url}: {failure}", "see the status page of AWS, and try again later")


def _account_results(fields: dict[str, Any], account: "SesAccount") -> list[CheckResult]:
    quota = fields.get("SendQuota")
    quota = quota if isinstance(quota, dict) else {}
    results = [CheckResult("ok", "Access key", f"Amazon accepts it in {account.region}")]
    if fields.get("ProductionAccessEnabled"):
        results.append(CheckResult("ok", "Sandbox", "no: SES sends to any address"))
    else:
        advice = f"request production access in the console of SES, in the region {account.region}"
        results.append(CheckResult("problem", "Sandbox", "yes: SES sends only to verified addresses", advice))
    status = str(fields.get("EnforcementStatus", "HEALTHY"))[:30]
    if not fields.get("SendingEnabled"):
        advice = "see the account's health in the console of SES; AWS pauses sending after many bounces or complaints"
        results.append(CheckResult("problem", "Sending", f"paused, status {status}", advice))
    elif status != "HEALTHY":
        advice = "reduce bounces and complaints, and reply to the case that AWS has opened"
        results.append(CheckResult("problem", "Sending", f"enabled, but the account's status is {status}", advice))
    else:
        results.append(CheckResult("ok", "Sending", "enabled"))
    most, sent, rate = (quota.get(name) for name in ("Max24HourSend", "SentLast24Hours", "MaxSendRate"))
    if isinstance(most, int | float) and isinstance(sent, int | float) and most > 0:
        result = f"{sent:g} of {most:g} messages in 24 hours, {rate} per second"
        if sent > 0.9 * most:
            results.append(
                CheckResult("problem", "Quota", result, "request a higher sending quota in the console of SES")
            )
        else:
            results.append(CheckResult("ok", "Quota", result))
    return results


async def _check_identity(account: "SesAccount", sender: str | None) -> CheckResult:
    """Check that SES may send from the domain, or the address, of the sender."""
    if not sender:
        return CheckResult("note", "Identity", "not checked", "give --from with an address of your sending domain")
    address = sender.rpartition("<")[2].rstrip(">").strip()
    domain = address.rpartition("@")[2].lower()
    result = f"{domain} is not an identity of the account"
    for identity in (domain, address):
        response = await _ses(account, f"/v2/email/identities/{quote(identity, safe='')}")
        if response.lacks_permission:
            return _without_permission("Identity", response)
        if response.status == 200 and _fields(response).get("VerifiedForSendingStatus"):
            return CheckResult("ok", "Identity", f"SES may send from {identity}")
        if response.status == 200:
            result = f"{identity} is an identity of the account that is not verified"
    advice = (
        f"add {domain} as an identity in the console of SES, in the region {account.region}, and publish its records"
    )
    return CheckResult("problem", "Identity", result, advice)


async def _check_events(settings: Settings, account: "SesAccount") -> AsyncIterator[CheckResult]:
    """Check that events about bounces, complaints and deliveries reach this server: configuration set and its
    destination, topic, and subscription."""
    if not settings.ses_topics:
        advice = "set POSTERN_SES_TOPICS to the ARN of the SNS topic to which SES publishes events"
        yield CheckResult("problem", "Topic", "not set, so bounces and complaints do not reach this server", advice)
        return
    yield await _check_destination(settings, account)
    for topic in settings.ses_topics:
        yield await _check_subscription(settings, account, topic)


async def _check_destination(settings: Settings, account: "SesAccount") -> CheckResult:
    name = account.configuration_set
    if not name:
        advice = (
            "create a configuration set with an event destination of type SNS and set POSTERN_SES_CONFIGURATION_SET, "
            "unless each identity has feedback notifications to the topic"
        )
        return CheckResult("problem", "Configuration set", "not set, so SES publishes no events", advice)
    response = await _ses(account, f"/v2/email/configuration-sets/{quote(name, safe='')}/event-destinations")
    if response.lacks_permission:
        return _without_permission("Configuration set", response)
    if response.status != 200:
        advice = f"create it in the region {account.region}, or correct POSTERN_SES_CONFIGURATION_SET"
        failure = f"{name}: {response.error or response.status} {response.text[:200]}"
        return CheckResult("problem", "Configuration set", failure, advice)
    listed = _fields(response).get("EventDestinations")
    destinations = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    matching = [entry for entry in destinations if _topic_of(entry) in settings.ses_topics]
    if not matching:
        advice = f"add an event destination of type SNS with the topic {settings.ses_topics[0]}"
        return CheckResult("problem", "Configuration set", f"{name} has no event destination with the topic", advice)
    enabled = [entry for entry in matching if entry.get("Enabled")]
    types = {str(kind) for entry in enabled for kind in entry.get("MatchingEventTypes") or ()}
    missing = [kind for kind in EVENT_TYPES if kind not in types]
    if missing:
        result = (
            f"{name} does not publish {', '.join(missing)} to the topic"
            if enabled
            else f"{name}: its event destination is disabled"
        )
        return CheckResult("problem", "Configuration set", result, f"turn on the event types {', '.join(EVENT_TYPES)}")
    return CheckResult("ok", "Configuration set", f"{name} publishes events to the topic")


def _topic_of(destination: dict[str, Any]) -> str:
    sns = destination.get("SnsDestination")
    return str(sns.get("TopicArn", "")) if isinstance(sns, dict) else ""


async def _check_subscription(settings: Settings, account: "SesAccount", topic: str) -> CheckResult:
    """Check that SNS delivers the notifications of a topic to this server."""
    endpoint = f"{settings.public_url}/ses/notifications"
    match = _REGION_OF_TOPIC.fullmatch(topic)
    if match is None:
        advice = "set POSTERN_SES_TOPICS to ARNs like arn:aws:sns:eu-central-1:123456789012:postern"
        return CheckResult("problem", "Topic", f"{topic[:100]} is not the ARN of a topic", advice)
    url = settings.ses_endpoint or f"https://sns.{match[1]}.amazonaws.com"
    token = ""
    for _ in range(SUBSCRIPTION_PAGES):
        query = {"Action": "ListSubscriptionsByTopic", "Version": "2010-03-31", "TopicArn": topic}
        query |= {"NextToken": token} if token else {}
        response = await _request(account, f"{url}/", "sns", match[1], urlencode(query).encode())
        if response.lacks_permission:
            return _without_permission("Subscription", response)
        if response.status != 200:
            failure = f"{topic}: {response.error or response.status} {response.text[:200]}"
            return CheckResult("problem", "Topic", failure, "create the topic, or correct POSTERN_SES_TOPICS")
        for member in re.findall(r"<member>(.*?)</member>", response.text, re.DOTALL):
            if _element(member, "Endpoint") == endpoint:
                return _subscription_result(endpoint, _element(member, "SubscriptionArn"))
        token = _element(response.text, "NextToken")
        if not token:
            break
    advice = f"subscribe {endpoint} to the topic, with the protocol HTTPS"
    return CheckResult("problem", "Subscription", f"{topic} does not deliver to this server", advice)


def _subscription_result(endpoint: str, arn: str) -> CheckResult:
    if not arn.startswith("arn:"):
        advice = (
            "start the server, make sure that Amazon can reach this URL, and request the confirmation again in the "
            "console of SNS; Postern confirms it by itself"
        )
        return CheckResult("problem", "Subscription", f"{endpoint} is not confirmed", advice)
    return CheckResult("ok", "Subscription", f"SNS delivers events to {endpoint}")


def _without_permission(subject: str, response: AwsResponse) -> CheckResult:
    advice = f"give the access key the permissions {', '.join(IAM_PERMISSIONS)}"
    return CheckResult("note", subject, f"not checked: {response.text[:300] or response.error}", advice)


async def _ses(account: "SesAccount", path: str) -> AwsResponse:
    return await _request(account, account.url + path, "ses", account.region, None)


async def _request(account: "SesAccount", url: str, service: str, region: str, form: bytes | None) -> AwsResponse:
    """Send a signed request: GET if `form` is None, otherwise POST with this form. The status of the response is 0 if
    the server cannot be reached."""
    import httpx

    from postern.kernel.outbound.client import default_tls
    from postern.protocols.aws.signature import signed_headers

    headers = signed_headers(
        account.credentials,
        method="GET" if form is None else "POST",
        url=url,
        headers={} if form is None else {"Content-Type": "application/x-www-form-urlencoded"},
        body=form or b"",
        region=region,
        service=service,
        now=datetime.now(UTC),
    )
    try:
        async with (
            asyncio.timeout(STEP_TIMEOUT.total_seconds()),
            httpx.AsyncClient(verify=default_tls(), trust_env=False) as client,
            client.stream("GET" if form is None else "POST", url, headers=headers, content=form) as response,
        ):
            body = bytearray()
            async for part in response.aiter_raw():
                body += part[: RESPONSE_OCTETS - len(body)]
    except TimeoutError:
        return AwsResponse(0, "Timeout", f"{httpx.URL(url).host} did not reply within {STEP_TIMEOUT.seconds} s.")
    except httpx.HTTPError as error:
        return AwsResponse(0, "Unreachable", f"{httpx.URL(url).host}: {error or type(error).__name__}")
    return _parsed(response.status_code, response.headers.get("x-amzn-errortype", ""), body.decode("utf-8", "replace"))


def _parsed(status: int, error_type: str, text: str) -> AwsResponse:
    """The response, with the name and message of an error. SES sends errors as JSON, SNS as XML."""
    if status == 200:
        return AwsResponse(status, "", text)
    fields = _fields(AwsResponse(status, "", text))
    error = error_type or str(fields.get("__type") or fields.get("code") or "") or _element(text, "Code")
    message = str(fields.get("message") or fields.get("Message") or "") or _element(text, "Message")
    return AwsResponse(status, error.split(":")[0].rpartition("#")[2][:100], " ".join(message.split())[:1_000])


def _fields(response: AwsResponse) -> dict[str, Any]:
    """The body as a JSON object; empty if it is not one."""
    from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json

    try:
        document = read_untrusted_json(response.text.encode())
    except JsonRefused:
        return {}
    return document if isinstance(document, dict) else {}


def _element(xml: str, name: str) -> str:
    """The text of the first element with this name in a response of SNS; empty if there is none."""
    match = re.search(rf"<{name}>([^<]{{0,2000}})</{name}>", xml)
    return unescape(match[1]) if match else ""
