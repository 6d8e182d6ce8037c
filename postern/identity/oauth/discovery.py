"""The metadata of a project's OpenID provider (OpenID Connect Discovery 1.0, RFC 8414)."""

from datetime import timedelta
from typing import Any

from postern.identity.customers.authentication_levels import LEVELS
from postern.identity.customers.tokens import issuer_of
from postern.identity.oauth.model import DEVICE_GRANT, ID_TOKEN_ALGORITHMS, STANDARD_SCOPES
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import to_json
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.projects import operations as projects
from postern.platform.projects.model import SignInSettings
from postern.protocols.oidc.dpop import ALGORITHMS

MAX_AGE = timedelta(minutes=5)
EXAMPLE = {
    "issuer": "https://postern.example.com/projects/019c13f9-5a00-7f4b-9d1e-7a5f3c2b1a00",
    "code_challenge_methods_supported": ["S256"],
}


@get(
    "/projects/{project_id}/.well-known/openid-configuration",
    public=True,
    ignore_unknown_query=True,
    response_type=dict[str, Any],
    response_example=EXAMPLE,
)
async def get_openid_configuration(call: Call) -> HttpResponse:
    """The metadata of the project's OpenID provider (OpenID Connect Discovery 1.0 §4)."""
    return await _metadata_response(call)


@get(
    "/.well-known/oauth-authorization-server/projects/{project_id}",
    public=True,
    ignore_unknown_query=True,
    response_type=dict[str, Any],
    response_example=EXAMPLE,
)
async def get_authorization_server_metadata(call: Call) -> HttpResponse:
    """The metadata of the project's authorization server at the path of RFC 8414 §3.1: the same as those of OpenID
    Connect."""
    return await _metadata_response(call)


async def _metadata_response(call: Call) -> HttpResponse:
    project = await projects.require_project(call.db, call.project_id)
    sign_in = project.settings.sign_in
    headers = {"Cache-Control": f"public, max-age={int(MAX_AGE.total_seconds())}"}
    return HttpResponse(to_json(provider_metadata(call, sign_in)), headers=headers)


def provider_metadata(call: Call, settings: SignInSettings) -> dict[str, Any]:
    """The metadata of the project's provider. It has nothing that the provider does not do. The endpoints that browsers
    open are at the host of the hosted pages, all others at that of the issuer."""
    can_register = settings.client_registration != "OFF"
    issuer = issuer_of(call.world, call.project_id)
    oauth, browser = f"{issuer}/oauth", f"{pages_url(call.world, call.project_id)}/oauth"
    methods = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"]
    algorithms = list(ALGORITHMS)
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{browser}/authorize",
        "token_endpoint": f"{oauth}/token",
        "userinfo_endpoint": f"{oauth}/userinfo",
        "jwks_uri": f"{issuer}/.well-known/jwks.json",
        "revocation_endpoint": f"{oauth}/revoke",
        "introspection_endpoint": f"{oauth}/introspect",
        "pushed_authorization_request_endpoint": f"{oauth}/par",
        "device_authorization_endpoint": f"{oauth}/device_authorization",
        "end_session_endpoint": f"{browser}/logout",
        **({"registration_endpoint": f"{oauth}/register"} if can_register else {}),
        **({"client_id_metadata_document_supported": True} if settings.client_metadata_documents else {}),
        "scopes_supported": list(STANDARD_SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "form_post"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", DEVICE_GRANT],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": list(ID_TOKEN_ALGORITHMS),
        "token_endpoint_auth_methods_supported": methods,
        "token_endpoint_auth_signing_alg_values_supported": algorithms,
        "revocation_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
        "introspection_endpoint_auth_methods_supported": methods[:3],
        "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
        "code_challenge_methods_supported": ["S256"],
        "dpop_signing_alg_values_supported": algorithms,
        "prompt_values_supported": ["none", "login", "consent", "select_account", "create"],
        "acr_values_supported": list(LEVELS),
        "claims_supported": [
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "azp", "sid", "at_hash"),
            *("name", "locale", "updated_at", "email", "email_verified", "phone_number", "phone_number_verified"),
        ],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "require_pushed_authorization_requests": False,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
