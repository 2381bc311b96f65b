"""What a graph counts, and what about it is likely trouble."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dgb.arrays import column_spread
from dgb.cli import main
from dgb.commands.graphs import check_lines
from dgb.data.blocks import KINDS, Blocks, make_blocks
from dgb.data.encoding import named_columns
from dgb.data.graph import Graph, make_graph
from dgb.data.load import load_graph
from dgb.data.look.alike import (
    ALIKE,
    CHANCE,
    COMMUNITIES,
    features_alike,
    judge_edges,
    without_edges,
)
from dgb.data.look.counts import count_graph, count_repeated_rows, homophily
from dgb.data.look.scales import scale_trouble
from dgb.data.look.trouble import trouble
from dgb.data.objects import to_graph
from dgb.data.spelling import group_values
from dgb.data.structure import with_structure
from dgb.recipe import Hetero
from dgb.settings import make_section


def ring(num_nodes: int, **parts: Any) -> Graph:
    """Return a ring of nodes, half of each of two classes side by side, with sound features."""
    places = np.arange(num_nodes)
    edges = sparse.coo_array((np.ones(num_nodes), (places, np.roll(places, 1))))
    x = np.random.default_rng(0).random((num_nodes, 4))
    labels = (places >= num_nodes // 2).astype(int)
    whole: dict[str, Any] = {"x": x, "edges": edges, "labels": labels} | parts
    return make_graph("ring", whole.pop("x"), whole.pop("edges"), **whole)


def test_counts_of_edges() -> None:
    counts = count_graph(ring(40))
    assert counts["density"] == pytest.approx(40 / (40 * 39 / 2))
    assert counts["degree"] == {"min": 2, "median": 2.0, "max": 2}
    assert (counts["components"], counts["largest_component"]) == (1, 1.0)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_counts_of_features(is_sparse: bool) -> None:
    x = np.array(
        [[1, 0, 5, 0], [1, 2, 5, 0], [1, 0, 5, -0.0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 2, 5, 0]]
    )
    rows = sparse.csr_array(x) if is_sparse else x
    graph = make_graph("toy", rows, sparse.coo_array((6, 6)))
    counts = count_graph(graph)
    assert counts["repeated_feature_rows"] == 2  # rows 2 and 5; the empty ones count elsewhere
    assert counts["rows_without_features"] == 2
    assert counts["constant_columns"] == 1
    assert count_graph(make_graph("t", rows[:3], sparse.coo_array((3, 3))))["constant_columns"] == 3


def test_rows_of_the_same_numbers_in_other_columns_are_not_repeated() -> None:
    x = np.kron(np.eye(500), [1.0, 2.0]).astype(np.float32)
    assert count_repeated_rows(x) == 0
    assert count_repeated_rows(np.vstack([x, x[::-1]])) == 500
    assert count_repeated_rows(sparse.csr_array(np.vstack([x, x[::-1]]))) == 500


@pytest.mark.parametrize(
    ("sizes", "word"),
    [((10, 10), "even"), ((10, 50), "uneven"), ((10, 200), "very uneven"), ((10,), None)],
)
def test_balance_of_classes(sizes: tuple[int, ...], word: str | None) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    assert count_graph(ring(len(labels), labels=labels))["balance"] == word


def test_homophily_is_adjusted_for_chance() -> None:
    # By hand: 40 edges, 38 within; both classes have half of all ends, so chance is 0.5.
    assert homophily(ring(40))[1] == pytest.approx((38 / 40 - 0.5) / 0.5)
    assert homophily(ring(40, labels=np.arange(40) % 2))[1] == pytest.approx(-1)
    assert homophily(ring(40, labels=np.zeros(40, int)))[1] is None
    assert homophily(ring(40, labels=None))[1] is None


def test_few_labels_are_no_reason_to_doubt_the_edges() -> None:
    labels = np.full(40, -1)
    labels[:4] = [0, 1, 0, 1]
    counts = count_graph(ring(40, labels=labels))
    assert counts["adjusted_homophily"] < 0 and counts["edges_with_labels"] == 3
    assert any("wrong tool" in line for line in trouble(ring(40, labels=np.arange(40) % 2)))
    labels[:4] = [0, 1, 1, 0]  # two of three differ
    assert not any("wrong tool" in line for line in trouble(ring(40, labels=labels)))


def test_homophily_of_an_uneven_but_random_labelling_is_about_zero() -> None:
    rng = np.random.default_rng(0)
    graph = ring(20_000, labels=(rng.random(20_000) < 0.1).astype(int))
    counts = count_graph(graph)
    assert counts["edge_homophily"] > 0.8  # which looks like much, and is chance
    assert abs(counts["adjusted_homophily"]) < 0.05


def test_a_sound_graph_has_no_trouble() -> None:
    assert trouble(ring(40)) == []
    assert trouble(ring(40, labels=None)) == []


def halves(num_nodes: int) -> sparse.coo_array:
    half = ring(num_nodes // 2).adjacency
    return sparse.coo_array(sparse.block_diag([half, half]))


def some_alone() -> sparse.coo_array:
    return sparse.coo_array(sparse.block_diag([ring(38).adjacency, np.zeros((2, 2))]))


X = np.random.default_rng(1).random((40, 4))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"edges": some_alone()}, ["2 nodes (5%) have no edge", "add their edges"]),
        ({"edges": halves(40)}, ["2 components", "50% of the nodes", "spelt alike"]),
        ({"x": X * (np.arange(40) > 3)[:, None]}, ["4 nodes (10%)", "all zero", "fill in"]),
        ({"x": X * [1, 900, 1, 1]}, ["Column number 2", "100%", "data.normalise=none"]),
        (
            {"x": X[:, :1]},
            ["one column, number 1", "leaves only its sign; use --set data.normalise=none"],
        ),
        ({"x": X * [1, 1, 0, 1]}, ["(1 of 4: number 3)", "leave them out"]),
        ({"labels": np.zeros(40, int)}, ["one class", "labels that differ"]),
        ({"labels": (np.arange(40) > 36).astype(int)}, ["1 of 2 classes", "1 (3)", "join them"]),
        (
            {"labels": np.arange(40) % 2},
            ["adjusted homophily -1.00", "wrong tool", "dgb compare GRAPH --methods dgb,raw"],
        ),
    ],
)
def test_each_trouble_has_its_sentence(parts: dict[str, Any], words: list[str]) -> None:
    sentences = trouble(ring(40, **parts))
    assert len(sentences) == 1
    for word in words:
        assert word in sentences[0]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (X * 1e-7, ["tiny: they vary by 3e-08", "data.normalise=row"]),
        (X * 1e-3, []),
        (X + np.array([0, 1e6, 0, 0]), ["(1 of 4: number 2)", "take their mean away"]),
        (X + np.array([0, 1e3, 0, 0]), []),
        (sparse.csr_array(X * 1e-7), ["tiny"]),
    ],
)
def test_scales_that_hide_what_features_say_are_told(x: Any, words: list[str]) -> None:
    sentences = list(scale_trouble(ring(40, x=x)))
    assert len(sentences) == bool(words)
    assert all(word in sentences[0] for word in words)


def test_the_spread_of_columns_survives_a_mean_far_from_zero() -> None:
    x = np.random.default_rng(0).standard_normal((500, 3))
    far = np.array([0, 1e9, -1e6])
    mean, spread = column_spread(x + far)
    np.testing.assert_allclose(mean, x.mean(axis=0) + far, atol=1e-6)
    np.testing.assert_allclose(spread, x.std(axis=0), rtol=1e-6)
    mean, spread = column_spread(sparse.csr_array(x))
    np.testing.assert_allclose(spread, x.std(axis=0))


def test_columns_in_trouble_are_called_by_their_names() -> None:
    names = named_columns([f"c{i}" for i in range(9)])
    x = np.ones((40, 9)) * [1, 1, 1, 1, 1, 1, 1, 1, 0]
    x[:, 8] = np.arange(40) * 1000
    loud, constant = trouble(replace(ring(40, x=x), encoding=names))
    assert "Column c8 makes up 100%" in loud
    assert "8 of 9: c0, c1, c2, c3, c4 and 3 more" in constant


def test_a_graph_without_features_is_told_so_and_no_more() -> None:
    sentences = trouble(with_structure(ring(40), "degree"))  # where many columns are constant
    assert len(sentences) == 1
    assert "no features" in sentences[0]
    assert "data.nodes" in sentences[0]


def test_check_prints_counts_notes_and_trouble() -> None:
    text = "\n".join(
        check_lines(replace(ring(4000, x=np.ones((4000, 2))), notes=("one edge lost",)), Hetero())
    )
    assert "nodes                   4,000\n" in text
    assert "degree                  min 2, median 2, max 2\n" in text
    assert "splits" not in text
    assert "in reading:\n- one edge lost\n" in text
    assert "likely trouble:\n- Columns that hold one number" in text
    sound = "\n".join(check_lines(ring(40), Hetero()))
    assert sound.endswith("likely trouble: none found")
    assert "in reading" not in sound


def test_empty_columns_of_hashed_words_are_no_trouble() -> None:
    edges = {"source": ["a", "b"], "target": ["b", "c"]}
    nodes = {"id": ["a", "b", "c"], "title": ["red door", "blue door", "old red house"]}
    graph = to_graph(nodes, edges=edges, text="words")
    assert graph.num_features == 256
    assert count_graph(graph)["constant_columns"] == 0


def planted(folder: Path, kind: str, **settings: Any) -> Graph:
    make_blocks(folder, make_section(Blocks, "blocks", KINDS[kind] | settings))
    return load_graph(folder)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "noise-features",
            [
                "Features say nothing about the graph",
                "edges form communities",
                "dgb train lets the place in the graph weigh more",
            ],
        ),
        ("chance-edges", ["Neighbors are not more alike than chance", "--methods dgb,raw"]),
        ("heterophily", ["Neighbors are less alike than chance", "--methods dgb,raw"]),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_features_and_edges_that_disagree_are_told_without_labels(
    tmp_path: Path, kind: str, words: list[str], seed: int
) -> None:
    graph = replace(planted(tmp_path / kind, kind, seed=seed), labels=None)
    (sentence,) = trouble(graph)
    assert all(word in sentence for word in words)
    assert f"features: {count_graph(graph)['neighbors_alike']}" in sentence
    as_sparse = replace(graph, x=sparse.csr_array(graph.x))
    assert trouble(as_sparse) == [sentence]


def test_features_that_fit_the_edges_are_no_trouble(tmp_path: Path) -> None:
    graph = planted(tmp_path / "g", "classes", nodes=3000, edges=15_000, features=32, classes=4)
    assert trouble(replace(graph, labels=None)) == []
    cora = load_graph("cora")
    assert count_graph(cora)["neighbors_alike"].beyond_chance == pytest.approx(0.115, abs=0.01)
    assert not [sentence for sentence in trouble(cora) if "alike" in sentence]


def test_features_of_neighbors_are_compared_with_pairs_of_the_same_ends() -> None:
    # A hub with one feature, leaves with another: by degrees, half of all ends are the hub's.
    leaves = np.arange(1, 2001)
    edges = sparse.coo_array((np.ones(2000), (leaves, np.zeros(2000, int))), shape=(2001, 2001))
    x = np.where(np.arange(2001)[:, None] == 0, [1.0, 0.0], [0.0, 1.0])
    alike = features_alike(make_graph("star", x, edges))
    assert alike is not None
    assert alike.beyond_chance == pytest.approx(-1, abs=0.1)  # 0 at edges, 1/2 by chance


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shift", [0.0, 40.0])
def test_a_single_column_is_compared_by_its_sides_of_the_mean(kind: Any, shift: float) -> None:
    # Halves of a ring that stand apart: as ages, none of which is negative, or as 0 and 1.
    column = np.repeat([0.0, 1.0], 100)[:, None] + shift
    alike = features_alike(ring(200, x=kind(column)))
    assert alike is not None and alike.beyond_chance > 0.9
    assert judge_edges(ring(200, x=kind(column)), alike)[0] == ALIKE
    assert features_alike(ring(200, x=kind(np.full((200, 1), 0.1)))) is None


def test_rows_that_are_all_alike_or_empty_are_not_compared() -> None:
    assert features_alike(ring(40, x=np.ones((40, 2)))) is None
    assert features_alike(ring(40, x=np.zeros((40, 2)))) is None
    assert features_alike(ring(40, edges=sparse.coo_array((40, 40)))) is None
    assert count_graph(with_structure(ring(40), "walk"))["neighbors_alike"] is None
    large = features_alike(ring(4000, x=np.full((4000, 2), 1e30) * [1, 2]))
    assert large is None  # not an overflow


def test_hidden_edges_do_not_tell_their_own_places() -> None:
    graph = ring(3000)
    ends = np.stack([np.arange(100), np.roll(np.arange(3000), 1)[:100]])
    kept = without_edges(graph.adjacency, ends)
    assert kept.nnz == graph.adjacency.nnz - 200
    assert (kept[ends[0], ends[1]] == 0).all()


@pytest.mark.parametrize(
    ("code", "often", "is_told"),
    [("-999", 3, True), ("9999", 3, True), ("-1", 4, True), ("99", 3, True), ("-999", 2, False)],
)
def test_codes_for_missing_numbers_are_told(
    tmp_path: Path, code: str, often: int, is_told: bool
) -> None:
    ages = [code if i < often else str(20 + i) for i in range(40)]
    rows = "".join(f"{i},{age},{i % 7}\n" for i, age in enumerate(ages))
    found = "\n".join(trouble(load_graph(table(tmp_path, f"id,age,visits\n{rows}"))))
    assert (f"age {code} ({often})" in found) == is_told
    assert (f"--set data.empty={code}" in found) == is_told
    left = load_graph(tmp_path, empty=code)
    assert "may be codes" not in "\n".join(trouble(left))


def test_dates_that_stand_for_none_are_told(tmp_path: Path) -> None:
    days = ["1900-01-01" if i < 3 else f"20{i % 20 + 10}-0{i % 9 + 1}-10" for i in range(40)]
    rows = "".join(f"{i},{day},{i % 7}\n" for i, day in enumerate(days))
    found = "\n".join(trouble(load_graph(table(tmp_path, f"id,seen,visits\n{rows}"))))
    assert "seen 1900-01-01 (3)" in found


@pytest.mark.parametrize("values", [[0, 0, 0, 0], [7, 7, 7, 8]])
def test_plain_numbers_are_no_codes(tmp_path: Path, values: list[int]) -> None:
    rows = "".join(f"{i},{values[i] if i < 4 else i},{i % 7}\n" for i in range(40))
    graph = load_graph(table(tmp_path, f"id,age,visits\n{rows}"))
    assert "may be codes" not in "\n".join(trouble(graph))


def table(tmp_path: Path, rows: str) -> Path:
    (tmp_path / "nodes.csv").write_text(rows)
    edges = "".join(f"{i},{(i + 1) % 40}\n" for i in range(40))
    (tmp_path / "edges.csv").write_text(f"source,target\n{edges}")
    return tmp_path


@pytest.mark.parametrize(
    ("edges", "wanted"),
    [
        ("ann,bob\nAnn,cy\n", "1 ids differ from another only in case, as 'Ann' and 'ann' do"),
        ("ann,bob\nbob\u200b,cy\n", "only in blanks or marks that are not seen"),
        ("M\ufffdller,bob\nbob,cy\n", "1 ids have \ufffd where letters were lost"),
    ],
)
def test_ids_that_may_be_the_same_are_told(tmp_path: Path, edges: str, wanted: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target\n{edges}", "utf-8")
    assert wanted in "\n".join(trouble(load_graph(path)))


def test_grades_are_not_taken_for_spellings() -> None:
    assert group_values({"A+": 5, "A": 4, "A-": 3, "B": 2}) == []
    assert group_values({"on-line": 5, "online": 4}) == [["on-line", "online"]]


def test_what_the_recipe_has_set_already_is_not_advised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trouble(ring(40, x=X[:, :1]), are_divided=False) == []
    (loud,) = trouble(ring(40, x=X * [1, 900, 1, 1]), are_divided=False)
    assert "hardly count next to it" in loud and "normalise" not in loud
    graph = table(tmp_path, "id,age\n" + "".join(f"{i},{i}\n" for i in range(40)))
    for form, is_told in (("row", True), ("none", False)):
        assert main(["data", "check", str(graph), "--set", f"data.normalise={form}"]) == 0
        assert ("use --set data.normalise=none" in capsys.readouterr().out) == is_told


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("nodes", "classes", "degree", "inside", "kind"),
    [
        (2000, 5, 7.5, 0.8, COMMUNITIES),
        (4000, 8, 7.5, 0.8, COMMUNITIES),
        (4000, 8, 10, 0.6, COMMUNITIES),
        (2000, 5, 7.5, 0.0, CHANCE),
        (3000, 5, 20, 0.0, CHANCE),
    ],
)
def test_communities_are_told_from_chance_where_features_are_noise(
    nodes: int, classes: int, degree: float, inside: float, kind: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    sources, count = rng.integers(nodes, size=int(nodes * degree / 2)), nodes // classes
    strangers, friends = rng.integers([[nodes], [count]], size=(2, len(sources)))
    friends = friends * classes + sources % classes
    targets = np.where(rng.random(len(sources)) < inside, friends, strangers)
    edges = sparse.coo_array((np.ones(len(sources)), (sources, targets)), shape=(nodes, nodes))
    for x in (rng.normal(size=(nodes, 16)), np.ones((nodes, 3))):
        graph = make_graph("planted", x.astype(np.float32), edges)
        assert judge_edges(graph, features_alike(graph))[0] == kind
