"""What an administrator does at each provider, in the terms of the provider's own pages.

The names of menus and fields are those of the English pages of the providers, and are not translated.
"""

from collections.abc import Sequence

from postern.identity.setup_links.model import Provider
from postern.kernel.values import Record
from postern.web.languages import Text, text


class GuideStep(Record):
    """One step: what to do, and the values to enter, as pairs of the field's name and the name of the value."""

    text: Text
    values: Sequence[tuple[str, str]] = ()
    """A name in braces, such as `{acs_url}`, stands for the value of the connection; other texts are entered as they
    are."""


class ProviderGuide(Record, kw_only=True):
    """The instructions for one provider."""

    name: str
    sso: Sequence[GuideStep]
    """How to create the connection."""
    takes: tuple[str, ...]
    """What the form then asks for: `url` and `xml` of the metadata, or `client` of OpenID Connect."""
    scim: Sequence[GuideStep]
    """How to connect the directory; empty if the provider cannot provision to other services."""


def _open(place: str) -> GuideStep:
    return GuideStep(text=text("Open {place}.", place=place))


def _choose(choice: str) -> GuideStep:
    return GuideStep(text=text("Choose “{choice}”, enter a name and continue.", choice=choice))


def _enter(place: str, *values: tuple[str, str]) -> GuideStep:
    return GuideStep(text=text("Under {place}, enter these values:", place=place), values=values)


def _attributes(place: str, *values: tuple[str, str]) -> GuideStep:
    return GuideStep(text=text("Add these attributes at {place}:", place=place), values=values)


def _assign(place: str) -> GuideStep:
    return GuideStep(text=text("Under {place}, choose who may sign in.", place=place))


def _provision(place: str) -> GuideStep:
    return GuideStep(text=text("Under {place}, choose who becomes a member.", place=place))


def _copy(value: str, place: str) -> GuideStep:
    return GuideStep(text=text("Copy “{value}” from {place}, and enter it below.", value=value, place=place))


_SERVICE = text("Enter these values at your identity provider:")
_NEEDED = text("Send the address of each person as the attribute {name}.", name="email")

GUIDES: dict[Provider, ProviderGuide] = {
    # https://learn.microsoft.com/en-us/entra/identity/enterprise-apps/add-application-portal-setup-sso
    "ENTRA": ProviderGuide(
        name="Microsoft Entra ID",
        takes=("url", "xml"),
        sso=[
            _open("entra.microsoft.com › Enterprise apps › New application › Create your own application"),
            _choose("Integrate any other application you don't find in the gallery (Non-gallery)"),
            _enter(
                "Single sign-on › SAML › Basic SAML Configuration",
                ("Identifier (Entity ID)", "{entity_id}"),
                ("Reply URL (Assertion Consumer Service URL)", "{acs_url}"),
            ),
            _assign("Users and groups"),
            _copy("App Federation Metadata Url", "Single sign-on › SAML Certificates"),
        ],
        scim=[
            _open("entra.microsoft.com › Enterprise apps › Provisioning"),
            _enter("Provisioning › New configuration", ("Tenant URL", "{base_url}"), ("Secret token", "{token}")),
            GuideStep(text=text("Choose “{choice}”.", choice="Test connection")),
            _provision("Users and groups"),
            GuideStep(text=text("Choose “{choice}”.", choice="Start provisioning")),
        ],
    ),
    # https://help.okta.com/en-us/content/topics/apps/apps_app_integration_wizard_saml.htm
    "OKTA": ProviderGuide(
        name="Okta",
        takes=("url", "xml"),
        sso=[
            _open("Applications › Applications › Create App Integration"),
            _choose("SAML 2.0"),
            _enter(
                "Configure SAML › SAML Settings",
                ("Single sign-on URL", "{acs_url}"),
                ("Audience URI (SP Entity ID)", "{entity_id}"),
                ("Name ID format", "EmailAddress"),
            ),
            _attributes(
                "Attribute Statements",
                ("email", "user.email"),
                ("firstName", "user.firstName"),
                ("lastName", "user.lastName"),
            ),
            _assign("Assignments"),
            _copy("Metadata URL", "Sign On › SAML 2.0"),
        ],
        scim=[
            _open("General › App Settings › Edit › Provisioning: SCIM"),
            _enter(
                "Provisioning › Integration",
                ("SCIM connector base URL", "{base_url}"),
                ("Unique identifier field for users", "userName"),
                ("Supported provisioning actions", "Push New Users, Push Profile Updates, Push Groups"),
                ("Authentication Mode", "HTTP Header"),
                ("Authorization (Bearer)", "{token}"),
            ),
            GuideStep(text=text("Choose “{choice}”.", choice="Test Connector Configuration")),
            _enter(
                "Provisioning › To App",
                ("Enable", "Create Users, Update User Attributes, Deactivate Users"),
            ),
            _provision("Assignments, Push Groups"),
        ],
    ),
    # https://support.google.com/a/answer/6087519
    "GOOGLE": ProviderGuide(
        name="Google Workspace",
        takes=("xml",),
        sso=[
            _open("admin.google.com › Apps › Web and mobile apps › Add app › Add custom SAML app"),
            GuideStep(
                text=text(
                    "Choose “{choice}”, open the file with a text editor, and copy all of it into the form below.",
                    choice="Download metadata",
                )
            ),
            _enter(
                "Service provider details",
                ("ACS URL", "{acs_url}"),
                ("Entity ID", "{entity_id}"),
                ("Name ID format", "EMAIL"),
                ("Name ID", "Basic Information > Primary email"),
            ),
            _attributes(
                "Attribute mapping",
                ("Primary email", "email"),
                ("First name", "firstName"),
                ("Last name", "lastName"),
            ),
            _assign("User access › ON for everyone"),
        ],
        scim=[],
    ),
    # https://jumpcloud.com/support/sso-using-custom-saml-application-connectors
    "JUMPCLOUD": ProviderGuide(
        name="JumpCloud",
        takes=("url", "xml"),
        sso=[
            _open("console.jumpcloud.com › SSO Applications › Add New Application › Custom Application"),
            _choose("Manage Single Sign-On (SSO) › Configure SSO with SAML"),
            _enter(
                "SSO",
                ("IdP Entity ID", "{idp_entity_id}"),
                ("SP Entity ID", "{entity_id}"),
                ("ACS URLs › Default URL", "{acs_url}"),
            ),
            _attributes(
                "SSO › Attributes",
                ("email", "email"),
                ("firstName", "firstname"),
                ("lastName", "lastname"),
            ),
            _assign("User Groups"),
            _copy("Copy Metadata URL", "SSO"),
        ],
        scim=[
            _enter(
                "Identity Management",
                ("API Type", "SCIM API"),
                ("SCIM Version", "SCIM 2.0"),
                ("Base URL", "{base_url}"),
                ("Token Key", "{token}"),
            ),
            GuideStep(text=text("Choose “{choice}”.", choice="Test Connection")),
            GuideStep(text=text("Choose “{choice}”.", choice="Activate")),
            _provision("User Groups"),
        ],
    ),
    "SAML": ProviderGuide(
        name="SAML 2.0",
        takes=("url", "xml"),
        sso=[
            GuideStep(
                text=_SERVICE,
                values=(
                    ("Entity ID (SP)", "{entity_id}"),
                    ("Assertion Consumer Service URL (HTTP-POST)", "{acs_url}"),
                    ("SP metadata", "{metadata_url}"),
                ),
            ),
            GuideStep(text=_NEEDED),
            GuideStep(text=text("Enter the metadata of your identity provider below.")),
        ],
        scim=[
            GuideStep(text=_SERVICE, values=(("SCIM 2.0 base URL", "{base_url}"), ("Bearer token", "{token}"))),
        ],
    ),
    "OIDC": ProviderGuide(
        name="OpenID Connect",
        takes=("client",),
        sso=[
            GuideStep(
                text=text("Register a web application at your identity provider with these values:"),
                values=(
                    ("Redirect URI", "{redirect_url}"),
                    ("Post-logout redirect URI", "{post_logout_redirect_url}"),
                    ("Scopes", "openid email profile"),
                    ("Grant type", "authorization_code"),
                ),
            ),
            GuideStep(text=_NEEDED),
            GuideStep(text=text("Enter its issuer, client id and client secret below.")),
        ],
        scim=[
            GuideStep(text=_SERVICE, values=(("SCIM 2.0 base URL", "{base_url}"), ("Bearer token", "{token}"))),
        ],
    ),
}
"""The instructions for each provider, in the order in which the page offers them."""


def shown_steps(steps: Sequence[GuideStep], values: dict[str, str]) -> list[dict[str, object]]:
    """The steps for a page, with the values of a connection by their names."""
    return [
        {
            "text": step.text,
            "values": [
                {"label": label, "value": values[value[1:-1]] if value.startswith("{") else value}
                for label, value in step.values
            ],
        }
        for step in steps
    ]
