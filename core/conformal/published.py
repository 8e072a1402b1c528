"""What the paper prints for its three experiments, and each of our outcomes beside it as a figure.

The paper is arXiv 2502.13228. The rows of its tables 1 and 2 are quoted from the output of its published code, with
which a third party's transcription of the tables agrees to the last digit; the row on MS-COCO is quoted from its
project page.
"""

from __future__ import annotations

from core.common.comparison import Figure
from core.conformal.trials import Outcome, Outcomes

__all__ = ["figures"]

_TABLE_1 = "Table 1, from the published code"
_TABLE_2 = "Table 2, from the published code"
_CODE = "published code"
_PAGE = "project page, real MS-COCO"

# (experiment, rule) -> the failure rate in per cent and the mean cost, each as printed
_PRINTED: dict[tuple[str, str], tuple[str, str]] = {
    ("binomial", "CRC"): (f"21.20% [20.40, 22.01] ({_TABLE_1})", f"0.65 ({_CODE})"),
    ("binomial", "RCPS (Hoeffding)"): (f"0.00% [0.00, 0.04] ({_TABLE_1})", f"0.98 ({_CODE})"),
    ("binomial", "BQ"): (f"0.03% [0.01, 0.09] ({_TABLE_1})", f"0.85 ({_CODE})"),
    ("regression", "CRC"): (f"46.19% [45.21, 47.17] ({_TABLE_2})", f"7.99 ({_TABLE_2})"),
    ("regression", "RCPS (Hoeffding)"): (f"0.00% [0.00, 0.04] ({_TABLE_2})", f"14.29 ({_TABLE_2})"),
    ("regression", "BQ"): (f"3.42% [3.07, 3.80] ({_TABLE_2})", f"9.50 ({_TABLE_2})"),
    ("multilabel", "CRC"): (f"45.0% [44.1, 46.0] ({_PAGE})", f"2.9 ({_PAGE})"),
    ("multilabel", "RCPS (Hoeffding)"): (f"0.0% [0.00, 0.04] ({_PAGE})", f"3.6 ({_PAGE})"),
    ("multilabel", "BQ"): (f"5.4% [5.0, 5.9] ({_PAGE})", f"3.0 ({_PAGE})"),
}

# (experiment, rule) -> why ours differs; a rule that is not listed has the experiment's own remark
_REMARKS: dict[tuple[str, str], str] = {
    ("binomial", ""): "All the paper's trials share one pool of 10,010 examples; ours are fresh.",
    ("binomial", "BQ"): "The paper's row carries a slip of its published code (see 'as published'), 1,000 random draws "
    "that all trials share, and one pool of 10,010 examples.",
    (
        "binomial",
        "BQ as published",
    ): "With the slip of the published code (the bound goes to the first weight, the last "
    "weight is dropped), but exactly; all the paper's trials share 1,000 random draws and one pool of 10,010 examples.",
    ("regression", ""): "All the paper's trials share one pool of 5,200 examples, which moves lengths by about 1%.",
    ("regression", "BQ"): "All the paper's trials share 1,000 random draws and one pool of 5,200 examples.",
    ("regression", "BQ as published"): "The slip of the published code changes no choice here; all the paper's trials "
    "share 1,000 random draws and one pool of 5,200 examples.",
    (
        "multilabel",
        "",
    ): "Ours runs on a synthetic stand-in with the shape of MS-COCO: only the pattern can be compared.",
}


def figures(key: str, title: str, cost: str, outcomes: Outcomes) -> tuple[Figure, ...]:
    """Failure rate and mean cost of each outcome of the experiment ``key``, beside what the paper prints."""
    return tuple(figure for outcome in outcomes for figure in _pair(key, title, cost, outcome))


def _pair(key: str, title: str, cost: str, outcome: Outcome) -> tuple[Figure, Figure]:
    printed = _PRINTED[key, outcome.rule.removesuffix(" as published")]
    note = _REMARKS.get((key, outcome.rule), _REMARKS[key, ""])
    exact, margin = outcome.exact, 1.96 * outcome.cost_error
    low, high = outcome.interval
    return (
        Figure(
            what=f"{title}, {outcome.rule}: failure rate",
            ours=outcome.failure_rate,
            low=low,
            high=high,
            exact=exact.failure if exact else None,
            paper=printed[0],
            unit="%",
            note=note,
        ),
        Figure(
            what=f"{title}, {outcome.rule}: mean {cost}",
            ours=outcome.mean_cost,
            low=outcome.mean_cost - margin,
            high=outcome.mean_cost + margin,
            exact=exact.mean if exact else None,
            paper=printed[1],
            note=note,
        ),
    )
