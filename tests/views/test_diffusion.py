"""Eq. 4–6 against brute force: dense inverse and matrix exponential."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import linalg, sparse

from dgb.arrays import Array
from dgb.errors import DGBError
from dgb.recipe import DiffusionRecipe
from dgb.views.diffusion import Diffusion, even_parts
from dgb.views.operators import chebyshev_coefficients, make_diff, ppr_coefficients, theta
from dgb.views.product import product

ISOLATED = 11


def dense_transition(adjacency: Any) -> tuple[Array, Array]:
    a = adjacency.toarray().astype(np.float64)
    degree = a.sum(axis=1)
    degree[degree == 0] = 1
    return a / np.sqrt(np.outer(degree, degree)), a / degree[None]  # T_sym, A D⁻¹


def dense_ppr(adjacency: Any, alpha: float) -> Array:
    t_sym, _ = dense_transition(adjacency)
    return np.asarray(alpha * np.linalg.inv(np.eye(len(t_sym)) - (1 - alpha) * t_sym))


def dense_heat(adjacency: Any, heat_time: float) -> Array:
    _, t = dense_transition(adjacency)
    return np.asarray(linalg.expm(heat_time * t - heat_time * np.eye(len(t))))


def as_dense(adjacency: Any, **settings: Any) -> Array:
    operator = make_diff(adjacency, DiffusionRecipe(**settings), torch.float64)
    return operator.multiply(torch.eye(adjacency.shape[0], dtype=torch.float64)).numpy()


@pytest.mark.parametrize("alpha", [0.02, 0.05, 0.2, 0.9, 1.0])
def test_ppr_is_the_dense_inverse_of_eq_6(adjacency: Any, alpha: float) -> None:
    ours = as_dense(adjacency, alpha=alpha, error=1e-10)
    np.testing.assert_allclose(ours, dense_ppr(adjacency, alpha), atol=1e-10)


@pytest.mark.parametrize("heat_time", [0.0, 0.5, 5.0, 40.0])
def test_heat_is_the_matrix_exponential_of_eq_5(adjacency: Any, heat_time: float) -> None:
    ours = as_dense(adjacency, kernel="heat", heat_time=heat_time, error=1e-11)
    np.testing.assert_allclose(ours, dense_heat(adjacency, heat_time), atol=1e-9)


def test_heat_is_not_the_elementwise_exponential(adjacency: Any) -> None:
    _, t = dense_transition(adjacency)
    elementwise = np.exp(5 * t - 5)
    assert np.abs(as_dense(adjacency, kernel="heat", error=1e-9) - elementwise).max() > 0.01


def test_heat_moves_mass_and_loses_none(adjacency: Any) -> None:
    columns = as_dense(adjacency, kernel="heat", error=1e-10).sum(axis=0)
    np.testing.assert_allclose(columns[:ISOLATED], 1, atol=1e-8)


def test_any_theta_is_the_plain_sum_of_eq_4(adjacency: Any) -> None:
    given = (0.5, 0.2, 0.0, 0.3)
    _, t = dense_transition(adjacency)
    expected = sum(c * np.linalg.matrix_power(t, k) for k, c in enumerate(given))
    ours = as_dense(adjacency, kernel="theta", theta=given, error=1e-12)
    np.testing.assert_allclose(ours, expected, atol=1e-10)


@pytest.mark.parametrize("kernel", ["ppr", "heat"])
@pytest.mark.parametrize("error", [0.1, 1e-2, 1e-3, 1e-6])
def test_error_bound_holds_in_the_stated_norm(adjacency: Any, kernel: str, error: float) -> None:
    ours = as_dense(adjacency, kernel=kernel, error=error)
    exact = dense_ppr(adjacency, 0.05) if kernel == "ppr" else dense_heat(adjacency, 5.0)
    difference = ours - exact
    if kernel == "heat":
        degree = adjacency.sum(axis=1)
        root = np.sqrt(np.where(degree > 0, degree, 1))
        difference = difference / root[:, None] * root[None]
    assert np.linalg.norm(difference, 2) <= error


def test_series_is_short() -> None:
    assert len(chebyshev_coefficients(ppr_coefficients(0.05), 1e-3)) - 1 <= 22
    assert len(chebyshev_coefficients(ppr_coefficients(0.05), 1e-6)) - 1 <= 45


@pytest.mark.parametrize(("kernel", "expected"), [("ppr", 0.05), ("heat", np.exp(-5))])
def test_isolated_node_keeps_only_itself(adjacency: Any, kernel: str, expected: float) -> None:
    row = as_dense(adjacency, kernel=kernel, error=1e-10)[ISOLATED]
    assert row[ISOLATED] == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(np.delete(row, ISOLATED), 0, atol=1e-12)


def test_self_loops_setting_builds_t_from_a_plus_i(adjacency: Any) -> None:
    looped = sparse.csr_array(adjacency + sparse.eye_array(12))
    ours = as_dense(adjacency, alpha=0.1, self_loops=True, error=1e-10)
    np.testing.assert_allclose(ours, dense_ppr(looped, 0.1), atol=1e-9)
    assert ours[ISOLATED, ISOLATED] == pytest.approx(1)


@pytest.mark.parametrize("settings", [{"kernel": "ppr"}, {"kernel": "heat"}, {"top_k": 3}])
def test_backward_is_the_transpose(adjacency: Any, settings: dict[str, Any]) -> None:
    operator = make_diff(adjacency, DiffusionRecipe(error=1e-4, **settings), torch.float64)
    x = torch.randn(12, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda block: product(operator, block), (x,))


def test_product_leaves_its_input_alone(adjacency: Any) -> None:
    operator = make_diff(adjacency, DiffusionRecipe(), torch.float64)
    x = torch.randn(12, 3, dtype=torch.float64)
    before = x.clone()
    operator.multiply(x)
    assert torch.equal(x, before)


def test_float32_is_as_good_as_asked(adjacency: Any) -> None:
    operator = make_diff(adjacency, DiffusionRecipe(error=1e-6))
    ours = operator.multiply(torch.eye(12)).numpy()
    assert np.linalg.norm(ours - dense_ppr(adjacency, 0.05), 2) < 1e-6 + 1e-6  # and rounding


@pytest.mark.parametrize("settings", [{}, {"kernel": "heat"}, {"top_k": 4}])
def test_devices_without_csr_get_the_same_products(
    adjacency: Any, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    operator = make_diff(adjacency, DiffusionRecipe(**settings), torch.float64)
    x = torch.randn(12, 3, dtype=torch.float64)
    expected = operator.multiply(x), operator.multiply_transposed(x)
    monkeypatch.setattr("dgb.views.sparse.NO_CSR", ("cpu",))
    torch.testing.assert_close((operator.multiply(x), operator.multiply_transposed(x)), expected)


def test_theta_that_breaks_eq_4_is_refused() -> None:
    for wrong in ((), (0.5, 0.2), (1.5, -0.5)):
        with pytest.raises(DGBError, match="add up to 1"):
            theta(DiffusionRecipe(kernel="theta", theta=wrong))


def test_diffusion_is_matrix_free(adjacency: Any) -> None:
    operator = make_diff(adjacency, DiffusionRecipe())
    assert isinstance(operator, Diffusion)
    assert operator.transition.multiplications == adjacency.nnz


@pytest.mark.parametrize(
    ("count", "widths"),
    [(1, [1]), (31, [31]), (32, [32]), (63, [63]), (64, [32, 32]), (100, [32, 32, 36])],
)
def test_blocks_of_columns_have_no_narrow_rest(count: int, widths: list[int]) -> None:
    parts = even_parts(count, 32)
    assert [part.stop - part.start for part in parts] == widths
    assert [i for part in parts for i in range(count)[part]] == list(range(count))


@pytest.mark.parametrize("columns", [1, 16, 17, 40, 63, 64, 70, 100])
def test_blocks_of_columns_give_the_same_bits(
    adjacency: Any, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    diffusion = make_diff(adjacency, DiffusionRecipe())
    x = torch.rand(12, columns, generator=torch.Generator().manual_seed(0))
    whole = diffusion.multiply(x)
    monkeypatch.setattr("dgb.views.diffusion.CACHED", 12 * 16)
    assert torch.equal(diffusion.multiply(x), whole)
