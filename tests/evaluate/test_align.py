"""Vectors of two trainings in the same axes: planted turns are found, moved nodes are listed."""

from pathlib import Path

import numpy as np
import pytest

from dgb.cli import main
from dgb.errors import DGBError
from dgb.evaluate.drift import align_vectors, cosines
from dgb.run.vectors import read_embeddings, write_embeddings


def make_vectors(count: int = 60, width: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.standard_normal((width, width)))
    return rng.standard_normal((count, width)).astype(np.float32), turn.astype(np.float32)


def test_a_planted_turn_is_found_whatever_the_lengths_of_rows() -> None:
    z, turn = make_vectors()
    z[3] = 0
    lengths = np.linspace(0.1, 90, len(z), dtype=np.float32)[:, None]
    found = align_vectors(lengths * (z @ turn), z)
    np.testing.assert_allclose(found.rotation, turn.T, atol=1e-5)
    np.testing.assert_allclose(found.after, 1, atol=1e-5)
    assert np.median(found.before) < 0.5
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(8), atol=1e-5)


def test_a_row_of_zeros_is_like_another_and_unlike_the_rest() -> None:
    np.testing.assert_allclose(
        cosines(np.array([[0.0, 0], [0, 0], [2, 0]]), np.array([[0.0, 0], [1, 0], [5, 0]])),
        [1, 0, 1],
    )


def test_what_cannot_be_aligned_is_refused() -> None:
    z, _ = make_vectors()
    with pytest.raises(DGBError, match="8 columns cannot be turned onto vectors of 7"):
        align_vectors(z, z[:, :7])
    with pytest.raises(DGBError, match=r"7 common nodes do not .*learnt_columns=64.*dgb update"):
        align_vectors(z[:7], z[:7])


def test_the_verb_matches_nodes_by_id_and_lists_those_that_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    z, turn = make_vectors()
    ids = np.array([f"n{i}" for i in range(60)], object)
    run, other = tmp_path / "run", tmp_path / "other"
    run.mkdir()
    other.mkdir()
    write_embeddings(run / "embeddings.parquet", ids, z)
    order = np.random.default_rng(1).permutation(60)[:50]  # ten are gone
    later = np.concatenate([z[order], z[:1]]) @ turn
    moved = int(np.flatnonzero(order == order[7])[0])
    later[moved] = -later[moved]
    write_embeddings(other / "embeddings.parquet", np.append(ids[order], "new"), later)
    assert main(["align", str(run), str(other), "-k", "1"]) == 0
    text = capsys.readouterr().out
    assert "50 common nodes, 1 new, 10 gone" in text
    assert f"  n{order[7]}  -1.000" in text
    found, aligned = read_embeddings(other / "aligned.parquet")
    assert list(found) == [*ids[order], "new"]
    same = np.delete(np.arange(51), moved)
    expected = np.concatenate([z[order], z[:1]])
    assert np.median(cosines(aligned[same], expected[same])) > 0.99
    nobody = np.array([f"x{i}" for i in range(60)], object)
    write_embeddings(run / "embeddings.parquet", nobody, z)
    assert main(["align", str(run), str(other)]) == 2
    assert "no node of" in capsys.readouterr().err
