import pytest

from dgb.errors import DGBError
from dgb.recipe import ViewRecipe
from dgb.reproduce.published import DATASETS, TABLES, Cell, anchors, find_published, rows
from dgb.views.augment import parse_view


def cells(table: str) -> list[Cell]:
    found = [find_published(table, row.key, name) for row in rows(table) for name in DATASETS]
    return [cell for cell in found if cell is not None]


def test_every_cell_is_there() -> None:
    assert [len(cells(table)) for table in TABLES] == [12, 45, 45, 15]


@pytest.mark.parametrize("table", TABLES[1:])
def test_accuracies_are_percent(table: str) -> None:
    assert all(0 < cell.mean < 100 for cell in cells(table))
    assert all(cell.std is None or 0 < cell.std < 5 for cell in cells(table))


@pytest.mark.parametrize(
    ("table", "row", "dataset", "mean", "std"),
    [
        ("table1", "edges", "pubmed", 44338, None),
        ("table2", "dgb", "cora", 83.4, None),
        ("table2", "gmi-mean", "citeseer", 73.0, 0.3),
        ("table2", "raw", "pubmed", 69.1, 0.2),
        ("table3", "nfd+adj|nd+diff", "pubmed", 81.9, None),
        ("table3", "in+diff|in+adj", "citeseer", 58.7, None),
        ("table4", "without-projection", "pubmed", 65.6, None),
        ("table4", "p=1", "Cora", 74.6, None),
    ],
)
def test_spot_values(table: str, row: str, dataset: str, mean: float, std: float | None) -> None:
    assert find_published(table, row, dataset) == Cell(mean, std)


def test_the_same_run_of_dgb_stands_in_three_tables() -> None:
    keys = {"table2": "dgb", "table3": "nfd+adj|nd+diff", "table4": "dgb"}
    for name in DATASETS:
        assert len({find_published(table, key, name) for table, key in keys.items()}) == 1


def test_rows_carry_what_their_table_tells() -> None:
    assert [row.group for row in rows("table2")].count("supervised") == 6
    assert {row.key: row.extra for row in rows("table2")}["gcn"] == {"data": "X, A, Y"}
    assert [row.key for row in rows("table4") if row.extra["commented"]] == ["without-bn"]
    for row in rows("table3"):
        assert row.key == f"{row.extra['view1']}|{row.extra['view2']}"
        for view in ("view1", "view2"):
            parse_view(ViewRecipe(augment=row.extra[view]))


def test_unknown_names_are_refused_and_unmeasured_data_sets_are_none() -> None:
    assert find_published("table2", "dgb", "amazon-photo") is None
    for wrong in (("table5", "dgb", "cora"), ("table2", "dbg", "cora"), ("table2", "dgb", "coar")):
        with pytest.raises(DGBError):
            find_published(*wrong)
    with pytest.raises(DGBError):
        rows("table9")


def test_anchors_are_percent_and_say_where_they_are_from() -> None:
    found = {anchor.key: anchor for anchor in anchors()}
    assert len(found) == 12
    assert found["cca-ssg"].cells["cora"] == Cell(84.0, 0.4)
    assert set(found["maskgae"].cells) == {"pubmed"}
    for anchor in found.values():
        assert anchor.source
        assert all(0 < cell.mean < 100 for cell in [*anchor.cells.values(), *anchor.rerun.values()])
