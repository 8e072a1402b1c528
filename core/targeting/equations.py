"""The paper's equations with the functions that compute them, and what is proved and what we found.

arXiv 2501.19334; its symbols: Y welfare (low is bad), Yhat its prediction, alpha the share screened, beta the share
that is worst-off, R2 the squared correlation; a = Phi^-1(alpha), b = Phi^-1(beta), rho = sqrt(R2).
"""

from __future__ import annotations

from core.common.equation import Claim, Equation
from core.targeting import gains, gaussian, improvement, levers, register, resampling, worst_off

__all__ = ["CLAIMS", "EQUATIONS"]

EQUATIONS: tuple[Equation, ...] = (
    Equation(
        title="What is to be large: the share of the worst-off that is reached",
        latex=r"V = \Pr\left(\pi = 1 \mid Y \le F_Y^{-1}(\beta)\right),\quad \mathbb{E}[\pi] \le \alpha",
        words="Capacity allows to screen the share alpha of people; the value is the share of the worst-off among "
        "them that is reached. On a register it is counted, with scores that tie screened in random order.",
        computed_by=register.ranked,
    ),
    Equation(
        title="The Gaussian model",
        latex=r"V(\alpha, \beta, R^2) = \frac{1}{\beta}\,\Phi_2\!\left(a, b;\, \sqrt{R^2}\right)",
        words="If welfare and prediction are jointly normal, three numbers decide everything. Computed through Owen's "
        "T function, without any simulation.",
        computed_by=gaussian.value,
    ),
    Equation(
        title="What a little more capacity gains",
        latex=r"\frac{\partial V}{\partial \alpha} = \frac{1}{\beta}\,"
        r"\Phi\!\left(\frac{b - \rho a}{\sqrt{1 - R^2}}\right)",
        words="The chance that the next person on the list is worst-off, over beta.",
        computed_by=gaussian.gain_from_access,
    ),
    Equation(
        title="What a little better prediction gains",
        latex=r"\frac{\partial V}{\partial R^2} = \frac{\varphi_2(a, b; \rho)}{2\,\beta\,\rho}",
        words="Large at both ends: when R2 is near 0 (the first mile), and when it is near 1 and capacity is just as "
        "large as the group of the worst-off (the last mile).",
        computed_by=gaussian.gain_from_prediction,
    ),
    Equation(
        title="The prediction-access ratio",
        latex=r"\begin{gathered} \mathrm{PAR} = \frac{V(\alpha + \Delta_\alpha, \beta, R^2) - V(\alpha, \beta, R^2)}"
        r"{V(\alpha, \beta, R^2 + \Delta_{R^2}) - V(\alpha, \beta, R^2)} \\"
        r"\text{buy capacity} \iff \frac{C_\text{access}}{C_\text{prediction}} < \mathrm{PAR} \end{gathered}",
        words="Access is on top. A ratio of 3 says: the step in capacity finds three times as many of the worst-off as "
        "the step in prediction, and is the better buy as long as it costs less than three times as much.",
        computed_by=levers.ratio,
    ),
    Equation(
        title="The ratio for small steps",
        latex=r"\frac{\partial V / \partial \alpha}{\partial V / \partial R^2} = "
        r"\frac{2 \rho\, \Phi\!\left((b - \rho a) / \sqrt{1 - R^2}\right)}{\varphi_2(a, b; \rho)}",
        words="In logarithms, since for small capacity both gains are far below what a number holds.",
        computed_by=levers.local_ratio,
    ),
    Equation(
        title="Small capacity favours capacity",
        latex=r"\mathrm{PAR} \ge \frac{\Delta_\alpha}{\Delta_{R^2}} \sqrt{R^2 (1 - R^2)}"
        r"\left(5.1\, \alpha\, \Phi^{-1}(1 - \alpha)\right)^{-\frac{1}{1 - R^2} + o(1)}",
        words="A lower bound with an unknown small exponent: it says how PAR grows, not how large it is.",
        computed_by=levers.small_capacity_bound,
    ),
    Equation(
        title="How much capacity it takes",
        latex=r"\alpha^* = \inf\{\alpha : V(\alpha, \beta, R^2) \ge p\},\quad \text{overhead} = \alpha^* - \beta",
        words="To reach the share p of the worst-off. With a perfect prediction the overhead would be negative.",
        computed_by=gaussian.needed_capacity,
    ),
    Equation(
        title="Better predictions on a register, as in the paper",
        latex=r"\begin{gathered} \hat{Y}^+ = \hat{Y} + \delta\,(Y - \hat{Y}) \\"
        r"\delta = 1 - \sqrt{1 - \Delta_{R^2}\, \mathrm{SST} / \mathrm{SSE}} \end{gathered}",
        words="1 - SSE/SST rises by the step, but the ranking improves by more: a forecast that knew nothing would "
        "rank perfectly after any step.",
        computed_by=levers.residual_shrinkage,
    ),
    Equation(
        title="Better predictions on a register, calibrated (not in the paper)",
        latex=r"\begin{gathered} \hat{Y}' = \hat{Y} + \kappa\, e + \sqrt{\kappa (1 - \kappa)}\, \mathrm{sd}(e)\, \xi \\"
        r"\kappa = \frac{\Delta_{R^2}}{1 - R^2},\quad e = Y - \hat{Y},\quad \xi \sim N(0, 1) \end{gathered}",
        words="Adds information and as much error as a calibrated forecast of that R2 has. It is the default here.",
        computed_by=improvement.improved,
    ),
    Equation(
        title="Spells that were still running",
        latex=r"w_i = \frac{1}{\hat{G}(\min(T_i, t)-)},\quad \sum_i w_i\, 1\{T_i \ge t\} \big/ n = \hat{S}(t-)",
        words="Records that lasted long enough stand for those that were cut short; G is the Kaplan-Meier estimate of "
        "how long records last, and the weighted share of long spells is the Kaplan-Meier estimate of it.",
        computed_by=worst_off.by_threshold,
    ),
    Equation(
        title="Intervals",
        latex=r"V^* = V(\text{blocks of people drawn with replacement})",
        words="People are dealt at random into a thousand blocks, and blocks are drawn again. All curves share the "
        "draws, so that intervals of differences and ratios hold too; the price does not grow with the rows.",
        computed_by=resampling.Resampler,
    ),
    Equation(
        title="Which step is the better buy",
        latex=r"\Pr{}^*\!\left(\frac{\Delta V_\text{access}}{C_\text{access}} > "
        r"\frac{\Delta V_\text{prediction}}{C_\text{prediction}}\right)",
        words="The share of resamples in which the step in capacity finds more people for its price.",
        computed_by=gains.gains,
    ),
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        status="theorem",
        sentence="In the Gaussian model PAR grows without bound as capacity shrinks, for R2 strictly between 0 and 1 "
        "and beta up to a half.",
        source="The paper, theorem 3.1",
    ),
    Claim(
        status="theorem",
        sentence="Prediction is worth most in the first mile (R2 near 0, most at a capacity of one half) and in the "
        "last (R2 near 1, capacity equal to beta): there the local PAR goes to 0.",
        source="The paper, theorem 3.2",
    ),
    Claim(
        status="theorem",
        sentence="In between, the local PAR is at least 1: for R2 in (.15, .85), beta in (.03, .5), alpha up to beta; "
        "and for R2 in (.2, .5), beta of .15 or more, alpha up to a half.",
        source="The paper, proposition 3.3",
    ),
    Claim(
        status="fact",
        sentence="On a dense grid the smallest values there are 1.99 and 1.21: the proposition is on the safe side.",
        source="Computed here: python -m core.reproduce targeting",
    ),
    Claim(
        status="fact",
        sentence="At R2 = .15 the paper's step of .1 by shrinking residuals lifts the squared correlation to .265, not "
        "to .25, and on a skewed register by more: it credits prediction too much.",
        source="Computed here; the paper uses this lever in its empirical part",
    ),
    Claim(
        status="fact",
        sentence="Ranking by the expected outcome is best under equal normal errors; with skewed outcomes ranking by "
        "the chance of being worst-off can reach more people.",
        source="The paper, section 3, for the normal case",
    ),
    Claim(
        status="fact",
        sentence="Taking spells that were still running as ended understates how many are worst-off: 15% instead of "
        "35% of the US unemployment spells here.",
        source="Computed here on data/targeting/unemployment.csv",
    ),
    Claim(
        status="fact",
        sentence="Nothing here says whether screening helps the person screened.",
        source="The paper's scope",
    ),
)
