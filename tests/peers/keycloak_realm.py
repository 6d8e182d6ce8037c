"""A realm of Keycloak for tests of imports: one user of each kind, and organizations.

`tests/cli/keycloak-realm.json` is what `kc.sh export` of Keycloak 26.7.3 writes of it, without the settings of the
realm: `export_of` makes it from the whole export.
"""

import json
from typing import Any

from tests.peers.keycloak import Realm

PASSWORD, OLDER_PASSWORD = "a long enough pass phrase", "an older pass phrase"
SECRET = "kH7hvVXMrXBVzhQXTaMb"
"""The bytes of the secret of Ada's authenticator app."""
KEPT = ("id", "realm", "enabled", "groups", "users", "keycloakVersion", "organizationsEnabled", "organizations")

_TOTP = {
    "type": "otp",
    "userLabel": "Phone",
    "secretData": json.dumps({"value": SECRET}),
    "credentialData": json.dumps({"subType": "totp", "digits": 6, "counter": 0, "period": 30, "algorithm": "HmacSHA1"}),
}
_SECURITY_KEY = {
    "type": "webauthn",
    "userLabel": "Key",
    "secretData": "{}",
    "credentialData": json.dumps({"credentialId": "AAEC", "counter": 0, "credentialPublicKey": "AAEC"}),
}
_OWN_PROVIDER = {
    "authorizationUrl": "https://idp.example/authorize",
    "tokenUrl": "https://idp.example/token",
    "issuer": "https://idp.example",
}
REALM: dict[str, Any] = {
    "organizationsEnabled": True,
    "roles": {"realm": [{"name": "boss"}]},
    "groups": [{"name": "staff", "subGroups": [{"name": "admins"}]}],
    "clients": [{"clientId": "robot", "secret": "only for this test", "serviceAccountsEnabled": True}],
    "identityProviders": [
        {
            "alias": alias,
            "providerId": kind,
            "enabled": True,
            "config": {"clientId": "x", "clientSecret": "only for this test", **config},
        }
        for alias, kind, config in (("google", "google", {}), ("github", "github", {}), ("acme", "oidc", _OWN_PROVIDER))
    ],
    "users": [
        {
            "username": "ada",
            "email": "ada@acme.example",
            "emailVerified": True,
            "enabled": True,
            "firstName": "Ada",
            "lastName": "Byron",
            "attributes": {"plan": ["pro"]},
            "credentials": [{"type": "password", "value": PASSWORD}, _TOTP, _SECURITY_KEY],
            "realmRoles": ["boss"],
            "groups": ["/staff/admins"],
            "federatedIdentities": [
                {"identityProvider": "google", "userId": "1098", "userName": "ada"},
                {"identityProvider": "github", "userId": "77", "userName": "ada"},
            ],
        },
        {
            "username": "bob",
            "email": "bob@acme.example",
            "enabled": True,
            "credentials": [{"type": "password", "value": PASSWORD}],
            "federatedIdentities": [{"identityProvider": "acme", "userId": "9", "userName": "bob"}],
        },
        {"username": "eve", "email": "eve@old.example", "enabled": False},
    ],
    "organizations": [
        {
            "name": "Acme Ltd",
            "alias": "acme",
            "description": "The first",
            "redirectUrl": "https://app.example/acme",
            "enabled": True,
            "attributes": {"tier": ["gold"]},
            "domains": [{"name": "acme.example", "verified": True}, {"name": "gmail.com", "verified": False}],
            "members": [
                {"username": "ada", "membershipType": "UNMANAGED"},
                {"username": "bob", "membershipType": "MANAGED"},
            ],
            "identityProviders": [{"alias": "acme"}],
        },
        {
            "name": "Old",
            "alias": "Old_Ltd",
            "enabled": False,
            "domains": [{"name": "old.example", "verified": False}],
            "members": [{"username": "eve", "membershipType": "UNMANAGED"}],
        },
    ],
}


def add_what_a_realm_cannot_be_created_with(realm: Realm) -> None:
    """Add a group of an organization, and a user whose password has the hash of older versions."""
    (acme,) = realm.server.send("GET", f"{realm.path}/organizations?search=acme.example").json()
    realm.server.send("POST", f"{realm.path}/organizations/{acme['id']}/groups", json={"name": "admins"})
    settings = realm.server.send("GET", realm.path).json()
    realm.server.send("PUT", realm.path, json={**settings, "passwordPolicy": "hashAlgorithm(pbkdf2-sha512)"})
    user = {"username": "grace", "email": "grace@acme.example", "enabled": True}
    credentials = [{"type": "password", "value": OLDER_PASSWORD}]
    realm.server.send("POST", f"{realm.path}/users", json={**user, "credentials": credentials})


def export_of(realm: Realm) -> dict[str, Any]:
    """What `kc.sh export` writes of a realm, without settings that the import does not read."""
    export = realm.export()
    return {name: value for name, value in export.items() if name in KEPT}
