"""Adam as torch has it, without torch's compiler."""

from inspect import unwrap
from typing import Any

import torch


class Adam(torch.optim.Adam):
    """The same steps, bit for bit.

    torch wraps these methods in a word to its compiler, the import of which takes about as long as
    that of all the rest of torch, and longer than a training on a small graph.
    """

    add_param_group: Any = unwrap(torch.optim.Adam.add_param_group)
    load_state_dict: Any = unwrap(torch.optim.Adam.load_state_dict)
    state_dict: Any = unwrap(torch.optim.Adam.state_dict)
    step: Any = torch.no_grad()(unwrap(torch.optim.Adam.step))
    zero_grad: Any = unwrap(torch.optim.Adam.zero_grad)
