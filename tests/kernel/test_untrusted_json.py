"""JSON from other servers is parsed completely or rejected with a reason."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.untrusted_json import (
    DEPTH_LIMIT,
    JsonRefused,
    read_untrusted_json,
)
from postern.kernel.values import JSON_DEPTH_LIMIT, JSON_VALUES_LIMIT, has_too_many_values, is_too_deep


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
def test_json_that_cannot_be_stored_or_compared_is_rejected(document, reason):
    """Regression test of S12 (tests/defects.md)."""
    with pytest.raises(JsonRefused, match=reason):
        read_untrusted_json(document)


def test_the_maximum_nesting_is_accepted():
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
def test_other_documents_are_parsed_like_the_standard_library_does(value):
    assert read_untrusted_json(json.dumps(value).encode()) == json.loads(json.dumps(value))


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_rejected(document):
    with suppress(JsonRefused):
        read_untrusted_json(document)


def nested(depth: int, inner: str = "") -> str:
    """`depth` JSON lists, each inside the previous one; the innermost contains `inner`."""
    return "[" * depth + inner + "]" * depth


@pytest.mark.parametrize("path", ["/contacts", "/customers", "/b2b/organizations"])
async def test_the_nesting_limit_applies_to_every_stored_body(project, path):
    """Without the limit, bodies were accepted up to about 960 levels, and deeper ones caused a 500."""
    field = "attributes" if path == "/contacts" else "metadata"
    max_depth = JSON_DEPTH_LIMIT - 2  # The body and the field are objects.
    for number, excess in enumerate((0, 1, 300, 900, 970, 5_000)):
        start = f'{{"{field}": {{"a": {nested(max_depth + excess)}}}, '
        end = '"name": "Acme"}' if "b2b" in path else f'"email": "deep{number}@example.com"}}'
        response = await project.client.post(path, content=start + end, headers={"content-type": "application/json"})
        if excess:
            assert (response.status_code, response.json()["code"]) == (400, "body_invalid"), excess
            assert "64" in response.json()["detail"]
        else:
            assert response.status_code == 201, response.text
            assert response.json()[field]["a"] == json.loads(nested(max_depth))
    exported = await project.developer.get("/account/export")
    assert nested(max_depth) in exported.text


async def test_the_nesting_limit_applies_to_cells_of_an_import(project, run_due_work):
    """Without the limit, one row could block the whole import forever."""
    rows = [f'object{depth}@example.com,"{{""a"":{nested(depth)}}}",' for depth in (60, 64, 980)]
    rows += [f"list{depth}@example.com,,{nested(depth)}" for depth in (64, 65, 980)]
    file = "\n".join(["email,attributes,list", *rows])
    path = "/contacts/import?attributeTypes=" + json.dumps({"list": "list"})
    response = await project.client.post(path, content=file, headers={"content-type": "text/csv"})
    assert response.status_code == 201, response.text
    await run_due_work()
    contact_import = (await project.client.get(f"/contacts/imports/{response.json()['id']}")).json()
    assert (contact_import["status"], contact_import["created"]) == ("COMPLETED", 2)
    assert [error["line"] for error in contact_import["errors"]] == [3, 4, 6, 7]
    assert "nested deeper than 64" in contact_import["errors"][0]["message"]


@given(st.recursive(st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_brackets_in_strings_are_not_nesting(value):
    text = json.dumps(["[{" * 100, value, '\\"[', "\\"], ensure_ascii=False)
    assert not is_too_deep(text.encode("utf-8", "surrogatepass"))
    assert is_too_deep(nested(JSON_DEPTH_LIMIT, text).encode("utf-8", "surrogatepass"))
    assert is_too_deep(('{"]":' * (JSON_DEPTH_LIMIT + 1) + text + "}" * 65).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(("item", "values"), [(b"1", 1), (b'{"a":[]}', 3), (rb'{"[{\",":",\\"}', 2)])
def test_only_values_outside_strings_are_counted(item: bytes, values: int) -> None:
    """Documents that are longer than the pieces in which they are searched."""
    most = (JSON_VALUES_LIMIT - 1) // values
    text = b'"' + rb"\",[{\\" * 700_000 + b'"'
    for padding in (b"", b" "):
        assert not has_too_many_values(b"[" + padding + b",".join([text, *[item] * (most - 1)]) + b"]")
        assert has_too_many_values(b"[" + padding + b",".join([text, *[item] * (most + 1), b"1,1"]) + b"]")


async def test_a_body_with_too_many_values_is_rejected_before_it_is_decoded(project):
    """A batch of 50 MB took two seconds and 1.6 GB of memory before its length was checked."""
    values = b",".join([b"1"] * (JSON_VALUES_LIMIT + 1))
    for path, start, end in (("/emails", b'{"variables":{"a":[', b"]}}"), ("/emails/batch", b'{"emails":[', b"]}")):
        response = await project.client.post(
            path, content=start + values + end, headers={"content-type": "application/json"}
        )
        assert (response.status_code, response.json()["code"]) == (400, "body_invalid")
        assert response.json()["errors"][0]["code"] == "too_many_values"
        assert "at most 500,000 values" in response.json()["detail"]
