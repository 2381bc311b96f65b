import pytest

from dgb.data.load import load_graph
from dgb.data.public.sources import find_source
from dgb.reproduce.published import DATASETS, find_published, rows
from dgb.reproduce.table1 import reason, statistics


def paper(key: str, dataset: str) -> int:
    cell = find_published("table1", key, dataset)
    assert cell is not None
    return int(cell.mean)


def test_cora_differs_in_its_edges_alone_and_we_know_why() -> None:
    ours = statistics(load_graph("cora"))
    assert list(ours) == [row.key for row in rows("table1")]
    reasons = {key: reason("cora", key, value, paper(key, "cora")) for key, value in ours.items()}
    assert [key for key, text in reasons.items() if text] == ["edges"]
    assert "5429 − 151 = 5278" in reasons["edges"]
    assert "cite each other" in reasons["edges"]


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_counted_citations_account_for_the_whole_difference(dataset: str) -> None:
    ours, printed = find_source(dataset).edges, paper("edges", dataset)
    text = reason(dataset, "edges", ours, printed)
    assert f"{printed} − {printed - ours} = {ours}" in text


def test_no_reason_is_made_up() -> None:
    assert reason("cora", "edges", 5278, 5278) == ""
    assert "not found" in reason("cora", "edges", 5000, 5429)
    assert "not found" in reason("pubmed", "features", 499, 500)
    assert "not found" in reason("wikics", "edges", 1, 2)
