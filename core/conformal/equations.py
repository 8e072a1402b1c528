"""The paper's equations with the functions that compute them, and what is proved of each rule.

arXiv 2502.13228; its symbols: l the losses, B their largest possible value, U the gaps, t the places.
"""

from __future__ import annotations

from core.common.equation import Claim, Equation
from core.conformal import monte_carlo, planner, quadrature, ranks

__all__ = ["CLAIMS", "EQUATIONS"]

EQUATIONS: tuple[Equation, ...] = (
    Equation(
        title="The risk is an area",
        latex=r"\begin{gathered} R = \mathbb{E}[\ell] = \int_0^1 K(t)\,dt \\"
        r"K(t) = \inf\{\ell : F(\ell) \ge t\} \end{gathered}",
        words="Sort all losses of the population from small to large: the risk is the area under that curve. The "
        "calibration losses are heights of the curve, read off at places nobody knows.",
        computed_by=quadrature.RiskPosterior,
    ),
    Equation(
        title="The gaps between the places are evenly spread, whatever the population",
        latex=r"\begin{gathered} (U_1,\dots,U_{n+1}) \sim \mathrm{Dirichlet}(1,\dots,1) \\"
        r"U_i = t_{(i)} - t_{(i-1)} \end{gathered}",
        words="This takes the place of a prior over all curves. Random draws of the gaps are the check; the page's "
        "figures do not use them.",
        computed_by=monte_carlo.draws,
    ),
    Equation(
        title="The bound on the risk, as a distribution",
        latex=r"\begin{gathered} L^+ = \sum_{i=1}^{n+1} U_i\,\ell_{(i)},\quad \ell_{(n+1)} = B \\"
        r"\inf_{\text{priors}} \Pr(R \le b \mid \ell) \ge \Pr(L^+ \le b) \end{gathered}",
        words="The curve does not fall, so each step's right end bounds it. Computed by one deterministic integral, "
        "to about thirteen digits, also far out in the tail.",
        computed_by=quadrature.RiskPosterior.cdf,
    ),
    Equation(
        title="Its average is conformal risk control",
        latex=r"\mathbb{E}[L^+] = \frac{B + \sum_i \ell_i}{n+1} \le \alpha",
        words="Conformal risk control accepts a setting when the average of the distribution is within the limit.",
        computed_by=quadrature.RiskPosterior.mean.func,
    ),
    Equation(
        title="Its quantile is Bayesian quadrature's rule",
        latex=r"\hat\lambda = \inf\{\lambda : \Pr(L^+(\lambda) \le \alpha) \ge \beta\}",
        words="The paper calls this one-sided bound HPD. The shortest two-sided interval is `hpd`, the bound is here.",
        computed_by=quadrature.RiskPosterior.credible_bound,
    ),
    Equation(
        title="For scores, it is a rank",
        latex=r"\begin{gathered} k = \lceil (n+1)(1-\alpha) \rceil \\"
        r"k' = \min\{k : I_\alpha(n+1-k,\, k) \ge \beta\} \end{gathered}",
        words="With the loss 1{score > lambda}, the threshold is the k-th smallest score: k for split conformal "
        "prediction, k' for Bayesian quadrature (I is the distribution function of the Beta law). Ranks are "
        "whole-number arithmetic, never a rounded float.",
        computed_by=ranks.bayesian_quadrature_rank,
    ),
    Equation(
        title="How many cases are enough",
        latex=r"\Pr(L^+ \le \alpha) = I_\alpha(x+1,\, n-x) \ge \beta",
        words="For losses that are right or wrong only the number x of failures matters.",
        computed_by=planner.needed_cases,
    ),
    Equation(
        title="What the published code computes instead",
        latex=r"\sum_{i=1}^{n} U_i\,\ell_i + U_1 B",
        words="The authors' code multiplies B by the first gap, which already multiplies the first row's loss, and "
        "drops the last gap. The mean is right, the spread is not, and the answer depends on which row comes first.",
        computed_by=monte_carlo.posterior_as_published,
    ),
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        status="theorem",
        sentence="Split conformal prediction and conformal risk control keep the risk below the limit on average over "
        "calibration sets. About half of all calibration sets exceed it.",
        source="Angelopoulos and others, arXiv 2208.02814; section 4.6 of the paper",
    ),
    Claim(
        status="theorem",
        sentence="The risk lies below b with posterior probability at least that of the bound, for every prior on the "
        "sorted losses, if calibration and future cases are exchangeable.",
        source="The paper, section 4",
    ),
    Claim(
        status="theorem",
        sentence="For losses that are 0 or B the bound is Clopper and Pearson's limit, so at most a share 1 - beta of "
        "all calibration sets is misled.",
        source="Clopper and Pearson 1934",
    ),
    Claim(
        status="conjecture",
        sentence="The same for all other losses: no proof is known, and no counterexample in extensive simulation. "
        "So this page speaks of posterior probability, not of a proven guarantee over calibration sets.",
        source="Gaffke's conjecture; Learned-Miller and Thomas, arXiv 1905.06208",
    ),
    Claim(
        status="theorem",
        sentence="RCPS with Hoeffding's, Hoeffding-Bentkus's or Waudby-Smith and Ramdas's bound misleads at most a "
        "share 1 - beta of all calibration sets.",
        source="Bates and others, arXiv 2101.02703; Waudby-Smith and Ramdas, arXiv 2010.09686",
    ),
    Claim(
        status="fact",
        sentence="B has to be known beforehand, not read off the sample; choosing among several models or limits on "
        "the same cases voids every statement here.",
        source="The paper's assumptions",
    ),
)
