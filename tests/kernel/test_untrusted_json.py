"""JSON from elsewhere is read whole, or refused with a reason."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.untrusted_json import DEPTH_LIMIT, JsonRefused, read_untrusted_json


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"NaN", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'{"a": "\\u0000"}', "NUL"),
        (b'{"\\u0000": 1}', "NUL"),
        (b'["\\ud800"]', "JSON|surrogate"),
        (b'{"a": 1e999}', "JSON|range"),
        (b'{"a": 9223372036854775808}', "range"),
        (b"1" * 5_000, "JSON|range"),
        (b"[" * (DEPTH_LIMIT + 1) + b"]" * (DEPTH_LIMIT + 1), "deep"),
        (b"[" * 100_000, "deep|JSON"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "deep"),
    ],
)
def test_what_cannot_be_stored_or_compared_is_refused_with_a_reason(document, reason):
    """Defects: S12"""
    with pytest.raises(JsonRefused, match=reason):
        read_untrusted_json(document)


def test_the_deepest_document_that_is_taken():
    assert read_untrusted_json(b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT) is not None


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_everything_else_is_what_json_says(value):
    assert read_untrusted_json(json.dumps(value).encode()) == json.loads(json.dumps(value))


@given(st.binary(max_size=200))
def test_any_octets_are_read_or_refused(document):
    with suppress(JsonRefused):
        read_untrusted_json(document)
