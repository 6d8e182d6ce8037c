"""Verifying and parsing LogoutRequest and LogoutResponse messages of an identity provider.

Both must be signed: with HTTP-Redirect the signature is a query parameter, with HTTP-POST it is inside the XML.

`trace.check` records a failed check, and `trace.raise_if_failed` raises it at the end, so that the trace has all failed
checks; `trace.rejection` ends the processing at once.
"""

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
    parse,
    parse_datetime,
    tag,
    text_of,
)
from postern.protocols.saml.request import SUCCESS, MessageParameter
from postern.protocols.saml.response import DEFAULT_SKEW, MAX_ISSUE_AGE, MAX_NAME_ID_CHARS, MAX_SKEW
from postern.protocols.saml.signature import decode_signature, verify_detached, verify_enveloped
from postern.protocols.saml.trace import SamlRejectionReason, SamlTrace, SsoTraceStep

MAX_SESSION_INDEXES = 100
MAX_QUERY_CHARS = 64 * 1024
PARTIAL_LOGOUT = "urn:oasis:names:tc:SAML:2.0:status:PartialLogout"

_QUERY_PARAMETERS = ("SAMLRequest", "SAMLResponse", "RelayState", "SigAlg", "Signature")


class Binding(StrEnum):
    """The SAML binding by which a message arrived."""

    REDIRECT = "REDIRECT"
    POST = "POST"


class ReceivedLogoutRequest(Record, kw_only=True):
    """A verified LogoutRequest of the identity provider (SAML core §3.7.1)."""

    id: str
    """The message ID. A request with an ID that was received before is a replay: the caller must not apply it."""
    name_id: str
    format: str | None
    session_indexes: list[str]
    """The sessions to end; an empty list means all sessions of the user."""
    not_on_or_after: datetime | None
    issuer: str
    relay_state: str | None
    """Opaque value to send back with the response."""
    trace: list[SsoTraceStep]


class ReceivedLogoutResponse(Record, kw_only=True):
    """A verified LogoutResponse to a LogoutRequest of this service (SAML core §3.7.2)."""

    id: str
    in_response_to: str
    success: bool
    """False also for PartialLogout: some sessions at other service providers have not ended."""
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
    """Verify and parse a LogoutRequest.

    `raw` is the unmodified query string (REDIRECT: the signature covers those bytes) or the value of the form field
    (POST; `relay_state` is then the RelayState form field). Raises SamlRejected.
    """
    trace = SamlTrace()
    root, signed_relay_state = _signed_message(raw, "SAMLRequest", binding, connection, now, trace)
    _check_header(root, "LogoutRequest", connection, now, skew, trace)
    not_on_or_after = root.get("NotOnOrAfter")
    if not_on_or_after is not None:
        end = parse_datetime(not_on_or_after)
        valid = end is not None and now - min(skew, MAX_SKEW) < end
        reason = SamlRejectionReason.MALFORMED if end is None else SamlRejectionReason.EXPIRED
        trace.check("times", ok=valid, reason=reason, detail=f"NotOnOrAfter {not_on_or_after}")
    name_ids = children(root, SAML, "NameID")
    name_id = text_of(name_ids[0]) if len(name_ids) == 1 else None
    if name_id is None or len(name_id) > MAX_NAME_ID_CHARS:
        raise trace.rejection("subject", SamlRejectionReason.NO_SUBJECT, "The message has no usable NameID.")
    trace.passed("subject", name_id)
    indexes = [text for element in children(root, SAMLP, "SessionIndex") if (text := text_of(element))]
    if len(indexes) > MAX_SESSION_INDEXES:
        raise trace.rejection(
            "sessions", SamlRejectionReason.TOO_COMPLEX, f"More than {MAX_SESSION_INDEXES} SessionIndex elements."
        )
    trace.raise_if_failed()
    return ReceivedLogoutRequest(
        id=root.get("ID", ""),
        name_id=name_id,
        format=name_ids[0].get("Format"),
        session_indexes=indexes,
        not_on_or_after=parse_datetime(not_on_or_after),
        issuer=connection.idp_entity_id,
        relay_state=signed_relay_state if binding is Binding.REDIRECT else relay_state,
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
    """Verify and parse a LogoutResponse to one of `expected_request_ids`. Raises SamlRejected.

    `raw` and `relay_state` have the same meaning as in `read_logout_request`. A response with an error status is
    returned, too: see `success`.
    """
    trace = SamlTrace()
    root, signed_relay_state = _signed_message(raw, "SAMLResponse", binding, connection, now, trace)
    _check_header(root, "LogoutResponse", connection, now, skew, trace)
    in_response_to = root.get("InResponseTo", "")
    expected = in_response_to in expected_request_ids
    detail = (
        in_response_to
        if expected
        else f"The request {in_response_to or '(none)'} is unknown or already has a response."
    )
    trace.check("in response to", ok=expected, reason=SamlRejectionReason.WRONG_IN_RESPONSE_TO, detail=detail)
    codes = [code for status in children(root, SAMLP, "Status") for code in children(status, SAMLP, "StatusCode")]
    if len(codes) != 1:
        raise trace.rejection(
            "status", SamlRejectionReason.MALFORMED, "The LogoutResponse must have exactly one StatusCode."
        )
    statuses = [codes[0].get("Value", ""), *(code.get("Value", "") for code in codes[0])]
    trace.passed("status", " / ".join(statuses))
    trace.raise_if_failed()
    return ReceivedLogoutResponse(
        id=root.get("ID", ""),
        in_response_to=in_response_to,
        success=statuses[0] == SUCCESS and PARTIAL_LOGOUT not in statuses,
        status=" / ".join(statuses),
        issuer=connection.idp_entity_id,
        relay_state=signed_relay_state if binding is Binding.REDIRECT else relay_state,
        trace=trace.steps,
    )


def _signed_message(
    raw: str, parameter: MessageParameter, binding: Binding, connection: SamlConnection, now: datetime, trace: SamlTrace
) -> tuple[Element, str | None]:
    """Verify the signature of the message in the query parameter or form field `parameter`.

    Returns the message, and the relay state if a redirect has one: the signature covers it.
    """
    if binding is Binding.POST:
        received = parse(decode_base64(raw, trace), trace)
        _require_only_root_signature(received, trace)
        return verify_enveloped(received, connection, now, trace, "signature"), None
    query = _query(raw, trace)
    if parameter not in query or "SigAlg" not in query or "Signature" not in query:
        raise trace.rejection(
            "signature", SamlRejectionReason.UNSIGNED, f"The query must have {parameter}, SigAlg and Signature."
        )
    # The signature covers the parameters as escaped by the sender, in this fixed order (SAML bindings §3.4.4.1).
    names = [name for name in (parameter, "RelayState", "SigAlg") if name in query]
    signed_query = "&".join(f"{name}={query[name]}" for name in names).encode("ascii", "replace")
    signature = decode_signature(unquote_plus(query["Signature"]), trace, "signature")
    verify_detached(signed_query, signature, unquote_plus(query["SigAlg"]), connection, now, trace, "signature")
    message = inflate(decode_base64(unquote_plus(query[parameter]), trace), trace)
    root = parse(message, trace)
    if children(root, DS, "Signature"):
        raise trace.rejection(
            "signature", SamlRejectionReason.MISPLACED_SIGNATURE, "A redirect message must not have an XML signature."
        )
    return root, unquote_plus(query["RelayState"]) if "RelayState" in query else None


def _query(raw: str, trace: SamlTrace) -> dict[str, str]:
    """The values of _QUERY_PARAMETERS in a query, still percent-encoded. Rejects a parameter that occurs twice."""
    if len(raw) > MAX_QUERY_CHARS:
        raise trace.rejection(
            "size", SamlRejectionReason.TOO_LARGE, f"The query is longer than {MAX_QUERY_CHARS:,} characters."
        )
    parameters: dict[str, str] = {}
    for part in raw.removeprefix("?").split("&"):
        name, _, value = part.partition("=")
        name = unquote_plus(name)
        if name not in _QUERY_PARAMETERS:
            continue
        if name in parameters:
            raise trace.rejection("query", SamlRejectionReason.MALFORMED, f"The parameter {name} occurs twice.")
        parameters[name] = value
    if "SAMLRequest" in parameters and "SAMLResponse" in parameters:
        raise trace.rejection(
            "query", SamlRejectionReason.MALFORMED, "The query has both SAMLRequest and SAMLResponse."
        )
    return parameters


def _require_only_root_signature(root: Element, trace: SamlTrace) -> None:
    """Require that every Signature, in any namespace, is a direct child of the message."""
    for element in root.iter():  # Elements only: `parse` rejects comments and processing instructions.
        if etree.QName(element).localname == "Signature" and element.getparent() is not root:
            raise trace.rejection(
                "signature", SamlRejectionReason.MISPLACED_SIGNATURE, "A Signature element is in an unexpected place."
            )


def _check_header(
    root: Element, name: str, connection: SamlConnection, now: datetime, skew: timedelta, trace: SamlTrace
) -> None:
    """Check what all logout messages have in common: element name, version, ID, issuer, destination, issue instant."""
    if root.tag != tag(SAMLP, name):
        raise trace.rejection(
            "message",
            SamlRejectionReason.WRONG_MESSAGE,
            f"The message is a {etree.QName(root).localname}, not a {name}.",
        )
    if root.get("Version") != "2.0" or identifier(root) is None:
        raise trace.rejection(
            "message", SamlRejectionReason.WRONG_VERSION, "The message must have Version 2.0 and a valid ID."
        )
    trace.passed("message", root.get("ID", ""))
    issuers = [text_of(issuer) for issuer in children(root, SAML, "Issuer")]
    matches = issuers == [connection.idp_entity_id]
    detail = f"{issuers}" if matches else f"{issuers} instead of {connection.idp_entity_id}"
    trace.check("issuer", ok=matches, reason=SamlRejectionReason.WRONG_ISSUER, detail=detail)
    destination = root.get("Destination")
    matches = destination is not None and destination == connection.slo_url
    detail = f"{destination}" if matches else f"{destination} instead of {connection.slo_url}"
    trace.check("destination", ok=matches, reason=SamlRejectionReason.WRONG_DESTINATION, detail=detail)
    issued_at, tolerance = parse_datetime(root.get("IssueInstant")), min(skew, MAX_SKEW)
    # An old message is rejected: otherwise a saved logout link could sign the user out at any later time.
    detail = f"{root.get('IssueInstant')}"
    if issued_at is None:
        trace.check("issue instant", ok=False, reason=SamlRejectionReason.MALFORMED, detail=detail)
    elif issued_at < now - MAX_ISSUE_AGE - tolerance:
        trace.check("issue instant", ok=False, reason=SamlRejectionReason.EXPIRED, detail=detail)
    else:
        is_valid_now = issued_at <= now + tolerance
        trace.check("issue instant", ok=is_valid_now, reason=SamlRejectionReason.NOT_YET_VALID, detail=detail)
