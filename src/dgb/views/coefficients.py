"""The coefficients θ_k of Eq. 4: heat kernel (Eq. 5), PPR (Eq. 6), and their Chebyshev series."""

import numpy as np
from scipy import fft

from dgb.data.graph import Array
from dgb.errors import DGBError

TAIL = 1e-14  # mass of the θ_k that are left out of an infinite series


def ppr_coefficients(alpha: float) -> Array:
    """Return θ_k = α(1 − α)^k of personalised PageRank, Eq. 6."""
    terms = 1 if alpha >= 1 else int(np.ceil(np.log(TAIL) / np.log1p(-alpha))) + 1
    return np.asarray(alpha * (1 - alpha) ** np.arange(terms))


def heat_coefficients(heat_time: float) -> Array:
    """Return θ_k = e^-t t^k / k! of the heat kernel, Eq. 5."""
    from scipy.stats import poisson

    terms = int(poisson.isf(TAIL, heat_time)) + 2
    return np.asarray(poisson.pmf(np.arange(terms), heat_time))


def chebyshev_coefficients(theta: Array, error: float) -> Array:
    """Return the Chebyshev coefficients of Σ_k θ_k λ^k on [-1, 1], cut at the maximum `error`."""
    coefficients = _chebyshev_series(np.asarray(theta, dtype=np.float64), error)
    dropped = np.cumsum(np.abs(coefficients[::-1]))[::-1]  # sum of |c_j| over j ≥ k
    keep = int(np.searchsorted(-dropped, -error, side="left"))  # first k whose tail fits the error
    return coefficients[: max(keep, 1)]


def _chebyshev_series(theta: Array, error: float) -> Array:
    # Interpolation at m points folds the coefficients above m onto those below: double m until
    # the upper half is negligible, or m exceeds the degree and interpolation is exact.
    m = 64
    while True:
        values = np.polynomial.polynomial.polyval(np.cos(np.pi * (np.arange(m) + 0.5) / m), theta)
        coefficients = np.asarray(fft.dct(values, type=2)) / m
        coefficients[0] /= 2
        if m > len(theta) or np.abs(coefficients[m // 2 :]).sum() < 1e-3 * error:
            return coefficients
        m *= 2


def check_theta(theta: Array) -> None:
    """Refuse coefficients that break the conditions of Eq. 4: θ_k in [0, 1], adding up to 1."""
    if len(theta) == 0 or (theta < 0).any() or abs(theta.sum() - 1) > 1e-6:
        raise DGBError(
            "diffusion.theta must list numbers from 0 to 1 that add up to 1 (Eq. 4), "
            f"not {len(theta)} numbers with the sum {theta.sum():g}"
        )
