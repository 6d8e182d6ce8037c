"""`*` in a statement becomes the columns that are read."""

import pytest

from postern.kernel.database.columns import name_columns

FIELDS = ["id", "name", "total"]


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("select * from t", "select id, name, total from t"),
        ("select t.* from t", "select t.id, t.name, t.total from t"),
        ("select t.*, 0 as total from t", "select t.id, t.name, 0 as total from t"),
        ("select t.*, u.total from t, u", "select t.id, t.name, u.total from t, u"),
        ("select *, lower(name) as name from t", "select id, total, lower(name) as name from t"),
        ("insert into t (id) values (1) returning *", "insert into t (id) values (1) returning id, name, total"),
        ("insert into t select * from u returning *", "insert into t select * from u returning id, name, total"),
        ("with u as (select * from t) select * from u", "with u as (select * from t) select id, name, total from u"),
        (
            "select *, (select count(*) from u) as total from t",
            "select id, name, (select count(*) from u) as total from t",
        ),
        (
            "select t.*, 1 as total from t union all select t.*, u.sum from t, u",
            "select t.id, t.name, 1 as total from t union all select t.id, t.name, u.sum from t, u",
        ),
        ("select count(*) from t", "select count(*) from t"),
        ("select 'from *' as name, * from t", "select 'from *' as name, id, total from t"),
        ("update t set id = 2 * 3", "update t set id = 2 * 3"),
    ],
)
def test_stars_are_replaced_by_the_fields(sql: str, named: str) -> None:
    assert name_columns(sql, FIELDS) == named


def test_two_stars_are_refused() -> None:
    with pytest.raises(ValueError, match="more than one"):
        name_columns("select t.*, u.* from t, u", FIELDS)
