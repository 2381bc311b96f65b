"""A user's own tables: a file of nodes for each type, a file of edges for each relation."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgb.data.files import is_hetero_folder, read_hetero_folder
from dgb.data.typed.graph import HeteroGraph
from dgb.errors import DGBError
from dgb.recipe import Data

MOVIES = "id,year,label,split\n3,1999,drama,test\n1,2005,action,train\n2,2010,drama,val\n"
ACTORS = "id,height\n1,170\n2,181\n3,190\n"
CAST = "source,target\n1,3\n1,1\n2,2\n"
FILES = {"nodes/movie.csv": MOVIES, "nodes/actor.csv": ACTORS, "edges/movie-actor.csv": CAST}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def read(folder: Path, files: dict[str, str], **reading: Any) -> HeteroGraph:
    return read_hetero_folder(write(folder, files), Data(**reading))


def pairs(graph: HeteroGraph, place: int = 0) -> set[tuple[Any, Any]]:
    relation = graph.relations[place]
    rows, columns = relation.matrix.nonzero()
    one, other = graph.nodes[relation.source].node_ids, graph.nodes[relation.target].node_ids
    return set(zip(one[rows].tolist(), other[columns].tolist(), strict=True))


def test_types_relations_labels_and_split(tmp_path: Path) -> None:
    graph = read(tmp_path, FILES)
    assert (graph.name, graph.target) == (tmp_path.name, "movie")
    assert [relation.label for relation in graph.relations] == ["movie-to-actor"]
    movies = graph.nodes["movie"]
    assert movies.node_ids.tolist() == [3, 1, 2]
    assert movies.encoding is not None
    assert movies.encoding.feature_names() == ["year"]
    assert graph.label_names == ("action", "drama")
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 0, 1]  # of the rows of movies, which are not in order
    assert [part.tolist() for part in vars(graph.splits[0]).values()] == [[1], [2], [0]]


def test_the_same_id_in_two_types_is_two_nodes(tmp_path: Path) -> None:
    graph = read(
        tmp_path, FILES | {"nodes/movie.csv": "id,year\n1,1999\n2,2005\n3,2010\n"}, target="movie"
    )
    assert graph.num_nodes == 6
    assert pairs(graph) == {(1, 3), (1, 1), (2, 2)}  # 1-1 and 2-2 are no loops
    assert not any("to itself" in note for note in graph.notes)


def test_a_relation_keeps_its_direction(tmp_path: Path) -> None:
    # As many movies as actors, with the same ids: the transposed relation would fit as well.
    graph = read(tmp_path, FILES)
    assert (graph.relations[0].source, graph.relations[0].target) == ("movie", "actor")
    assert (1, 3) in pairs(graph)
    assert (3, 1) not in pairs(graph)


@pytest.mark.parametrize("head", ["actor,movie", "actor_id,movie_id", "Actor,role,Movie"])
def test_columns_called_by_their_types_may_stand_in_any_order(tmp_path: Path, head: str) -> None:
    middle = ",x" if "role" in head else ""
    rows = "".join(f"{actor}{middle},{movie}\n" for movie, actor in ((1, 3), (1, 1), (2, 2)))
    graph = read(tmp_path, FILES | {"edges/movie-actor.csv": f"{head}\n{rows}"})
    assert pairs(graph) == {(1, 3), (1, 1), (2, 2)}


@pytest.mark.parametrize(
    "head",
    [
        "actor_name,movie_id",
        "Actor Name,MovieID",
        "ActorName,film",
        "who,movie_id",
        "actor_name,role,movie_id",
        "actor_name,movie_title,movie_id",
        "movie_actor,movie_key",  # the first holds both names, and so tells nothing
    ],
)
def test_columns_that_hold_a_type_in_their_names_are_its_end(tmp_path: Path, head: str) -> None:
    middle = ",x" if head.count(",") == 2 else ""
    rows = "".join(f"{actor}{middle},{movie}\n" for movie, actor in ((1, 3), (1, 1), (2, 2)))
    graph = read(tmp_path, FILES | {"edges/movie-actor.csv": f"{head}\n{rows}"})
    assert pairs(graph) == {(1, 3), (1, 1), (2, 2)}
    assert not any("is taken for movie" in note for note in graph.notes)


@pytest.mark.parametrize("head", ["movie_id,actor_id_1", "film,actor", "movie_key,who,movie_rank"])
def test_columns_in_the_order_of_the_file_name_stay_so(tmp_path: Path, head: str) -> None:
    last = ",5" if head.count(",") == 2 else ""
    rows = "".join(f"{movie},{actor}{last}\n" for movie, actor in ((1, 3), (1, 1), (2, 2)))
    graph = read(tmp_path, FILES | {"edges/movie-actor.csv": f"{head}\n{rows}"})
    assert pairs(graph) == {(1, 3), (1, 1), (2, 2)}


def test_which_column_is_taken_for_which_type_is_said_where_names_do_not_tell(
    tmp_path: Path,
) -> None:
    note = "movie-actor.csv: column 'one' is taken for movie, and 'two' for actor"
    named = {"edges/movie-actor.csv": CAST.replace("source,target", "one,two")}
    assert note in read(tmp_path / "between", FILES | named).notes
    within = {"nodes/movie.csv": MOVIES, "edges/movie-movie.csv": "one,two\n1,3\n"}
    for place, files in (("well-known", FILES), ("within", within)):
        assert not any("is taken for movie" in n for n in read(tmp_path / place, files).notes)
    bare = FILES | {"edges/movie-actor.csv": "1,3\n1,1\n"}
    assert not any("is taken for movie" in note for note in read(tmp_path / "bare", bare).notes)


def test_a_first_row_of_ids_that_hold_the_types_is_an_edge(tmp_path: Path) -> None:
    edges = {"edges/movie-actor.csv": "movie_1,actor_3\nmovie_2,actor_1\n"}
    graph = read(tmp_path, edges, target="movie")
    assert pairs(graph) == {("movie_1", "actor_3"), ("movie_2", "actor_1")}


def test_rows_of_nodes_in_another_order_are_the_same_graph(tmp_path: Path) -> None:
    head, *rows = MOVIES.splitlines()
    other = "\n".join([head, *sorted(rows)]) + "\n"
    one = read(tmp_path / "one", FILES)
    two = read(tmp_path / "two", FILES | {"nodes/movie.csv": other})
    assert pairs(one) == pairs(two)
    assert one.labels is not None and two.labels is not None
    labels = [
        dict(zip(g.nodes["movie"].node_ids.tolist(), labels.tolist(), strict=True))
        for g, labels in ((one, one.labels), (two, two.labels))
    ]
    assert labels[0] == labels[1] == {1: 0, 2: 1, 3: 1}


@pytest.mark.parametrize("name", ["paper-cites-paper", "paper__cites__paper"])
def test_a_relation_may_have_a_name_and_stay_within_a_type(tmp_path: Path, name: str) -> None:
    files = {
        "nodes/paper.csv": "id,words\na,2\nb,3\nc,4\n",
        f"edges/{name}.csv": "source,target,weight\na,b,2\nc,c,1\n",
    }
    graph = read(tmp_path, files)
    (relation,) = graph.relations
    assert (relation.label, relation.num_edges) == ("paper-cites-paper", 1)
    assert pairs(graph) == {("a", "b"), ("b", "a")}
    assert relation.matrix.max() == 2
    assert any("to itself, left out: 1" in note for note in graph.notes)


def test_types_with_a_hyphen_are_written_with_underscores(tmp_path: Path) -> None:
    files = {"nodes/co-author.csv": "id,f\na,1\nb,2\n", "edges/co-author__paper.csv": "a,p\nb,q\n"}
    graph = read(tmp_path, files)
    assert graph.target == "co-author"
    assert pairs(graph) == {("a", "p"), ("b", "q")}


def test_nodes_without_a_file_are_those_of_all_their_edges(tmp_path: Path) -> None:
    files = FILES | {
        "edges/movie-director.csv": "source,target\n1,d2\n3,d1\n",
        "edges/director-studio.csv": "source,target\nd3,s\nd1,s\n",
    }
    graph = read(tmp_path, files)
    directors = graph.nodes["director"]
    assert sorted(directors.node_ids.tolist()) == ["d1", "d2", "d3"]
    assert directors.x is None
    assert any("type director have no rows" in note for note in graph.notes)
    places = {relation.target: i for i, relation in enumerate(graph.relations)}
    assert pairs(graph, places["director"]) == {(1, "d2"), (3, "d1")}
    assert pairs(graph, places["studio"]) == {("d3", "s"), ("d1", "s")}


def test_ids_that_are_numbers_in_one_file_and_text_in_another_are_joined(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"edges/movie-actor.csv": CAST, "edges/actor-town.csv": "1,7\n2,8\n"})
    frame = pd.DataFrame({"source": [1, 2], "target": [7, 9]})
    frame.to_parquet(tmp_path / "edges" / "movie-town.parquet")
    graph = read_hetero_folder(tmp_path, Data())
    assert sorted(graph.nodes["town"].node_ids.tolist()) == [7, 8, 9]


def test_nodes_without_columns_of_features_have_none(tmp_path: Path) -> None:
    graph = read(tmp_path, FILES | {"nodes/actor.csv": "id\n1\n2\n3\n4\n"})
    assert graph.nodes["actor"].x is None
    assert graph.nodes["actor"].num_nodes == 4  # also those without an edge


def test_other_forms_of_tables_are_the_same_graph(tmp_path: Path) -> None:
    one = read(tmp_path / "one", FILES)
    two = tmp_path / "two"
    (two / "nodes").mkdir(parents=True)
    (two / "edges").mkdir()
    pd.read_csv(tmp_path / "one/nodes/movie.csv").to_parquet(two / "nodes/movie.parquet")
    (two / "nodes/actor.tsv.gz").write_bytes(gzip.compress(ACTORS.replace(",", "\t").encode()))
    (two / "edges/movie-actor.txt").write_text(CAST.replace(",", " "))
    again = read_hetero_folder(two, Data())
    assert pairs(again) == pairs(one)
    for kind in one.nodes:
        np.testing.assert_array_equal(again.nodes[kind].x, one.nodes[kind].x)


def test_a_relation_and_its_reverse_are_taken_once(tmp_path: Path) -> None:
    reverse = "source,target\n3,1\n1,1\n2,2\n"
    graph = read(tmp_path / "exact", FILES | {"edges/actor-in-movie.csv": reverse})
    assert [relation.label for relation in graph.relations] == ["actor-in-movie"]
    assert any("movie-to-actor is actor-in-movie from the other end" in n for n in graph.notes)
    more = reverse + "3,3\n"
    graph = read(tmp_path / "more", FILES | {"edges/actor-in-movie.csv": more})
    assert len(graph.relations) == 2


def test_relations_both_ways_with_other_edges_have_names_of_their_own(tmp_path: Path) -> None:
    reverse = "source,target\n3,1\n2,2\n"
    graph = read(tmp_path / "unnamed", FILES | {"edges/actor-movie.csv": reverse})
    assert [relation.label for relation in graph.relations] == [
        "actor-to-movie",
        "movie-back-actor",
    ]
    assert pairs(graph, 0) == {(3, 1), (2, 2)}
    assert pairs(graph, 1) == {(1, 3), (1, 1), (2, 2)}
    assert (
        "relation movie-to-actor has the name of actor-to-movie and other edges, and is called "
        "movie-back-actor"
    ) in graph.notes
    taken = {
        "edges/actor-movie.csv": reverse,
        "edges/actor-back-movie.csv": "source,target\n1,1\n",
    }
    graph = read(tmp_path / "taken", FILES | taken)
    assert len({relation.name for relation in graph.relations}) == 3


def test_the_target_is_named_or_the_only_one_with_labels_else_with_features(
    tmp_path: Path,
) -> None:
    bare = FILES | {"nodes/movie.csv": "id\n1\n2\n3\n"}
    assert read(tmp_path / "features", bare).target == "actor"
    graph = read(tmp_path / "named", FILES, target="actor")
    assert (graph.target, graph.labels, graph.splits) == ("actor", None, ())
    assert any("'label' is taken for labels and not used" in note for note in graph.notes)
    both = FILES | {"nodes/actor.csv": "id,label\n1,a\n2,b\n3,a\n"}
    with pytest.raises(DGBError, match=r"actor, movie have labels.*data\.target=actor"):
        read(tmp_path / "both", both)
    with pytest.raises(DGBError, match=r"none has labels or features.*data\.target"):
        read(tmp_path / "none", {"edges/a-b.csv": CAST})
    with pytest.raises(DGBError, match="unknown node type 'film'"):
        read(tmp_path / "typo", FILES, target="film")


def test_columns_are_asked_for_where_a_table_has_them(tmp_path: Path) -> None:
    movies = MOVIES.replace("id,", "key,").replace("label", "genre")
    files = FILES | {
        "nodes/movie.csv": movies,
        "edges/movie-actor.csv": "source,target,pay\n1,3,5\n",
        "edges/actor-town.csv": "source,target\n1,x\n",
    }
    asked = {"id": "key", "label": "genre", "drop": "height, year", "weight": "pay"}
    graph = read(tmp_path, files, **asked)
    assert graph.label_names == ("action", "drama")
    assert all(nodes.x is None for nodes in graph.nodes.values())
    weights = {relation.target: relation.matrix.max() for relation in graph.relations}
    assert weights == {"actor": 5, "town": 1}
    for key in asked:
        with pytest.raises(DGBError, match=rf"no table has a column 'typo' \(data\.{key}\)"):
            read(tmp_path, files, **{key: "typo"})


def test_edges_to_unknown_nodes_are_refused_with_their_line_or_dropped(tmp_path: Path) -> None:
    # 9 is a movie's id nowhere; 4 is no actor, whatever movies there are.
    files = FILES | {
        "nodes/movie.csv": MOVIES + "4,2011,drama,train\n",
        "edges/movie-actor.csv": CAST + "1,4\n",
    }
    with pytest.raises(DGBError, match=r"movie-actor\.csv:5: node '4'"):
        read(tmp_path, files)
    graph = read(tmp_path, files, unknown="drop")
    assert pairs(graph) == {(1, 3), (1, 1), (2, 2)}
    assert any("left out: 1" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"nodes/movie.csv": "id,f\n1,2\n1,3\n"}, r"movie\.csv:3: id '1' again"),
        ({"nodes/movie.csv": "id,f\n1\n"}, r"movie\.csv:2: 1 cells"),
        ({"edges/movie-actor.csv": "source,target,weight\n1,1,-2\n"}, r"movie-actor\.csv:2"),
        ({"edges/movie.csv": CAST}, "must be SOURCE-TARGET"),
        ({"edges/a-b-c-d.csv": CAST}, "must be SOURCE-TARGET"),
        ({"edges/movie-.csv": CAST}, "must be SOURCE-TARGET"),
        ({"edges/movie-actor.tsv": CAST}, r"movie-actor\.csv, movie-actor\.tsv; leave one"),
        ({"edges/movie__actor.csv": CAST}, "of the same relation"),
        ({"edges/Movie-town.csv": CAST}, "differ in case alone"),
        ({"nodes/movie.npy": ""}, r"not a table: movie\.npy"),
        ({"edges/movie-town,x.csv": "1,a\n2,b\n"}, "the type 'town,x' has a comma"),
        ({"edges/movie-all.csv": "1,a\n2,b\n"}, "a type is called 'all'"),
    ],
)
def test_broken_folders_are_one_clear_line(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    with pytest.raises(DGBError, match=words) as caught:
        read(tmp_path, FILES | files)
    assert "\n" not in str(caught.value)


def test_a_folder_without_edges(tmp_path: Path) -> None:
    (tmp_path / "edges").mkdir()
    with pytest.raises(DGBError, match="holds no table"):
        read_hetero_folder(tmp_path, Data())


def test_a_first_row_of_edges_is_told_from_names_by_the_end_that_is_known(tmp_path: Path) -> None:
    files = FILES | {"edges/movie-town.csv": "film,place\n1,Rome\n2,Bonn\n"}
    graph = read(tmp_path / "named", files)
    assert sorted(graph.nodes["town"].node_ids) == ["Bonn", "Rome"]
    graph = read(tmp_path / "bare", FILES | {"edges/movie-town.csv": "1,Rome\n2,Bonn\n"})
    assert sorted(graph.nodes["town"].node_ids) == ["Bonn", "Rome"]
    assert graph.relations[1].num_edges == 2


def test_hidden_files_are_overlooked(tmp_path: Path) -> None:
    assert read(tmp_path, FILES | {"nodes/.DS_Store": "x", "edges/.keep": ""}).num_nodes == 6


def test_what_is_such_a_folder(tmp_path: Path) -> None:
    assert is_hetero_folder(write(tmp_path / "hetero", FILES))
    assert not is_hetero_folder(write(tmp_path / "homo", {"edges.csv": CAST, "nodes.csv": ACTORS}))
    assert not is_hetero_folder(tmp_path / "nowhere")
