"""Passkeys (WebAuthn Level 3) of developers and customers: registering them, and signing in with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
import webauthn
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid, Missing, Unprocessable
from postern.kernel.values import Body, Record, as_id, as_seen, new_id
from postern.security import challenges, passkey_store
from postern.security.challenges import Challenge, CodeInvalid, Payload
from postern.security.passkey_store import PasskeyRow
from postern.security.secrets import new_token
from postern.security.subjects import Subject

PASSKEYS_LIMIT = 20
PASSKEY_LIFE = timedelta(minutes=5)
"""How long a browser may take to answer."""
CREDENTIAL_LIMIT = 16_384
"""Bytes of a browser's answer as JSON."""
PasskeyName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
REFUSED = (WebAuthnException, ValueError, KeyError, TypeError, AttributeError)
"""What the library raises for answers that are wrong or malformed."""

A_CHALLENGE = "01980f6e-9d3a-7c41-9d5b-0f0e5a3b2c1d"
NEW_PASSKEY_EXAMPLE = {
    "challengeId": A_CHALLENGE,
    "credential": {
        "id": "AbCd",
        "rawId": "AbCd",
        "type": "public-key",
        "response": {"clientDataJSON": "eyJ0eXBlIjoi…", "attestationObject": "o2NmbXRk…"},
    },
    "name": "Laptop",
}
PASSKEY_SIGN_IN_EXAMPLE = {
    "challengeId": A_CHALLENGE,
    "credential": {
        "id": "AbCd",
        "rawId": "AbCd",
        "type": "public-key",
        "response": {
            "clientDataJSON": "eyJ0eXBlIjoi…",
            "authenticatorData": "SZYN5YgO…",
            "signature": "MEUCIQ…",
            "userHandle": None,
        },
    },
}


class PasskeyMissing(Missing):
    """There is no such passkey."""


class TooManyPasskeys(Unprocessable):
    """There are 20 passkeys already; remove one first."""


class PasskeyRegistration(Payload, tag="PASSKEY_NEW"):
    """What a new passkey has to sign."""

    challenge: str


class PasskeyAssertion(Payload, tag="PASSKEY"):
    """What a passkey has to sign to sign in."""

    challenge: str


P = TypeVar("P", PasskeyRegistration, PasskeyAssertion)


class PasskeyOptions(Record):
    """What to hand to `navigator.credentials` as `publicKey` (binary values in base64url)."""

    challenge_id: UUID
    expires_at: Moment
    options: dict[str, Any]


class Passkey(Record):
    """A passkey."""

    id: UUID
    name: str
    backed_up: bool
    created_at: Moment
    last_used_at: Moment | None


class NewPasskey(Body):
    """What the browser answered, and a name to tell passkeys apart."""

    challenge_id: str
    credential: dict[str, Any]
    name: PasskeyName = "Passkey"


class PasskeySignIn(Body):
    """What the browser answered."""

    challenge_id: str
    credential: dict[str, Any]


class RelyingParty(Record):
    """Who asks for passkeys, and what it asks of them."""

    id: str
    """The domain that the passkeys belong to."""
    name: str
    origins: list[str]
    """Origins of the pages that may ask for them."""
    needs_user_verification: bool = False
    """Whether the authenticator has to verify its user (PIN, fingerprint, face), so that a passkey is two factors."""

    @property
    def user_verification(self) -> UserVerificationRequirement:
        return (
            UserVerificationRequirement.REQUIRED
            if self.needs_user_verification
            else UserVerificationRequirement.PREFERRED
        )


@dataclass(frozen=True)
class VerifiedPasskey:
    """A new passkey that answered its challenge."""

    challenge: Challenge[PasskeyRegistration]
    verified: VerifiedRegistration
    name: str


@dataclass(frozen=True)
class VerifiedAssertion:
    """A passkey that answered the challenge of a sign-in."""

    challenge: Challenge[PasskeyAssertion]
    row: PasskeyRow
    verified: VerifiedAuthentication

    @property
    def subject_id(self) -> UUID:
        """Whose passkey it is."""
        return self.row.subject_id

    @property
    def methods(self) -> list[str]:
        """How the user was authenticated (RFC 8176)."""
        return ["hwk", "user"] if self.verified.user_verified else ["hwk"]


async def begin_registration(
    tx: Transaction, call: Call, subject: Subject, party: RelyingParty, *, account: str, display_name: str
) -> PasskeyOptions:
    """Begin to add a passkey; `account` and `display_name` are what the browser shows. Raises TooManyPasskeys."""
    present = await _within_limit(tx, subject)
    challenge = new_token(43)
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=party.name,
        user_name=account,
        user_id=subject.id.bytes,
        user_display_name=display_name,
        challenge=challenge.encode(),
        timeout=int(PASSKEY_LIFE.total_seconds() * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=party.user_verification
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=row.credential_id) for row in present],
    )
    issued = await challenges.issue(
        tx, call, PasskeyRegistration(challenge=challenge), PASSKEY_LIFE, "", subject_id=subject.id
    )
    return _options(issued, webauthn.options_to_json(options))


async def verify_registration(call: Call, subject_id: UUID, party: RelyingParty, data: NewPasskey) -> VerifiedPasskey:
    """Check what the browser made. Raises CodeInvalid for a challenge that is over or another's, and Invalid."""
    challenge = await _answered(call, PasskeyRegistration, data.challenge_id, data.credential)
    if challenge.subject_id != subject_id:
        raise CodeInvalid
    try:
        verified = webauthn.verify_registration_response(
            credential=data.credential,
            expected_challenge=challenge.payload.challenge.encode(),
            expected_rp_id=party.id,
            expected_origin=party.origins,
            require_user_verification=party.needs_user_verification,
        )
    except REFUSED:
        raise Invalid.at("/credential", "This is not the answer to that challenge.", "passkey_invalid") from None
    return VerifiedPasskey(challenge, verified, data.name)


async def add(tx: Transaction, call: Call, subject: Subject, made: VerifiedPasskey) -> Passkey:
    """Store a new passkey and use its challenge up. Raises CodeInvalid, TooManyPasskeys, and Invalid if it is known."""
    await challenges.consume(tx, made.challenge)
    await _within_limit(tx, subject)
    row = await passkey_store.insert(
        tx,
        project_id=subject.project_id,
        id=new_id(),
        subject_id=subject.id,
        credential_id=made.verified.credential_id,
        user_handle=subject.id.bytes,
        public_key=made.verified.credential_public_key,
        sign_count=made.verified.sign_count,
        backed_up=made.verified.credential_backed_up,
        name=made.name,
        now=call.now,
    )
    if row is None:
        raise Invalid.at("/credential", "This passkey was added before.", "passkey_known")
    return as_seen(Passkey, row)


async def begin_sign_in(call: Call, party: RelyingParty) -> PasskeyOptions:
    """Begin to sign in with a passkey of anybody under `call.project_id`."""
    challenge = new_token(43)
    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        challenge=challenge.encode(),
        timeout=int(PASSKEY_LIFE.total_seconds() * 1000),
        user_verification=party.user_verification,
    )
    issued = await challenges.issue(call.db, call, PasskeyAssertion(challenge=challenge), PASSKEY_LIFE, "")
    return _options(issued, webauthn.options_to_json(options))


async def verify_sign_in(call: Call, party: RelyingParty, data: PasskeySignIn) -> VerifiedAssertion | None:
    """Check what a passkey signed. Returns None for an unknown passkey or a wrong signature.

    Raises CodeInvalid for a challenge that is over. The passkey counts as used only after `use`.
    """
    challenge = await _answered(call, PasskeyAssertion, data.challenge_id, data.credential)
    row = await _row_of(call, data.credential)
    if row is None:
        return None
    try:
        verified = webauthn.verify_authentication_response(
            credential=data.credential,
            expected_challenge=challenge.payload.challenge.encode(),
            expected_rp_id=party.id,
            expected_origin=party.origins,
            credential_public_key=row.public_key,
            credential_current_sign_count=row.sign_count,
            require_user_verification=party.needs_user_verification,
        )
    except REFUSED:
        return None
    return VerifiedAssertion(challenge, row, verified)


async def use(tx: Transaction, call: Call, assertion: VerifiedAssertion) -> bool:
    """Use the challenge up and note the use of the passkey. False for a copied one. Raises CodeInvalid if used up."""
    await challenges.consume(tx, assertion.challenge)
    return await passkey_store.use(
        tx,
        project_id=assertion.challenge.project_id,
        id=assertion.row.id,
        sign_count=assertion.verified.new_sign_count,
        backed_up=assertion.verified.credential_backed_up,
        now=call.now,
    )


async def passkeys_of(db: Queries, subject: Subject) -> list[Passkey]:
    """The passkeys of a subject, newest first."""
    rows = await passkey_store.of_subject(db, project_id=subject.project_id, subject_id=subject.id)
    return [as_seen(Passkey, row) for row in rows]


async def remove(tx: Transaction, subject: Subject, id: UUID) -> None:
    """Delete one passkey. Raises PasskeyMissing."""
    if not await passkey_store.delete(tx, project_id=subject.project_id, subject_id=subject.id, id=id):
        raise PasskeyMissing


async def remove_all(tx: Transaction, subject: Subject) -> None:
    """Delete all passkeys of a subject."""
    await passkey_store.delete(tx, project_id=subject.project_id, subject_id=subject.id, id=None)


async def move(tx: Transaction, survivor: Subject, loser: Subject) -> None:
    """Give the passkeys of a merged customer to the survivor."""
    await passkey_store.move(tx, project_id=survivor.project_id, survivor=survivor.id, loser=loser.id)


async def _within_limit(tx: Transaction, subject: Subject) -> Sequence[PasskeyRow]:
    rows = await passkey_store.of_subject(tx, project_id=subject.project_id, subject_id=subject.id)
    if len(rows) >= PASSKEYS_LIMIT:
        raise TooManyPasskeys
    return rows


async def _answered(call: Call, kind: type[P], challenge_id: str, credential: dict[str, Any]) -> Challenge[P]:
    if len(msgspec.json.encode(credential)) > CREDENTIAL_LIMIT:
        raise Invalid.at("/credential", "This takes more than 16 KiB.", "too_large")
    challenge = await challenges.answer(call, kind, as_id(challenge_id), "")
    if challenge is None:
        raise CodeInvalid
    return challenge


async def _row_of(call: Call, credential: dict[str, Any]) -> PasskeyRow | None:
    """The passkey that a browser names, if the user handle that it shows is that of the passkey."""
    response = credential.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None  # pyright: ignore[reportUnknownMemberType]
    try:
        credential_id = webauthn.base64url_to_bytes(str(credential.get("rawId", "")))
        shown = None if handle is None else webauthn.base64url_to_bytes(str(handle))
    except ValueError:
        return None
    row = await passkey_store.by_credential(call.db, project_id=call.project_id, credential_id=credential_id)
    if row is None or shown is None or row.user_handle is None or shown == row.user_handle:
        return row
    return None


def _options(issued: tuple[UUID, Moment], options: str) -> PasskeyOptions:
    return PasskeyOptions(challenge_id=issued[0], expires_at=issued[1], options=msgspec.json.decode(options))
