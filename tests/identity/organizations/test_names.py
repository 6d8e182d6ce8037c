"""Names of organizations and the slugs generated from them."""

import pytest

from postern.identity.organizations.rules import slug_of


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Straße", "strasse"), ("Ærø Łódź", "aero-lodz"), ("GROẞ & Søn", "gross-son"), ("Müller", "muller")],
)
def test_slugs_transliterate_latin_letters(name, slug):
    """Regression test of I12 (tests/defects.md)."""
    assert slug_of(name) == slug


@pytest.mark.parametrize("name", [" ", "\u00a0\u2003 ", ""])
async def test_a_blank_name_is_rejected(project, name):
    """Regression test of I12 (tests/defects.md)."""
    created = await project.client.post("/b2b/organizations", {"name": name})
    assert (created.status_code, created.json()["errors"][0]["path"]) == (400, "/name")
    acme = (await project.client.post("/b2b/organizations", {"name": "Acme"})).json()
    changed = await project.client.patch(f"/b2b/organizations/{acme['id']}", {"name": name})
    assert (changed.status_code, changed.json()["errors"][0]["path"]) == (400, "/name")
