"""CCA-SSG: columns of length one that agree between views and are not alike within one."""

import numpy as np
import pytest
import torch

from dgb.baselines.agreement import CCASettings, cca_loss, make_gcn, standardise_columns
from dgb.baselines.inputs import seeded
from dgb.data.graph import Graph
from tests.baselines.conftest import accuracy_of


def test_learns_what_so_few_columns_do_not_have_untrained(two_blocks: Graph) -> None:
    narrow = {"width": 2, "layers": 1, "learning_rate": 0.01}
    untrained, trained = (
        np.mean([accuracy_of("cca-ssg", two_blocks, s, epochs=e, **narrow) for s in range(3)])
        for e in (0, 100)
    )
    assert untrained < 0.9 < 0.93 < trained


def test_loss_is_the_papers() -> None:
    rng = np.random.default_rng(0)
    z_a, z_b = (rng.normal(3, 2, (30, 5)) for _ in range(2))
    a, b = ((z - z.mean(0)) / (z.std(0) * np.sqrt(30)) for z in (z_a, z_b))
    apart = sum((a[i, j] - b[i, j]) ** 2 for i in range(30) for j in range(5))
    shared = 0.0
    for z in (a, b):
        for j in range(5):
            for k in range(5):
                shared += (sum(z[i, j] * z[i, k] for i in range(30)) - (j == k)) ** 2
    loss = cca_loss(torch.from_numpy(z_a), torch.from_numpy(z_b), 0.3)
    assert float(loss) == pytest.approx(apart + 0.3 * shared)


def test_loss_is_smallest_for_equal_views_of_different_columns() -> None:
    columns = torch.linalg.qr(torch.randn(50, 4, generator=torch.Generator().manual_seed(0)))[0]
    columns = torch.linalg.qr(columns - columns.mean(0))[0]
    assert float(cca_loss(columns, columns, 1.0)) == pytest.approx(0, abs=1e-4)
    repeated = columns[:, :1].repeat(1, 4)
    assert float(cca_loss(repeated, repeated, 1.0)) == pytest.approx(2 * 12, rel=1e-3)


def test_a_constant_column_becomes_zero() -> None:
    z = standardise_columns(torch.cat([torch.full((8, 1), 2.0), torch.arange(8.0)[:, None]], 1))
    assert torch.isfinite(z).all()
    assert (z[:, 0] == 0).all()
    assert float(z[:, 1].norm()) == pytest.approx(1)


def test_no_activation_after_the_last_layer() -> None:
    with seeded(0):
        one, two = (make_gcn(40, CCASettings(width=8, layers=n)) for n in (1, 2))
    x = torch.tensor([-1.0])
    assert [float(sigma(x)) for sigma in one.sigmas] == [-1]
    assert [float(sigma(x)) for sigma in two.sigmas] == [0, -1]
