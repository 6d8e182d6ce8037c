"""Reading logout messages: always signed, by redirect (over the query) or by form (inside)."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import unquote_plus

from lxml import etree

from postern.kernel.values import Record
from postern.protocols.saml.connection import SamlConnection
from postern.protocols.saml.document import (
    DS,
    SAML,
    SAMLP,
    Element,
    children,
    decode_base64,
    identifier,
    inflate,
    moment,
    parse,
    tag,
    text_of,
)
from postern.protocols.saml.request import SUCCESS, Field
from postern.protocols.saml.response import DEFAULT_SKEW, MAX_ISSUE_AGE, MAX_NAME_ID_CHARS, MAX_SKEW
from postern.protocols.saml.signature import raw_base64, verified, verify_raw
from postern.protocols.saml.trace import SamlRefusalReason, SamlTrace, SsoTraceStep

MAX_SESSION_INDEXES = 100
MAX_QUERY_CHARS = 64 * 1024
PARTIAL_LOGOUT = "urn:oasis:names:tc:SAML:2.0:status:PartialLogout"

_SIGNED_NAMES = ("SAMLRequest", "SAMLResponse", "RelayState", "SigAlg", "Signature")


class Binding(StrEnum):
    """How a message came."""

    REDIRECT = "REDIRECT"
    POST = "POST"


class ReceivedLogoutRequest(Record, kw_only=True):
    """Their wish that this person's sessions end."""

    id: str
    """Seen before: a replay, which changes nothing."""
    name_id: str
    format: str | None
    session_indexes: list[str]
    """The sessions meant; none means all of them."""
    not_on_or_after: datetime | None
    issuer: str
    relay_state: str | None
    """Goes back with our answer, unread."""
    trace: list[SsoTraceStep]


class ReceivedLogoutResponse(Record, kw_only=True):
    """What became of our wish."""

    id: str
    in_response_to: str
    success: bool
    """False also when only some of the sessions elsewhere have ended."""
    status: str
    issuer: str
    relay_state: str | None
    trace: list[SsoTraceStep]


def read_logout_request(
    raw: str,
    *,
    binding: Binding,
    connection: SamlConnection,
    now: datetime,
    skew: timedelta = DEFAULT_SKEW,
    relay_state: str | None = None,
) -> ReceivedLogoutRequest:
    """Who is to be signed out, says a LogoutRequest.

    `raw` is the query exactly as it arrived (REDIRECT: the signature is over those bytes) or the value
    of the form field (POST; then `relay_state` is the other field). Raises SamlRejected.
    """
    trace = SamlTrace()
    root, carried = _signed_message(raw, "SAMLRequest", binding, connection, now, trace)
    _check_head(root, "LogoutRequest", connection, now, skew, trace)
    ends = root.get("NotOnOrAfter")
    if ends is not None:
        end = moment(ends)
        held = end is not None and now - min(skew, MAX_SKEW) < end
        trace.check("times", ok=held, reason=SamlRefusalReason.EXPIRED, detail=f"NotOnOrAfter {ends}")
    names = children(root, SAML, "NameID")
    name = text_of(names[0]) if len(names) == 1 else None
    if name is None or len(name) > MAX_NAME_ID_CHARS:
        raise trace.refusal("subject", SamlRefusalReason.NO_SUBJECT, "There is no plain name identifier.")
    trace.passed("subject", name)
    indexes = [text for each in children(root, SAMLP, "SessionIndex") if (text := text_of(each))]
    if len(indexes) > MAX_SESSION_INDEXES:
        raise trace.refusal("sessions", SamlRefusalReason.TOO_COMPLEX, f"More than {MAX_SESSION_INDEXES} sessions.")
    trace.settle()
    return ReceivedLogoutRequest(
        id=root.get("ID", ""),
        name_id=name,
        format=names[0].get("Format"),
        session_indexes=indexes,
        not_on_or_after=moment(ends),
        issuer=connection.idp_entity_id,
        relay_state=carried if binding is Binding.REDIRECT else relay_state,
        trace=trace.steps,
    )


def read_logout_response(
    raw: str,
    *,
    binding: Binding,
    connection: SamlConnection,
    expected_request_ids: Collection[str],
    now: datetime,
    skew: timedelta = DEFAULT_SKEW,
    relay_state: str | None = None,
) -> ReceivedLogoutResponse:
    """What became of our LogoutRequest. `raw` as for `read_logout_request`. Raises SamlRejected."""
    trace = SamlTrace()
    root, carried = _signed_message(raw, "SAMLResponse", binding, connection, now, trace)
    _check_head(root, "LogoutResponse", connection, now, skew, trace)
    answers = root.get("InResponseTo", "")
    held = answers in expected_request_ids
    detail = answers if held else f"{answers or 'Nothing'} was not asked here, or has been answered."
    trace.check("in response to", ok=held, reason=SamlRefusalReason.WRONG_IN_RESPONSE_TO, detail=detail)
    codes = [code for status in children(root, SAMLP, "Status") for code in children(status, SAMLP, "StatusCode")]
    if len(codes) != 1:
        raise trace.refusal("status", SamlRefusalReason.MALFORMED, "The answer has no status.")
    words = [codes[0].get("Value", ""), *(each.get("Value", "") for each in codes[0])]
    trace.passed("status", " / ".join(words))
    trace.settle()
    return ReceivedLogoutResponse(
        id=root.get("ID", ""),
        in_response_to=answers,
        success=words[0] == SUCCESS and PARTIAL_LOGOUT not in words,
        status=" / ".join(words),
        issuer=connection.idp_entity_id,
        relay_state=carried if binding is Binding.REDIRECT else relay_state,
        trace=trace.steps,
    )


def _signed_message(
    raw: str, field: Field, binding: Binding, connection: SamlConnection, now: datetime, trace: SamlTrace
) -> tuple[Element, str | None]:
    """The message as signed, and the relay state that a redirect's signature covers too."""
    if binding is Binding.POST:
        sent = parse(decode_base64(raw, trace), trace)
        _need_own_signature_only(sent, trace)
        return verified(sent, connection, now, trace, "signature"), None
    query = _query(raw, trace)
    if field not in query or "SigAlg" not in query or "Signature" not in query:
        raise trace.refusal("signature", SamlRefusalReason.UNSIGNED, f"{field}, SigAlg and Signature are all needed.")
    # The signature is over the octets as they were sent, in this order, whatever their order was.
    names = [name for name in (field, "RelayState", "SigAlg") if name in query]
    signed = "&".join(f"{name}={query[name]}" for name in names).encode("ascii", "replace")
    value = raw_base64(unquote_plus(query["Signature"]), trace, "signature")
    verify_raw(signed, value, unquote_plus(query["SigAlg"]), connection, now, trace, "signature")
    message = inflate(decode_base64(unquote_plus(query[field]), trace), trace)
    root = parse(message, trace)
    if children(root, DS, "Signature"):
        raise trace.refusal(
            "signature", SamlRefusalReason.MISPLACED_SIGNATURE, "A redirect carries no inner signature."
        )
    return root, unquote_plus(query["RelayState"]) if "RelayState" in query else None


def _query(raw: str, trace: SamlTrace) -> dict[str, str]:
    """The parts of the query that matter, still escaped; each at most once."""
    if len(raw) > MAX_QUERY_CHARS:
        raise trace.refusal("size", SamlRefusalReason.TOO_LARGE, f"A query has at most {MAX_QUERY_CHARS:,} characters.")
    found: dict[str, str] = {}
    for part in raw.removeprefix("?").split("&"):
        name, _, value = part.partition("=")
        name = unquote_plus(name)
        if name not in _SIGNED_NAMES:
            continue
        if name in found:
            raise trace.refusal("query", SamlRefusalReason.MALFORMED, f"{name} stands there twice.")
        found[name] = value
    if "SAMLRequest" in found and "SAMLResponse" in found:
        raise trace.refusal("query", SamlRefusalReason.MALFORMED, "A request and a response at once.")
    return found


def _need_own_signature_only(root: Element, trace: SamlTrace) -> None:
    for element in root.iter():
        if etree.QName(element).localname == "Signature" and element.getparent() is not root:
            raise trace.refusal(
                "signature", SamlRefusalReason.MISPLACED_SIGNATURE, "A signature stands where none belongs."
            )


def _check_head(
    root: Element, name: str, connection: SamlConnection, now: datetime, skew: timedelta, trace: SamlTrace
) -> None:
    """What every message begins with: kind, version, issuer, destination and moment."""
    if root.tag != tag(SAMLP, name):
        raise trace.refusal("message", SamlRefusalReason.WRONG_MESSAGE, f"{etree.QName(root).localname} is no {name}.")
    if root.get("Version") != "2.0" or identifier(root) is None:
        raise trace.refusal("message", SamlRefusalReason.WRONG_VERSION, "Only SAML 2.0 with an identifier is read.")
    trace.passed("message", root.get("ID", ""))
    issuers = [text_of(each) for each in children(root, SAML, "Issuer")]
    held = issuers == [connection.idp_entity_id]
    detail = f"{issuers}" if held else f"{issuers} instead of {connection.idp_entity_id}"
    trace.check("issuer", ok=held, reason=SamlRefusalReason.WRONG_ISSUER, detail=detail)
    destination = root.get("Destination")
    held = destination is not None and destination == connection.slo_url
    detail = f"{destination}" if held else f"{destination} instead of {connection.slo_url}"
    trace.check("destination", ok=held, reason=SamlRefusalReason.WRONG_DESTINATION, detail=detail)
    issued, allowed = moment(root.get("IssueInstant")), min(skew, MAX_SKEW)
    held = issued is not None and now - MAX_ISSUE_AGE - allowed <= issued <= now + allowed
    detail = f"{root.get('IssueInstant')}"
    # A request is answered as often as it comes, so a link that somebody kept must not sign people out for ever.
    reason = SamlRefusalReason.EXPIRED if issued is not None and issued <= now else SamlRefusalReason.NOT_YET_VALID
    trace.check("issue instant", ok=held, reason=reason, detail=detail)
