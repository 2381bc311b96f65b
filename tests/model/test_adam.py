"""Adam without torch's compiler takes the steps of torch's own."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dgb.model.layers import Adam


def train(make: Any, **options: Any) -> tuple[list[Tensor], dict[str, Any]]:
    """Return the weights after five steps, the third of them from a restored state, and that."""
    layer, x = nn.Linear(5, 3), torch.linspace(-1, 2, 20).view(4, 5)
    for p in layer.parameters():
        nn.init.constant_(p, 0.3)
    adam = make([{"params": [layer.weight]}, {"params": [layer.bias], "lr": 0.2}], 0.1, **options)
    for step in range(5):
        adam.zero_grad()
        layer(x).sin().square().sum().backward()
        adam.step()
        if step == 2:
            state = adam.state_dict()
            adam = make([{"params": [layer.weight]}, {"params": [layer.bias]}], 1.0, **options)
            adam.load_state_dict(state)
    return [p.detach() for p in layer.parameters()], adam.state_dict()


@pytest.mark.parametrize("options", [{}, {"fused": True}, {"weight_decay": 0.1}])
def test_steps_and_states_are_those_of_torch(options: dict[str, Any]) -> None:
    (ours, state), (theirs, expected) = (
        train(make, **options) for make in (Adam, torch.optim.Adam)
    )
    assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))
    assert not torch.equal(ours[0], torch.full_like(ours[0], 0.3))
    assert state["param_groups"] == expected["param_groups"]
    for index, slots in expected["state"].items():
        assert all(torch.equal(state["state"][index][name], slots[name]) for name in slots)
