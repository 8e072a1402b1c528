"""The distribution of a Dirichlet-weighted sum, by one integral along a curve that fits the integrand.

L+ = sum_i U_i w_i with U ~ Dirichlet(1, ..., 1) has U_i = E_i / sum_j E_j for independent exponentials E, so
Pr(L+ <= x) = Pr(sum_i c_i E_i <= 0) with c_i = w_i - x (arXiv 2502.13228, section 4, gives the Dirichlet form). With
K(s) = -sum_i log(1 - s c_i), the inversion formula is

    Pr(L+ > x) =  (1 / 2 pi i) int exp(K(s)) / s ds,    Re s > 0,
    Pr(L+ <= x) = -(1 / 2 pi i) int exp(K(s)) / s ds,   Re s < 0,
    density(x) =  (n / 2 pi i) int exp(K(s)) ds,

for n + 1 weights. The line of integration crosses the real axis at the saddle point s0 of K, where the integrand does
not oscillate, so small tail probabilities keep their relative accuracy. It then follows the hyperbola s = s0 + z,
z = i a (sinh(u + i b) - sinh(i b)), bent by b towards the curve of steepest descent. Along it the trapezoid rule
converges exponentially, even if the singularities lie on very different scales; its step is halved until the last
halving changed nothing that matters, and then the error is about the square of that change.

With ratios r_i = c_i / (1 - s0 c_i), exp(K(s0 + z) - K(s0)) = prod_i (1 - z r_i)^-1. Single atoms are multiplied,
repeated ones go through logarithms, and the many that are far, |z r_i| < 1/2, through one power series in z.

Measured against the exact recursion of `tests/core/conformal/oracles.py`: relative error below 1e-12 in both tails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Atoms", "Distribution", "distribution"]

_STEP = 0.25  # of the trapezoid rule at first
_NODES = 14  # evaluated at a time: as far as the integrand reaches when it is Gaussian
_HALVINGS = 9
_CHANGE = 3e-8  # a halving that changes less leaves an error of about its square
_NEGLIGIBLE, _ROUNDING = 4e-18, 1e-15  # of the integrand where the curve crosses the axis
_CELLS, _POINTS = 1 << 16, 512  # numbers and points held at a time: what a processor's cache can hold
_MOST_BENT = 0.7  # radians; below pi / 4 the integrand decays along both arms also where it is Gaussian
_SINGLES = 128  # factors multiplied before they are divided by: a product of so many cannot overflow
_FAR, _TERMS = 0.5, 26  # the last nodes, where |z r| comes near 1/2, weigh 1e-17
_NEXT_TO_THE_END = 1e-100  # of the support's length: of nearer points the reciprocal's cube would overflow


@dataclass(frozen=True, kw_only=True)
class Atoms:
    """The values that are weighted, ascending (g,) or (rows, g), with their ``counts`` of the same two shapes.

    A count of zero means that the value is absent; counts need not be whole. ``scales`` (g,), if given, multiply each
    exponential: the weights are then no longer exchangeable.
    """

    values: np.ndarray
    counts: np.ndarray
    scales: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Probability below, probability above, and density at each point, each (points,)."""

    cdf: np.ndarray
    sf: np.ndarray
    pdf: np.ndarray


def distribution(atoms: Atoms, x: np.ndarray) -> Distribution:
    """The distribution of the weighted sum at ``x`` (points,), each strictly between its row's extreme values.

    ``values`` or ``counts`` of shape (rows, g) go with one point a row. Cost: points x atoms x 28 products as a rule.
    """
    x = np.asarray(x, dtype=float)
    result = np.empty((3, x.size))
    rows = int(np.clip(_CELLS // atoms.values.shape[-1], 1, _POINTS))
    for start in range(0, x.size, rows):
        part = slice(start, start + rows)
        result[:, part] = _Integral(_rows(atoms, part), x[part]).solve()
    return Distribution(cdf=result[0], sf=result[1], pdf=result[2])


def _rows(atoms: Atoms, part: slice) -> Atoms:
    values, counts = (side if side.ndim == 1 else side[part] for side in (atoms.values, np.asarray(atoms.counts)))
    return Atoms(values=values, counts=counts, scales=atoms.scales)


class _Integral:
    """One integral a point: where its curve crosses, how wide it is, and the trapezoid sums so far."""

    def __init__(self, atoms: Atoms, x: np.ndarray) -> None:
        self.counts = np.broadcast_to(np.asarray(atoms.counts, float), (x.size, atoms.values.shape[-1]))
        self.scales = atoms.scales
        c = self._distances(atoms, x)
        low, high = 1 / c.min(axis=1), 1 / c.max(axis=1)  # the integrand is analytic between these singularities
        saddle, curvature, third = self._saddle(c, low, high)
        width = 1 / np.sqrt(curvature)
        gap = np.minimum(width, 0.5 * np.where(saddle >= 0, high, -low))  # keeps off the pole at 0
        self.crossing = np.where(np.abs(saddle) < gap, np.where(saddle >= 0, gap, -gap), saddle)
        near = np.minimum.reduce([np.abs(self.crossing), high - self.crossing, self.crossing - low])
        self.a = np.minimum(near, width)
        self.bend = -np.arctan(self.a * third / (3 * curvature)).clip(-_MOST_BENT, _MOST_BENT)
        shift = self.crossing[:, None] * c
        self.ratio = c / (1 - shift)
        self.weights = None if self.scales is None else self.counts * self.scales / (1 - shift)
        self.height = np.exp(-np.einsum("rg,rg->r", self.counts, np.log1p(-shift)))
        self.reach = np.abs(self._displacement(_NODES * _STEP, slice(None))[0][:, 0])
        self._sort_columns()

    def solve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Probability below, above, and the density, (points,) each; steps are halved where it still matters."""
        todo, step = np.arange(self.a.size), _STEP
        slope = np.abs(self._slope(todo, np.zeros((todo.size, 1)))[:, 0])
        rounding = _ROUNDING * self.a * self.height * np.stack((1 / np.abs(self.crossing), slope))
        sums = self._sum(todo, 0.0, step)
        for _ in range(_HALVINGS):
            between = self._sum(todo, 0.5, step)
            change = np.abs(between - sums[:, todo]) / 2
            sums[:, todo] = (sums[:, todo] + between) / 2
            todo = todo[(change > np.maximum(_CHANGE * np.abs(sums[:, todo]), rounding[:, todo])).any(axis=0)]
            step /= 2
            if not todo.size:
                break
        tail, right = np.abs(sums[0]), self.crossing > 0
        return np.where(right, 1 - tail, tail), np.where(right, tail, 1 - tail), np.maximum(sums[1], 0)

    def _distances(self, atoms: Atoms, x: np.ndarray) -> np.ndarray:
        """c (points, g), zero where the value is absent."""
        low = np.where(self.counts > 0, atoms.values, np.inf).min(axis=1)
        x = np.maximum(x, low + _NEXT_TO_THE_END * (atoms.values.max() - low))
        c = np.where(self.counts > 0, atoms.values - x[:, None], 0.0)
        return c if self.scales is None else c * self.scales

    def _saddle(self, c: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where K' is zero, roughly, with its next two derivatives: Newton's steps, halved at the bracket's ends."""
        s, left, right = np.zeros_like(low), low, high
        for _ in range(60):
            slopes = c / (1 - s[:, None] * c)
            slope = np.einsum("rg,rg->r", self.counts, slopes)
            curvature = np.einsum("rg,rg,rg->r", self.counts, slopes, slopes)
            left, right = np.where(slope < 0, s, left), np.where(slope < 0, right, s)
            step = s - slope / curvature
            step = np.where((step <= left) | (step >= right), (left + right) / 2, step)
            near = np.abs(step - s) <= 0.02 * np.minimum(step - low, high - step)
            s = step
            if near.all():
                break
        slopes = c / (1 - s[:, None] * c)
        second = self.counts * slopes**2
        return s, second.sum(axis=1), 2 * np.einsum("rg,rg->r", second, slopes)

    def _sort_columns(self) -> None:
        """Which atoms are far at every point, and of the others, which are single; the sums of powers of the far."""
        far = (np.abs(self.ratio) * self.reach[:, None]).max(axis=0) < _FAR
        if far.sum() < 2 * _TERMS:
            far[:] = False
        self.far = np.flatnonzero(far)
        single = (self.counts == 1).all(axis=0)
        self.single, self.tied = np.flatnonzero(single), np.flatnonzero(~single)
        self.near_single, self.near_tied = np.flatnonzero(single & ~far), np.flatnonzero(~single & ~far)
        self.of_far = self._sums_of_powers(self.counts) / np.maximum(1, np.arange(_TERMS + 1))[:, None]
        self.slope_of_far = None if self.weights is None else self._sums_of_powers(self.weights)

    def _sums_of_powers(self, weights: np.ndarray) -> np.ndarray:
        """sum_far weight r^k for k = 0, 1, ..., (terms, points)."""
        ratio, power = self.ratio[:, self.far], weights[:, self.far]
        sums = np.zeros((_TERMS + 1, self.a.size))
        for k in range(_TERMS + 1 if self.far.size else 0):
            sums[k] = power.sum(axis=1)
            power = power * ratio
        return sums

    def _sum(self, points: np.ndarray, offset: float, step: float) -> np.ndarray:
        """Trapezoid sums (2, points) over u = (offset + k) step, by symmetry on one half of the curve only."""
        sums, todo, first = np.zeros((2, self.a.size)), points, 0
        while todo.size:
            u = (offset + np.arange(first, first + _NODES)) * step
            z, speed = self._displacement(u, todo)
            bell = self._fall(todo, z) * speed
            if u[0] == 0:
                bell[:, 0] /= 2
            s = self.crossing[todo, None] + z
            sums[:, todo] += (bell / s).real.sum(axis=1), (bell * self._slope(todo, z)).real.sum(axis=1)
            todo = todo[np.abs(bell[:, -1]) > _NEGLIGIBLE * self.a[todo]]
            first += _NODES
        return sums[:, points] * self.height[points] * step / np.pi

    def _displacement(self, u: np.ndarray | float, points: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
        """z and dz / du / i at u (nodes,), each (points, nodes)."""
        a, bend = self.a[points, None], self.bend[points, None]
        along, across = a * np.cos(bend), a * np.sin(bend)
        sinh, cosh = np.sinh(u), np.cosh(u)
        return across * (1 - cosh) + 1j * (along * sinh), along * cosh + 1j * (across * sinh)

    def _fall(self, points: np.ndarray, z: np.ndarray) -> np.ndarray:
        """exp(K(s0 + z) - K(s0)), (points, nodes)."""
        series = self._series_holds(points, z)
        single, tied = (self.near_single, self.near_tied) if series else (self.single, self.tied)
        # -sum_far log(1 - z r) = sum_k z^k (sum of r^k) / k
        log = z * _horner(self.of_far[1:, points], z) if series else np.zeros_like(z)
        for columns in _pieces(tied, z.size):
            _add_logs(log, self._products(points, columns, z), self.counts[np.ix_(points, columns)])
        fall = np.exp(log)
        for columns in _pieces(single, z.size):
            fall /= np.multiply.reduce(1 - self._products(points, columns, z), axis=0)
        return fall

    def _slope(self, points: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What multiplies exp(K) in the density: n, or with scales sum scale / (1 - s c), to be had as K is."""
        if self.weights is None:
            return self.counts[points].sum(axis=1, keepdims=True) - 1
        series = self._series_holds(points, z)
        total = _horner(self.slope_of_far[:, points], z) if series else np.zeros_like(z)
        for columns in _pieces(np.setdiff1d(self.single, self.far) if series else self.single, z.size):
            total += np.einsum(
                "grk,rg->rk", 1 / (1 - self._products(points, columns, z)), self.weights[np.ix_(points, columns)]
            )
        return total

    def _series_holds(self, points: np.ndarray, z: np.ndarray) -> bool:
        return self.far.size > 0 and bool((np.abs(z[:, -1]) <= self.reach[points]).all())

    def _products(self, points: np.ndarray, columns: np.ndarray, z: np.ndarray) -> np.ndarray:
        """z r of some atoms, (atoms, points, nodes)."""
        return self.ratio[np.ix_(points, columns)].T[:, :, None] * z


def _horner(coefficients: np.ndarray, z: np.ndarray) -> np.ndarray:
    """sum_k coefficients[k] z^k for coefficients (terms, points) and z (points, nodes)."""
    total = np.zeros_like(z)
    for coefficient in coefficients[::-1, :, None]:
        total = total * z + coefficient
    return total


def _pieces(columns: np.ndarray, each: int) -> list[np.ndarray]:
    size = int(np.clip(_CELLS // 2 // max(1, each), 1, _SINGLES))
    return [columns[start : start + size] for start in range(0, columns.size, size)]


def _add_logs(log: np.ndarray, r: np.ndarray, counts: np.ndarray) -> None:
    """Take sum_g count_g log(1 - r_g) from ``log``; log1p keeps the digits that large counts would lose."""
    size = r.real * (r.real - 2) + r.imag**2
    log.real -= 0.5 * np.einsum("grk,rg->rk", np.log1p(size), counts)
    log.imag -= np.einsum("grk,rg->rk", np.arctan2(-r.imag, 1 - r.real), counts)
