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
_STRIDE = 0.125  # of the trapezoid rule for weighted moments


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
        values, counts = np.asarray(values, dtype=float), np.asarray(counts, dtype=float)
        if values.shape != counts.shape:
            raise InputError("the counts do not fit the values", remedy="Give one count a value.")
        checked(values, bound)
        _check_counts(counts)
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        if (np.diff(values) == 0).any():
            raise InputError("a value is listed twice", remedy="Add up the counts of equal values.")
        values, counts = values[counts > 0], counts[counts > 0]
        return cls(n=int(counts.sum()), bound=float(bound), atoms=grouped(values, counts, float(bound)))

    @classmethod
    def from_failures(cls, failures: int, n: int, bound: float = 1.0) -> RiskPosterior:
        """From ``failures`` losses of ``bound`` among ``n``, others zero: L+ / B ~ Beta(failures + 1, n - failures).

        >>> round(RiskPosterior.from_failures(3, 20).quantile(0.95), 10)
        0.3436638043
        """
        if not (0 <= failures <= n and 1 <= n < np.inf):
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
        if self.atoms.scales is None:
            return self._central(1, 0.0)
        rough = float(self.atoms.values @ self.atoms.scales / self.atoms.scales.sum())
        return rough + _moments_about(self.atoms, rough)[0]

    @cached_property
    def variance(self) -> float:
        """Var[L+] = (mean of w^2 - mu^2) / (n + 2), w the losses and the bound."""
        return self._second_and_third[0]

    @property
    def sd(self) -> float:
        """The standard deviation of L+."""
        return float(np.sqrt(self.variance))

    @cached_property
    def skewness(self) -> float:
        """Third standardised moment: 2 m3 / ((n + 2)(n + 3)) over the cubed standard deviation; 0 for a point mass."""
        second, third = self._second_and_third
        return 0.0 if self.is_point else third / second**1.5

    @property
    def is_point(self) -> bool:
        """Whether every loss equals the bound, so that L+ is certain."""
        return self.support[0] == self.support[1]

    def cdf(self, x: ArrayLike) -> np.ndarray | float:
        """Pr(L+ <= x), of the shape of ``x``."""
        return _shaped(self.curve(x).cdf, x)

    def sf(self, x: ArrayLike) -> np.ndarray | float:
        """Pr(L+ > x), with its own relative accuracy far in the tail."""
        return _shaped(self.curve(x).sf, x)

    def pdf(self, x: ArrayLike) -> np.ndarray | float:
        """The density of L+, a B-spline of degree n - 1 with the losses and the bound as knots.

        At an end of the support it is the limit from within, which is not zero if all losses are equal.
        """
        return _shaped(self.curve(x).pdf, x)

    def curve(self, x: ArrayLike) -> Distribution:
        """Probability below, probability above and density at ``x`` (points,) for the price of one of them."""
        points = np.asarray(x, dtype=float).ravel()
        if np.isnan(points).any():
            raise InputError("a risk of nan was asked for")
        low, high = self.support
        cdf = (points >= high).astype(float)
        pdf = np.select([points == high, points == low], self._density_at_ends[::-1], 0.0)
        sf, inside = 1 - cdf, (points > low) & (points < high)
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
        _check_level(level)
        low, high = self.quantile(np.array([(1 - level) / 2, (1 + level) / 2]))
        return Interval(float(low), float(high))

    @cached_property
    def mode(self) -> float:
        """Where the density is highest, the first such point; the density has one peak, being a B-spline."""
        low, high = self.support
        if self.is_point:
            return high
        ends = self.quantile(np.array([1e-6, 1 - 1e-6]))
        peak = optimize.minimize_scalar(lambda x: -self.pdf(x), bounds=ends, options={"xatol": 1e-8 * self.sd})
        places = np.array([low, float(peak.x), high])
        return float(places[np.argmax(self.pdf(places))])

    def hpd(self, level: float) -> Interval:
        """The shortest interval of that probability, both ends free (the paper calls its one-sided bound HPD)."""
        _check_level(level)

        def unevenness(below: float) -> float:
            left, right = self.pdf(self.quantile(np.array([below, min(below + level, 1.0)])))
            return left - right

        below = 0.0
        if not self.is_point and unevenness(0.0) < 0:
            most = 1 - level
            below = optimize.brentq(unevenness, 0.0, most, xtol=1e-10) if unevenness(most) > 0 else most
        low, high = self.quantile(np.array([below, min(below + level, 1.0)]))
        return Interval(float(low), float(high))

    @cached_property
    def _density_at_ends(self) -> tuple[float, float]:
        """The density's limits at both ends: not zero at an end that all weights but one share."""
        if self.is_point:
            return np.inf, np.inf
        limits = []
        for end in self.support:
            there = self.atoms.values == end
            weights = self.atoms.counts if self.atoms.scales is None else self.atoms.scales
            others = weights[~there].sum() if self.atoms.counts[~there].sum() == 1 else np.inf
            limits.append(float(weights[there].sum() / others / (self.support[1] - self.support[0])))
        return limits[0], limits[1]

    def _at(self, points: np.ndarray) -> Distribution:
        if self.atoms.values.size == 2 and self.atoms.scales is None:
            return self._beta(points)
        return distribution(self.atoms, points)

    def _beta(self, points: np.ndarray) -> Distribution:
        """Two values only: L+ = low + (high - low) Beta(count of high, count of low)."""
        low, high = self.support
        below, above = self.atoms.counts
        share, rest = (points - low) / (high - low), (high - points) / (high - low)
        log_pdf = special.xlogy(above - 1, share) + special.xlogy(below - 1, rest) - special.betaln(above, below)
        return Distribution(
            cdf=special.betainc(above, below, share),
            sf=special.betainc(below, above, rest),
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
                scale = tail / found.pdf
                step = np.log(tail / goal) * scale * np.where(lower, -1.0, 1.0)
            proposal = x + step
            outside = ~((proposal >= left) & (proposal <= right))
            new = np.where(outside, (left + right) / 2, proposal)
            # what is left after a step of Newton's is about its square, on the tail's own scale
            close = np.where(outside, 1e-14 * self.sd, 1e-8 * np.fmin(scale, self.sd))
            done = np.abs(new - x) <= close + 1e-15 * np.abs(x)
            x = new
            if done.all():
                break
        return x

    def _guess(self, levels: np.ndarray) -> np.ndarray:
        """Quantiles of the shifted Gamma distribution (Pearson's type III) of the same three moments."""
        low, high = self.support
        shape = 4 / max(self.skewness**2, 1e-6)
        levels, side = (levels, 1.0) if self.skewness >= 0 else (1 - levels, -1.0)
        x = self.mean + side * self.sd * (special.gammaincinv(shape, levels) - shape) / np.sqrt(shape)
        return np.where(x <= low, (low + self.mean) / 2, np.where(x >= high, (self.mean + high) / 2, x))

    @cached_property
    def _second_and_third(self) -> tuple[float, float]:
        """Central moments of L+."""
        if self.atoms.scales is not None:
            return _moments_about(self.atoms, self.mean)[1:]
        second, third = self._central(2, self.mean), self._central(3, self.mean)
        return second / (self.n + 2), 2 * third / ((self.n + 2) * (self.n + 3))

    def _central(self, k: int, about: float) -> float:
        """The k-th moment of the n + 1 weighted values."""
        counts = self.atoms.counts
        return float((counts * (self.atoms.values - about) ** k).sum() / counts.sum())


def _moments_about(atoms: Atoms, about: float) -> tuple[float, float, float]:
    """E[(A / S)^k], k = 1, 2, 3, for A = sum w (l - about) E, S = sum w E, under covariate shift.

    1 / S^k = int t^(k-1) exp(-t S) dt / (k-1)!, under which A has cumulants (k-1)! sum (w (l - about) / (1 + t w))^k.
    The trapezoid rule in v, t = exp(v - exp(-v)) over the number of weights, decays fast at both ends.
    """
    weights, away, total, v = atoms.scales, atoms.values - about, np.zeros(3), -5.0
    log_mass = 0.0
    while log_mass > -50 - 3 * np.log(weights.size):
        t = np.exp(v - np.exp(-v)) / weights.size
        part = weights * away / (1 + t * weights)
        first, second, third = part.sum(), (part**2).sum(), (part**3).sum()
        log_mass = -np.log1p(t * weights).sum()
        moments = np.array([first, first**2 + second, first**3 + 3 * first * second + 2 * third])
        total += _STRIDE * (1 + np.exp(-v)) * np.exp(log_mass) * t ** np.array([1, 2, 3]) * moments
        v += _STRIDE
    return float(total[0]), float(total[1]), float(total[2] / 2)


def _check_counts(counts: np.ndarray) -> None:
    bad = np.flatnonzero(~((counts >= 0) & (counts < np.inf) & (counts == np.floor(counts))))
    if bad.size:
        raise InputError(f"the count is {counts[bad[0]]:g}", row=int(bad[0]) + 1, remedy="Counts are whole numbers.")
    if not counts.any():
        raise InputError("there is no loss", remedy="At least one count has to be above 0.")


def _check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise InputError(f"an interval of probability {level} was asked for", remedy="It has to be above 0, up to 1.")


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
