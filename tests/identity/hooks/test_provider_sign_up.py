"""The hook before a sign-up with an account at a sign-in provider."""

from tests.identity.customers.conftest import new_address
from tests.identity.customers.test_providers import provider, provider_browser, query_of, settings

__all__ = ["provider", "provider_browser", "settings"]


async def test_before_sign_up_refuses_an_account_of_a_provider(provider_browser, auth, hooks, project):
    await hooks.create("BEFORE_SIGN_UP", {"allow": False, "message": "Not you."})
    provider_browser.provider.claims = {"sub": "7", "email": new_address(), "email_verified": True, "name": "Ada"}
    returned = query_of(await provider_browser.come_back(await provider_browser.start()))
    assert (returned["error"], returned["error_description"]) == ("hook_refused", "Not you.")
    assert hooks.calls("BEFORE_SIGN_UP")[0].json["data"]["method"] == "ACME"
    hooks.answer("BEFORE_SIGN_UP", {"name": "Countess", "metadata": {"plan": "pro"}})
    returned = query_of(await provider_browser.come_back(await provider_browser.start()))
    assert "code" in returned
    (customer,) = (await project.client.get("/customers")).json()["data"]
    assert (customer["name"], customer["metadata"]) == ("Countess", {"plan": "pro"})
