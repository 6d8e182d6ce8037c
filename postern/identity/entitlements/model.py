"""Features, plans, overrides, and the entitlements that follow from them."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Body, NameForPeople, Record, Timestamp

FEATURES_PER_PROJECT = 1_000
PLANS_PER_PROJECT = 1_000
AMOUNT_LIMIT = 9_007_199_254_740_991
"""The largest whole number that every JSON reader keeps exactly."""
EXPIRY_LEASE = timedelta(minutes=5)

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
Name = NameForPeople
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
    """A plan can name only features that the project has declared."""


class LimitNotTaken(Unprocessable):
    """A BOOLEAN feature is on or off; only a LIMIT feature takes a limit."""


class TooManyFeatures(Unprocessable):
    """A project has at most 1,000 features; delete some first."""


class TooManyPlans(Unprocessable):
    """A project has at most 1,000 plans; delete some first."""


class Feature(Record):
    """Something that an organization may have: on or off, or up to a limit."""

    key: str
    name: str
    type: FeatureType
    default_enabled: bool
    default_limit: int | None
    """What holds without plan and override; null is unlimited."""
    created_at: Moment
    updated_at: Moment


class FeatureRow(Feature):
    """The row of a feature."""

    id: UUID


class PlanFeature(Body):
    """What a plan says about one feature."""

    feature_key: Key
    enabled: bool = True
    limit: Amount | None = None
    """Null is unlimited."""


class Plan(Record):
    """A bundle of features that organizations are put on."""

    key: str
    name: str
    features: list[PlanFeature]
    organization_count: int
    created_at: Moment
    updated_at: Moment


class PlanRow(Plan):
    """The row of a plan."""

    id: UUID


class Entitlement(Record):
    """What an organization has of one feature, and why."""

    feature_key: str
    type: FeatureType | None
    """Null for a feature that was never declared."""
    enabled: bool
    limit: int | None
    """Null is unlimited, and the only value of a BOOLEAN feature."""
    source: Source
    plan_key: str | None
    """The plan that it comes from, if it does."""
    reason: str | None
    expires_at: Moment | None
    """When the override ends that it comes from."""
    organization_id: UUID | None = None


class EntitlementRow(Record):
    """Everything that is said about one feature for one organization."""

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
    suspended: bool
    organization_known: bool


class NumberedEntitlementRow(EntitlementRow):
    """The answer to one of several questions."""

    number: int
    """Its place among them, from 1."""


class OverrideRow(Record):
    """A due row: an override that ends."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    feature_id: UUID
    expires_at: Moment | None
    attempt: int


class NewFeature(Body):
    """A feature to declare."""

    key: Key
    name: Name | None = None
    """The key, if none is given."""
    type: FeatureType = "BOOLEAN"
    default_enabled: bool = False
    default_limit: Amount | None = None


class FeatureChange(Body):
    """What to change of a feature; key and type stay."""

    name: Name | UnsetType = UNSET
    default_enabled: bool | UnsetType = UNSET
    default_limit: Amount | None | UnsetType = UNSET


class NewPlan(Body):
    """A plan to create."""

    key: Key
    name: Name | None = None
    """The key, if none is given."""
    features: Annotated[list[PlanFeature], msgspec.Meta(max_length=FEATURES_PER_PROJECT)] = []


class PlanChange(Body):
    """What to change of a plan; `features` replaces the whole list."""

    name: Name | UnsetType = UNSET
    features: Annotated[list[PlanFeature], msgspec.Meta(max_length=FEATURES_PER_PROJECT)] | UnsetType = UNSET


class OrganizationPlan(Record):
    """The plan that an organization is on."""

    organization_id: UUID
    plan_key: str | None
    plan: Plan | None


class PlanChoice(Body):
    """The plan that an organization is on; null takes it off every plan."""

    plan_key: str | None


class EntitlementOverride(Body):
    """What an organization has of a feature whatever its plan says."""

    enabled: bool = True
    limit: Amount | None = None
    """Null is unlimited."""
    reason: Reason | None = None
    expires_at: Timestamp | None = None


class EntitlementCheck(Body):
    """May this organization use that feature?"""

    feature_key: Annotated[str, msgspec.Meta(max_length=256)]
    organization_id: str | None = None
    """A customer's token implies it where the customer belongs to one organization."""
