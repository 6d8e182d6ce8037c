"""Convert users of the exports of Auth0, Clerk, Firebase, Keycloak and Supabase to rows of
`POST …/customers/import/rows`.

Sources of the formats: auth0.com/docs/manage-users/user-migration, clerk.com/docs/guides/development/migrating,
firebase.google.com/docs/cli/auth, www.keycloak.org/server/importExport, supabase.com/docs/guides/auth.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from postern.web.language_tags import read_language_tag

PRESETS = {
    "google": "GOOGLE",
    "google-oauth2": "GOOGLE",
    "apple": "APPLE",
    "github": "GITHUB",
    "gitlab": "GITLAB",
    "discord": "DISCORD",
    "twitter": "X",
    "x": "X",
    "facebook": "FACEBOOK",
    "linkedin": "LINKEDIN",
    "linkedin_oidc": "LINKEDIN",
    "linkedin-openid-connect": "LINKEDIN",
}
"""Sign-in providers by their lower-case names in exports. The subjects of Google, GitHub, GitLab, Discord and X are the
same at every client, those of Apple at every client of a developer, and those of Facebook and LinkedIn at the same app.

Left out are Microsoft, whose subjects are pairwise and need the issuer of a tenant, and Slack, whose ids of users are
unique with the workspace only (`social.subject_of`): exports have neither issuer nor workspace."""
PBKDF2_NAMES = {"pbkdf2": "sha1", "pbkdf2-sha1": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}


class RowUnusable(Exception):
    """The row cannot be converted; the message says why."""


class RowSkipped(Exception):
    """The row is not a person, so it is left out, which is no failure; the message says why."""


@dataclass(frozen=True)
class Conversion:
    """What a row becomes, and what of it is not carried over."""

    body: dict[str, Any]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Membership:
    """An organization of which a user of an export is a member."""

    external_id: str
    name: str


@dataclass(frozen=True)
class ExportOptions:
    """What the command was given beside the file."""

    passwords: Mapping[str, str] = field(default_factory=dict)
    """Auth0: password hashes by user id."""
    hash_config: Mapping[str, str] = field(default_factory=dict)
    """Firebase: the parameters that the console shows."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Keycloak: keys of roles by names of realm roles."""
    groups_are_organizations: bool = False
    """Keycloak: whether the top-level groups of users become organizations."""
    memberships: Mapping[str, list[Membership]] = field(default_factory=dict)
    """Keycloak: the organizations of users by user name."""
    lost_memberships: Mapping[str, str] = field(default_factory=dict)
    """Keycloak: names of organizations that cannot be converted, by the user names of their members."""
    passkey_domain: str | None = None
    """Keycloak: the relying party id of its passkeys."""
    factors: Mapping[str, str] = field(default_factory=dict)
    """Supabase: TOTP secrets by user id."""
    identities: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Supabase: provider and subject of accounts by user id."""


class User:
    """The fields of a user, or another record, in an export. Methods raise RowUnusable for a value of another type."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def text(self, name: str) -> str | None:
        """A text that is not empty, or None."""
        value = self._typed(name, str, "text")
        return value.strip() or None if value else None

    def value(self, name: str) -> object:
        """The value of any type, or None."""
        return self._fields.get(name)

    def has(self, name: str) -> bool:
        """Whether the field is there."""
        return self._fields.get(name) is not None

    def identifier(self, name: str) -> str:
        """An id: a text or an integer. Raises RowUnusable if it is missing."""
        value = self._fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self.text(name)
        if text is None:
            raise RowUnusable(f"`{name}` is missing.")
        return text

    def flag(self, name: str) -> bool:
        """True or false, also as text; false if it is missing."""
        value = self._fields.get(name)
        if isinstance(value, str):
            return value.lower() in ("true", "t", "1")
        return bool(self._typed(name, bool, "true or false"))

    def mapping(self, name: str) -> dict[str, Any]:
        """An object, also as JSON in a text; empty if it is missing."""
        return self._structured(name, dict, "an object") or {}

    def items(self, name: str) -> list[Any]:
        """A list, also as JSON in a text; empty if it is missing."""
        return self._structured(name, list, "a list") or []

    def objects(self, name: str) -> list["User"]:
        """A list of objects."""
        values = self.items(name)
        if not all(isinstance(value, dict) for value in values):
            raise RowUnusable(f"`{name}` is not a list of objects.")
        return [User(value) for value in values]

    def moment(self, name: str) -> str | None:
        """A time in ISO 8601 or as milliseconds since 1970, in ISO 8601."""
        value = self._fields.get(name)
        if value in (None, ""):
            return None
        try:
            if isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
                return datetime.fromtimestamp(int(value) / 1000, UTC).isoformat()
            moment = datetime.fromisoformat(str(value))
        except (ValueError, OverflowError, OSError):
            raise RowUnusable(f"`{name}` is not a time.") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()

    def _structured(self, name: str, kind: type[Any], description: str) -> Any:
        value = self._fields.get(name)
        if isinstance(value, str):
            if not value.strip():
                return None
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise RowUnusable(f"`{name}` is not JSON.") from None
        if value is not None and not isinstance(value, kind):
            raise RowUnusable(f"`{name}` is not {description}.")
        return value

    def _typed(self, name: str, kind: type[Any], description: str) -> Any:
        value = self._fields.get(name)
        if value is not None and not isinstance(value, kind):
            raise RowUnusable(f"`{name}` is not {description}.")
        return value


Convert = Callable[[User, ExportOptions], Conversion]


def from_auth0(user: User, options: ExportOptions) -> Conversion:
    """A user of Auth0's export of users (NDJSON or JSON)."""
    user_id = user.identifier("user_id")
    body: dict[str, Any] = {
        "externalUserId": user_id,
        "email": user.text("email"),
        "emailVerified": user.flag("email_verified"),
        "name": display_name(user.text("name"), user.text("given_name"), user.text("family_name"), user.text("email")),
        "createdAt": user.moment("created_at"),
        "passwordHash": options.passwords.get(user_id.removeprefix("auth0|")),
    }
    notes: list[str] = []
    _add_phone(body, user.text("phone_number"), notes, is_verified=user.flag("phone_verified"))
    if user.flag("blocked"):
        body["ban"] = {"reason": "Blocked in Auth0"}
    metadata = {name: user.mapping(name) for name in ("user_metadata", "app_metadata")}
    body["language"] = _language(user.value("locale"), metadata["user_metadata"].get("locale"))
    body["metadata"] = {name: value for name, value in metadata.items() if value}
    accounts = [
        (str(identity.text("provider")), identity.identifier("user_id"))
        for identity in user.objects("identities")
        if identity.text("provider") not in (None, "auth0")
    ]
    _add_accounts(body, accounts, notes)
    if user.items("multifactor"):
        notes.append("The second factor: Auth0 does not export it.")
    return _conversion(body, notes)


def from_clerk(user: User, options: ExportOptions) -> Conversion:
    """A user of the CSV that Clerk's dashboard exports."""
    body: dict[str, Any] = {
        "externalUserId": user.identifier("id"),
        "name": display_name(None, user.text("first_name"), user.text("last_name"), user.text("username")),
        "createdAt": user.moment("created_at"),
        "totpSecret": user.text("totp_secret"),
        "language": _language(user.value("locale")),
    }
    notes: list[str] = []
    verified = _split(user.text("verified_email_addresses"))
    unverified = _split(user.text("unverified_email_addresses"))
    primary = user.text("primary_email_address") or next(iter([*verified, *unverified]), None)
    body["email"], body["emailVerified"] = primary, primary in verified
    others = [(address, True) for address in verified] + [(address, False) for address in unverified]
    body["otherEmails"] = [{"email": email, "verified": is_true} for email, is_true in others if email != primary]
    phones = _split(user.text("verified_phone_numbers"))
    phone = user.text("primary_phone_number") or next(iter(phones), None)
    _add_phone(body, phone, notes, is_verified=phone in phones)
    digest, hasher = user.text("password_digest"), (user.text("password_hasher") or "").lower()
    if digest is not None:
        body["passwordHash"] = _clerk_hash(digest, hasher)
        if body["passwordHash"] is None:
            notes.append(f"The password: hashes of {hasher or 'an unnamed hasher'} cannot be imported.")
    return _conversion(body, notes)


def from_firebase(user: User, options: ExportOptions) -> Conversion:
    """A user of `firebase auth:export` in JSON."""
    body: dict[str, Any] = {
        "externalUserId": user.identifier("localId"),
        "email": user.text("email"),
        "emailVerified": user.flag("emailVerified"),
        "name": user.text("displayName"),
        "createdAt": user.moment("createdAt"),
        "metadata": user.mapping("customAttributes"),
    }
    notes: list[str] = []
    # Firebase has only numbers that a code by SMS has verified.
    _add_phone(body, user.text("phoneNumber"), notes, is_verified=True)
    if user.flag("disabled"):
        body["ban"] = {"reason": "Disabled in Firebase"}
    password_hash, salt = user.text("passwordHash"), user.text("salt")
    if password_hash is not None:
        if options.hash_config:
            config = options.hash_config
            costs = f"ln={config['mem_cost']},r={config['rounds']},p=1"
            parts = (salt or "", config["base64_salt_separator"], config["base64_signer_key"], password_hash)
            body["passwordHash"] = "$".join(("$firebase-scrypt", costs, *map(_plain_base64, parts)))
        else:
            notes.append("The password: give the hash parameters of the project with --hash-config.")
    accounts = [
        (str(account.text("providerId")).removesuffix(".com"), account.identifier("rawId"))
        for account in user.objects("providerUserInfo")
        if account.text("providerId") not in ("password", "phone")
    ]
    _add_accounts(body, accounts, notes)
    if user.items("mfaInfo"):
        notes.append("The second factor: codes by SMS are not carried over.")
    return _conversion(body, notes)


def from_keycloak(user: User, options: ExportOptions) -> Conversion:
    """A user of the export of a realm, with credentials."""
    if user.has("serviceAccountClientId"):
        raise RowSkipped("The user is the service account of a client.")
    user_name = user.text("username") or ""
    if user_name in options.lost_memberships:
        # Repeating the import does not change customers who exist already, so it could not add the membership.
        raise RowUnusable(f"The organization {options.lost_memberships[user_name]} of the user cannot be imported.")
    body: dict[str, Any] = {
        "externalUserId": user.text("id") or user.identifier("username"),
        "email": user.text("email"),
        "emailVerified": user.flag("emailVerified"),
        "name": display_name(None, user.text("firstName"), user.text("lastName"), user.text("username")),
        "createdAt": user.moment("createdTimestamp"),
        "metadata": user.mapping("attributes"),
    }
    # Keycloak has each attribute as a list; this one has the language that the user chose on the sign-in pages.
    locales = body["metadata"].get("locale")
    body["language"] = _language(*(locales if isinstance(locales, list) else [locales]))
    notes: list[str] = []
    if user.has("enabled") and not user.flag("enabled"):
        body["ban"] = {"reason": "Disabled in Keycloak"}
    body["roles"] = [options.roles[role] for role in _texts(user, "realmRoles") if role in options.roles]
    others = [role for role in _texts(user, "realmRoles") if role not in options.roles]
    if others:
        notes.append(f"Realm roles, see --role: {', '.join(others)[:200]}.")
    groups = sorted({group.strip("/").partition("/")[0] for group in _texts(user, "groups")} - {""})
    memberships = list(options.memberships.get(user_name, []))
    if options.groups_are_organizations:
        memberships += [Membership(group, group) for group in groups]
    elif groups:
        notes.append(f"Groups, see --groups-are-organizations: {', '.join(groups)[:200]}.")
    body["organizations"] = [{"externalId": entry.external_id, "name": entry.name} for entry in memberships]
    if clients := sorted(user.mapping("clientRoles")):
        notes.append(f"Roles of clients: {', '.join(clients)[:200]}.")
    if user.has("federationLink"):
        notes.append("The link to a directory, such as LDAP, which checks the password.")
    accounts = [
        (str(account.text("identityProvider")), account.identifier("userId"))
        for account in user.objects("federatedIdentities")
    ]
    _add_accounts(body, accounts, notes)
    for credential in user.objects("credentials"):
        _add_credential(body, credential, options, notes)
    if actions := _texts(user, "requiredActions"):
        notes.append(f"Required actions: {', '.join(actions)[:200]}.")
    return _conversion(body, notes)


def _add_credential(body: dict[str, Any], credential: User, options: ExportOptions, notes: list[str]) -> None:
    """Add a credential of Keycloak."""
    kind, data, secret = credential.text("type"), credential.mapping("credentialData"), credential.mapping("secretData")
    if kind == "password":
        body["passwordHash"] = _keycloak_hash(data, secret)
        if body["passwordHash"] is None:
            notes.append(f"The password: its algorithm {str(data.get('algorithm'))[:50]} cannot be imported.")
    elif kind == "otp":
        is_usual = (data.get("subType"), data.get("digits"), data.get("period")) == ("totp", 6, 30)
        value = secret.get("value")
        if not is_usual or data.get("algorithm") != "HmacSHA1" or not isinstance(value, str):
            notes.append("The second factor: only codes of six digits by SHA-1 every 30 seconds can be imported.")
        elif "totpSecret" in body:
            notes.append("Another authenticator app.")
        else:
            # Older versions use the bytes of the text itself as the secret.
            is_encoded = data.get("secretEncoding") == "BASE32"
            body["totpSecret"] = value if is_encoded else base64.b32encode(value.encode()).decode()
    elif kind == "webauthn-passwordless" and options.passkey_domain:
        passkey = {
            "rpId": options.passkey_domain,
            "credentialId": data.get("credentialId"),
            "publicKey": data.get("credentialPublicKey"),
            "signCount": data.get("counter") or 0,
            "name": credential.text("userLabel") or "Passkey",
        }
        body.setdefault("passkeys", []).append(passkey)
    elif kind == "webauthn":
        # In Keycloak, it only works after the password, and often without a PIN.
        notes.append("A security key as second factor: here it would sign in without the password.")
    else:
        notes.append(f"A credential of the type {kind}.")


def _keycloak_hash(data: dict[str, Any], secret: dict[str, Any]) -> str | None:
    algorithm, rounds = str(data.get("algorithm")), data.get("hashIterations")
    value, salt = _plain_base64(str(secret.get("value"))), _plain_base64(str(secret.get("salt")))
    if algorithm in PBKDF2_NAMES and isinstance(rounds, int):
        return f"$pbkdf2-{PBKDF2_NAMES[algorithm]}${rounds}${salt}${value}"
    if algorithm == "argon2" and isinstance(parameters := data.get("additionalParameters"), dict):
        first = {name: values[0] for name, values in parameters.items() if isinstance(values, list) and values}
        kind = {"id": "argon2id", "i": "argon2i", "d": "argon2d"}.get(str(first.get("type")))
        version = {"1.3": 19, "1.0": 16}.get(str(first.get("version")))
        if kind and version:
            costs = f"m={first.get('memory')},t={rounds},p={first.get('parallelism')}"
            return f"${kind}$v={version}${costs}${salt.rstrip('=')}${value.rstrip('=')}"
    return None


def from_supabase(user: User, options: ExportOptions) -> Conversion:
    """A row of the table `auth.users` as CSV or JSON."""
    user_id = user.identifier("id")
    if user.text("deleted_at"):
        raise RowUnusable("The user was deleted.")
    if user.flag("is_anonymous"):
        raise RowUnusable("The user is anonymous.")
    profile = user.mapping("raw_user_meta_data")
    body: dict[str, Any] = {
        "externalUserId": user_id,
        "email": user.text("email"),
        "emailVerified": user.moment("email_confirmed_at") is not None,
        "name": display_name(profile.get("full_name"), profile.get("name")),
        "createdAt": user.moment("created_at"),
        "passwordHash": user.text("encrypted_password"),
        "totpSecret": options.factors.get(user_id),
        "language": _language(profile.get("locale")),
    }
    notes: list[str] = []
    _add_phone(body, user.text("phone"), notes, is_verified=user.moment("phone_confirmed_at") is not None)
    if until := user.moment("banned_until"):
        body["ban"] = {"reason": "Banned in Supabase", "expiresAt": until}
    metadata = {"user_metadata": profile, "app_metadata": user.mapping("raw_app_meta_data")}
    body["metadata"] = {name: value for name, value in metadata.items() if value}
    _add_accounts(body, options.identities.get(user_id, []), notes)
    if user.flag("is_sso_user"):
        notes.append("The account of a single sign-on connection.")
    return _conversion(body, notes)


FORMATS: Mapping[str, Convert] = {
    "auth0": from_auth0,
    "clerk": from_clerk,
    "firebase": from_firebase,
    "keycloak": from_keycloak,
    "supabase": from_supabase,
}


def read_hash_config(text: str) -> dict[str, str]:
    """Read the hash parameters as Firebase's console shows them. Raises RowUnusable if one is missing."""
    names = ("base64_signer_key", "base64_salt_separator", "rounds", "mem_cost")
    config = dict(re.findall(r"^\s*(\w+)\s*[:=]\s*\"?([^\s,\"]+)", text, re.MULTILINE))
    missing = [name for name in names if name not in config]
    if missing:
        raise RowUnusable(f"The hash parameters lack {', '.join(missing)}.")
    return {name: config[name] for name in names}


def _conversion(body: dict[str, Any], notes: list[str]) -> Conversion:
    if body.get("passwordHash") and not body.get("email"):
        del body["passwordHash"]
        notes.append("The password: the user has no e-mail address.")
    return Conversion({name: value for name, value in body.items() if value not in (None, [], {})}, notes)


def _texts(user: User, name: str) -> list[str]:
    values = user.items(name)
    if not all(isinstance(value, str) for value in values):
        raise RowUnusable(f"`{name}` is not a list of texts.")
    return values


def display_name(full: object, *parts: object) -> str | None:
    """The full name, or else the first and last name; without control characters, at most 200 characters."""
    texts = [part for part in (full,) if isinstance(part, str)] or [part for part in parts[:2] if isinstance(part, str)]
    text = " ".join("".join(c if c.isprintable() else " " for c in " ".join(texts)).split())
    return text[:200] or None


def _language(*values: object) -> str | None:
    """The first value that is a language tag, or the name of a locale."""
    return next(filter(None, map(read_language_tag, values)), None)


def _add_phone(body: dict[str, Any], phone: str | None, notes: list[str], *, is_verified: bool) -> None:
    plain = re.sub(r"[\s().-]", "", phone or "")
    if re.fullmatch(r"[1-9]\d{5,14}", plain):
        plain = f"+{plain}"
    if re.fullmatch(r"\+[1-9]\d{5,14}", plain):
        body["phone"], body["phoneVerified"] = plain, is_verified
    elif plain:
        notes.append("The phone number: it is not in international form.")


def _add_accounts(body: dict[str, Any], accounts: list[tuple[str, str]], notes: list[str]) -> None:
    """Add accounts at providers that are presets; others become notes."""
    identities: list[dict[str, str]] = []
    for provider, subject in accounts:
        if key := PRESETS.get(provider.lower()):
            identities.append({"provider": key, "subject": subject})
        else:
            notes.append(f"The account at {provider[:50]}.")
    body["identities"] = identities


def _split(text: str | None) -> list[str]:
    return [part for part in re.split(r"[,|;\s]+", text or "") if part]


def _plain_base64(text: str) -> str:
    """Base64 in the usual alphabet, from the usual or the URL-safe one."""
    return text.replace("-", "+").replace("_", "/").replace("$", "")


def _clerk_hash(digest: str, hasher: str) -> str | None:
    """A digest of Clerk in the form of the API; None if there is none for its hasher.

    Clerk's `pbkdf2_sha256` has a salt in base64, and its `pbkdf2_sha1` a hash in hexadecimal, unlike Django's.
    """
    parts = digest.split("$")
    if hasher in (
        "bcrypt",
        "bcrypt_sha256_django",
        "argon2i",
        "argon2id",
        "phpass",
        "pbkdf2_sha256_django",
        "ldap_ssha",
    ):
        return digest
    if hasher == "pbkdf2_sha256" and len(parts) == 4:
        return "$".join(("$pbkdf2-sha256", parts[1], *map(_plain_base64, parts[2:])))
    if hasher == "pbkdf2_sha1" and len(parts) == 4:
        salt, value = base64.b64encode(parts[2].encode()).decode(), _base64_of_hex(parts[3])
        return value and f"$pbkdf2-sha1${parts[1]}${salt}${value}"
    if hasher in ("md5", "sha256"):
        value = _base64_of_hex(digest)
        return value and f"$salted-{hasher}$prefix$${value}"
    if hasher == "scrypt_firebase" and len(parts) == 6:
        value, salt, signer_key, separator, rounds, memory = parts
        fields = (f"ln={memory},r={rounds},p=1", *map(_plain_base64, (salt, separator, signer_key, value)))
        return "$".join(("$firebase-scrypt", *fields))
    return None


def _base64_of_hex(text: str) -> str | None:
    try:
        return base64.b64encode(binascii.unhexlify(text)).decode()
    except (binascii.Error, ValueError):
        return None
