"""The generator of the SDKs: every operation has exactly one method, with a name that every language accepts."""

import keyword
import re
from pathlib import Path

import pytest

from sdk.generator.model import Api, load, read, read_names, snake_case


@pytest.fixture(scope="module")
def api() -> Api:
    return load()


def test_every_operation_has_one_method(api: Api) -> None:
    names = [operation.names for operation in api.operations]
    assert len(names) == len(set(names)) > 370


def test_no_method_is_also_a_group(api: Api) -> None:
    groups = {operation.names[:depth] for operation in api.operations for depth in range(1, len(operation.names))}
    assert not groups & {operation.names for operation in api.operations}


def test_only_an_explicit_id_deletes_a_project(api: Api) -> None:
    (delete,) = (operation for operation in api.operations if operation.names == ("projects", "delete"))
    assert (delete.path, [parameter.name for parameter in delete.path_parameters]) == ("/projects/{id}", ["id"])


def test_names_are_valid_in_python_and_typescript(api: Api) -> None:
    for operation in api.operations:
        for name in operation.names:
            assert re.fullmatch(r"[a-z][A-Za-z0-9]*", name), operation.names
            assert not keyword.iskeyword(snake_case(name)), operation.names


def test_an_operation_without_a_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="lacks these operations, or they no longer exist: sendEmail"):
        read(
            {"info": {"version": "1"}, "paths": {}, "components": {"schemas": {}, "examples": {}}},
            {"sendEmail": ("emails", "send")},
        )


def test_a_name_used_twice_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("sendEmail\temails.send\nsendMail\temails.send\n")
    with pytest.raises(ValueError, match="twice"):
        read_names(file)


def test_every_list_with_a_cursor_is_read_page_by_page(api: Api) -> None:
    for operation in api.operations:
        if any(parameter.name == "cursor" for parameter in operation.query):
            assert operation.page is not None, operation.id
            assert operation.item is not None, operation.id
