"""Conformal prediction as Bayesian quadrature: the exact distribution of the risk bound L+.

The expected loss is the integral of an unknown quantile function K over (0, 1), of which the calibration losses are
values at unknown places. The gaps between the places are Dirichlet(1, ..., 1) whatever the population is, and K does
not fall, so the right-rectangle rule bounds the integral (arXiv 2502.13228, section 4):

    L+ = sum_{i=1}^{n+1} U_i l_(i),   U ~ Dirichlet(1, ..., 1),   l_(n+1) = B,

and Pr(risk <= b | losses) >= Pr(L+ <= b) for every prior on K. Nothing here is simulated: two-valued losses give a
Beta distribution (Clopper and Pearson's limit), all others the integral of `contour`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from core.common.errors import InputError
from core.conformal.atoms import check_bound, checked, grouped, summarise
from core.conformal.contour import Atoms, Distribution, distribution

__all__ = ["Interval", "RiskPosterior"]

_STEPS = 60


@dataclass(frozen=True)
class Interval:
    """From ``low`` to ``high``."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class RiskPosterior:
    """The distribution of L+ after ``n`` calibration losses with the a-priori largest loss ``bound``.

    The order of the losses does not matter. ``support`` runs from the smallest loss to the bound; if every loss equals
    the bound, all mass lies there, ``cdf`` is a step and ``pdf`` is infinite at that point.

    >>> posterior = RiskPosterior.from_losses([0.0, 0.1, 0.1, 0.25, 0.4])
    >>> round(posterior.mean, 10), round(posterior.quantile(0.95), 10), round(posterior.cdf(0.5), 10)
    (0.3083333333, 0.5511166391, 0.914266118)
    """

    n: int
    bound: float
    atoms: Atoms

    @classmethod
    def from_losses(cls, losses: ArrayLike, bound: float = 1.0) -> RiskPosterior:
        """From losses (n,) in [0, bound], in any order; InputError names the first row that is not."""
        ascending = checked(np.asarray(losses), bound)
        return cls(n=ascending.size, bound=float(bound), atoms=summarise(ascending, float(bound)))

    @classmethod
    def from_grouped(cls, values: ArrayLike, counts: ArrayLike, bound: float = 1.0) -> RiskPosterior:
        """From distinct losses (g,) and how often each was seen (g,); a count may be zero."""
        values, counts = np.asarray(values, dtype=float), np.asarray(counts)
        if values.shape != counts.shape or (counts < 0).any() or (counts != np.floor(counts)).any():
            raise InputError("the counts do not fit the values", remedy="Give one whole, non-negative count a value.")
        seen = counts > 0
        order = np.argsort(values[seen], kind="stable")
        values, counts = values[seen][order], counts[seen][order]
        checked(values, bound)
        if (np.diff(values) == 0).any():
            raise InputError("a value is listed twice", remedy="Add up the counts of equal values.")
        return cls(n=int(counts.sum()), bound=float(bound), atoms=grouped(values, counts, float(bound)))

    @classmethod
    def from_failures(cls, failures: int, n: int, bound: float = 1.0) -> RiskPosterior:
        """From ``failures`` losses of ``bound`` among ``n``, others zero: L+ / B ~ Beta(failures + 1, n - failures).

        >>> round(RiskPosterior.from_failures(3, 20).quantile(0.95), 10)
        0.3436638043
        """
        if not 0 <= failures <= n or n < 1:
            raise InputError(
                f"{failures} failures among {n} cases", remedy="Failures run from 0 to the cases, of 1 or more."
            )
        check_bound(bound)
        return cls.from_grouped([0.0, bound], [n - failures, failures], bound)

    @classmethod
    def from_weighted(
        cls, losses: ArrayLike, weights: ArrayLike, test_weight: float, bound: float = 1.0
    ) -> RiskPosterior:
        """Under covariate shift: each loss weighs by its likelihood ratio (n,), the bound by the test point's.

        V_i = w_i E_i / (sum_j w_j E_j + w_0 E_0), E i.i.d. Exp(1). Not from the paper; equal weights give its L+.
        """
        values, weights = np.asarray(losses, dtype=float), np.asarray(weights, dtype=float)
        checked(values, bound)
        _check_weights(values, weights, test_weight)
        order = np.argsort(values, kind="stable")
        return cls(
            n=values.size,
            bound=float(bound),
            atoms=Atoms(
                values=np.append(values[order], bound),
                counts=np.ones(values.size + 1),
                scales=np.append(weights[order], test_weight) / np.append(weights, test_weight).mean(),
            ),
        )

    @cached_property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest value that L+ can take."""
        return float(self.atoms.values[0]), float(self.atoms.values[-1])

    @cached_property
    def mean(self) -> float:
        """E[L+] = (B + sum of losses) / (n + 1), what conformal risk control compares with alpha."""
        if self.atoms.scales is not None:
            return self._moment_by_quadrature(1)
        return self._average(self.atoms.values)

    @cached_property
    def variance(self) -> float:
        """Var[L+] = (mean of w^2 - mu^2) / (n + 2), w the losses and the bound."""
        if self.atoms.scales is not None:
            return self._moment_by_quadrature(2)
        return self._central(2) / (self.n + 2)

    @property
    def sd(self) -> float:
        """The standard deviation of L+."""
        return float(np.sqrt(self.variance))

    @cached_property
    def skewness(self) -> float:
        """Third standardised moment: 2 m3 / ((n + 2)(n + 3)) over the cubed standard deviation; 0 for a point mass."""
        if self.is_point:
            return 0.0
        return 2 * self._central(3) / ((self.n + 2) * (self.n + 3)) / self.variance**1.5

    @property
    def is_point(self) -> bool:
        """Whether every loss equals the bound, so that L+ is certain."""
        return self.support[0] == self.support[1]

    def cdf(self, x: ArrayLike) -> np.ndarray | float:
        """Pr(L+ <= x), of the shape of ``x``."""
        return self._evaluate(x, lambda found: found.cdf, (0.0, 1.0))

    def sf(self, x: ArrayLike) -> np.ndarray | float:
        """Pr(L+ > x), with its own relative accuracy far in the tail."""
        return self._evaluate(x, lambda found: found.sf, (1.0, 0.0))

    def pdf(self, x: ArrayLike) -> np.ndarray | float:
        """The density of L+, a B-spline of degree n - 1 with the losses and the bound as knots."""
        if self.is_point:
            return _shaped(np.where(np.asarray(x, float) == self.bound, np.inf, 0.0), x)
        return self._evaluate(x, lambda found: found.pdf, (0.0, 0.0))

    def curve(self, x: np.ndarray) -> Distribution:
        """Probability below, probability above and density at ``x`` (points,) for the price of one of them."""
        points = np.asarray(x, dtype=float)
        low, high = self.support
        below = (points >= high).astype(float)
        cdf, sf, pdf = below, 1 - below, np.zeros_like(below)
        inside = (points > low) & (points < high)
        if inside.any():
            found = self._at(points[inside])
            cdf[inside], sf[inside], pdf[inside] = found.cdf, found.sf, found.pdf
        return Distribution(cdf=cdf, sf=sf, pdf=pdf)

    def quantile(self, p: ArrayLike) -> np.ndarray | float:
        """inf{x : Pr(L+ <= x) >= p}, for p in [0, 1]."""
        levels = np.atleast_1d(np.asarray(p, dtype=float))
        if not ((levels >= 0) & (levels <= 1)).all():
            raise InputError(f"the probability {p} is outside 0 to 1")
        low, high = self.support
        found = np.where(levels == 0, low, high)
        inside = (levels > 0) & (levels < 1)
        if inside.any() and not self.is_point:
            found[inside] = self._solve(levels[inside])
        return _shaped(found, p)

    def credible_bound(self, beta: float) -> float:
        """The beta-quantile, which the paper calls HPD: the risk is below it with probability at least ``beta``."""
        return float(self.quantile(beta))

    def interval(self, level: float) -> Interval:
        """The equal-tailed interval of that probability."""
        low, high = self.quantile(np.array([(1 - level) / 2, (1 + level) / 2]))
        return Interval(float(low), float(high))

    @cached_property
    def mode(self) -> float:
        """Where the density is highest; the density has one peak, being a B-spline."""
        low, high = self.support
        if self.is_point:
            return high
        left, right = self.quantile(np.array([1e-6, 1 - 1e-6]))
        peak = optimize.minimize_scalar(lambda x: -self.pdf(x), bounds=(left, right), options={"xatol": 1e-9 * high})
        return float(low if self._falls_from_the_start() else peak.x)

    def hpd(self, level: float) -> Interval:
        """The shortest interval of that probability, both ends free (the paper calls its one-sided bound HPD)."""
        if self.is_point:
            return Interval(self.bound, self.bound)
        if self._falls_from_the_start():
            return Interval(self.support[0], float(self.quantile(level)))

        def unevenness(below: float) -> float:
            left, right = self.pdf(self.quantile(np.array([below, min(below + level, 1.0)])))
            return left - right

        below = optimize.brentq(unevenness, 0.0, 1 - level, xtol=1e-10)
        low, high = self.quantile(np.array([below, below + level]))
        return Interval(float(low), float(high))

    def _falls_from_the_start(self) -> bool:
        """Whether the smallest loss was seen n times, so that the density is highest there, and falls (or is flat)."""
        return float(np.atleast_1d(self.atoms.counts)[0]) >= self.n

    def _evaluate(self, x: ArrayLike, pick, outside: tuple[float, float]) -> np.ndarray | float:
        points = np.asarray(x, dtype=float)
        if np.isnan(points).any():
            raise InputError("a risk of nan was asked for")
        low, high = self.support
        result = np.where(points >= high, outside[1], outside[0])
        inside = (points > low) & (points < high)
        if inside.any():
            result[inside] = pick(self._at(points[inside]))
        return _shaped(result, x)

    def _at(self, points: np.ndarray) -> Distribution:
        if self.atoms.values.size == 2 and self.atoms.scales is None:
            return self._beta(points)
        return distribution(self.atoms, points)

    def _beta(self, points: np.ndarray) -> Distribution:
        """Two values only: L+ = low + (high - low) Beta(count of high, count of low)."""
        low, high = self.support
        below, above = self.atoms.counts
        share = (points - low) / (high - low)
        log_pdf = special.xlogy(above - 1, share) + special.xlog1py(below - 1, -share) - special.betaln(above, below)
        return Distribution(
            cdf=special.betainc(above, below, share),
            sf=special.betaincc(above, below, share),
            pdf=np.exp(log_pdf) / (high - low),
        )

    def _solve(self, levels: np.ndarray) -> np.ndarray:
        if self.atoms.values.size == 2 and self.atoms.scales is None:
            low, high = self.support
            below, above = self.atoms.counts
            return low + (high - low) * special.betaincinv(above, below, levels)
        return self._newton(levels)

    def _newton(self, levels: np.ndarray) -> np.ndarray:
        """Newton's steps on the log of the nearer tail, kept within a shrinking bracket."""
        low, high = self.support
        left, right = np.full_like(levels, low), np.full_like(levels, high)
        x = self._guess(levels)
        for _ in range(_STEPS):
            found = self._at(x)
            lower = levels < 0.5
            over = np.where(lower, found.cdf > levels, found.sf < 1 - levels)
            left, right = np.where(over, left, x), np.where(over, x, right)
            tail, goal = np.where(lower, found.cdf, found.sf), np.where(lower, levels, 1 - levels)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.log(tail / goal) * tail / found.pdf * np.where(lower, -1.0, 1.0)
            proposal = x + step
            outside = ~((proposal >= left) & (proposal <= right))
            new = np.where(outside, (left + right) / 2, proposal)
            done = np.abs(new - x) <= 1e-13 * (high - low) + 1e-15 * np.abs(x)
            x = new
            if done.all():
                break
        return x

    def _guess(self, levels: np.ndarray) -> np.ndarray:
        """Cornish and Fisher's expansion to the skewness, kept inside the support."""
        low, high = self.support
        z = special.ndtri(levels)
        x = self.mean + self.sd * (z + self.skewness * (z**2 - 1) / 6)
        return np.where((x > low) & (x < high), x, (low + high) / 2)

    def _central(self, k: int) -> float:
        """The k-th central moment of the n + 1 weighted values, k = 2 or 3."""
        away = self.atoms.values - self.mean
        moment = float(self._average(away**k))
        if self.atoms.moments is None:
            return moment
        second, third, _ = self.atoms.moments.sum(axis=1)
        inner = second if k == 2 else third + 3 * float((away * self.atoms.moments[0]).sum())
        return moment + inner / (self.n + 1)

    def _average(self, values: np.ndarray) -> float:
        return float((self.atoms.counts * values).sum() / self.atoms.counts.sum())

    def _moment_by_quadrature(self, k: int) -> float:
        """Mean (k = 1) or variance (k = 2) from the survival function, for weighted losses."""
        low, high = self.support
        nodes, weights = np.polynomial.legendre.leggauss(400)
        x = low + (high - low) * (nodes + 1) / 2
        tail = self.sf(x) * weights * (high - low) / 2
        if k == 1:
            return low + float(tail.sum())
        return float((2 * (x - low) * tail).sum()) - (self.mean - low) ** 2


def _check_weights(values: np.ndarray, weights: np.ndarray, test_weight: float) -> None:
    if weights.shape != values.shape:
        raise InputError(f"{weights.size} weights for {values.size} losses", remedy="Give one weight a loss.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        raise InputError(f"the weight is {weights[bad[0]]}", row=int(bad[0]) + 1, remedy="Weights have to be positive.")
    if not (np.isfinite(test_weight) and test_weight > 0):
        raise InputError(f"the test point's weight is {test_weight}", remedy="It has to be positive.")


def _shaped(result: np.ndarray, like: ArrayLike) -> np.ndarray | float:
    result = np.asarray(result)
    return float(result.reshape(())) if np.ndim(like) == 0 else result.reshape(np.shape(like))
