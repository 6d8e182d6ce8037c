"""All permissions of developers and API keys, the permissions of each role, and the default permissions of a key."""

from typing import Literal

from postern.kernel.http.call import NAMED_ONLY_VERBS

MemberRole = Literal["OWNER", "ADMIN", "DEVELOPER", "VIEWER"]

PERMISSIONS: dict[str, str] = {
    "account:read": "See the account, its members and its audit log.",
    "account:write": "Rename the account; invite, change and remove members.",
    "account:export": "Export all data of the account.",
    "account:own": "Transfer or delete the account.",
    "billing:read": "See the plan and the usage.",
    "billing:write": "Change the plan.",
    "projects:read": "See projects and their settings.",
    "projects:write": "Create and delete projects and change their settings.",
    "keys:read": "See API keys (never their values).",
    "keys:write": "Create and delete API keys.",
    "emails:send": "Send mail.",
    "emails:read": "Read sent messages, their log, and suppressions.",
    "emails:write": "Reschedule, cancel and retry sends; change suppressions.",
    "inbox:read": "Read captured messages.",
    "inbound:read": "Read received messages and their routes.",
    "inbound:write": "Create, change and delete routes of received mail; add and delete received messages.",
    "templates:read": "Read templates.",
    "templates:write": "Create, change and delete templates.",
    "domains:read": "See sending domains.",
    "domains:write": "Add, verify and delete sending domains.",
    "contacts:read": "Read contacts.",
    "contacts:write": "Create, change, import and delete contacts.",
    "audiences:read": "Read audiences and their members.",
    "audiences:write": "Create, change and delete audiences.",
    "campaigns:read": "Read campaigns and their sends.",
    "campaigns:write": "Create, change and delete campaigns.",
    "campaigns:send": "Start, pause, resume and cancel campaigns; send tests.",
    "automations:read": "Read automations and their runs.",
    "automations:write": "Create, change, activate, deactivate and delete automations.",
    "analytics:read": "Read statistics.",
    "events:read": "Read the project's events.",
    "events:write": "Send custom events.",
    "webhooks:read": "See webhook subscriptions and deliveries.",
    "webhooks:write": "Create, change, test, replay and delete webhook subscriptions.",
    "customers:read": "Read customers, their sessions and their history.",
    "customers:write": "Change, ban, link and erase customers.",
    "customers:impersonate": (
        "Act as a customer: read one-time codes and links in captured mail. A key has it only if its `permissions` "
        "list it by name; wildcards do not include it."
    ),
    "access:read": "Read roles and permissions; check access.",
    "access:write": "Create, change and delete roles and permissions.",
    "organizations:read": "Read organizations, members, invitations and domains.",
    "organizations:write": "Create, change and delete organizations, members, invitations and domains.",
    "sso:read": "See single sign-on connections.",
    "sso:write": "Create, change, activate, deactivate and delete single sign-on connections.",
    "scim:read": "See directories, and the users and groups that they have provisioned.",
    "scim:write": "Create, change and delete directories; create their tokens.",
    "entitlements:read": "Read features, plans and entitlements; check them.",
    "entitlements:write": "Change features, plans and entitlements.",
}

_ACCOUNT_AREAS = ("account", "billing", "keys")
NAMED_ONLY = frozenset(name for name in PERMISSIONS if name.partition(":")[2] in NAMED_ONLY_VERBS)
"""Permissions that a key has only if its `permissions` contain them literally, not by a wildcard. The developer who
creates such a key must have them, too."""
_READS = frozenset(name for name in PERMISSIONS if name.endswith(":read"))
_ALL = frozenset(PERMISSIONS)

ROLE_PERMISSIONS: dict[MemberRole, frozenset[str]] = {
    "OWNER": _ALL,
    "ADMIN": _ALL - {"account:own"},
    "DEVELOPER": (
        frozenset(name for name in PERMISSIONS if name.partition(":")[0] not in ("account", "billing")) - NAMED_ONLY
    )
    | {"account:read", "billing:read"},
    "VIEWER": _READS,
}

UNVERIFIED_PERMISSIONS: frozenset[str] = _READS | {"emails:send"}
"""Permissions of a developer whose email address is not verified: to read, and to send mail that is captured."""

KEY_PERMISSIONS: frozenset[str] = (
    frozenset(name for name in PERMISSIONS if name.partition(":")[0] not in _ACCOUNT_AREAS)
    - {"projects:write"}
    - NAMED_ONLY
)
"""Permissions of a secret key that was created without a list: all of the project except `projects:write` and
NAMED_ONLY, and none of the account."""


def is_for_keys(name: str) -> bool:
    """Whether a key may have a permission; false for those of the areas account, billing and keys."""
    return name.partition(":")[0] not in _ACCOUNT_AREAS


def is_permission(name: str) -> bool:
    """Whether `name` is a permission, or `area:*` of an area that has some."""
    area, _, verb = name.partition(":")
    return name in PERMISSIONS or (verb == "*" and any(permission.startswith(f"{area}:") for permission in PERMISSIONS))


def describe_permissions_near(name: str) -> str:
    """A sentence that lists the permissions in the area of `name`. If there is no such area, it lists the areas
    of which a key can have permissions."""
    area = name.partition(":")[0]
    in_area = [permission for permission in PERMISSIONS if permission.startswith(f"{area}:")]
    if in_area:
        return f"There are {', '.join(f'`{permission}`' for permission in in_area)} and `{area}:*`."
    areas = dict.fromkeys(permission.partition(":")[0] for permission in PERMISSIONS if is_for_keys(permission))
    return f"The areas are {', '.join(areas)}."
