"""Records, request bodies and problems of features, plans, overrides and entitlements."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record, Timestamp

FEATURES_PER_PROJECT = 1_000
PLANS_PER_PROJECT = 1_000
AMOUNT_LIMIT = 9_007_199_254_740_991
"""2^53 - 1, the largest integer that all JSON parsers read exactly (RFC 8259 section 6)."""
EXPIRY_LEASE = timedelta(minutes=5)
"""How long a worker holds an expired override before another worker can claim it."""

FeatureType = Literal["BOOLEAN", "LIMIT"]
Source = Literal["OVERRIDE", "PLAN", "DEFAULT", "NONE"]

Key = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z][A-Za-z0-9_.:-]*(?!\n)$",
        max_length=64,
        description="A key for programs: letters, digits, `_`, `.`, `:` and `-`, beginning with a letter: `sso`.",
    ),
]
Name = DisplayName
Amount = Annotated[int, msgspec.Meta(ge=0, le=AMOUNT_LIMIT)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class FeatureMissing(Missing):
    """There is no such feature."""


class PlanMissing(Missing):
    """There is no such plan."""


class FeatureExists(Conflict):
    """This project already has a feature with that key."""


class PlanExists(Conflict):
    """This project already has a plan with that key."""


class PlanInUse(Conflict):
    """Organizations are on this plan; move them to another one first."""


class FeatureUndeclared(Unprocessable):
    """A plan can include only features that the project has declared; declare the feature first."""


class LimitNotAllowed(Unprocessable, code="limit_not_taken"):
    """A BOOLEAN feature is on or off; only a LIMIT feature can have a limit."""


class TooManyFeatures(Unprocessable):
    """A project has at most 1,000 features; delete some first."""


class TooManyPlans(Unprocessable):
    """A project has at most 1,000 plans; delete some first."""


class Feature(Record):
    """A feature that organizations can use: on or off, or up to a limit."""

    key: str
    name: str
    type: FeatureType
    default_enabled: bool
    default_limit: int | None
    """The limit where neither a plan nor an override sets the feature; null is unlimited."""
    created_at: Moment
    updated_at: Moment


class FeatureRow(Feature):
    """A row of `features`."""

    id: UUID


class PlanFeature(Body):
    """A feature of a plan."""

    feature_key: Key
    enabled: bool = True
    limit: Amount | None = None
    """Null is unlimited."""


class Plan(Record):
    """A set of features that can be assigned to organizations."""

    key: str
    name: str
    features: list[PlanFeature]
    organization_count: int
    created_at: Moment
    updated_at: Moment


class PlanRow(Plan):
    """A row of `plans` with its features and number of organizations."""

    id: UUID


class Entitlement(Record):
    """Whether and up to which limit an organization can use a feature, and why."""

    feature_key: str
    type: FeatureType | None
    """Null for a feature that is not declared."""
    enabled: bool
    limit: int | None
    """Null is unlimited. Always null for a BOOLEAN feature."""
    source: Source
    """What decided: an override of the organization, its plan, the default of the feature, or NONE if the project has
    not declared the feature."""
    plan_key: str | None
    """Key of the plan, if the source is PLAN."""
    reason: str | None
    """The reason of the override, or that the organization is suspended; otherwise null."""
    expires_at: Moment | None
    """When the override ends, if the source is OVERRIDE."""
    organization_id: UUID | None = None


class EntitlementRow(Record):
    """The default of a feature, and what the plan and the override of one organization set for it."""

    key: str
    type: FeatureType
    default_enabled: bool
    default_limit: int | None
    plan_key: str | None
    plan_enabled: bool | None
    plan_limit: int | None
    override_enabled: bool | None
    override_limit: int | None
    reason: str | None
    expires_at: Moment | None
    organization_suspended: bool
    """Whether the organization is suspended, so that none of its features is enabled."""
    organization_exists: bool
    """Whether the organization exists; false for a lookup without one."""


class NumberedEntitlementRow(EntitlementRow):
    """The row of one of several lookups."""

    number: int
    """Position of the lookup in the request, counted from 1."""


class OverrideRow(Record):
    """A row of `entitlement_overrides` that is due, as a worker claimed it."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    feature_id: UUID
    expires_at: Moment | None
    attempt: int
    """Number of times that workers have claimed the row; see `kernel/due.py`."""


class NewFeature(Body):
    """A feature to declare."""

    key: Key
    name: Name | None = None
    """Defaults to the key."""
    type: FeatureType = "BOOLEAN"
    default_enabled: bool = False
    default_limit: Amount | None = None


class FeatureChange(Body):
    """Fields to change; key and type cannot change."""

    name: Name | UnsetType = UNSET
    default_enabled: bool | UnsetType = UNSET
    default_limit: Amount | None | UnsetType = UNSET


class NewPlan(Body):
    """A plan to create."""

    key: Key
    name: Name | None = None
    """Defaults to the key."""
    features: Annotated[list[PlanFeature], msgspec.Meta(max_length=FEATURES_PER_PROJECT)] = []


class PlanChange(Body):
    """Fields to change; `features` replaces the whole list."""

    name: Name | UnsetType = UNSET
    features: Annotated[list[PlanFeature], msgspec.Meta(max_length=FEATURES_PER_PROJECT)] | UnsetType = UNSET


class OrganizationPlan(Record):
    """The plan of an organization."""

    organization_id: UUID
    plan_key: str | None
    plan: Plan | None


class PlanChoice(Body):
    """The plan of an organization; null for no plan."""

    plan_key: str | None


class EntitlementOverride(Body):
    """An exception for one organization and feature, which takes precedence over the plan."""

    enabled: bool = True
    limit: Amount | None = None
    """Null is unlimited."""
    reason: Reason | None = None
    expires_at: Timestamp | None = None


class EntitlementCheck(Body):
    """A check whether an organization can use a feature."""

    feature_key: Annotated[str, msgspec.Meta(max_length=256)]
    organization_id: str | None = None
    """May be omitted: with the token of a customer who belongs to one organization, it is that organization; otherwise
    the default of the feature applies. Required with the token of a customer who belongs to several organizations."""
