"""Verifying a Response: from the posted XML to the signed-in user, or to the reason for the rejection.

The order of the checks is a security property. Size, markup and structure come first; then the signatures, in the only
form that `signature.py` accepts; then the signed bytes are parsed again, and only that tree is read. The claims (SAML
profiles §4.1.4.3) come last. All claims are checked even if one fails, so that a test sign-in shows every wrong
setting at once.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from lxml import etree

from postern.kernel.values import Record
from postern.protocols.saml.connection import SamlConnection
from postern.protocols.saml.document import (
    DS,
    SAML,
    SAMLP,
    XSI,
    Element,
    children,
    decode_base64,
    identifier,
    parse,
    parse_datetime,
    parse_fragment,
    tag,
    text_of,
)
from postern.protocols.saml.encryption import decrypt, uses_aes_cbc
from postern.protocols.saml.signature import verify_enveloped
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason, SamlTrace, SsoTraceStep

DEFAULT_SKEW = timedelta(seconds=60)
MAX_SKEW = timedelta(seconds=300)
MAX_ISSUE_AGE = timedelta(minutes=10)
"""The maximum age of a message by its IssueInstant, and the time after a request within which a response to it is
accepted."""
MAX_VALUE_CHARS = 16_384
MAX_NAME_ID_CHARS = 1024
"""SAML core §8.3.7 allows 256; some identity providers send more."""

SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
ENTITY = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"

_RESPONSE_PARTS = {
    tag(SAML, "Issuer"),
    tag(DS, "Signature"),
    tag(SAMLP, "Extensions"),
    tag(SAMLP, "Status"),
    tag(SAML, "Assertion"),
    tag(SAML, "EncryptedAssertion"),
}
_ASSERTION_PARTS = {
    tag(SAML, "Issuer"),
    tag(DS, "Signature"),
    tag(SAML, "Subject"),
    tag(SAML, "Conditions"),
    tag(SAML, "AuthnStatement"),
    tag(SAML, "AttributeStatement"),
}
_WRAPPABLE = ("{*}Signature", "{*}Assertion", "{*}EncryptedAssertion", "{*}Response")
"""The elements that wrapping attacks (XSW) move, in any namespace."""
_CONDITIONS = {tag(SAML, name) for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")}


class SamlLogin(Record, kw_only=True):
    """The user who signed in, from the signed assertion."""

    name_id: str
    format: str | None
    session_index: str | None
    attributes: dict[str, list[str]]
    friendly_names: dict[str, str]
    """The Name of each attribute that has a FriendlyName, keyed by FriendlyName."""
    assertion_id: str
    """Callers must store this id until `not_on_or_after` plus the skew, and reject an id that the issuer used before:
    it is a replay."""
    not_on_or_after: datetime
    session_not_on_or_after: datetime | None
    authn_instant: datetime
    authn_context: str | None
    in_response_to: str | None
    """The ID of the request; None for IdP-initiated sign-in."""
    issuer: str
    encrypted: bool
    trace: list[SsoTraceStep]


def read_response(
    raw: bytes | str,
    *,
    connection: SamlConnection,
    expected_request_ids: Collection[str],
    now: datetime,
    skew: timedelta = DEFAULT_SKEW,
) -> SamlLogin:
    """Verify a Response received by HTTP-POST: XML as bytes, or the base64 value of the form field.

    `expected_request_ids` are the requests that the same browser started and that have not had a response yet. `skew`
    is limited to MAX_SKEW. The caller must still detect replays with one atomic insert of `assertion_id`. Raises
    SamlRejected with a reason and the trace.
    """
    trace = SamlTrace()
    received = parse(decode_base64(raw, trace) if isinstance(raw, str) else raw, trace)
    _require_structure(received, trace)
    _require_success(received, trace)
    _require_one_assertion(received, trace)
    response, response_signed = _read_signed_response(received, connection, now, trace)
    assertion, was_encrypted = _read_signed_assertion(received, response, response_signed, connection, now, trace)
    checks = _ClaimChecks(
        connection, frozenset(expected_request_ids), now, min(max(skew, timedelta()), MAX_SKEW), trace
    )
    login = checks.read(response, response_signed, assertion, was_encrypted)
    trace.raise_if_failed()
    if login is None:
        raise AssertionError("no check failed, but the claims are incomplete")
    return login


def _require_structure(root: Element, trace: SamlTrace) -> None:
    """Require a Response with known children only, and every Signature and Assertion in its one allowed place.

    Wrapping attacks (XSW) keep the signed element somewhere in the document and put a forged one where it is read.
    """
    if root.tag != tag(SAMLP, "Response"):
        raise trace.rejection(
            "response",
            SamlRejectionReason.WRONG_MESSAGE,
            f"The message is a {etree.QName(root).localname}, not a Response.",
        )
    if root.get("Version") != "2.0":
        raise trace.rejection("response", SamlRejectionReason.WRONG_VERSION, "Version must be 2.0.")
    if identifier(root) is None:
        raise trace.rejection("response", SamlRejectionReason.MALFORMED, "The Response has no valid ID.")
    for child in root:
        if child.tag not in _RESPONSE_PARTS:
            raise trace.rejection(
                "response",
                SamlRejectionReason.MALFORMED,
                f"Unexpected element {etree.QName(child).localname} in the Response.",
            )
    # Only the Response and its assertions may have a signature.
    signable = {root} | set(children(root, SAML, "Assertion"))
    for element in root.iter(*_WRAPPABLE):
        name = etree.QName(element).localname
        parent = element.getparent()
        if name == "Signature" and parent not in signable:
            raise trace.rejection(
                "response", SamlRejectionReason.MISPLACED_SIGNATURE, "A Signature element is in an unexpected place."
            )
        if name in {"Assertion", "EncryptedAssertion"} and parent is not root:
            raise trace.rejection(
                "response", SamlRejectionReason.SEVERAL_ASSERTIONS, "An Assertion element is in an unexpected place."
            )
        if name == "Response" and element is not root:
            raise trace.rejection("response", SamlRejectionReason.MALFORMED, "The Response contains another Response.")
    trace.passed("response", root.get("ID", ""))


def _require_success(root: Element, trace: SamlTrace) -> None:
    """Check the status first: an error response has no assertion (SAML core §3.2.2.2)."""
    statuses = children(root, SAMLP, "Status")
    codes = children(statuses[0], SAMLP, "StatusCode") if len(statuses) == 1 else []
    if len(codes) != 1:
        raise trace.rejection("status", SamlRejectionReason.MALFORMED, "The Response must have exactly one StatusCode.")
    if codes[0].get("Value") == SUCCESS:
        trace.passed("status", SUCCESS)
        return
    texts = [codes[0].get("Value", ""), *(code.get("Value", "") for code in codes[0])]
    texts += [text_of(message) or "" for message in children(statuses[0], SAMLP, "StatusMessage")]
    detail = "The identity provider returned an error: " + " / ".join(text for text in texts if text)
    raise trace.rejection("status", SamlRejectionReason.STATUS_NOT_SUCCESS, detail)


def _require_one_assertion(root: Element, trace: SamlTrace) -> None:
    count = len(children(root, SAML, "Assertion")) + len(children(root, SAML, "EncryptedAssertion"))
    if count == 0:
        raise trace.rejection("assertion", SamlRejectionReason.NO_ASSERTION, "The Response has no assertion.")
    if count > 1:
        raise trace.rejection(
            "assertion", SamlRejectionReason.SEVERAL_ASSERTIONS, f"{count} assertions; exactly one is required."
        )


def _read_signed_response(
    received: Element, connection: SamlConnection, now: datetime, trace: SamlTrace
) -> tuple[Element, bool]:
    """The Response parsed from its signed bytes, or as received if it is not signed; and whether it is signed."""
    if not children(received, DS, "Signature"):
        trace.passed("response signature", "The Response is not signed.")
        return received, False
    signed = verify_enveloped(received, connection, now, trace, "response signature")
    # In separate traces: `trace` has these steps already, for the Response as received.
    _require_structure(signed, SamlTrace())
    _require_one_assertion(signed, SamlTrace())
    return signed, True


def _read_signed_assertion(
    received: Element,
    verified_response: Element,
    response_signed: bool,
    connection: SamlConnection,
    now: datetime,
    trace: SamlTrace,
) -> tuple[Element, bool]:
    """The assertion, verified by its own signature or that of the Response, and whether it was encrypted.

    `received` is the Response as posted, and `verified_response` what `_read_signed_response` returned for it.
    """
    encrypted_assertions = children(verified_response, SAML, "EncryptedAssertion")
    if encrypted_assertions and not response_signed and uses_aes_cbc(encrypted_assertions[0]):
        return _read_assertion_from_aes_cbc(encrypted_assertions[0], connection, now, trace), True
    assertion = _read_assertion(
        received, verified_response, response_signed, encrypted_assertions, connection, now, trace
    )
    return assertion, bool(encrypted_assertions)


def _read_assertion_from_aes_cbc(
    encrypted_assertion: Element, connection: SamlConnection, now: datetime, trace: SamlTrace
) -> Element:
    """The assertion in an AES-CBC ciphertext without a signed Response around it. All failures that depend on the
    ciphertext give the same error.

    An attacker who learns whether a changed ciphertext still decrypts to XML, or to an assertion, can decrypt it with
    some thousand requests (Jager and Somorovsky, 2011). AES-GCM and the signature of a Response detect the change.
    """
    inner_trace = SamlTrace()
    try:
        # The arguments for the two Responses are not used: the assertion is encrypted, and no Response is signed.
        assertion = _read_assertion(
            encrypted_assertion, encrypted_assertion, False, [encrypted_assertion], connection, now, inner_trace
        )
    except SamlRejected as rejection:
        # This reason (a refused algorithm, for example) is found before anything is decrypted.
        if rejection.reason is SamlRejectionReason.ENCRYPTION_REFUSED:
            raise trace.rejection("decryption", rejection.reason, rejection.detail) from None
        detail = "The assertion cannot be decrypted with this connection's keys, or its signature is invalid."
        raise trace.rejection("decryption", SamlRejectionReason.DECRYPTION_FAILED, detail) from None
    trace.steps += inner_trace.steps
    return assertion


def _read_assertion(
    received: Element,
    verified_response: Element,
    response_signed: bool,
    encrypted_assertions: list[Element],
    connection: SamlConnection,
    now: datetime,
    trace: SamlTrace,
) -> Element:
    """Decrypt the assertion if it is encrypted, and verify its signature; without one, the Response must be signed.

    `received` and `verified_response` as in `_read_signed_assertion`. `encrypted_assertions` has one or no element.
    """
    step = "assertion signature"
    if encrypted_assertions:
        plaintext = decrypt(encrypted_assertions[0], connection, trace)
        assertion = _parse_decrypted(plaintext, encrypted_assertions[0], trace)
        _require_single_assertion(assertion, trace, "decryption")
    elif connection.want_encrypted:
        raise trace.rejection(
            "decryption", SamlRejectionReason.NOT_ENCRYPTED, "This connection requires encrypted assertions."
        )
    else:
        assertion = children(received, SAML, "Assertion")[0]
    if children(assertion, DS, "Signature"):
        # Verify the assertion as received. The canonical form of the signed Response omits namespace declarations that
        # only the assertion's PrefixList (InclusiveNamespaces) names, so the digest of the assertion would differ.
        signed = verify_enveloped(assertion, connection, now, trace, step)
        _require_single_assertion(signed, trace, step)
        return signed
    if not response_signed:
        raise trace.rejection(step, SamlRejectionReason.UNSIGNED, "Neither the Response nor the assertion is signed.")
    trace.passed(step, "Covered by the signature of the Response.")
    return assertion if encrypted_assertions else children(verified_response, SAML, "Assertion")[0]


def _parse_decrypted(plaintext: bytes, encrypted: Element, trace: SamlTrace) -> Element:
    """Parse the decrypted bytes with the same checks as the outer document."""
    try:
        return parse_fragment(plaintext, encrypted, SamlTrace())
    except SamlRejected as rejection:
        raise trace.rejection("decryption", rejection.reason, f"In the decrypted content: {rejection.detail}") from None


def _require_single_assertion(root: Element, trace: SamlTrace, step: str) -> None:
    """Require an Assertion without nested assertions or misplaced signatures."""
    if root.tag != tag(SAML, "Assertion"):
        raise trace.rejection(
            step, SamlRejectionReason.WRONG_MESSAGE, "The signed or encrypted element is not an Assertion."
        )
    for element in root.iter(*_WRAPPABLE):
        name = etree.QName(element).localname
        if name == "Signature" and element.getparent() is not root:
            raise trace.rejection(
                step, SamlRejectionReason.MISPLACED_SIGNATURE, "A Signature element is in an unexpected place."
            )
        if name in {"Assertion", "EncryptedAssertion", "Response"} and element is not root:
            raise trace.rejection(
                step, SamlRejectionReason.SEVERAL_ASSERTIONS, "An Assertion element is in an unexpected place."
            )


class _ClaimChecks:
    """Checks the claims of one Response against the connection and records each check in the trace."""

    def __init__(
        self,
        connection: SamlConnection,
        expected_request_ids: frozenset[str],
        now: datetime,
        skew: timedelta,
        trace: SamlTrace,
    ) -> None:
        self.connection = connection
        self.expected_request_ids = expected_request_ids
        self.now_plus_skew = now + skew
        self.now_minus_skew = now - skew
        self.min_issue_instant = now - MAX_ISSUE_AGE - skew
        self.trace = trace

    def read(
        self, response: Element, response_signed: bool, assertion: Element, was_encrypted: bool
    ) -> SamlLogin | None:
        """Check all claims, and return the login; None if a required element is missing or invalid, which the trace
        shows."""
        self._require_known_children(assertion)
        self._check_issuer(response, "response issuer", required=response_signed)
        issuer = self._check_issuer(assertion, "assertion issuer", required=True)
        self._check_destination(response, required=response_signed)
        self._check_issue_instant(response, "response issue instant")
        self._check_issue_instant(assertion, "issue instant")
        name_id = self._name_id(assertion)
        valid_until = self._check_conditions(assertion)
        confirmation = self._check_confirmation(assertion)
        in_response_to = self._check_in_response_to(response, confirmation)
        statement = self._check_authn_statement(assertion)
        attributes, friendly_names = self._attributes(assertion)
        if name_id is None or confirmation is None or statement is None or issuer is None:
            return None
        not_on_or_after = parse_datetime(confirmation.get("NotOnOrAfter"))
        authn_instant = parse_datetime(statement.get("AuthnInstant"))
        if not_on_or_after is None or authn_instant is None:
            return None
        contexts = [
            text_of(class_ref)
            for context in children(statement, SAML, "AuthnContext")
            for class_ref in children(context, SAML, "AuthnContextClassRef")
        ]
        return SamlLogin(
            name_id=text_of(name_id) or "",
            format=name_id.get("Format"),
            session_index=statement.get("SessionIndex"),
            attributes=attributes,
            friendly_names=friendly_names,
            assertion_id=assertion.get("ID", ""),
            not_on_or_after=min(not_on_or_after, valid_until) if valid_until else not_on_or_after,
            session_not_on_or_after=parse_datetime(statement.get("SessionNotOnOrAfter")),
            authn_instant=authn_instant,
            authn_context=contexts[0] if contexts else None,
            in_response_to=in_response_to,
            issuer=issuer,
            encrypted=was_encrypted,
            trace=self.trace.steps,
        )

    def _require_known_children(self, assertion: Element) -> None:
        """Require a version, an ID and supported children. Raises SamlRejected at once, unlike the other checks."""
        if assertion.get("Version") != "2.0":
            raise self.trace.rejection("assertion", SamlRejectionReason.WRONG_VERSION, "Version must be 2.0.")
        if identifier(assertion) is None:
            raise self.trace.rejection("assertion", SamlRejectionReason.MALFORMED, "The assertion has no valid ID.")
        for child in assertion:
            if child.tag not in _ASSERTION_PARTS:
                detail = f"The element {etree.QName(child).localname} in an assertion is not supported."
                raise self.trace.rejection("assertion", SamlRejectionReason.UNSUPPORTED, detail)
        for name in ("Issuer", "Subject", "Conditions", "AuthnStatement"):
            if len(children(assertion, SAML, name)) > 1:
                raise self.trace.rejection(
                    "assertion", SamlRejectionReason.MALFORMED, f"The assertion has several {name} elements."
                )
        self.trace.passed("assertion", assertion.get("ID", ""))

    def _check_issuer(self, element: Element, step: str, *, required: bool) -> str | None:
        """Check that the issuer is the identity provider's entity id, and return it; None if it is absent.

        It is required in the assertion and in a signed Response (SAML profiles §4.1.4.2, erratum E26).
        """
        issuers = children(element, SAML, "Issuer")
        if not issuers and not required:
            self.trace.passed(step, "The element is absent.")
            return None
        issuer = text_of(issuers[0]) if len(issuers) == 1 else None
        matches = issuer == self.connection.idp_entity_id
        detail = f"{issuer}" if matches else f"{issuer} instead of {self.connection.idp_entity_id}"
        issuer_format = issuers[0].get("Format", ENTITY) if issuers else ENTITY
        if matches and issuer_format != ENTITY:
            matches, detail = False, f"The Format of the issuer {issuer} is {issuer_format or 'empty'}, not entity."
        self.trace.check(step, ok=matches, reason=SamlRejectionReason.WRONG_ISSUER, detail=detail)
        return issuer

    def _check_destination(self, response: Element, *, required: bool) -> None:
        """Check the destination, which a signed message must have (SAML bindings §3.5.5.2)."""
        destination = response.get("Destination")
        matches = destination == self.connection.acs_url if destination or required else True
        detail = f"{destination}" if matches else f"{destination} instead of {self.connection.acs_url}"
        self.trace.check("destination", ok=matches, reason=SamlRejectionReason.WRONG_DESTINATION, detail=detail)

    def _check_issue_instant(self, element: Element, step: str) -> None:
        """Check that the message is recent, whatever its NotOnOrAfter."""
        issue_instant, detail = parse_datetime(element.get("IssueInstant")), f"{element.get('IssueInstant')}"
        if issue_instant is None:
            self.trace.check(step, ok=False, reason=SamlRejectionReason.MALFORMED, detail=detail)
        elif issue_instant < self.min_issue_instant:
            self.trace.check(step, ok=False, reason=SamlRejectionReason.EXPIRED, detail=detail)
        else:
            self.trace.check(
                step, ok=issue_instant <= self.now_plus_skew, reason=SamlRejectionReason.NOT_YET_VALID, detail=detail
            )

    def _name_id(self, assertion: Element) -> Element | None:
        """Check the NameID of the subject and return it; None if it is unusable."""
        subjects = children(assertion, SAML, "Subject")
        name_ids = children(subjects[0], SAML, "NameID") if subjects else []
        if subjects and children(subjects[0], SAML, "EncryptedID"):
            self.trace.check(
                "subject",
                ok=False,
                reason=SamlRejectionReason.UNSUPPORTED,
                detail="EncryptedID is not supported.",
            )
            return None
        text = text_of(name_ids[0]) if len(name_ids) == 1 else None
        valid = text is not None and len(text) <= MAX_NAME_ID_CHARS
        detail = text if text and valid else "The subject has no usable NameID."
        self.trace.check("subject", ok=valid, reason=SamlRejectionReason.NO_SUBJECT, detail=detail)
        return name_ids[0] if valid else None

    def _check_conditions(self, assertion: Element) -> datetime | None:
        """Check validity times and audience; unknown conditions invalidate the assertion (SAML core §2.5.1.1).

        Returns the NotOnOrAfter of the Conditions; None if it is absent or unreadable.
        """
        elements = children(assertion, SAML, "Conditions")
        if not elements:
            self.trace.check(
                "audience",
                ok=False,
                reason=SamlRejectionReason.WRONG_AUDIENCE,
                detail="The assertion has no Conditions.",
            )
            return None
        conditions = elements[0]
        for condition in conditions:
            if condition.tag not in _CONDITIONS:
                detail = f"The condition {etree.QName(condition).localname} is not supported."
                self.trace.check("conditions", ok=False, reason=SamlRejectionReason.UNKNOWN_CONDITION, detail=detail)
        self._check_times(conditions, "conditions")
        restrictions = [
            [text_of(audience) for audience in children(restriction, SAML, "Audience")]
            for restriction in children(conditions, SAML, "AudienceRestriction")
        ]
        matches = bool(restrictions) and all(self.connection.sp_entity_id in allowed for allowed in restrictions)
        audiences = ", ".join(str(name) for allowed in restrictions for name in allowed) or "no audience"
        detail = audiences if matches else f"{audiences} instead of {self.connection.sp_entity_id}"
        self.trace.check("audience", ok=matches, reason=SamlRejectionReason.WRONG_AUDIENCE, detail=detail)
        return parse_datetime(conditions.get("NotOnOrAfter"))

    def _check_times(self, element: Element, step: str) -> bool:
        """Check `NotBefore` and `NotOnOrAfter`, where present, with the allowed clock skew."""
        valid = True
        for name, reason in (
            ("NotBefore", SamlRejectionReason.NOT_YET_VALID),
            ("NotOnOrAfter", SamlRejectionReason.EXPIRED),
        ):
            text = element.get(name)
            if text is None:
                continue
            time = parse_datetime(text)
            if time is None:
                valid &= self.trace.check(step, ok=False, reason=SamlRejectionReason.MALFORMED, detail=f"{name} {text}")
                continue
            in_range = time <= self.now_plus_skew if name == "NotBefore" else self.now_minus_skew < time
            valid &= self.trace.check(step, ok=in_range, reason=reason, detail=f"{name} {text}")
        return valid

    def _check_confirmation(self, assertion: Element) -> Element | None:
        """Check that there is exactly one bearer confirmation (SAML profiles §4.1.4.2), and return its
        SubjectConfirmationData; None if it is invalid."""
        subjects = children(assertion, SAML, "Subject")
        bearer_data = [
            data[0]
            for confirmation in (children(subjects[0], SAML, "SubjectConfirmation") if subjects else [])
            if confirmation.get("Method") == BEARER
            and len(data := children(confirmation, SAML, "SubjectConfirmationData")) == 1
        ]
        if len(bearer_data) != 1:
            detail = f"{len(bearer_data)} bearer confirmations; exactly one is required."
            self.trace.check("confirmation", ok=False, reason=SamlRejectionReason.NOT_CONFIRMED, detail=detail)
            return None
        recipient = bearer_data[0].get("Recipient")
        valid = recipient == self.connection.acs_url
        detail = f"{recipient}" if valid else f"{recipient} instead of {self.connection.acs_url}"
        valid &= self.trace.check("recipient", ok=valid, reason=SamlRejectionReason.WRONG_RECIPIENT, detail=detail)
        if bearer_data[0].get("NotOnOrAfter") is None:
            detail = "The SubjectConfirmationData has no NotOnOrAfter."
            valid &= self.trace.check("confirmation", ok=False, reason=SamlRejectionReason.NOT_CONFIRMED, detail=detail)
        valid &= self._check_times(bearer_data[0], "confirmation")
        return bearer_data[0] if valid else None

    def _check_in_response_to(self, response: Element, confirmation: Element | None) -> str | None:
        """Check and return the ID of the request, which the signed confirmation names (SAML profiles §4.1.4.3)."""
        if confirmation is None:
            return None
        response_value, confirmed_value = response.get("InResponseTo"), confirmation.get("InResponseTo")
        step, reason = "in response to", SamlRejectionReason.WRONG_IN_RESPONSE_TO
        if response_value is not None and response_value != confirmed_value:
            self.trace.check(
                step,
                ok=False,
                reason=reason,
                detail=f"{response_value} in the Response, {confirmed_value} in the confirmation",
            )
        elif confirmed_value is not None:
            expected = confirmed_value in self.expected_request_ids
            detail = (
                confirmed_value if expected else f"The request {confirmed_value} is unknown or already has a response."
            )
            self.trace.check(step, ok=expected, reason=reason, detail=detail)
        else:
            allowed = self.connection.allow_idp_initiated
            outcome = "allowed" if allowed else "not allowed"
            detail = f"IdP-initiated sign-in is {outcome} for this connection."
            self.trace.check(step, ok=allowed, reason=SamlRejectionReason.UNSOLICITED, detail=detail)
        return confirmed_value

    def _check_authn_statement(self, assertion: Element) -> Element | None:
        """Check the AuthnStatement and return it; None if it is missing or incomplete."""
        statements = children(assertion, SAML, "AuthnStatement")
        step = "authentication"
        if not statements or parse_datetime(statements[0].get("AuthnInstant")) is None:
            detail = "The assertion has no AuthnStatement with an AuthnInstant."
            self.trace.check(step, ok=False, reason=SamlRejectionReason.NO_AUTHN_STATEMENT, detail=detail)
            return None
        if not _has_authn_context(statements[0]):
            detail = "The AuthnStatement has no usable AuthnContext."
            self.trace.check(step, ok=False, reason=SamlRejectionReason.NO_AUTHN_STATEMENT, detail=detail)
            return None
        session_end = statements[0].get("SessionNotOnOrAfter")
        if session_end is not None:
            end = parse_datetime(session_end)
            valid = end is not None and self.now_minus_skew < end
            reason = SamlRejectionReason.MALFORMED if end is None else SamlRejectionReason.EXPIRED
            self.trace.check(step, ok=valid, reason=reason, detail=f"SessionNotOnOrAfter {session_end}")
        else:
            self.trace.passed(step, f"{statements[0].get('AuthnInstant')}")
        return statements[0]

    def _attributes(self, assertion: Element) -> tuple[dict[str, list[str]], dict[str, str]]:
        """The text values of the attributes, keyed by Name, and the Name of each FriendlyName.

        The values of attributes with the same Name form one list, in document order.
        """
        values: dict[str, list[str]] = {}
        friendly_names: dict[str, str] = {}
        for statement in children(assertion, SAML, "AttributeStatement"):
            for attribute in children(statement, SAML, "Attribute"):
                name = attribute.get("Name")
                if not name:
                    continue
                texts = [_text_value(element) for element in children(attribute, SAML, "AttributeValue")]
                values.setdefault(name, []).extend(text for text in texts if text is not None)
                if friendly_name := attribute.get("FriendlyName"):
                    friendly_names.setdefault(friendly_name, name)
        if any(len(text) > MAX_VALUE_CHARS for texts in values.values() for text in texts):
            detail = f"An attribute value is longer than {MAX_VALUE_CHARS:,} characters."
            self.trace.check("attributes", ok=False, reason=SamlRejectionReason.TOO_LARGE, detail=detail)
        else:
            self.trace.passed("attributes", ", ".join(values))
        return values, friendly_names


def _has_authn_context(statement: Element) -> bool:
    """Whether the single AuthnContext has a class reference or a declaration (SAML core §2.7.2.2)."""
    contexts = children(statement, SAML, "AuthnContext")
    names = ("AuthnContextClassRef", "AuthnContextDecl", "AuthnContextDeclRef")
    return len(contexts) == 1 and any(
        len(element) or text_of(element) for name in names for element in children(contexts[0], SAML, name)
    )


def _text_value(element: Element) -> str | None:
    """The text of an attribute value, or the NameID inside it (eduPersonTargetedID); None for other content."""
    if element.get(tag(XSI, "nil")) in {"true", "1"}:
        return None
    if len(element) == 1 and element[0].tag == tag(SAML, "NameID"):
        return text_of(element[0])
    return None if len(element) else (element.text or "").strip()
