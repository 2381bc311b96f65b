"""Eq. 8–10: values, sign, scale, symmetry."""

import torch

from dgb.model.bootstrap import Outputs
from dgb.model.loss import PAPER, regression_loss, symmetric_loss, weighted_sum


def outputs(prediction1: torch.Tensor, prediction2: torch.Tensor, sign: float) -> Outputs:
    h = torch.zeros(len(prediction1), 1)
    targets = sign * prediction2, sign * prediction1
    return Outputs(h, h, prediction1, prediction2, *targets, torch.nn.Identity())


def test_equal_is_0_and_opposite_is_4_a_direction() -> None:
    q, p = torch.randn(20, 5), torch.randn(20, 5)
    torch.testing.assert_close(regression_loss(q, 3 * q), torch.tensor(0.0), atol=1e-6, rtol=0)
    torch.testing.assert_close(regression_loss(q, -q), torch.tensor(4.0))
    torch.testing.assert_close(
        symmetric_loss(outputs(q, p, 1)), torch.tensor(0.0), atol=1e-6, rtol=0
    )
    torch.testing.assert_close(symmetric_loss(outputs(q, p, -1)), torch.tensor(8.0))


def test_orthogonal_is_2() -> None:
    q, z = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 2.0]])
    torch.testing.assert_close(regression_loss(q, z), torch.tensor(2.0))


def test_it_is_the_mean_over_nodes() -> None:
    q, z = torch.eye(2), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    torch.testing.assert_close(regression_loss(q, z), torch.tensor(1.0))


def test_descending_brings_prediction_and_projection_together() -> None:
    q = torch.randn(10, 4, requires_grad=True)
    z = torch.randn(10, 4)
    before = torch.nn.functional.cosine_similarity(q, z).mean()
    (grad,) = torch.autograd.grad(regression_loss(q, z), q)
    after = torch.nn.functional.cosine_similarity(q - 0.5 * grad, z).mean()
    assert after > before


def test_zero_rows_are_finite_and_so_is_their_gradient() -> None:
    q = torch.zeros(3, 4, requires_grad=True)
    for z in (torch.ones(3, 4), torch.zeros(3, 4)):
        loss = regression_loss(q, z)
        (grad,) = torch.autograd.grad(loss, q)
        assert torch.isfinite(loss) and torch.isfinite(grad).all()


def test_a_loss_is_the_sum_of_its_terms_times_their_weights() -> None:
    made, views = outputs(torch.randn(9, 4), torch.randn(9, 4), -1), (None, None)
    zero = torch.tensor(0.0)
    terms = [(0.5, symmetric_loss), (2.0, lambda *_: torch.tensor(3.0)), (7.0, lambda *_: zero)]
    torch.testing.assert_close(weighted_sum(terms, made, views), torch.tensor(4.0 + 6.0))
    assert torch.equal(weighted_sum(PAPER, made, views), symmetric_loss(made)), "to the bit"
