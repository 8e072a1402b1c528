"""Against closed forms, a plain recursion that decides one set at a time, and the tabulated figures of the paper."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from core.common.progress import last
from core.conformal import experiments
from core.conformal.experiments import (
    EXPERIMENTS,
    binomial_losses,
    headline,
    heteroskedastic_regression,
    multilabel_misses,
)
from core.conformal.populations import draw_parts, draw_scores, score_cdf
from core.conformal.surrogate import SEED, draw_stand_in
from core.conformal.trials import RULES, Grouped, Outcome, first_certified

TRIALS = 2_000
SPREAD = 4  # standard errors


@pytest.fixture(scope="module")
def outcomes():
    """Every experiment's outcomes by rule, from one seed."""
    runs = {key: last(e.run(np.random.default_rng(11), trials=TRIALS)) for key, e in EXPERIMENTS.items()}
    return {key: {outcome.rule: outcome for outcome in run} for key, run in runs.items()}


def exceeds(x, weights):
    """Pr(sum of Dirichlet(1, .., 1) weights times ``weights`` > x), by the recursion over runs of the sorted values."""
    w = np.sort(weights)
    s = (w > x).astype(float)
    for gap in range(1, w.size):
        low, high = w[: w.size - gap], w[gap:]
        with np.errstate(divide="ignore", invalid="ignore"):
            mixed = ((high - x) * s[1:] + (x - low) * s[:-1]) / (high - low)
        s = np.where(low > x, 1.0, np.where(high <= x, 0.0, mixed))
    return s[0]


def certifies(rule, losses, alpha):
    """The decision on one set of losses (n,) in its order, straight from the definition."""
    n = losses.size
    if rule == "CRC":
        return (losses.sum() + 1) / (n + 1) <= alpha + 1e-12
    if rule == "RCPS (Hoeffding)":
        return losses.mean() + math.sqrt(math.log(20) / (2 * n)) <= alpha + 1e-12
    slip = [losses[0] + 1, *losses[1:], 0.0]
    return 1 - exceeds(alpha, np.array(slip if "published" in rule else [*losses, 1.0])) >= 0.95


# The choices, one set at a time


@pytest.mark.parametrize("rule", RULES)
def test_binomial_choices_are_the_smallest_certified_jump(rule):
    trials, seed = 25, 5
    outcome = by_rule(binomial_losses(np.random.default_rng(seed), trials=trials))[rule]
    for parts, chosen in zip(draw_parts(trials, 10, np.random.default_rng(seed)), outcome.lambda_hat, strict=True):
        certified = [lam for lam in np.sort(parts.ravel()) if certifies(rule, (parts > lam).mean(axis=1), 0.4)]
        assert chosen == certified[0]


@pytest.mark.parametrize("rule", RULES)
def test_regression_choices_are_the_smallest_certified_score(rule):
    trials, seed = 6, 5
    outcome = by_rule(heteroskedastic_regression(np.random.default_rng(seed), trials=trials))[rule]
    for scores, chosen in zip(draw_scores(trials, 200, np.random.default_rng(seed)), outcome.lambda_hat, strict=True):
        ordered = np.sort(scores)
        at = int(np.flatnonzero(ordered == chosen)[0])
        assert certifies(rule, (scores > chosen).astype(float), 0.1)
        assert not certifies(rule, (scores > ordered[at - 1]).astype(float), 0.1)


@pytest.mark.parametrize("rule", ["CRC", "RCPS (Hoeffding)", "BQ"])
def test_multilabel_risk_and_size_are_those_of_rows_not_used(rule):
    """The validation mean of one trial, from labels and scores directly."""
    outcome = by_rule(multilabel_misses(np.random.default_rng(5), trials=2))[rule]
    data = draw_stand_in(np.random.default_rng(SEED))
    rows = np.tile(np.arange(len(data.labels), dtype=np.uint16), (2, 1))
    order = np.random.default_rng(5).permuted(rows, axis=1)

    def losses(threshold, which):
        kept = data.scores[which] >= threshold
        return 1 - (kept & data.labels[which]).sum(axis=1) / data.labels[which].sum(axis=1), kept.sum(axis=1)

    for trial in range(2):
        threshold = outcome.lambda_hat[trial]
        risk, size = losses(threshold, order[trial, 1000:])
        assert outcome.risk[trial] == pytest.approx(risk.mean(), abs=1e-12)
        assert outcome.cost[trial] == pytest.approx(size.mean(), abs=1e-12)
        assert certifies(rule, losses(threshold, order[trial, :1000])[0], 0.1)
        assert not certifies(rule, losses(round(threshold + 0.001, 3), order[trial, :1000])[0], 0.1)


def by_rule(snapshots):
    return {outcome.rule: outcome for outcome in last(snapshots)}


# Exact laws


@pytest.mark.parametrize(("rule", "a", "b"), [("CRC", 27, 14), ("RCPS (Hoeffding)", 40, 1)])
def test_binomial_laws_are_order_statistics_of_forty_uniforms(outcomes, rule, a, b):
    exact = outcomes["binomial"][rule].exact
    assert exact.failure == pytest.approx(stats.beta(a, b).cdf(0.6), rel=1e-9)
    assert exact.mean == pytest.approx(a / (a + b), abs=1e-12)


@pytest.mark.parametrize(("rule", "mean", "failure"), [("BQ", 0.8289, 0.00085), ("BQ as published", 0.8540, 0.00045)])
def test_binomial_laws_of_bayesian_quadrature(outcomes, rule, mean, failure):
    """Reference: another implementation's 40,000 trials, the mean with a standard error of 0.0003."""
    exact = outcomes["binomial"][rule].exact
    assert exact.mean == pytest.approx(mean, abs=SPREAD * 0.0003)
    assert exact.failure == pytest.approx(failure, abs=SPREAD * math.sqrt(failure / 40_000))


@pytest.mark.parametrize(("rule", "rank"), [("CRC", 181), ("RCPS (Hoeffding)", 198), ("BQ", 188)])
def test_regression_laws_are_order_statistics(outcomes, rule, rank):
    outcome = outcomes["regression"][rule]
    scores = np.sort(draw_scores(TRIALS, 200, np.random.default_rng(11)), axis=1)
    np.testing.assert_array_equal(outcome.lambda_hat, scores[:, rank - 1])
    assert outcome.exact.failure == pytest.approx(stats.beta(rank, 201 - rank).cdf(0.9), rel=1e-9)


def test_bayesian_quadrature_takes_the_first_rank_that_the_beta_posterior_certifies():
    k = np.arange(1, 201)
    assert k[stats.beta(201 - k, k).cdf(0.1) >= 0.95][0] == 188


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("key", ["binomial", "regression"])
def test_trials_agree_with_the_exact_law(outcomes, key, rule):
    outcome = outcomes[key][rule]
    spread = math.sqrt(outcome.exact.failure * (1 - outcome.exact.failure) / TRIALS)
    assert abs(outcome.failure_rate - outcome.exact.failure) <= SPREAD * spread + 1e-9
    assert abs(outcome.mean_cost - outcome.exact.mean) <= SPREAD * outcome.cost_error


def test_true_risks(outcomes):
    for outcome in outcomes["binomial"].values():
        np.testing.assert_allclose(outcome.risk, 1 - outcome.lambda_hat)
    for outcome in outcomes["regression"].values():
        np.testing.assert_allclose(outcome.risk, 1 - score_cdf(outcome.cost / 2))


# The stand-in


@pytest.mark.parametrize(
    ("rule", "failure", "threshold", "size", "risk"),
    [
        ("CRC", 0.439, 0.430, 2.79, 0.0989),
        ("RCPS (Hoeffding)", 0.0, 0.356, 3.28, 0.0612),
        ("BQ", 0.0546, 0.409, 2.90, 0.0875),
    ],
)
def test_the_stand_in_against_another_implementations_5000_trials(outcomes, rule, failure, threshold, size, risk):
    outcome = outcomes["multilabel"][rule]
    spread = math.sqrt(failure * (1 - failure) * (1 / TRIALS + 1 / 5000))
    error = math.sqrt(1 / TRIALS + 1 / 5000)
    assert abs(outcome.failure_rate - failure) <= SPREAD * spread + 0.0005
    assert abs(outcome.mean_lambda - threshold) <= SPREAD * outcome.lambda_hat.std() * error + 0.0005
    assert abs(outcome.mean_cost - size) <= SPREAD * outcome.cost.std() * error + 0.005
    assert abs(outcome.risk.mean() - risk) <= SPREAD * outcome.risk.std() * error + 0.00005


def test_the_papers_pattern(outcomes):
    """CRC fails in nearly half of the trials, Bayesian quadrature near one in twenty, Hoeffding never."""
    for key in ("regression", "multilabel"):
        rates = {rule: outcome.failure_rate for rule, outcome in outcomes[key].items()}
        costs = {rule: outcome.mean_cost for rule, outcome in outcomes[key].items()}
        assert rates["RCPS (Hoeffding)"] == 0 < rates["BQ"] < 0.08 < 0.4 < rates["CRC"]
        assert costs["CRC"] < costs["BQ"] < costs["RCPS (Hoeffding)"]


# Runs


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_a_seed_gives_the_same_trials_in_chunks_of_any_size(key):
    whole, again, cut = (
        last(EXPERIMENTS[key].run(np.random.default_rng(3), trials=30, chunk=chunk)) for chunk in (30, 30, 7)
    )
    other = last(EXPERIMENTS[key].run(np.random.default_rng(4), trials=30))
    for one, same, pieces, different in zip(whole, again, cut, other, strict=True):
        for field in ("lambda_hat", "risk", "cost"):
            np.testing.assert_array_equal(getattr(one, field), getattr(same, field))
            np.testing.assert_allclose(getattr(one, field), getattr(pieces, field), rtol=1e-12)
        assert not np.array_equal(one.risk, different.risk)


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_snapshots_grow_to_the_total_and_keep_what_they_showed(key):
    snapshots = list(EXPERIMENTS[key].run(np.random.default_rng(3), trials=25, chunk=10))
    assert [snapshot.step for snapshot in snapshots] == [10, 20, 25]
    assert {snapshot.total for snapshot in snapshots} == {25}
    for before, after in pairwise(snapshots):
        for early, late in zip(before.result, after.result, strict=True):
            np.testing.assert_array_equal(early.lambda_hat, late.lambda_hat[: before.step])
            assert early.trials == before.step


@pytest.mark.parametrize("key", EXPERIMENTS)
def test_a_run_can_be_left_midway(key):
    run = EXPERIMENTS[key].run(np.random.default_rng(3), trials=25, chunk=10)
    assert next(run).step == 10
    run.close()
    assert list(run) == []


# Outcomes and the search


@pytest.mark.parametrize("failures", [0, 1, 7, 20])
def test_interval_is_clopper_and_pearsons(failures):
    risk = np.where(np.arange(20) < failures, 0.2, 0.1)  # exactly alpha is no failure
    outcome = Outcome(rule="any", alpha=0.1, lambda_hat=risk, risk=risk, cost=risk, exact=None)
    low = stats.beta.ppf(0.025, failures, 21 - failures) if failures else 0.0
    high = stats.beta.ppf(0.975, failures + 1, 20 - failures) if failures < 20 else 1.0
    assert outcome.failures == failures
    assert outcome.interval == pytest.approx((low, high), abs=1e-9)


def test_first_certified_finds_every_first_candidate():
    wanted = np.arange(14)
    found = first_certified(lambda candidate: candidate >= wanted, wanted.size, 12)
    np.testing.assert_array_equal(found, np.minimum(wanted, 11))


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("rule", RULES)
def test_rules_decide_counted_sets_as_their_definitions_do(rule, alpha):
    rng = np.random.default_rng(17)
    values = np.array([0.0, 0.1, 1 / 3, 0.75, 1.0])
    shares = rng.dirichlet([3.0, 0.7, 0.3, 0.2, 0.2], size=300)
    for n in (1, 4, 40):
        index = (rng.random((300, n, 1)) > shares.cumsum(axis=1)[:, None, :4]).sum(axis=2)
        counts = (index[:, :, None] == np.arange(5)).sum(axis=1)
        found = RULES[rule](Grouped(values=values, counts=counts, first=index[:, 0]), alpha)
        assert found.tolist() == [bool(certifies(rule, values[row], alpha)) for row in index]


def test_the_slip_changes_no_choice_in_the_regression(outcomes):
    right, slip = (outcomes["regression"][rule].lambda_hat for rule in ("BQ", "BQ as published"))
    np.testing.assert_array_equal(right, slip)


def test_as_published_depends_on_the_first_row_only_through_the_slip():
    """A set whose first loss is 0 has the right posterior under the slip: the values are B, l_2, .., l_n, 0."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(30, [0.9, 0.06, 0.04], size=200)
    counts[:, 0] += 1
    values, first = np.array([0.0, 0.5, 1.0]), np.zeros(200, dtype=int)
    sets = Grouped(values=values, counts=counts, first=first)
    right, slip = (RULES[rule](sets, 0.2) for rule in ("BQ", "BQ as published"))
    assert 0 < right.sum() < 200
    np.testing.assert_array_equal(right, slip)


# The headline


@pytest.fixture(scope="module")
def snapshots():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "TRIALS", 600)
        return list(headline(seed=0))


def test_headline_shows_every_experiment_beside_the_paper(snapshots):
    figures = snapshots[-1].result
    assert len(figures) == 2 * len(EXPERIMENTS) * len(RULES)
    assert len({figure.what for figure in figures}) == len(figures)
    assert all(figure.paper and figure.note and figure.low <= figure.ours <= figure.high for figure in figures)
    assert all((figure.exact is None) == ("stand-in" in figure.what) for figure in figures)


def test_headline_steps_grow_to_the_total_and_figures_to_all(snapshots):
    steps = [snapshot.step for snapshot in snapshots]
    assert steps == sorted(set(steps))
    assert steps[-1] == snapshots[-1].total == 3 * 600
    assert [len(s.result) for s in snapshots] == sorted(len(s.result) for s in snapshots)


def test_headline_follows_its_seed(snapshots):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "TRIALS", 20)
        first, again, other = (last(headline(seed=seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other
