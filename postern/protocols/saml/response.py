"""Reading a Response: from what a browser posted to who signed on, or to the reason why not.

The order is the defence. Size, markup and structure come first; then signatures in their one accepted
form; then the signed bytes are parsed again and nothing else is ever read; last come the claims
(SAML profiles §4.1.4.3), all of which are looked at even when one fails, so that a test sign-on shows
every wrong setting at once.
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
    moment,
    parse,
    parse_inside,
    tag,
    text_of,
)
from postern.protocols.saml.encryption import decrypt, is_malleable
from postern.protocols.saml.signature import verified
from postern.protocols.saml.trace import SamlRefusalReason, SamlRejected, SamlTrace, SsoTraceStep

DEFAULT_SKEW = timedelta(seconds=60)
MAX_SKEW = timedelta(seconds=300)
MAX_ISSUE_AGE = timedelta(minutes=10)
"""How long ago a message may have been written: as long as its request waits for an answer."""
MAX_VALUE_CHARS = 16_384
MAX_NAME_ID_CHARS = 1024
"""SAML core §8.3.7 allows 256; some providers send more."""

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
_MOVED = ("{*}Signature", "{*}Assertion", "{*}EncryptedAssertion", "{*}Response")
"""What wrapping attacks move about, whatever namespace it claims."""
_CONDITIONS = {tag(SAML, name) for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")}


class SamlLogin(Record, kw_only=True):
    """Who signed on, as the identity provider signed it."""

    name_id: str
    format: str | None
    session_index: str | None
    attributes: dict[str, list[str]]
    friendly_names: dict[str, str]
    """From an attribute's friendly name to its name."""
    assertion_id: str
    """Seen before, with the same issuer: a replay. Remember it until `not_on_or_after` plus the skew."""
    not_on_or_after: datetime
    session_not_on_or_after: datetime | None
    authn_instant: datetime
    authn_context: str | None
    in_response_to: str | None
    """The request this answers; none if the identity provider began."""
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
    """Who signed on, says a Response that came by HTTP-POST: XML as bytes, or the base64 form value.

    `expected_request_ids` are the requests that this very browser began and that nobody has answered.
    The caller still refuses a replay, with one atomic insert of `assertion_id`.
    Raises SamlRejected with a reason and the trace.
    """
    trace = SamlTrace()
    sent = parse(decode_base64(raw, trace) if isinstance(raw, str) else raw, trace)
    _need_shape(sent, trace)
    _need_success(sent, trace)
    _need_one_assertion(sent, trace)
    response, response_signed = _read_signed_response(sent, connection, now, trace)
    assertion, encrypted = _read_signed_assertion(sent, response, response_signed, connection, now, trace)
    claims = _Claims(connection, frozenset(expected_request_ids), now, min(max(skew, timedelta()), MAX_SKEW), trace)
    found = claims.read(response, response_signed, assertion, encrypted)
    trace.settle()
    if found is None:
        raise AssertionError("claims that settle were read")
    return found


def _need_shape(root: Element, trace: SamlTrace) -> None:
    """A Response, with the parts a Response has, and every signature and assertion in its one place.

    Wrapping attacks (XSW) all keep the signed element somewhere and put a second one where it is read.
    """
    if root.tag != tag(SAMLP, "Response"):
        raise trace.refusal(
            "response", SamlRefusalReason.WRONG_MESSAGE, f"A {etree.QName(root).localname} is not a Response."
        )
    if root.get("Version") != "2.0":
        raise trace.refusal("response", SamlRefusalReason.WRONG_VERSION, "Only SAML 2.0 is read.")
    if identifier(root) is None:
        raise trace.refusal("response", SamlRefusalReason.MALFORMED, "The Response has no identifier.")
    for part in root:
        if part.tag not in _RESPONSE_PARTS:
            raise trace.refusal(
                "response", SamlRefusalReason.MALFORMED, f"A Response has no {etree.QName(part).localname}."
            )
    places = {root} | set(children(root, SAML, "Assertion"))
    for element in root.iter(*_MOVED):
        name = etree.QName(element).localname
        parent = element.getparent()
        if name == "Signature" and parent not in places:
            raise trace.refusal(
                "response", SamlRefusalReason.MISPLACED_SIGNATURE, "A signature stands where none belongs."
            )
        if name in {"Assertion", "EncryptedAssertion"} and parent is not root:
            raise trace.refusal(
                "response", SamlRefusalReason.SEVERAL_ASSERTIONS, "An assertion stands where none belongs."
            )
        if name == "Response" and element is not root:
            raise trace.refusal("response", SamlRefusalReason.MALFORMED, "A Response stands inside another.")
    trace.passed("response", root.get("ID", ""))


def _need_success(root: Element, trace: SamlTrace) -> None:
    """The status, before anything else is asked: a refusal carries no assertion (SAML core §3.2.2.2)."""
    statuses = children(root, SAMLP, "Status")
    codes = children(statuses[0], SAMLP, "StatusCode") if len(statuses) == 1 else []
    if len(codes) != 1:
        raise trace.refusal("status", SamlRefusalReason.MALFORMED, "The Response has no status.")
    if codes[0].get("Value") == SUCCESS:
        trace.passed("status", SUCCESS)
        return
    words = [codes[0].get("Value", ""), *(each.get("Value", "") for each in codes[0])]
    words += [text_of(each) or "" for each in children(statuses[0], SAMLP, "StatusMessage")]
    detail = "The identity provider answered: " + " / ".join(word for word in words if word)
    raise trace.refusal("status", SamlRefusalReason.STATUS_NOT_SUCCESS, detail)


def _need_one_assertion(root: Element, trace: SamlTrace) -> None:
    count = len(children(root, SAML, "Assertion")) + len(children(root, SAML, "EncryptedAssertion"))
    if count == 0:
        raise trace.refusal("assertion", SamlRefusalReason.NO_ASSERTION, "The Response has no assertion.")
    if count > 1:
        raise trace.refusal(
            "assertion", SamlRefusalReason.SEVERAL_ASSERTIONS, f"{count} assertions; exactly one is read."
        )


def _read_signed_response(
    sent: Element, connection: SamlConnection, now: datetime, trace: SamlTrace
) -> tuple[Element, bool]:
    """The Response as signed, or as sent if it bears no signature of its own."""
    if not children(sent, DS, "Signature"):
        trace.passed("response signature", "The Response itself is not signed.")
        return sent, False
    signed = verified(sent, connection, now, trace, "response signature")
    _need_shape(signed, SamlTrace())
    _need_one_assertion(signed, SamlTrace())
    return signed, True


def _read_signed_assertion(
    sent: Element,
    response: Element,
    response_signed: bool,
    connection: SamlConnection,
    now: datetime,
    trace: SamlTrace,
) -> tuple[Element, bool]:
    """The assertion as signed, by itself or with its Response, and whether it came encrypted."""
    sealed = children(response, SAML, "EncryptedAssertion")
    if sealed and not response_signed and is_malleable(sealed[0]):
        return _read_malleable_assertion(sealed[0], connection, now, trace), True
    return _read_assertion(sent, response, response_signed, sealed, connection, now, trace), bool(sealed)


def _read_malleable_assertion(sealed: Element, connection: SamlConnection, now: datetime, trace: SamlTrace) -> Element:
    """The assertion in a ciphertext that anybody could have changed: every fault of it is one answer.

    Whoever learns whether what they changed was still XML, or still an assertion, decrypts it with some thousands of
    questions (Jager and Somorovsky, 2011). AES-GCM notices the change itself, and a signed Response shows it before.
    """
    inside = SamlTrace()
    try:
        found = _read_assertion(sealed, sealed, False, [sealed], connection, now, inside)
    except SamlRejected as refused:
        if refused.reason is SamlRefusalReason.ENCRYPTION_REFUSED:
            raise trace.refusal("decryption", refused.reason, refused.detail) from None
        detail = "The assertion cannot be opened with our keys, or it is not genuine."
        raise trace.refusal("decryption", SamlRefusalReason.DECRYPTION_FAILED, detail) from None
    trace.steps += inside.steps
    return found


def _read_assertion(
    sent: Element,
    response: Element,
    response_signed: bool,
    sealed: list[Element],
    connection: SamlConnection,
    now: datetime,
    trace: SamlTrace,
) -> Element:
    step = "assertion signature"
    if sealed:
        plain = _parse_decrypted(decrypt(sealed[0], connection, trace), sealed[0], trace)
        _need_lone_assertion(plain, trace, "decryption")
    elif connection.want_encrypted:
        raise trace.refusal(
            "decryption", SamlRefusalReason.NOT_ENCRYPTED, "This connection takes encrypted assertions only."
        )
    else:
        plain = children(sent, SAML, "Assertion")[0]
    if children(plain, DS, "Signature"):
        # Judged as sent: in the signed Response's canonical form, declarations that only
        # the assertion's own PrefixList mentions would be gone.
        signed = verified(plain, connection, now, trace, step)
        _need_lone_assertion(signed, trace, step)
        return signed
    if not response_signed:
        raise trace.refusal(step, SamlRefusalReason.UNSIGNED, "Neither the Response nor the assertion is signed.")
    trace.passed(step, "Covered by the signature of the Response.")
    return plain if sealed else children(response, SAML, "Assertion")[0]


def _parse_decrypted(plain: bytes, sealed: Element, trace: SamlTrace) -> Element:
    """What was encrypted, read with the same care as what was not."""
    try:
        return parse_inside(plain, sealed, SamlTrace())
    except SamlRejected as refused:
        raise trace.refusal("decryption", refused.reason, f"Inside: {refused.detail}") from None


def _need_lone_assertion(root: Element, trace: SamlTrace, step: str) -> None:
    """One assertion, with nothing hidden inside."""
    if root.tag != tag(SAML, "Assertion"):
        raise trace.refusal(step, SamlRefusalReason.WRONG_MESSAGE, "What is signed or encrypted is not an assertion.")
    for element in root.iter(*_MOVED):
        name = etree.QName(element).localname
        if name == "Signature" and element.getparent() is not root:
            raise trace.refusal(step, SamlRefusalReason.MISPLACED_SIGNATURE, "A signature stands where none belongs.")
        if name in {"Assertion", "EncryptedAssertion", "Response"} and element is not root:
            raise trace.refusal(step, SamlRefusalReason.SEVERAL_ASSERTIONS, "An assertion stands where none belongs.")


class _Claims:
    """The checks of one reading: what was expected, and the trace they are noted in."""

    def __init__(
        self, connection: SamlConnection, expected: frozenset[str], now: datetime, skew: timedelta, trace: SamlTrace
    ) -> None:
        self.connection = connection
        self.expected = expected
        self.early = now + skew
        self.late = now - skew
        self.oldest = now - MAX_ISSUE_AGE - skew
        self.trace = trace

    def read(self, response: Element, response_signed: bool, assertion: Element, encrypted: bool) -> SamlLogin | None:
        """The signed claims, with every check noted; nothing if too little of them can be read."""
        self._need_parts(assertion)
        self._check_issuer(response, "response issuer", needed=response_signed)
        issuer = self._check_issuer(assertion, "assertion issuer", needed=True)
        self._check_destination(response, needed=response_signed)
        self._check_moment_of_issue(response, "response issue instant")
        self._check_moment_of_issue(assertion, "issue instant")
        name_id = self._name_id(assertion)
        valid_until = self._check_conditions(assertion)
        confirmed = self._check_confirmation(assertion)
        answers = self._check_in_response_to(response, confirmed)
        statement = self._check_authn_statement(assertion)
        attributes, friendly_names = self._attributes(assertion)
        if name_id is None or confirmed is None or statement is None or issuer is None:
            return None
        ends = moment(confirmed.get("NotOnOrAfter"))
        instant = moment(statement.get("AuthnInstant"))
        if ends is None or instant is None:
            return None
        contexts = [
            text_of(each)
            for context in children(statement, SAML, "AuthnContext")
            for each in children(context, SAML, "AuthnContextClassRef")
        ]
        return SamlLogin(
            name_id=text_of(name_id) or "",
            format=name_id.get("Format"),
            session_index=statement.get("SessionIndex"),
            attributes=attributes,
            friendly_names=friendly_names,
            assertion_id=assertion.get("ID", ""),
            not_on_or_after=min(ends, valid_until) if valid_until else ends,
            session_not_on_or_after=moment(statement.get("SessionNotOnOrAfter")),
            authn_instant=instant,
            authn_context=contexts[0] if contexts else None,
            in_response_to=answers,
            issuer=issuer,
            encrypted=encrypted,
            trace=self.trace.steps,
        )

    def _need_parts(self, assertion: Element) -> None:
        if assertion.get("Version") != "2.0":
            raise self.trace.refusal("assertion", SamlRefusalReason.WRONG_VERSION, "Only SAML 2.0 is read.")
        if identifier(assertion) is None:
            raise self.trace.refusal("assertion", SamlRefusalReason.MALFORMED, "The assertion has no identifier.")
        for part in assertion:
            if part.tag not in _ASSERTION_PARTS:
                detail = f"{etree.QName(part).localname} inside an assertion is not read."
                raise self.trace.refusal("assertion", SamlRefusalReason.UNSUPPORTED, detail)
        for name in ("Issuer", "Subject", "Conditions", "AuthnStatement"):
            if len(children(assertion, SAML, name)) > 1:
                raise self.trace.refusal(
                    "assertion", SamlRefusalReason.MALFORMED, f"The assertion has several {name} elements."
                )
        self.trace.passed("assertion", assertion.get("ID", ""))

    def _check_issuer(self, element: Element, step: str, *, needed: bool) -> str | None:
        """Who says so, as an entity: a signed Response names its issuer too (SAML profiles §4.1.4.2, E26)."""
        issuers = children(element, SAML, "Issuer")
        if not issuers and not needed:
            self.trace.passed(step, "Not given.")
            return None
        issuer = text_of(issuers[0]) if len(issuers) == 1 else None
        held = issuer == self.connection.idp_entity_id
        detail = f"{issuer}" if held else f"{issuer} instead of {self.connection.idp_entity_id}"
        kind = issuers[0].get("Format", ENTITY) if issuers else ENTITY
        if held and kind != ENTITY:
            held, detail = False, f"{issuer} is said to be {kind or 'nothing'}, not an entity."
        self.trace.check(step, ok=held, reason=SamlRefusalReason.WRONG_ISSUER, detail=detail)
        return issuer

    def _check_destination(self, response: Element, *, needed: bool) -> None:
        """A signed message says where it was meant to go (SAML bindings §3.5.5.2)."""
        found = response.get("Destination")
        held = found == self.connection.acs_url if found or needed else True
        detail = f"{found}" if held else f"{found} instead of {self.connection.acs_url}"
        self.trace.check("destination", ok=held, reason=SamlRefusalReason.WRONG_DESTINATION, detail=detail)

    def _check_moment_of_issue(self, element: Element, step: str) -> None:
        """When it was written: a moment ago, whatever validity it gives itself."""
        issued, detail = moment(element.get("IssueInstant")), f"{element.get('IssueInstant')}"
        if issued is None:
            self.trace.check(step, ok=False, reason=SamlRefusalReason.MALFORMED, detail=detail)
        elif issued < self.oldest:
            self.trace.check(step, ok=False, reason=SamlRefusalReason.EXPIRED, detail=detail)
        else:
            self.trace.check(step, ok=issued <= self.early, reason=SamlRefusalReason.NOT_YET_VALID, detail=detail)

    def _name_id(self, assertion: Element) -> Element | None:
        subjects = children(assertion, SAML, "Subject")
        found = children(subjects[0], SAML, "NameID") if subjects else []
        if subjects and children(subjects[0], SAML, "EncryptedID"):
            self.trace.check(
                "subject",
                ok=False,
                reason=SamlRefusalReason.UNSUPPORTED,
                detail="Encrypted name identifiers are not read.",
            )
            return None
        text = text_of(found[0]) if len(found) == 1 else None
        held = text is not None and len(text) <= MAX_NAME_ID_CHARS
        detail = text if text and held else "There is no name identifier."
        self.trace.check("subject", ok=held, reason=SamlRefusalReason.NO_SUBJECT, detail=detail)
        return found[0] if held else None

    def _check_conditions(self, assertion: Element) -> datetime | None:
        """The times, then the audience; any condition we do not know ends it (SAML core §2.5.1.1)."""
        found = children(assertion, SAML, "Conditions")
        if not found:
            self.trace.check(
                "audience", ok=False, reason=SamlRefusalReason.WRONG_AUDIENCE, detail="There are no conditions."
            )
            return None
        conditions = found[0]
        for each in conditions:
            if each.tag not in _CONDITIONS:
                detail = f"The condition {etree.QName(each).localname} is not known."
                self.trace.check("conditions", ok=False, reason=SamlRefusalReason.UNKNOWN_CONDITION, detail=detail)
        self._check_times(conditions, "conditions")
        restrictions = [
            [text_of(audience) for audience in children(each, SAML, "Audience")]
            for each in children(conditions, SAML, "AudienceRestriction")
        ]
        held = bool(restrictions) and all(self.connection.sp_entity_id in each for each in restrictions)
        named = ", ".join(str(name) for each in restrictions for name in each) or "nobody"
        detail = named if held else f"{named} instead of {self.connection.sp_entity_id}"
        self.trace.check("audience", ok=held, reason=SamlRefusalReason.WRONG_AUDIENCE, detail=detail)
        return moment(conditions.get("NotOnOrAfter"))

    def _check_times(self, element: Element, step: str) -> bool:
        """`NotBefore` and `NotOnOrAfter`, if given, with the clocks a little apart."""
        held = True
        for name, reason in (
            ("NotBefore", SamlRefusalReason.NOT_YET_VALID),
            ("NotOnOrAfter", SamlRefusalReason.EXPIRED),
        ):
            text = element.get(name)
            if text is None:
                continue
            found = moment(text)
            if found is None:
                held &= self.trace.check(step, ok=False, reason=SamlRefusalReason.MALFORMED, detail=f"{name} {text}")
                continue
            fine = found <= self.early if name == "NotBefore" else self.late < found
            held &= self.trace.check(step, ok=fine, reason=reason, detail=f"{name} {text}")
        return held

    def _check_confirmation(self, assertion: Element) -> Element | None:
        """The data of a bearer confirmation that holds here and now (SAML profiles §4.1.4.2)."""
        subjects = children(assertion, SAML, "Subject")
        bearers = [
            data[0]
            for each in (children(subjects[0], SAML, "SubjectConfirmation") if subjects else [])
            if each.get("Method") == BEARER and len(data := children(each, SAML, "SubjectConfirmationData")) == 1
        ]
        if len(bearers) != 1:
            detail = f"{len(bearers)} bearer confirmations; exactly one is read."
            self.trace.check("confirmation", ok=False, reason=SamlRefusalReason.NOT_CONFIRMED, detail=detail)
            return None
        recipient = bearers[0].get("Recipient")
        held = recipient == self.connection.acs_url
        detail = f"{recipient}" if held else f"{recipient} instead of {self.connection.acs_url}"
        held &= self.trace.check("recipient", ok=held, reason=SamlRefusalReason.WRONG_RECIPIENT, detail=detail)
        if bearers[0].get("NotOnOrAfter") is None:
            detail = "The confirmation has no end."
            held &= self.trace.check("confirmation", ok=False, reason=SamlRefusalReason.NOT_CONFIRMED, detail=detail)
        held &= self._check_times(bearers[0], "confirmation")
        return bearers[0] if held else None

    def _check_in_response_to(self, response: Element, confirmed: Element | None) -> str | None:
        """Which request this answers: the confirmation says so, for it is signed (SAML profiles §4.1.4.3)."""
        if confirmed is None:
            return None
        outer, inner = response.get("InResponseTo"), confirmed.get("InResponseTo")
        step, reason = "in response to", SamlRefusalReason.WRONG_IN_RESPONSE_TO
        if outer is not None and outer != inner:
            self.trace.check(step, ok=False, reason=reason, detail=f"{outer} outside, {inner} inside")
        elif inner is not None:
            known = inner in self.expected
            detail = inner if known else f"{inner} was not asked here, or has been answered."
            self.trace.check(step, ok=known, reason=reason, detail=detail)
        else:
            allowed = self.connection.allow_idp_initiated
            detail = "The identity provider began" + ("." if allowed else ", which this connection does not allow.")
            self.trace.check(step, ok=allowed, reason=SamlRefusalReason.UNSOLICITED, detail=detail)
        return inner

    def _check_authn_statement(self, assertion: Element) -> Element | None:
        found = children(assertion, SAML, "AuthnStatement")
        step = "authentication"
        if not found or moment(found[0].get("AuthnInstant")) is None:
            detail = "The assertion does not say when somebody signed on."
            self.trace.check(step, ok=False, reason=SamlRefusalReason.NO_AUTHN_STATEMENT, detail=detail)
            return None
        if not _says_how(found[0]):
            detail = "The assertion does not say how somebody signed on."
            self.trace.check(step, ok=False, reason=SamlRefusalReason.NO_AUTHN_STATEMENT, detail=detail)
            return None
        ends = found[0].get("SessionNotOnOrAfter")
        if ends is not None:
            end = moment(ends)
            held = end is not None and self.late < end
            self.trace.check(step, ok=held, reason=SamlRefusalReason.EXPIRED, detail=f"SessionNotOnOrAfter {ends}")
        else:
            self.trace.passed(step, f"{found[0].get('AuthnInstant')}")
        return found[0]

    def _attributes(self, assertion: Element) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Every attribute's plain values; the values of equal names are put together in their order."""
        values: dict[str, list[str]] = {}
        friendly: dict[str, str] = {}
        for statement in children(assertion, SAML, "AttributeStatement"):
            for attribute in children(statement, SAML, "Attribute"):
                name = attribute.get("Name")
                if not name:
                    continue
                texts = [_value(each) for each in children(attribute, SAML, "AttributeValue")]
                values.setdefault(name, []).extend(text for text in texts if text is not None)
                if short := attribute.get("FriendlyName"):
                    friendly.setdefault(short, name)
        if any(len(text) > MAX_VALUE_CHARS for each in values.values() for text in each):
            detail = f"A value has more than {MAX_VALUE_CHARS:,} characters."
            self.trace.check("attributes", ok=False, reason=SamlRefusalReason.TOO_LARGE, detail=detail)
        else:
            self.trace.passed("attributes", ", ".join(values))
        return values, friendly


def _says_how(statement: Element) -> bool:
    """Whether the one authentication context names its class or declares itself (SAML core §2.7.2.2)."""
    contexts = children(statement, SAML, "AuthnContext")
    ways = ("AuthnContextClassRef", "AuthnContextDecl", "AuthnContextDeclRef")
    return len(contexts) == 1 and any(
        len(each) or text_of(each) for name in ways for each in children(contexts[0], SAML, name)
    )


def _value(element: Element) -> str | None:
    """A plain value, or the name identifier that eduPersonTargetedID holds; nothing else has a text."""
    if element.get(tag(XSI, "nil")) in {"true", "1"}:
        return None
    if len(element) == 1 and element[0].tag == tag(SAML, "NameID"):
        return text_of(element[0])
    return None if len(element) else (element.text or "").strip()
