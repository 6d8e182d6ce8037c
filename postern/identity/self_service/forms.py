"""Forms and lists of the account and organization pages, as values for their templates."""

from collections.abc import Sequence
from typing import Any

from postern.web.languages import Text

FormValues = dict[str, Any]
"""The values of a form in `account-form.html`."""


def form_values(
    title: Text | str,
    action: str,
    button: Text,
    *,
    paragraphs: Sequence[Text | str] = (),
    inputs: Sequence[dict[str, Any]] = (),
    hidden: dict[str, str] | None = None,
    danger: bool = False,
    back: str,
) -> FormValues:
    """A page with one form. `action` and `back` are URLs; `danger` marks what cannot be undone."""
    return {
        "title": title,
        "action": action,
        "button": button,
        "paragraphs": list(paragraphs),
        "inputs": list(inputs),
        "hidden": hidden or {},
        "danger": danger,
        "back": back,
    }


def text_input(
    name: str,
    label: Text,
    *,
    type: str = "text",
    autocomplete: str = "off",
    value: str = "",
    required: bool = True,
    minlength: int | None = None,
    maxlength: int = 254,
    inputmode: str = "",
    hint: Text | str = "",
) -> dict[str, Any]:
    """An input of a form; the values are those of the HTML attributes."""
    return {
        "kind": "input",
        "name": name,
        "label": label,
        "type": type,
        "autocomplete": autocomplete,
        "value": value,
        "required": required,
        "minlength": "" if minlength is None else str(minlength),
        "maxlength": str(maxlength),
        "inputmode": inputmode,
        "hint": hint,
    }


def code_input(label: Text, *, maxlength: int = 12) -> dict[str, Any]:
    """An input for a one-time code."""
    return text_input("code", label, autocomplete="one-time-code", inputmode="numeric", maxlength=maxlength)


def choice_input(name: str, label: Text, options: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A list to choose one of; each option has `value`, `label` and `selected`."""
    return {"kind": "choice", "name": name, "label": label, "options": list(options), "hint": ""}


def check_inputs(name: str, label: Text, options: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Boxes to check; each option has `value`, `label` and `selected`. Their fields are called `name` and `value`
    together, because a form has each field once."""
    return {"kind": "checks", "name": name, "label": label, "options": list(options), "hint": ""}


def grouped(key: str) -> str:
    """A key in groups of four characters, for people who type it."""
    return " ".join(key[start : start + 4] for start in range(0, len(key), 4))
