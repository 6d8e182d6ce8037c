"""Passkeys (WebAuthn Level 3): adding one to an account, and signing in with it."""

from typing import Annotated, Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
import webauthn
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from postern.identity.customers import challenge_store, challenges, mailer, store
from postern.identity.customers.challenge_store import Challenge, PasskeyRow
from postern.identity.customers.model import (
    PASSKEY_LIFE,
    PASSKEYS_LIMIT,
    CodeInvalid,
    CustomerSignInFailed,
    MethodOff,
    NotFresh,
    PasskeyMissing,
    SignInBlocked,
    TooManyPasskeys,
)
from postern.identity.customers.operations import add_identity
from postern.identity.customers.requirements import MfaStillRequired, SsoRequired, require_no_sso, requires_mfa
from postern.identity.customers.sessions import (
    AT_THE_DOOR,
    CUSTOMER,
    CustomerSignInResult,
    bearer_of,
    customer_of,
    locked_customer,
    require_fresh,
)
from postern.identity.customers.sign_in import complete_sign_in, project_at, require_method
from postern.identity.customers.sign_in_methods import LastSignInMethod, require_method_without
from postern.kernel.clock import Moment
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Body, Record, as_id, new_id
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.security.secrets import new_token

CREDENTIAL_LIMIT = 16_384
"""Bytes of a browser's answer as JSON."""
PasskeyName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class PasskeyOptions(Record):
    """What to hand to `navigator.credentials` as `publicKey` (binary values in base64url)."""

    challenge_id: UUID
    expires_at: Moment
    options: dict[str, Any]


class Passkey(Record):
    """A passkey of the customer's."""

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


A_CHALLENGE = "01980f6e-9d3a-7c41-9d5b-0f0e5a3b2c1d"


@post(
    "/projects/{project_id}/auth/passkeys/register/options",
    accepts=CUSTOMER,
    problems=[MethodOff, NotFresh, TooManyPasskeys],
)
async def begin_passkey_registration(call: Call) -> PasskeyOptions:
    """Begin to add a passkey: hand `options` to `navigator.credentials.create`. Needs a sign-in within the hour."""
    project = await project_at(call)
    require_method(project, "PASSKEY")
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
        known = await challenge_store.passkeys(tx, project_id=call.project_id, customer_id=person.id)
        if len(known) >= PASSKEYS_LIMIT:
            raise TooManyPasskeys
        challenge = new_token(43)
        options = webauthn.generate_registration_options(
            rp_id=relying_party(call, project),
            rp_name=mailer.app_name(project),
            user_name=person.email or str(person.id),
            user_id=person.id.bytes,
            user_display_name=person.name or person.email or str(person.id),
            challenge=challenge.encode(),
            timeout=int(PASSKEY_LIFE.total_seconds() * 1000),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.PREFERRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=each.credential_id) for each in known],
        )
        challenge_id, expires_at = await challenges.issue(
            tx, call, "PASSKEY_NEW", PASSKEY_LIFE, "", customer_id=person.id, challenge=challenge
        )
    return PasskeyOptions(
        challenge_id=challenge_id,
        expires_at=expires_at,
        options=msgspec.json.decode(webauthn.options_to_json(options)),
    )


@post(
    "/projects/{project_id}/auth/passkeys/register",
    accepts=CUSTOMER,
    status=201,
    problems=[CodeInvalid, NotFresh, TooManyPasskeys],
    example={
        "challengeId": A_CHALLENGE,
        "credential": {
            "id": "AbCd",
            "rawId": "AbCd",
            "type": "public-key",
            "response": {"clientDataJSON": "eyJ0eXBlIjoi…", "attestationObject": "o2NmbXRk…"},
        },
        "name": "Laptop",
    },
)
async def add_passkey(call: Call, data: NewPasskey) -> Passkey:
    """Add the passkey that the browser made."""
    project = await project_at(call)
    challenge = await _answered(call, "PASSKEY_NEW", data.challenge_id, data.credential)
    if challenge.customer_id != bearer_of(call)[0]:
        raise CodeInvalid
    try:
        made = webauthn.verify_registration_response(
            credential=data.credential,
            expected_challenge=str(challenges.payload(call, challenge)["challenge"]).encode(),
            expected_rp_id=relying_party(call, project),
            expected_origin=origins(call, project),
        )
    except (WebAuthnException, ValueError, KeyError, TypeError, AttributeError):
        raise Invalid.at("/credential", "This is not the answer to that challenge.", "passkey_invalid") from None
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await challenges.consume(tx, challenge)
        await require_fresh(tx, call)
        if len(await challenge_store.passkeys(tx, project_id=call.project_id, customer_id=person.id)) >= PASSKEYS_LIMIT:
            raise TooManyPasskeys
        row = await challenge_store.insert_passkey(
            tx,
            project_id=call.project_id,
            id=new_id(),
            customer_id=person.id,
            credential_id=made.credential_id,
            public_key=made.credential_public_key,
            sign_count=made.sign_count,
            backed_up=made.credential_backed_up,
            name=data.name,
            now=call.now,
        )
        if row is None:
            raise Invalid.at("/credential", "This passkey was added before.", "passkey_known")
        await add_identity(tx, call, person, "PASSKEY")
        await events.record(tx, call, "customer.passkey_added", person.id, passkeyId=str(row.id), name=row.name)
        await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="A passkey was added")
    return _shown(row)


@get("/projects/{project_id}/auth/passkeys", accepts=CUSTOMER)
async def list_passkeys(call: Call) -> list[Passkey]:
    """The customer's passkeys, newest first."""
    person = customer_of(call)
    rows = await challenge_store.passkeys(call.db, project_id=call.project_id, customer_id=person.id)
    return [_shown(row) for row in rows]


@delete(
    "/projects/{project_id}/auth/passkeys/{id}",
    accepts=CUSTOMER,
    problems=[PasskeyMissing, NotFresh, LastSignInMethod, MfaStillRequired],
)
async def remove_passkey(call: Call, id: UUID) -> None:
    """Remove a passkey. Needs a sign-in within the hour, and another way in.

    The last one stays where a second factor is required and there is no other (409).
    """
    project = await project_at(call)
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        await require_fresh(tx, call)
        if not await challenge_store.drop_passkeys(tx, project_id=call.project_id, customer_id=person.id, id=id):
            raise PasskeyMissing
        if not await challenge_store.passkeys(tx, project_id=call.project_id, customer_id=person.id):
            if person.mfa_enabled_at is None and await requires_mfa(tx, call, project, person):
                raise MfaStillRequired
            await require_method_without(tx, call, project, person, "PASSKEY")
            await store.drop_identities(tx, project_id=call.project_id, customer_id=person.id, provider="PASSKEY")
            await store.list_providers(tx, project_id=call.project_id, id=person.id)
        await events.record(tx, call, "customer.passkey_removed", person.id, passkeyId=str(id))
        await mailer.notify(tx, call, project, person, "MFA_CHANGED", change="A passkey was removed")


@post("/projects/{project_id}/auth/passkeys/sign-in/options", accepts=AT_THE_DOOR, problems=[SsoRequired, MethodOff])
async def begin_passkey_sign_in(call: Call) -> PasskeyOptions:
    """Begin to sign in with a passkey: hand `options` to `navigator.credentials.get`. It asks for no address."""
    challenges.throttle(call)
    project = await project_at(call)
    require_method(project, "PASSKEY")
    await require_no_sso(call, project, None)
    challenge = new_token(43)
    options = webauthn.generate_authentication_options(
        rp_id=relying_party(call, project),
        challenge=challenge.encode(),
        timeout=int(PASSKEY_LIFE.total_seconds() * 1000),
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    challenge_id, expires_at = await challenges.issue(call.db, call, "PASSKEY", PASSKEY_LIFE, "", challenge=challenge)
    return PasskeyOptions(
        challenge_id=challenge_id,
        expires_at=expires_at,
        options=msgspec.json.decode(webauthn.options_to_json(options)),
    )


@post(
    "/projects/{project_id}/auth/passkeys/sign-in",
    accepts=AT_THE_DOOR,
    problems=[CustomerSignInFailed, SignInBlocked, SsoRequired, CodeInvalid, MethodOff],
    example={
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
    },
)
async def sign_in_with_passkey(call: Call, data: PasskeySignIn) -> CustomerSignInResult:
    """Sign in with a passkey. One that verified its user (PIN, fingerprint, face) is two factors at once."""
    challenges.throttle(call)
    project = await project_at(call)
    require_method(project, "PASSKEY")
    challenge = await _answered(call, "PASSKEY", data.challenge_id, data.credential)
    row = await _passkey_of(call, data.credential)
    if row is None:
        raise CustomerSignInFailed
    try:
        proven = webauthn.verify_authentication_response(
            credential=data.credential,
            expected_challenge=str(challenges.payload(call, challenge)["challenge"]).encode(),
            expected_rp_id=relying_party(call, project),
            expected_origin=origins(call, project),
            credential_public_key=row.public_key,
            credential_current_sign_count=row.sign_count,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError, AttributeError):
        raise CustomerSignInFailed from None
    async with call.db.transaction() as tx:
        await challenges.consume(tx, challenge)
        person = await store.lock_customer(tx, project_id=call.project_id, id=row.customer_id)
        # A counter that did not grow means a copied authenticator (WebAuthn §7.2, step 22).
        if person is None or not await challenge_store.use_passkey(
            tx,
            project_id=call.project_id,
            id=row.id,
            sign_count=proven.new_sign_count,
            backed_up=proven.credential_backed_up,
            now=call.now,
        ):
            raise CustomerSignInFailed
        methods = ["hwk", "user"] if proven.user_verified else ["hwk"]
        return await complete_sign_in(tx, call, project, person, methods, second_factor_done=proven.user_verified)


def relying_party(call: Call, project: Project) -> str:
    """The domain that the project's passkeys belong to."""
    return project.settings.sign_in.passkey_domain or urlsplit(call.world.settings.public_url).hostname or "localhost"


def origins(call: Call, project: Project) -> list[str]:
    """Pages that may ask for the project's passkeys: its own, and ours."""
    own = urlsplit(call.world.settings.public_url)
    return [f"{own.scheme}://{own.netloc}", *project.settings.sign_in.allowed_origins]


async def _answered(call: Call, purpose: str, challenge_id: str, credential: dict[str, Any]) -> Challenge:
    if len(msgspec.json.encode(credential)) > CREDENTIAL_LIMIT:
        raise Invalid.at("/credential", "This takes more than 16 KiB.", "too_large")
    found = await challenges.answer(call, purpose, as_id(challenge_id), "")
    if found is None:
        raise CodeInvalid
    return found


async def _passkey_of(call: Call, credential: dict[str, Any]) -> PasskeyRow | None:
    try:
        credential_id = webauthn.base64url_to_bytes(str(credential.get("rawId", "")))
    except ValueError:
        return None
    row = await challenge_store.passkey(call.db, project_id=call.project_id, credential_id=credential_id)
    response = credential.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None  # pyright: ignore[reportUnknownMemberType]
    if row is None or handle is None:
        return row
    try:
        shown = webauthn.base64url_to_bytes(str(handle))
    except ValueError:
        return None
    if shown == row.customer_id.bytes:
        return row
    # A passkey keeps the id it was made for, also when that customer was merged into another.
    merged = await store.merged_into(call.db, project_id=call.project_id, customer_id=row.customer_id)
    return row if shown in {each.bytes for each in merged} else None


def _shown(row: PasskeyRow) -> Passkey:
    return Passkey(
        id=row.id,
        name=row.name,
        backed_up=row.backed_up,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
    )
