"""Every fixed defect has a regression test that refers to it."""

import pytest

from tests import defects


@pytest.mark.parametrize("defect", defects.DEFECTS)
def test_every_defect_has_a_test_or_is_open(defect):
    assert defects.index()[defect] or defect in defects.OPEN, (
        f"no test has the line `Regression test of {defect} (tests/defects.md).` in its docstring"
    )


def test_every_test_refers_to_existing_defects():
    assert set(defects.index()) == set(defects.DEFECTS) >= set(defects.OPEN)


def test_the_index_is_up_to_date():
    assert defects.INDEX.read_text() == defects.text(), "run `python -m tests.defects`"
