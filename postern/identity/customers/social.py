"""Presets of sign-in providers, and what each does differently from OpenID Connect or OAuth 2.0.

GitHub, Discord, Facebook and X issue no ID tokens: the account is read from their API with the access token. All others
are OpenID providers. An address counts as verified only if the provider says so of this address.
"""

import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from postern.identity.customers import oidc
from postern.identity.customers.oidc import ProviderTrouble
from postern.kernel.values import Record
from postern.protocols.oidc.id_token import TokenRefused

if TYPE_CHECKING:
    from postern.world import World

ProviderKind = Literal[
    "OIDC", "GOOGLE", "MICROSOFT", "APPLE", "GITHUB", "GITLAB", "DISCORD", "SLACK", "LINKEDIN", "FACEBOOK", "X"
]
GOOGLE_ISSUERS = ("https://accounts.google.com", "accounts.google.com")
"""The issuers of Google's ID tokens, also for a provider of the kind OIDC."""
GOOGLE_MAILBOXES = ("@gmail.com", "@googlemail.com")
ISSUERS: dict[str, str] = {
    "GOOGLE": "https://accounts.google.com",
    "MICROSOFT": "https://login.microsoftonline.com/common/v2.0",
    "APPLE": "https://appleid.apple.com",
    "GITHUB": "https://github.com",
    "GITLAB": "https://gitlab.com",
    "DISCORD": "https://discord.com",
    "SLACK": "https://slack.com",
    "LINKEDIN": "https://www.linkedin.com/oauth",
    "FACEBOOK": "https://www.facebook.com",
    "X": "https://x.com",
}
"""Issuers of the kinds of providers whose settings need no `issuer`; for providers without ID tokens, their host."""
NAMES = {"GITHUB": "GitHub", "GITLAB": "GitLab", "LINKEDIN": "LinkedIn"}
"""Display names that differ from the key in title case."""
SCOPES = {
    "GITHUB": "read:user user:email",
    "APPLE": "openid email name",
    "DISCORD": "identify email",
    "FACEBOOK": "public_profile email",
    # `users/me` needs both. `users.email` is for apps that X allows to ask for addresses.
    "X": "users.read tweet.read",
}
"""Default scopes, where they are not those of OpenID Connect."""
WITHOUT_ID_TOKENS = frozenset(("GITHUB", "DISCORD", "FACEBOOK", "X"))
WITHOUT_NONCE = frozenset(("LINKEDIN",))
"""Kinds whose ID tokens never have a `nonce`. The cookie of the flow still binds the response to the browser."""
WITHOUT_PKCE = frozenset(("LINKEDIN",))
"""Kinds that answer `invalid_client` to a `code_verifier`, unless PKCE is enabled for the app on request."""
SECRET_IN_FORM = frozenset(("APPLE", "LINKEDIN", "SLACK"))
"""Kinds of OpenID providers to which the client secret is sent in the form."""
FACEBOOK_VERSION = "v23.0"
"""The version of Facebook's Graph API. Facebook serves a version for two years, and then the oldest one instead."""


class OAuthEndpoints(Record):
    """The endpoints of a provider without ID tokens."""

    authorization: str
    token: str
    api: str
    """The base URL of its API."""
    basic: bool = False
    """Whether the client's credentials are sent in the Authorization header."""


class ProviderAccount(Record):
    """An account at a provider without ID tokens."""

    subject: str
    email: str | None
    email_verified: bool
    name: object


def endpoints_of(kind: str, issuer: str) -> OAuthEndpoints:
    """The endpoints of a provider in WITHOUT_ID_TOKENS. If `issuer` is another one than that of the preset, such as an
    installation of GitHub Enterprise Server, it serves all of them."""
    is_preset = issuer == ISSUERS[kind]
    if kind == "GITHUB":
        return OAuthEndpoints(
            authorization=f"{issuer}/login/oauth/authorize",
            token=f"{issuer}/login/oauth/access_token",
            api="https://api.github.com" if is_preset else f"{issuer}/api/v3",
        )
    if kind == "DISCORD":
        return OAuthEndpoints(
            authorization=f"{issuer}/oauth2/authorize", token=f"{issuer}/api/oauth2/token", api=f"{issuer}/api"
        )
    if kind == "FACEBOOK":
        api = f"{'https://graph.facebook.com' if is_preset else issuer}/{FACEBOOK_VERSION}"
        return OAuthEndpoints(
            authorization=f"{issuer}/{FACEBOOK_VERSION}/dialog/oauth", token=f"{api}/oauth/access_token", api=api
        )
    api = f"{'https://api.x.com' if is_preset else issuer}/2"
    return OAuthEndpoints(
        authorization=f"{issuer}/i/oauth2/authorize", token=f"{api}/oauth2/token", api=api, basic=True
    )


async def read_account(
    world: "World", kind: str, endpoints: OAuthEndpoints, access_token: str, *, client_secret: str | None, scopes: str
) -> ProviderAccount:
    """Read the account of an access token from the API of a provider without ID tokens. Raises ProviderTrouble."""
    if kind == "GITHUB":
        return await _github_account(world, endpoints, access_token)
    if kind == "DISCORD":
        user = await oidc.fetch(world, f"{endpoints.api}/users/@me", access_token)
        account = _account(user, "Discord")
        email = _text(account.get("email"))
        return ProviderAccount(
            subject=_subject(account, "Discord"),
            email=email,
            email_verified=email is not None and account.get("verified") is True,
            name=account.get("global_name") or account.get("username"),
        )
    if kind == "FACEBOOK":
        fields = {"fields": "id,name,email"}
        if client_secret is not None:
            # Apps can require this proof that the caller has the secret.
            app_proof = hmac.new(client_secret.encode(), access_token.encode(), hashlib.sha256).hexdigest()
            fields["appsecret_proof"] = app_proof
        account = _account(await oidc.fetch(world, f"{endpoints.api}/me?{urlencode(fields)}", access_token), "Facebook")
        # Facebook does not say whether an address is verified, and has none of people who signed up by phone.
        return ProviderAccount(
            subject=_subject(account, "Facebook"),
            email=_text(account.get("email")),
            email_verified=False,
            name=account.get("name"),
        )
    wants_email = "users.email" in scopes.split(" ")
    query = "?user.fields=confirmed_email" if wants_email else ""
    document = _account(await oidc.fetch(world, f"{endpoints.api}/users/me{query}", access_token), "X")
    # X answers with status 200 and `errors` if it cannot return the user.
    account = _account(document.get("data"), "X")
    email = _text(account.get("confirmed_email")) if wants_email else None
    return ProviderAccount(
        subject=_subject(account, "X"), email=email, email_verified=email is not None, name=account.get("name")
    )


async def _github_account(world: "World", endpoints: OAuthEndpoints, access_token: str) -> ProviderAccount:
    account = await oidc.fetch(world, f"{endpoints.api}/user", access_token)
    emails = await oidc.fetch(world, f"{endpoints.api}/user/emails", access_token)
    if not isinstance(account, dict) or not isinstance(account.get("id"), int) or not isinstance(emails, list):
        raise ProviderTrouble("GitHub sent an account or addresses in an unexpected format.")
    # The address of the profile is not necessarily verified, so it is not used.
    primary = next((entry for entry in emails if isinstance(entry, dict) and entry.get("primary") is True), {})
    email = _text(primary.get("email"))
    return ProviderAccount(
        subject=str(account["id"]),
        email=email,
        email_verified=email is not None and primary.get("verified") is True,
        name=account.get("name") or account.get("login"),
    )


def subject_of(kind: str, claims: dict[str, Any]) -> str:
    """The subject that identifies an account, from the claims of its ID token.

    For Slack it has the workspace, too: ids of users are unique within it. Raises TokenRefused if it is missing.
    """
    if kind != "SLACK":
        return claims["sub"]
    team = claims.get("https://slack.com/team_id")
    if not isinstance(team, str) or not re.fullmatch(r"[A-Z0-9]{1,40}", team):
        raise TokenRefused("no workspace", "https://slack.com/team_id")
    return f"{team}-{claims['sub']}"


def is_email_verified(kind: str, claims: dict[str, Any], token_claims: dict[str, Any]) -> bool:
    """Whether the provider says that it has verified the address in `claims`, which are those of the ID token
    (`token_claims`) with those of UserInfo.

    Google's `email_verified` says that somebody has proved the address once. Google answers for it only if it keeps the
    mailbox: addresses at gmail.com or googlemail.com, and those of an organization with Google Workspace (`hd`). Any
    other address may belong to somebody else since.

    Microsoft has no `email_verified`: an administrator of any tenant can set any address. The optional claim `xms_edov`
    says that the tenant owns the domain of the address beside it, not of the one in a profile, which UserInfo has.
    """
    if kind == "MICROSOFT":
        # Microsoft sends it as a number, too.
        return "email" in token_claims and token_claims.get("xms_edov") in (True, "1", "true")
    verified = claims.get("email_verified")
    is_said = verified is True or verified == "true"
    if kind == "GOOGLE" or token_claims.get("iss") in GOOGLE_ISSUERS:
        # The claims of the ID token are about one address, and those of UserInfo may be about another one.
        email, hosted_domain = token_claims.get("email"), token_claims.get("hd")
        if not isinstance(email, str):
            return False
        is_hosted = isinstance(hosted_domain, str) and hosted_domain != ""
        return is_said and (is_hosted or email.lower().endswith(GOOGLE_MAILBOXES))
    return is_said


def _account(value: object, provider: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProviderTrouble(f"{provider} sent an account in an unexpected format.")
    return value


def _subject(account: dict[str, Any], provider: str) -> str:
    """The id of an account: digits, as text. Raises ProviderTrouble."""
    subject = account.get("id")
    if not isinstance(subject, str) or not re.fullmatch(r"[0-9]{1,40}", subject):
        raise ProviderTrouble(f"{provider} sent an account without an id.")
    return subject


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
