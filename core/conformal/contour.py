"""The distribution of a Dirichlet-weighted sum, by one integral along a curve that fits the integrand.

L+ = sum_i U_i w_i with U ~ Dirichlet(1, ..., 1) has U_i = E_i / sum_j E_j for independent exponentials E, so
Pr(L+ <= x) = Pr(sum_i c_i E_i <= 0) with c_i = w_i - x (arXiv 2502.13228, section 4, gives the Dirichlet form). With
K(s) = -sum_i log(1 - s c_i), the inversion formula is

    Pr(L+ > x) =  (1 / 2 pi i) int exp(K(s)) / s ds,    Re s > 0,
    Pr(L+ <= x) = -(1 / 2 pi i) int exp(K(s)) / s ds,   Re s < 0,
    density(x) =  (n / 2 pi i) int exp(K(s)) ds,

for n + 1 weights. The line of integration crosses the real axis at the saddle point of K, where the integrand does not
oscillate, so small tail probabilities keep their relative accuracy. It then follows the hyperbola
s = s0 + i a (sinh(u + i b) - sinh(i b)), bent by b towards the curve of steepest descent. Along it the trapezoid rule
converges exponentially, even if the singularities lie on very different scales; its step is halved until the last
halving changed nothing that matters, and then the error is about the square of that change.

Measured against the exact recursion of `tests/core/conformal/oracles.py`: absolute error below 1e-13.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Atoms", "Distribution", "distribution"]

_FIRST_NODES, _LAST_NODES = 16, 1 << 15
_CHANGE = 3e-8  # a halving that changes less leaves an error of about its square
_NEGLIGIBLE = 40.0  # exp(-40) = 4e-18
_CELLS = 1 << 18  # complex numbers held at a time
_MOST_BENT = 0.7  # radians; below pi / 4 the integrand decays along both arms also where it is Gaussian
_SINGLES = 32  # factors multiplied before a logarithm is taken: a product of so many cannot overflow


@dataclass(frozen=True, kw_only=True)
class Atoms:
    """The values that are weighted, ascending (g,) or (rows, g), with their ``counts`` of the same two shapes.

    A count of zero means that the value is absent.

    ``moments`` (3, g), if given, says that an atom stands for a narrow block of values: the sums of the second to
    fourth powers of their distances from the block's mean. ``scales`` (g,), if given, multiply each exponential:
    the weights are then no longer exchangeable.
    """

    values: np.ndarray
    counts: np.ndarray
    moments: np.ndarray | None = None
    scales: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Probability below, probability above, and density at each point, each (points,)."""

    cdf: np.ndarray
    sf: np.ndarray
    pdf: np.ndarray


def distribution(atoms: Atoms, x: np.ndarray) -> Distribution:
    """The distribution of the weighted sum at ``x`` (points,), each strictly between its row's extreme values.

    ``counts`` of shape (rows, g) go with one point a row. Cost: points x nodes x atoms, with 16 to 128 nodes as a rule.
    """
    integral = _Integral(atoms, np.asarray(x, float))
    above, density = integral.solve()
    right = integral.crossing > 0
    tail = np.abs(above)
    return Distribution(cdf=np.where(right, 1 - tail, tail), sf=np.where(right, tail, 1 - tail), pdf=density)


class _Integral:
    """One integral a point: where its curve crosses, how wide it is, and the trapezoid sums so far."""

    def __init__(self, atoms: Atoms, x: np.ndarray) -> None:
        self.atoms = atoms
        self.counts = np.broadcast_to(np.asarray(atoms.counts, float), (x.size, atoms.values.shape[-1]))
        scales = 1.0 if atoms.scales is None else atoms.scales
        self.c = np.where(self.counts > 0, (atoms.values - x[:, None]) * scales, 0.0)
        low, high = self._strip()
        saddle, curvature, third = self._saddle(low, high)
        width = 1 / np.sqrt(curvature)
        gap = np.minimum(width, 0.5 * np.where(saddle >= 0, high, -low))  # keeps off the pole at 0
        self.crossing = np.where(np.abs(saddle) < gap, np.where(saddle >= 0, gap, -gap), saddle)
        near = np.minimum.reduce([np.abs(self.crossing), high - self.crossing, self.crossing - low])
        self.a = np.minimum(near, width)
        self.bend = -np.arctan(self.a * third / (3 * curvature)).clip(-_MOST_BENT, _MOST_BENT)
        base = 1 - self.crossing[:, None] * self.c
        self.ratio = self.c / base
        self.height = np.exp(
            -(self.counts * np.log(base)).sum(axis=1) + self._blocks(self.crossing[:, None])[:, 0].real
        )
        self.end = self._end()

    def _strip(self) -> tuple[np.ndarray, np.ndarray]:
        """Between which real s the integrand is analytic: the singularities 1 / c next to 0, (points,) each."""
        return 1 / self.c.min(axis=1), 1 / self.c.max(axis=1)

    def _saddle(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where K' is zero, roughly, with its next two derivatives: Newton's steps, halved at the bracket's ends."""
        s, left, right = np.zeros_like(low), low, high
        for _ in range(60):
            slopes = self.c / (1 - s[:, None] * self.c)
            slope = np.einsum("rg,rg->r", self.counts, slopes)
            curvature = np.einsum("rg,rg,rg->r", self.counts, slopes, slopes)
            left, right = np.where(slope < 0, s, left), np.where(slope < 0, right, s)
            step = s - slope / curvature
            step = np.where((step <= left) | (step >= right), (left + right) / 2, step)
            near = np.abs(step - s) <= 0.02 * np.minimum(step - low, high - step)
            s = step
            if near.all():
                break
        slopes = self.c / (1 - s[:, None] * self.c)
        second = self.counts * slopes**2
        return s, second.sum(axis=1), 2 * np.einsum("rg,rg->r", second, slopes)

    def _end(self) -> np.ndarray:
        """The u from which on the integrand is negligible, (points,)."""
        u = np.ones_like(self.a)
        for _ in range(200):
            z = self._displacement(u)
            size = np.abs(z)[:, None] * self.ratio
            decay = 0.5 * (self.counts * np.log1p(size * (size - 2 * (z.real / np.abs(z))[:, None]))).sum(axis=1) - u
            short = decay < _NEGLIGIBLE
            if not short.any():
                break
            u = np.where(short, u + 0.5, u)
        return u

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """The integrals of exp(K) / s and of the density, (points,) each, with nodes doubled where it still matters."""
        nodes = _FIRST_NODES
        sums = self._sum(np.arange(self.a.size), np.arange(nodes) / nodes) / nodes
        todo = np.arange(self.a.size)
        while todo.size and nodes < _LAST_NODES:
            between = self._sum(todo, (np.arange(nodes) + 0.5) / nodes) / nodes
            change = np.abs(between - sums[:, todo]) / 2
            sums[:, todo] = (sums[:, todo] + between) / 2
            todo = todo[(change > _CHANGE * np.abs(sums[:, todo])).any(axis=0)]
            nodes *= 2
        return sums[0], sums[1]

    def _sum(self, points: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Trapezoid sums (2, points) over the nodes u = places * end, by symmetry on one half of the curve only."""
        u = places * self.end[points, None]
        steps = self._displacement(u, points)
        speed = self.a[points, None] * np.cosh(u + 1j * self.bend[points, None]) * np.where(u == 0, 0.5, 1.0)
        s = self.crossing[points, None] + steps
        bell = np.exp(self._log_ratio(points, steps)) * speed
        weight = self.height[points] * self.end[points] / np.pi
        return weight * np.stack([(bell / s).real.sum(axis=1), (bell * self._slope(points, s)).real.sum(axis=1)])

    def _displacement(self, u: np.ndarray, points: np.ndarray | slice = slice(None)) -> np.ndarray:
        """s - s0 at u (points,) or (points, nodes)."""
        a, bend = (side[points].reshape(-1, *(1,) * (u.ndim - 1)) for side in (self.a, self.bend))
        return 1j * a * (np.sinh(u + 1j * bend) - 1j * np.sin(bend))

    def _log_ratio(self, points: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """log of exp(K(s0 + step)) / exp(K(s0)), (points, nodes), up to whole turns."""
        ratio, counts = self.ratio[points], self.counts[points]
        add = _log_of_singles if (counts == 1).all() else _log_of_counted
        width = max(1, _CELLS // max(1, steps.size))
        total = np.zeros(steps.shape, complex)
        for start in range(0, ratio.shape[1], width):
            part = slice(start, start + width)
            add(total, steps[:, :, None] * ratio[:, None, part], counts[:, part])
        if self.atoms.moments is not None:
            s = self.crossing[points, None] + steps
            total += self._blocks(s, points) - self._blocks(self.crossing[points, None], points)
        return total

    def _blocks(self, s: np.ndarray, points: np.ndarray | slice = slice(None)) -> np.ndarray:
        """What the spread within blocks adds to K: sum_b rho^2 D2 / 2 + rho^3 D3 / 3 + ..., rho = s / (1 - s c)."""
        if self.atoms.moments is None:
            return np.zeros(s.shape, complex)
        spread = np.flatnonzero(self.atoms.moments[0])
        c = self.c[points][:, None, spread]
        second, third, fourth = self.atoms.moments[:, spread]
        rho = s[:, :, None] / (1 - s[:, :, None] * c)
        return (rho**2 * (second / 2 + rho * (third / 3 + rho * fourth / 4))).sum(axis=2)

    def _slope(self, points: np.ndarray, s: np.ndarray) -> np.ndarray | float:
        """What multiplies exp(K) in the density: n, or with scales the sum of scale / (1 - s c)."""
        if self.atoms.scales is None:
            return self.counts[points].sum(axis=1, keepdims=True) - 1
        weights = self.counts[points] * self.atoms.scales
        return (weights[:, None, :] / (1 - s[:, :, None] * self.c[points][:, None, :])).sum(axis=2)


def _log_of_singles(total: np.ndarray, r: np.ndarray, counts: np.ndarray) -> None:
    """Take log prod_g (1 - r_g) from ``total``: products of a few dozen factors first, they cannot overflow."""
    for start in range(0, r.shape[2], _SINGLES):
        total -= np.log(np.multiply.reduce(1 - r[:, :, start : start + _SINGLES], axis=2))


def _log_of_counted(total: np.ndarray, r: np.ndarray, counts: np.ndarray) -> None:
    """Take sum_g count_g log(1 - r_g) from ``total``; log1p keeps the digits that large counts would lose."""
    size = r.real * (r.real - 2) + r.imag**2
    total.real -= 0.5 * np.einsum("rkg,rg->rk", np.log1p(size), counts)
    total.imag -= np.einsum("rkg,rg->rk", np.arctan2(-r.imag, 1 - r.real), counts)
