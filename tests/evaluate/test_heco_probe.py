"""HeCo's probe: against heads trained one by one, and no way for test labels to reach a choice."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from torch import nn

from dgb import arrays as parts
from dgb.arrays import Array
from dgb.data.graph import Graph, Split
from dgb.evaluate import heads as f1
from dgb.evaluate import heads as linear_heads
from dgb.evaluate import heco as heco_probe
from dgb.evaluate import labels as sample
from dgb.evaluate.heads import HEADS, LinearHeads, count_classes, macro_f1, micro_f1
from dgb.evaluate.heco import choose_heads, heco_scores
from dgb.evaluate.probe import linear_probe
from dgb.evaluate.scores import score_embeddings
from dgb.recipe import Probe

HECO = Probe(kind="heco")


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the training short: what is tested holds for any number of steps."""
    monkeypatch.setattr(heco_probe, "STEPS", 30)


def planted(noise: float, shares: tuple[float, ...] = (0.6, 0.3, 0.1)) -> tuple[Array, Array]:
    """Return rows and classes of 400 nodes, of which the first class has most."""
    rng = np.random.default_rng(0)
    labels = rng.choice(len(shares), 400, p=shares)
    centres = rng.normal(size=(len(shares), 6))
    rows = centres[labels] + noise * rng.normal(size=(400, 6))
    return rows.astype(np.float32), labels


SPLIT = Split(np.arange(60), np.arange(60, 200), np.arange(200, 400))


def one_head(
    z: Array, labels: Array, start: nn.Linear, rate: float
) -> dict[str, tuple[float, Any]]:
    """Train one head by itself; return its best validation scores with the logits on test."""
    x, y = torch.from_numpy(z), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(start.parameters(), rate, weight_decay=0)
    best: dict[str, tuple[float, Any]] = {"macro": (-1, None), "accuracy": (-1, None)}
    for _ in range(heco_probe.STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(start(x[SPLIT.train]), y[SPLIT.train])
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        told = start(x[SPLIT.validation]).argmax(dim=1).numpy()
        truth = labels[SPLIT.validation]
        now = {
            "macro": f1_score(truth, told, average="macro"),
            "accuracy": accuracy_score(truth, told),
        }
        for name, score in now.items():
            if score > best[name][0]:
                best[name] = (score, start(x[SPLIT.test]).detach())
    return best


def heads_by_themselves(z: Array, labels: Array, rate: float) -> Array:
    """Return validation Macro-F1, test Macro-F1, Micro-F1 and AUC [heads, 4], one by one."""
    generator, truth, rows = torch.Generator().manual_seed(7), labels[SPLIT.test], []
    for _ in range(linear_heads.HEADS):
        head = nn.Linear(z.shape[1], 3)
        weight = nn.init.xavier_uniform_(torch.empty(z.shape[1], 3), generator=generator)
        head.weight.data, head.bias.data = weight.T.contiguous(), torch.zeros(3)
        best = one_head(z, labels, head, rate)
        (validation, macro), (_, micro) = best["macro"], best["accuracy"]
        told, given = macro.argmax(dim=1).numpy(), micro.argmax(dim=1).numpy()
        score = f1_score(truth, told, average="macro"), f1_score(truth, given, average="micro")
        area = roc_auc_score(truth, micro.softmax(dim=1).numpy(), multi_class="ovr")
        rows.append([validation, *score, area])
    return np.array(rows)


def test_heads_trained_together_score_as_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (linear_heads, f1, heco_probe):
        monkeypatch.setattr(module, "HEADS", 8)
    z, labels = planted(noise=2.0)
    found = heco_scores(z, labels, SPLIT, seed=7)
    z = z / np.sqrt(np.mean(z**2))
    by_rate = {rate: heads_by_themselves(z, labels, rate) for rate in (0.05, 0.01)}
    rate = max(by_rate, key=lambda rate: by_rate[rate][:, 0].mean())
    assert found.learning_rate == rate
    # A node between two classes may fall to either side by rounding.
    together = [found.validation, found.macro_f1, found.micro_f1, found.auc]
    assert together == pytest.approx(by_rate[rate].mean(axis=0).tolist(), abs=2e-3)
    assert list(found.std_over_heads.values()) == pytest.approx(
        by_rate[rate].std(axis=0)[1:].tolist(), abs=2e-3
    )
    assert len({round(score, 3) for score in together if score}) == 4


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_unit_of_the_embeddings_does_not_matter(is_sparse: bool) -> None:
    z, labels = planted(noise=1.5)
    rows: Any = sparse.csr_array(z) if is_sparse else z
    small, large = (heco_scores(rows * unit, labels, SPLIT, 0) for unit in (2.0**-10, 2.0**10))
    assert small == large


@pytest.mark.parametrize("missing", ["none", "from truth", "from both"])
def test_f1_of_all_heads_is_that_of_scikit_learn(missing: str) -> None:
    rng = np.random.default_rng(1)
    told = rng.choice(4, (90, HEADS), p=[0.5, 0.3, 0.15, 0.05])
    truth = rng.choice(4, 90, p=[0.5, 0.3, 0.15, 0.05])
    if missing != "none":
        truth[truth == 3] = 0
    if missing == "from both":
        told[told == 3] = 1
    # Heads that say what they are told: row i of the weights holds what node i is given.
    weight = torch.from_numpy(np.eye(4, dtype=np.float32)[told].reshape(90, -1))
    rows = [
        (torch.eye(90)[part], torch.from_numpy(truth[part])) for part in (slice(50), slice(50, 90))
    ]
    counts = count_classes(LinearHeads(weight, torch.zeros(HEADS * 4)), rows)
    for average, found in (("macro", macro_f1(counts)), ("micro", micro_f1(counts))):
        expected = [f1_score(truth, told[:, head], average=average) for head in range(HEADS)]
        assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_test_labels_cannot_change_what_is_chosen() -> None:
    z, labels = planted(noise=1.5)
    shuffled = labels.copy()
    shuffled[SPLIT.test] = np.random.default_rng(5).permutation(shuffled[SPLIT.test])
    one, other = (choose_heads(z, y, SPLIT, 0) for y in (labels, shuffled))
    assert one.learning_rate == other.learning_rate
    for mine, theirs in ((one.macro, other.macro), (one.micro, other.micro)):
        assert torch.equal(mine.steps, theirs.steps) and torch.equal(mine.scores, theirs.scores)
        assert torch.equal(mine.heads.weight, theirs.heads.weight)
    honest, cheated = (heco_scores(z, y, SPLIT, 0) for y in (labels, shuffled))
    assert honest.validation == cheated.validation
    assert honest.macro_f1 != cheated.macro_f1


def test_test_rows_are_read_only_once_all_is_chosen() -> None:
    z, labels = planted(noise=1.5)
    z[SPLIT.test] = np.nan
    assert choose_heads(z, labels, SPLIT, 0).macro.scores.mean() > 0.4


def test_every_head_has_steps_of_its_own_by_either_measure() -> None:
    chosen = choose_heads(*planted(noise=1.5), SPLIT, 0)
    assert len(set(chosen.macro.steps.tolist())) > 3
    assert not torch.equal(chosen.macro.steps, chosen.micro.steps)


def test_validation_chooses_the_learning_rate_by_macro_f1(monkeypatch: pytest.MonkeyPatch) -> None:
    z, labels = planted(noise=2.0, shares=(0.9, 0.07, 0.03))
    macro, micro = {}, {}
    for rate in (0.3, 0.05):
        monkeypatch.setattr(heco_probe, "LEARNING_RATES", (rate,))
        alone = choose_heads(z, labels, SPLIT, 0)
        macro[rate], micro[rate] = (
            float(best.scores.mean()) for best in (alone.macro, alone.micro)
        )
    assert macro[0.3] > macro[0.05] and micro[0.3] < micro[0.05]
    for order in ((0.3, 0.05), (0.05, 0.3)):
        monkeypatch.setattr(heco_probe, "LEARNING_RATES", order)
        chosen = choose_heads(z, labels, SPLIT, 0)
        assert chosen.learning_rate == 0.3 and float(chosen.macro.scores.mean()) == macro[0.3]


def test_the_first_of_equally_good_steps_is_kept() -> None:
    z = np.zeros((400, 2), np.float32)  # every head gives all nodes the class of the bias
    labels = planted(noise=1.0)[1]
    chosen = choose_heads(z, labels, SPLIT, 0)
    assert chosen.macro.steps.tolist() == chosen.micro.steps.tolist() == [0] * HEADS
    assert chosen.learning_rate == 0.05
    assert chosen.macro.heads.bias.abs().max() == pytest.approx(0.05, rel=1e-3)  # one step of Adam


def test_macro_f1_counts_a_rare_class_as_much_as_a_common_one() -> None:
    z, labels = planted(noise=2.0, shares=(0.9, 0.07, 0.03))
    found = heco_scores(z, labels, SPLIT, 0)
    assert found.micro_f1 > found.macro_f1 + 0.2
    assert found.validation_accuracy > found.validation + 0.2


def test_clear_rows_score_1_and_noise_scores_chance() -> None:
    z, labels = planted(noise=0.01)
    clear = heco_scores(z, labels, SPLIT, 0)
    assert (clear.macro_f1, clear.micro_f1, clear.validation) == (1, 1, 1)
    # Of the first step at which all are right: a few ranks may not be yet.
    assert clear.auc is not None and 0.995 < clear.auc <= 1
    assert clear.std_over_heads["macro_f1"] == clear.std_over_heads["micro_f1"] == 0
    lost = heco_scores(np.random.default_rng(3).normal(size=z.shape), labels, SPLIT, 0)
    assert lost.macro_f1 < 0.45 and lost.auc == pytest.approx(0.5, abs=0.1)


def test_a_class_without_a_test_node_is_in_no_mean_unless_it_is_given() -> None:
    z, labels = planted(noise=0.01)
    few = replace(SPLIT, test=SPLIT.test[labels[SPLIT.test] != 2])
    found = heco_scores(10 * z, labels, few, 0)
    assert (found.macro_f1, found.micro_f1, found.auc) == (1, 1, 1)
    alike = replace(SPLIT, test=SPLIT.test[labels[SPLIT.test] == 0])
    found = heco_scores(10 * z, labels, alike, 0)
    assert found.auc is None and found.macro_f1 == 1 and "auc" not in found.std_over_heads
    scores = linear_probe(10 * z, labels, alike, HECO).values()
    assert "auc" not in scores and scores["test"] == 1


def test_a_class_without_a_train_node_is_no_error() -> None:
    z, labels = planted(noise=0.01)
    few = replace(SPLIT, train=SPLIT.train[labels[SPLIT.train] != 2])
    found = heco_scores(10 * z, labels, few, 0)
    assert 0.5 < found.macro_f1 < found.micro_f1 < 1


def test_labels_may_be_years_and_rows_sparse_and_some_nodes_unlabelled() -> None:
    z, labels = planted(noise=1.5)
    plain = heco_scores(z, labels, SPLIT, 3)
    assert heco_scores(z, 1999 + 7 * labels, SPLIT, 3) == plain
    assert heco_scores(sparse.csr_array(z), labels, SPLIT, 3) == plain
    some = replace(SPLIT, test=SPLIT.test[10:])
    unknown = labels.copy()
    unknown[SPLIT.test[:10]] = -1
    assert heco_scores(z, unknown, some, 3) == heco_scores(z, labels, some, 3)


def test_equal_seeds_give_equal_bits() -> None:
    z, labels = planted(noise=1.5)
    one, again, other = (heco_scores(z, labels, SPLIT, seed) for seed in (3, 3, 4))
    assert one == again != other


def test_scores_are_the_same_in_parts_and_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, labels = planted(noise=1.5)
    np.save(tmp_path / "z.npy", z)
    whole = heco_scores(z, labels, SPLIT, 0)
    monkeypatch.setattr(parts, "NUMBERS", 150 * 64)
    in_file = np.load(tmp_path / "z.npy", mmap_mode="r")
    for rows in (z, in_file):
        again = heco_scores(rows, labels, SPLIT, 0)
        assert [again.macro_f1, again.auc] == pytest.approx([whole.macro_f1, whole.auc], abs=1e-3)


def test_of_very_many_nodes_areas_are_those_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    z, labels = planted(noise=1.5)
    monkeypatch.setattr(sample, "MOST", 150)  # more than are learnt from or chosen on
    found = heco_scores(z, labels, SPLIT, 0)
    monkeypatch.setattr(sample, "MOST", 10**6)
    whole = heco_scores(z, labels, SPLIT, 0)
    assert replace(found, auc=None, std_over_heads={}) == replace(
        whole, auc=None, std_over_heads={}
    )
    assert found.auc != whole.auc and found.auc == pytest.approx(whole.auc, abs=0.05)


def test_a_run_tells_accuracy_and_the_further_measures(blocks: Graph) -> None:
    assert blocks.labels is not None
    noise = np.random.default_rng(0).normal(size=(90, 3))
    scores = score_embeddings(np.eye(3)[blocks.labels] + noise, blocks, HECO, 0)
    probe = scores["probe"]
    assert json.loads(json.dumps(probe)) == probe
    assert probe["test"] == probe["micro_f1"] != probe["macro_f1"]
    assert probe["validation"] != probe["validation_macro_f1"] and 0.5 < probe["auc"] <= 1
    assert set(probe["settings"]) == {"learning_rate", "std_over_heads"}
