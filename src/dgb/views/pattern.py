"""Where the non-zeros of a CSR matrix are, and the two ways to multiply with them."""

import warnings
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

NO_CSR = ("mps",)
HAS_MKL: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the non-zeros of a CSR matrix are."""

    crow: Tensor
    col: Tensor
    shape: tuple[int, int]

    @cached_property
    def row(self) -> Tensor:
        """Row of every non-zero."""
        count = (self.crow[1:] - self.crow[:-1]).long()
        return torch.repeat_interleave(torch.arange(self.shape[0], device=count.device), count)

    def csr(self, values: Tensor) -> Tensor:
        """Return torch's CSR tensor with these values."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
            return torch.sparse_csr_tensor(
                self.crow, self.col, values, size=self.shape, check_invariants=False
            )

    @property
    def has_values(self) -> Tensor:
        """Whether each row has a non-zero."""
        return self.crow[1:] > self.crow[:-1]

    def select(self, kept: Tensor, count_before: Tensor) -> "Pattern":
        """Return the pattern with the non-zeros at the places `kept` alone."""
        crow = count_before.index_select(0, self.crow)
        return Pattern(crow, self.col.index_select(0, kept), self.shape)

    def to(self, device: torch.device) -> "Pattern":
        """Return the pattern on another device."""
        return Pattern(self.crow.to(device), self.col.to(device), self.shape)


def count_before(keep: Tensor) -> Tensor:
    """Return how many are kept before each place, and in all."""
    return nn.functional.pad(keep.cumsum(0, dtype=torch.int32), (1, 0))


def csr_product(csr: Tensor, dense: Tensor) -> Tensor:
    """Multiply torch's CSR tensor with a block of columns."""
    # Written into fresh memory: csr @ dense would first fill it with zeros and then copy it. But
    # kernels other than MKL's multiply what lies there by beta, and zero times NaN is NaN.
    shape = (csr.shape[0], dense.shape[1])
    out = dense.new_empty(shape) if HAS_MKL else dense.new_zeros(shape)
    return torch.addmm(out, csr, dense, beta=0, out=out)


def lacks_csr(dense: Tensor) -> bool:
    """Tell whether the block lies on a device for which torch has no CSR product."""
    return dense.device.type in NO_CSR


def scatter_product(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """Multiply by gathering and adding rows: for devices without a CSR product."""
    out = dense.new_zeros(pattern.shape[0], dense.shape[1])
    return out.index_add_(0, pattern.row, values[:, None] * dense[pattern.col.long()])
