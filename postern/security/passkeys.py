"""Passkeys (WebAuthn Level 3) of developers and customers: registration and sign-in."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid, Missing, Unprocessable, require_found
from postern.kernel.values import Body, Moment, Record, as_id, build_view, new_id
from postern.security import challenges, passkey_store
from postern.security.challenges import Challenge, CodeInvalid, Payload
from postern.security.passkey_store import PasskeyRow
from postern.security.secrets import new_token
from postern.security.subjects import Subject

# The library is imported at the first use of a passkey: that takes a tenth of the start of a process.
if TYPE_CHECKING:
    from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
    from webauthn.helpers.structs import UserVerificationRequirement
    from webauthn.registration.verify_registration_response import VerifiedRegistration

PASSKEYS_LIMIT = 20
"""Maximum number of passkeys of a developer or customer."""
PASSKEY_CHALLENGE_LIFE = timedelta(minutes=5)
"""How long a browser may take to respond to a challenge."""
CREDENTIAL_BYTES_LIMIT = 16_384
"""Maximum bytes of the browser's response as JSON."""
PasskeyName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
VERIFICATION_ERRORS = (ValueError, KeyError, TypeError, AttributeError)
"""Exceptions that the library raises for malformed responses, besides its own."""

CHALLENGE_ID_EXAMPLE = "01980f6e-9d3a-7c41-9d5b-0f0e5a3b2c1d"
NEW_PASSKEY_EXAMPLE = {
    "challengeId": CHALLENGE_ID_EXAMPLE,
    "credential": {
        "id": "AbCd",
        "rawId": "AbCd",
        "type": "public-key",
        "response": {"clientDataJSON": "eyJ0eXBlIjoi…", "attestationObject": "o2NmbXRk…"},
    },
    "name": "Laptop",
}
PASSKEY_SIGN_IN_EXAMPLE = {
    "challengeId": CHALLENGE_ID_EXAMPLE,
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
    """There are 20 passkeys already. Remove one first."""


class PasskeyRegistrationPayload(Payload, tag="PASSKEY_NEW"):
    """The data of the one-time challenge of a registration. `challenge` is the random text that the browser signs."""

    challenge: str


class PasskeySignInPayload(Payload, tag="PASSKEY"):
    """The data of the one-time challenge of a sign-in. `challenge` is the random text that the passkey signs."""

    challenge: str


P = TypeVar("P", PasskeyRegistrationPayload, PasskeySignInPayload)


class PasskeyOptions(Record):
    """The options to pass to `navigator.credentials` as `publicKey`, with binary values in base64url."""

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
    """The credential that the browser created, and a name for the passkey."""

    challenge_id: str
    credential: dict[str, Any]
    name: PasskeyName = "Passkey"


class PasskeyChange(Body):
    """The new name of a passkey."""

    name: PasskeyName


class PasskeySignIn(Body):
    """The assertion that the browser returned."""

    challenge_id: str
    credential: dict[str, Any]


class ImportedPasskey(Body):
    """A passkey that was registered with another system for the same relying party id. Binary values are in base64url
    or base64."""

    rp_id: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
    """The relying party id with which the passkey was created. A passkey only works with this one."""
    credential_id: Annotated[str, msgspec.Meta(min_length=1, max_length=1_400)]
    """The id that the authenticator gave to the credential."""
    public_key: Annotated[str, msgspec.Meta(min_length=1, max_length=2_800)]
    """The public key as COSE_Key (RFC 9052 §7), as an authenticator sends it."""
    sign_count: Annotated[int, msgspec.Meta(ge=0, le=4_294_967_295)] = 0
    """The signature counter at the last use; 0 if the authenticator does not count."""
    user_handle: Annotated[str, msgspec.Meta(min_length=1, max_length=100)] | None = None
    """The user handle that the other system gave to the authenticator; null accepts any."""
    backed_up: bool = False
    name: PasskeyName = "Passkey"


class RelyingParty(Record):
    """The WebAuthn relying party: the domain and origins of its pages, and whether it requires user verification."""

    id: str
    """The relying party id: the domain to which passkeys are bound."""
    name: str
    origins: list[str]
    """Origins of the pages that may use the passkeys."""
    needs_user_verification: bool = False
    """Whether the authenticator must verify its user (PIN, fingerprint, face), which makes a passkey two factors."""

    @property
    def user_verification(self) -> "UserVerificationRequirement":
        """The WebAuthn option for `needs_user_verification`."""
        from webauthn.helpers.structs import UserVerificationRequirement

        return (
            UserVerificationRequirement.REQUIRED
            if self.needs_user_verification
            else UserVerificationRequirement.PREFERRED
        )


@dataclass(frozen=True)
class VerifiedPasskey:
    """A valid response of the browser for a new passkey, which is not stored yet."""

    challenge: Challenge[PasskeyRegistrationPayload]
    verified: "VerifiedRegistration"
    name: str


@dataclass(frozen=True)
class VerifiedAssertion:
    """A valid response of a passkey to the challenge of a sign-in."""

    challenge: Challenge[PasskeySignInPayload]
    row: PasskeyRow
    verified: "VerifiedAuthentication"

    @property
    def subject_id(self) -> UUID:
        """Id of the owner of the passkey."""
        return self.row.subject_id

    @property
    def methods(self) -> list[str]:
        """The `amr` values of the sign-in (RFC 8176): `hwk`, and `user` only if the authenticator verified the user.

        The RFC defines `user` as a test of presence, which every passkey makes, and has no value for verification.
        """
        return ["hwk", "user"] if self.verified.user_verified else ["hwk"]


async def begin_registration(
    tx: Transaction, call: Call, subject: Subject, party: RelyingParty, *, account: str, display_name: str
) -> PasskeyOptions:
    """Issue the options to register a passkey. The browser shows `account` (a user name or address) and `display_name`.

    Raises TooManyPasskeys.
    """
    import webauthn
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
    )

    passkeys = await _require_capacity(tx, subject)
    challenge = new_token(43)
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=party.name,
        user_name=account,
        user_id=subject.id.bytes,
        user_display_name=display_name,
        challenge=challenge.encode(),
        timeout=int(PASSKEY_CHALLENGE_LIFE.total_seconds() * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=party.user_verification
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=row.credential_id) for row in passkeys],
    )
    # The challenge has the empty answer: the signature in the browser's response is checked instead.
    challenge_id, expires_at = await challenges.issue(
        tx, call, PasskeyRegistrationPayload(challenge=challenge), PASSKEY_CHALLENGE_LIFE, "", subject_id=subject.id
    )
    return _options(challenge_id, expires_at, webauthn.options_to_json(options))


async def verify_registration(call: Call, subject_id: UUID, party: RelyingParty, data: NewPasskey) -> VerifiedPasskey:
    """Verify the browser's response for a new passkey. Call `add` to store the passkey.

    Raises CodeInvalid if the challenge has expired or belongs to another subject, and Invalid for an invalid response.
    """
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    challenge = await _require_challenge(call, PasskeyRegistrationPayload, data.challenge_id, data.credential)
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
    except (WebAuthnException, *VERIFICATION_ERRORS):
        raise Invalid.at("/credential", "This is not a valid response to the challenge.", "passkey_invalid") from None
    return VerifiedPasskey(challenge, verified, data.name)


async def add(tx: Transaction, call: Call, subject: Subject, passkey: VerifiedPasskey) -> Passkey:
    """Store a verified passkey, and consume its challenge, which then cannot be used again.

    Raises CodeInvalid if the challenge was used already, TooManyPasskeys, and Invalid if the passkey exists.
    """
    await challenges.consume(tx, passkey.challenge)
    await _require_capacity(tx, subject)
    row = await passkey_store.insert(
        tx,
        project_id=subject.project_id,
        id=new_id(),
        subject_id=subject.id,
        credential_id=passkey.verified.credential_id,
        user_handle=subject.id.bytes,
        public_key=passkey.verified.credential_public_key,
        sign_count=passkey.verified.sign_count,
        backed_up=passkey.verified.credential_backed_up,
        name=passkey.name,
        now=call.now,
    )
    if row is None:
        raise Invalid.at("/credential", "This passkey was added already.", "passkey_known")
    return build_view(Passkey, row)


async def add_imported(
    tx: Transaction, call: Call, subject: Subject, party: RelyingParty, passkey: ImportedPasskey, path: str
) -> None:
    """Store a passkey that another system has verified. Raises Invalid at `path`, the location of the passkey."""
    if passkey.rp_id != party.id:
        message = f"This passkey works only with the domain `{passkey.rp_id[:100]}`; those of this project belong to "
        raise Invalid.at(f"{path}/rpId", f"{message}`{party.id}` (`settings.signIn.passkeyDomain`).", "passkey_domain")
    row = await passkey_store.insert(
        tx,
        project_id=subject.project_id,
        id=new_id(),
        subject_id=subject.id,
        credential_id=_read_binary(passkey.credential_id, f"{path}/credentialId"),
        user_handle=None if passkey.user_handle is None else _read_binary(passkey.user_handle, f"{path}/userHandle"),
        public_key=_read_public_key(passkey.public_key, f"{path}/publicKey"),
        sign_count=passkey.sign_count,
        backed_up=passkey.backed_up,
        name=passkey.name,
        now=call.now,
    )
    if row is None:
        raise Invalid.at(f"{path}/credentialId", "Another customer has this passkey.", "passkey_known")


def _read_binary(text: str, path: str) -> bytes:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        raise Invalid.at(path, "Expected base64url.") from None


def _read_public_key(text: str, path: str) -> bytes:
    """The bytes of a COSE key. Raises Invalid if it cannot verify signatures of a passkey."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography
    from webauthn.helpers.exceptions import WebAuthnException

    public_key = _read_binary(text, path)
    try:
        decoded_public_key_to_cryptography(decode_credential_public_key(public_key))
    except (WebAuthnException, UnsupportedAlgorithm, RecursionError, OverflowError, *VERIFICATION_ERRORS):
        raise Invalid.at(path, "This is not a COSE key of ES256, RS256 or EdDSA.") from None
    return public_key


async def begin_sign_in(call: Call, party: RelyingParty, *, subject: Subject | None = None) -> PasskeyOptions:
    """Issue the options to sign in with a passkey, or for one of the passkeys of `subject`, who is signed in already.

    Any customer of `call.project_id` can use them or, if `call.project_id` is NO_ID, any developer. The browser offers
    only the passkeys of `subject`; the caller must check whose passkey was used.
    """
    import webauthn
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    challenge = new_token(43)
    rows = (
        []
        if subject is None
        else await passkey_store.of_subject(call.db, project_id=subject.project_id, subject_id=subject.id)
    )
    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        challenge=challenge.encode(),
        timeout=int(PASSKEY_CHALLENGE_LIFE.total_seconds() * 1000),
        user_verification=party.user_verification,
        allow_credentials=[PublicKeyCredentialDescriptor(id=row.credential_id) for row in rows] or None,
    )
    payload = PasskeySignInPayload(challenge=challenge)
    challenge_id, expires_at = await challenges.issue(
        call.db, call, payload, PASSKEY_CHALLENGE_LIFE, "", subject_id=None if subject is None else subject.id
    )
    return _options(challenge_id, expires_at, webauthn.options_to_json(options))


async def verify_sign_in(call: Call, party: RelyingParty, data: PasskeySignIn) -> VerifiedAssertion | None:
    """Verify the response of a passkey. Returns None for an unknown passkey or an invalid response.

    Raises CodeInvalid if the challenge has expired or was used, and Invalid if the response is larger than 16 KiB.
    Call `consume_assertion` to complete the sign-in.
    """
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    challenge = await _require_challenge(call, PasskeySignInPayload, data.challenge_id, data.credential)
    row = await _find_passkey(call, data.credential)
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
    except (WebAuthnException, *VERIFICATION_ERRORS):
        return None
    return VerifiedAssertion(challenge, row, verified)


async def consume_assertion(tx: Transaction, call: Call, assertion: VerifiedAssertion) -> bool:
    """Complete a sign-in: consume the challenge, and record the use of the passkey.

    Returns False if the signature counter did not increase, which may mean a cloned authenticator: refuse the sign-in
    then. Raises CodeInvalid if the challenge was used already.
    """
    await challenges.consume(tx, assertion.challenge)
    return await passkey_store.record_use(
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
    return [build_view(Passkey, row) for row in rows]


async def rename(tx: Transaction, subject: Subject, id: UUID, name: str) -> Passkey:
    """Change the name of a passkey. Raises PasskeyMissing if the subject has no such passkey."""
    row = await passkey_store.rename(tx, project_id=subject.project_id, subject_id=subject.id, id=id, name=name)
    return build_view(Passkey, require_found(row, PasskeyMissing))


async def remove(tx: Transaction, subject: Subject, id: UUID) -> None:
    """Delete one passkey. Raises PasskeyMissing if the subject has no such passkey."""
    if not await passkey_store.delete(tx, project_id=subject.project_id, subject_id=subject.id, id=id):
        raise PasskeyMissing


async def remove_all(tx: Transaction, subject: Subject) -> None:
    """Delete all passkeys of a subject."""
    await passkey_store.delete(tx, project_id=subject.project_id, subject_id=subject.id, id=None)


async def move(tx: Transaction, survivor: Subject, loser: Subject) -> None:
    """Give the passkeys of the customer `loser`, who is merged into `survivor`, to the survivor."""
    await passkey_store.move(tx, project_id=survivor.project_id, survivor=survivor.id, loser=loser.id)


async def _require_capacity(tx: Transaction, subject: Subject) -> Sequence[PasskeyRow]:
    """Return the subject's passkeys. Raises TooManyPasskeys if there are PASSKEYS_LIMIT."""
    rows = await passkey_store.of_subject(tx, project_id=subject.project_id, subject_id=subject.id)
    if len(rows) >= PASSKEYS_LIMIT:
        raise TooManyPasskeys
    return rows


async def _require_challenge(call: Call, kind: type[P], challenge_id: str, credential: dict[str, Any]) -> Challenge[P]:
    """Return the open challenge to which `credential` is the response; counts as a try. The signature is checked later.

    Raises CodeInvalid if the challenge is used or expired, and Invalid if `credential` is too large.
    """
    if len(msgspec.json.encode(credential)) > CREDENTIAL_BYTES_LIMIT:
        raise Invalid.at("/credential", "`credential` is larger than 16 KiB as JSON.", "too_large")
    challenge = await challenges.answer(call, kind, as_id(challenge_id), "")
    if challenge is None:
        raise CodeInvalid
    return challenge


async def _find_passkey(call: Call, credential: dict[str, Any]) -> PasskeyRow | None:
    """Return the passkey with the credential id in a response, or None if there is none or its user handle differs."""
    import webauthn

    response = credential.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None  # pyright: ignore[reportUnknownMemberType]
    try:
        credential_id = webauthn.base64url_to_bytes(str(credential.get("rawId", "")))
        user_handle = None if handle is None else webauthn.base64url_to_bytes(str(handle))
    except ValueError:
        return None
    row = await passkey_store.by_credential(call.db, project_id=call.project_id, credential_id=credential_id)
    if row is None or user_handle is None or row.user_handle is None or user_handle == row.user_handle:
        return row
    return None


def _options(challenge_id: UUID, expires_at: Moment, options_json: str) -> PasskeyOptions:
    return PasskeyOptions(challenge_id=challenge_id, expires_at=expires_at, options=msgspec.json.decode(options_json))
