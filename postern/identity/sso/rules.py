"""Pure functions for single sign-on: profile mapping, checks, roles and validation of connections."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from postern.identity.sso.model import (
    MAX_SUBJECT_BYTES,
    WARNING_TIMES,
    AttributeMapping,
    ConnectionRow,
    LoginRefusal,
    ProvenSignOn,
    SsoProfile,
)
from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.values import Moment, Record
from postern.messaging.domains.rules import parse_domain
from postern.protocols.saml.certificates import Certificate, CertificateRefused, read_certificate
from postern.protocols.saml.connection import EMAIL_NAME_ID
from postern.protocols.saml.metadata import SamlMetadataRefused, require_browser_url
from postern.protocols.saml.response import SamlLogin
from postern.protocols.saml.trace import SsoTraceStep

TRANSIENT_NAME_ID = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"

_CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
COMMON_ATTRIBUTE_NAMES: dict[str, tuple[str, ...]] = {
    "email": ("email", "mail", "emailAddress", f"{_CLAIMS}/emailaddress", "urn:oid:0.9.2342.19200300.100.1.3"),
    "name": (
        "displayName",
        "name",
        "http://schemas.microsoft.com/identity/claims/displayname",
        "urn:oid:2.16.840.1.113730.3.1.241",
    ),
    "first_name": ("firstName", "givenName", "first_name", "given_name", f"{_CLAIMS}/givenname", "urn:oid:2.5.4.42"),
    "last_name": ("lastName", "surname", "sn", "last_name", "family_name", f"{_CLAIMS}/surname", "urn:oid:2.5.4.4"),
    "groups": (
        "groups",
        "group",
        "memberOf",
        "roles",
        "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
        "http://schemas.xmlsoap.org/claims/Group",
        "urn:oid:1.3.6.1.4.1.5923.1.5.1.1",
    ),
}
"""Attribute names that Entra, Google, Okta, ADFS, Shibboleth and others use, for each field of the profile."""


MFA_CONTEXTS = frozenset(
    (
        "https://refeds.org/profile/mfa",
        "http://schemas.microsoft.com/claims/multipleauthn",
        "urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract",
        "urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorUnregistered",
    )
)
"""Authentication context classes (SAML authn-context §3.4, `acr` of OpenID Connect) for multi-factor authentication."""
MFA_ATTRIBUTE = "http://schemas.microsoft.com/claims/authnmethodsreferences"
"""Attribute with the authentication methods, from Entra and ADFS."""


GOOGLE = "https://accounts.google.com"
"""An issuer for all customers of Google: the claim `hd` says to which organization an account belongs."""
MICROSOFT = "login.microsoftonline.com"
SHARED_TENANTS = frozenset(("common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"))
"""First parts of the path of Microsoft's issuers that anybody's account can have."""


def saml_sign_on(row: ConnectionRow, saml_login: SamlLogin) -> ProvenSignOn:
    """The user in a verified assertion."""
    idp_session_end = saml_login.session_not_on_or_after
    # The session must end no later than that of the identity provider (SAML profiles §4.1.4.3).
    clock_skew = timedelta(seconds=row.options.clock_skew_seconds)
    mapping = row.options.attribute_mapping
    email = None
    if saml_login.format == EMAIL_NAME_ID or "@" in saml_login.name_id:
        email = saml_login.name_id
    contexts = {saml_login.authn_context, *saml_login.attributes.get(MFA_ATTRIBUTE, [])}
    return ProvenSignOn(
        issuer=saml_login.issuer,
        message_id=saml_login.assertion_id,
        not_on_or_after=saml_login.not_on_or_after,
        in_response_to=saml_login.in_response_to,
        profile=_profile_of(
            saml_login.attributes,
            saml_login.friendly_names,
            mapping,
            subject=None if saml_login.format == TRANSIENT_NAME_ID else saml_login.name_id,
            email=email,
        ),
        multi_factor=row.options.trust_mfa or bool(MFA_CONTEXTS & contexts),
        name_id=saml_login.name_id,
        name_id_format=saml_login.format,
        session_index=saml_login.session_index,
        session_end=idp_session_end + clock_skew if idp_session_end else None,
        attributes=saml_login.attributes,
        trace=saml_login.trace,
    )


def oidc_sign_on(
    row: ConnectionRow,
    claims: Mapping[str, Any],
    *,
    message_id: str,
    in_response_to: str,
    not_on_or_after: datetime,
    logout_hint: bytes | None,
    trace: list[SsoTraceStep],
) -> ProvenSignOn:
    """The user in a verified ID token, and in the user info, if it was read. `claims` are the claims of both."""
    attributes = {name: texts for name, value in claims.items() if (texts := _texts_of(value))}
    contexts = {text for name in ("acr", "amr") for text in attributes.get(name, [])}
    session_id = claims.get("sid")
    return ProvenSignOn(
        issuer=str(claims["iss"]),
        message_id=message_id,
        not_on_or_after=not_on_or_after,
        in_response_to=in_response_to,
        profile=_profile_of(attributes, {}, row.options.attribute_mapping, subject=str(claims["sub"]), email=None),
        # The organization vouches for the addresses at its domains, so a missing `email_verified` does no harm.
        email_denied="email_verified" in claims and claims["email_verified"] not in (True, "true"),
        wrong_tenant=row.idp_entity_id == GOOGLE and str(claims.get("hd", "")).lower() != row.domain,
        multi_factor=row.options.trust_mfa or "mfa" in contexts or bool(MFA_CONTEXTS & contexts),
        name_id=str(claims["sub"]),
        session_index=session_id if isinstance(session_id, str) and _is_short(session_id) else None,
        logout_hint=logout_hint,
        attributes=attributes,
        trace=trace,
    )


def _is_short(identifier: str) -> bool:
    """Whether an identifier from an identity provider is short enough to be stored and indexed."""
    return len(identifier.encode()) <= MAX_SUBJECT_BYTES


def _texts_of(value: object) -> list[str]:
    """The value of a claim as texts; empty for objects."""
    values = value if isinstance(value, list) else [value]
    return [
        str(item).lower() if isinstance(item, bool) else str(item)
        for item in values
        if isinstance(item, str | int | float)
    ]


def _profile_of(
    attributes: Mapping[str, list[str]],
    friendly_names: Mapping[str, str],
    mapping: AttributeMapping,
    *,
    subject: str | None,
    email: str | None,
) -> SsoProfile:
    """The profile in attributes, read by the connection's attribute mapping or else by common attribute names.
    `subject` and `email` are used if the mapping does not name attributes for them, and `email` if there is none."""

    def values(field: str) -> list[str]:
        mapped_name: str | None = getattr(mapping, field, None)
        for name in (mapped_name,) if mapped_name else COMMON_ATTRIBUTE_NAMES.get(field, ()):
            texts = attributes.get(name) or attributes.get(friendly_names.get(name, ""))
            if texts:
                return [text for text in texts if text]
        return []

    def first(field: str) -> str | None:
        return next(iter(values(field)), None)

    name_parts = [part for part in (first("first_name"), first("last_name")) if part]
    return SsoProfile(
        subject=first("subject") if mapping.subject else subject,
        email=first("email") or (None if mapping.email else email),
        name=first("name") or " ".join(name_parts) or None,
        groups=values("groups"),
    )


class LoginCheck(Record):
    """The result of one check of a sign-on."""

    step: str
    detail: str
    refusal: LoginRefusal | None = None


def checks_of(
    row: ConnectionRow,
    sign_on: ProvenSignOn,
    profile: SsoProfile,
    *,
    domain_verified: bool,
    suspended: bool,
    email_verified: bool,
    test: bool,
) -> list[LoginCheck]:
    """The checks of a sign-on with a valid assertion or ID token, in order; failed checks have a `refusal`.

    `profile` is that of the sign-on, with None as address if it is not valid. With `test`, the connection
    need not be active.
    """
    checks = [LoginCheck(step="connection", detail=row.status)]
    if row.status != "ACTIVE" and not test:
        checks = [
            LoginCheck(step="connection", detail="This connection is not active.", refusal=LoginRefusal.NOT_ACTIVE)
        ]
    if not domain_verified:
        detail = f"{row.domain} is not a verified domain of the organization."
        checks.append(LoginCheck(step="domain", detail=detail, refusal=LoginRefusal.DOMAIN_NOT_VERIFIED))
    if suspended:
        detail = "The organization is suspended."
        checks.append(LoginCheck(step="organization", detail=detail, refusal=LoginRefusal.ORGANIZATION_SUSPENDED))
    if sign_on.wrong_tenant:
        detail = f"The account is not one of the Google Workspace {row.domain} (claim `hd`)."
        checks.append(LoginCheck(step="tenant", detail=detail, refusal=LoginRefusal.WRONG_TENANT))
    if profile.subject is None:
        detail = "There is no persistent identifier: send a persistent NameID, or map `subject`."
        checks.append(LoginCheck(step="person", detail=detail, refusal=LoginRefusal.TRANSIENT_SUBJECT))
    elif not _is_short(profile.subject):
        detail = f"The identifier of the user has more than {MAX_SUBJECT_BYTES} bytes."
        checks.append(LoginCheck(step="person", detail=detail, refusal=LoginRefusal.TRANSIENT_SUBJECT))
    else:
        checks.append(LoginCheck(step="person", detail=profile.subject))
    if profile.email is None:
        checks.append(
            LoginCheck(step="email", detail="No e-mail address was sent.", refusal=LoginRefusal.EMAIL_MISSING)
        )
    elif sign_on.email_denied and not row.options.allow_other_domains:
        detail = f"The identity provider has not verified {profile.email} (`email_verified` is false)."
        checks.append(LoginCheck(step="email", detail=detail, refusal=LoginRefusal.EMAIL_UNVERIFIED))
    elif not email_verified and not row.options.allow_other_domains:
        detail = f"{profile.email} is outside the organization's verified domains."
        checks.append(LoginCheck(step="email", detail=detail, refusal=LoginRefusal.EMAIL_OUTSIDE))
    else:
        checks.append(LoginCheck(step="email", detail=profile.email))
    return checks


def roles_after_sign_on(
    current_roles: Sequence[str] | None,
    groups: Collection[str],
    *,
    default_roles: Sequence[str],
    group_roles: dict[str, list[str]],
    existing_roles: Collection[str],
) -> list[str]:
    """The roles of a member after a sign-on; `current_roles` is None for a new member, who gets `default_roles`.

    The user's groups decide about roles that `group_roles` lists; other current roles stay. Roles that are not in
    `existing_roles` are omitted. Never empty: MEMBER if no other role is left.
    """
    group_set = set(groups)  # An identity provider can send very many.
    group_granted = [role for group, roles in group_roles.items() if group in group_set for role in roles]
    managed = {role for roles in group_roles.values() for role in roles}
    kept = list(default_roles) if current_roles is None else [role for role in current_roles if role not in managed]
    roles = [role for role in dict.fromkeys([*kept, *group_granted]) if role in existing_roles]
    return roles or [role for role in default_roles if role in existing_roles] or ["MEMBER"]


def missing_parts(row: ConnectionRow, *, domain_verified: bool, now: datetime) -> list[ProblemError]:
    """What is missing or invalid, so that the connection cannot be active; empty if it is complete."""
    errors: list[ProblemError] = _missing_saml_parts(row, now) if row.kind == "SAML" else _missing_oidc_parts(row)
    if not domain_verified:
        message = f"{row.domain} is not a VERIFIED domain of the organization."
        errors.append(ProblemError(path="/domain", code="domain_not_verified", message=message))
    return errors


def _missing_oidc_parts(row: ConnectionRow) -> list[ProblemError]:
    errors: list[ProblemError] = []
    if not row.idp_entity_id:
        errors.append(_missing("/oidcIssuer", "The issuer of the OpenID provider is missing."))
    if not row.oidc_client_id:
        errors.append(_missing("/oidcClientId", "The client id at the OpenID provider is missing."))
    return errors


def _missing_saml_parts(row: ConnectionRow, now: datetime) -> list[ProblemError]:
    errors: list[ProblemError] = []
    if not row.idp_entity_id:
        errors.append(_missing("/idpEntityId", "The identity provider's entity id is missing."))
    if not row.idp_sso_url:
        errors.append(_missing("/idpSsoUrl", "The identity provider's sign-on URL is missing."))
    certificates = [read_certificate(pem) for pem in row.idp_certificate]
    if not certificates:
        errors.append(_missing("/idpCertificate", "The identity provider's signing certificate is missing."))
    elif all(certificate.not_after <= now for certificate in certificates):
        errors.append(ProblemError(path="/idpCertificate", code="expired", message="Every certificate has expired."))
    return errors


def next_warning_at(row: ConnectionRow, sp_not_after: datetime, now: datetime) -> Moment | None:
    """When to warn next that a certificate of the connection expires; None for an inactive connection, or if there is
    no later warning time."""
    if row.status != "ACTIVE":
        return None
    warning_times = [expiry - before for expiry in expiry_times(row, sp_not_after) for before in WARNING_TIMES]
    next_time = min((time for time in warning_times if time > now), default=None)
    return Moment.of(next_time) if next_time else None


def first_warning_at(row: ConnectionRow, sp_not_after: datetime, now: datetime) -> Moment | None:
    """When to warn first about new certificates: now if one expires within the longest of WARNING_TIMES, otherwise like
    `next_warning_at`."""
    if row.status == "ACTIVE" and any(expiry - WARNING_TIMES[0] <= now for expiry in expiry_times(row, sp_not_after)):
        return Moment.of(now)
    return next_warning_at(row, sp_not_after, now)


def expiry_times(row: ConnectionRow, sp_not_after: datetime) -> list[datetime]:
    """When the last of the identity provider's certificates expires, if it has any, followed by `sp_not_after`."""
    idp_expiry_times = [read_certificate(pem).not_after for pem in row.idp_certificate]
    return [*([max(idp_expiry_times)] if idp_expiry_times else []), sp_not_after]


def as_connection_domain(text: str) -> str:
    """The domain in lower-case A-labels. Raises Invalid if it is malformed."""
    return parse_domain(text)


def require_web_url(url: str, path: str, *, allow_http: bool) -> str:
    """Return `url` if it is an https URL, or with `allow_http` an http URL, that a browser can be redirected to.
    Raises Invalid at `path` otherwise."""
    try:
        return require_browser_url(url, "address", allow_http=allow_http)
    except SamlMetadataRefused as refused:
        raise Invalid.at(path, refused.detail, "https_required") from None


def require_issuer(issuer: str, path: str, *, allow_http: bool) -> str:
    """Return `issuer` if it can be the issuer of a connection. Raises Invalid at `path` if it is not an https URL (or
    with `allow_http` an http URL) without query and fragment, or an issuer of accounts of all organizations."""
    require_web_url(issuer, path, allow_http=allow_http)
    parts = urlsplit(issuer)
    if "?" in issuer or "#" in issuer or "@" in parts.netloc:
        raise Invalid.at(path, "An issuer has no query, fragment or user name.", "invalid_issuer")
    if parts.hostname == MICROSOFT and parts.path.strip("/").partition("/")[0].lower() in SHARED_TENANTS:
        message = "Accounts of everybody have this issuer. Enter that of the tenant: …/{tenant id}/v2.0."
        raise Invalid.at(path, message, "shared_issuer")
    return issuer


def json_name_of(column: str) -> str:
    """The JSON name of a column: `idp_sso_url` becomes `idpSsoUrl`."""
    first, *others = column.split("_")
    return first + "".join(word.capitalize() for word in others)


def as_certificates(texts: Sequence[str], path: str = "/idpCertificate") -> list[Certificate]:
    """Parse certificates and remove duplicates. Raises Invalid at `path` and the index of an invalid certificate."""
    certificates: dict[str, Certificate] = {}
    for index, text in enumerate(texts):
        try:
            certificate = read_certificate(text)
        except CertificateRefused as refused:
            raise Invalid.at(f"{path}/{index}", refused.detail, "invalid_certificate") from None
        certificates.setdefault(certificate.fingerprint, certificate)
    return list(certificates.values())


def _missing(path: str, message: str) -> ProblemError:
    return ProblemError(path=path, code="missing", message=message)
