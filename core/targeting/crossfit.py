"""Scores from features: everybody is scored by a model that was fitted on others.

People are dealt into folds, and each fold is scored by a model of scikit-learn fitted on the rest; scores of people
whom the model has seen would flatter it. Scores of all folds are pooled as they are, since one cut is meant for
everybody; ranks within folds would hide a model whose level drifts from fold to fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from core.common.errors import InputError
from core.common.text import count

__all__ = ["MODELS", "MOST_CATEGORIES", "MOST_ROWS", "Crossfit", "crossfit"]

MODELS = {
    "linear": "linear: least squares, or logistic regression for yes or no",
    "tree": "tree of depth 4, as the paper's simple model",
    "boosting": "boosted trees, as the paper's complex model",
}
MOST_CATEGORIES, MOST_ROWS = 50, 1_000_000
_FEWEST_KNOWN = 20  # so that no fold is without a known cell
_BOOSTED = {"max_iter": 60, "learning_rate": 0.05, "early_stopping": False}


@dataclass(frozen=True, kw_only=True)
class Crossfit:
    """``score`` (n,), made by a model that never saw the row, and the ``fold`` (n,) it was left out with.

    Scores are in the target's units, or chances of a 1 where the target is 0 or 1.
    """

    score: np.ndarray
    fold: np.ndarray
    notes: tuple[str, ...]


def crossfit(
    features: pd.DataFrame,
    target: np.ndarray,
    *,
    model: str,
    folds: int = 5,
    seed: int = 0,
    known: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Crossfit:
    """Cross-fitted scores of a ``model`` of `MODELS` for every row of ``features``, text columns among them.

    Models are fitted on rows whose target (n,) is ``known`` (n,), weighted by ``weights`` (n,), and score all rows.
    InputError names the column that cannot be used, and says if there are too few rows or one class only.

    >>> rng = np.random.default_rng(0)
    >>> x = pd.DataFrame({"x": rng.normal(size=500)})
    >>> made = crossfit(x, 2 * x["x"].to_numpy() + rng.normal(size=500), model="linear")
    >>> made.score.shape, sorted(set(made.fold.tolist()))
    ((500,), [0, 1, 2, 3, 4])
    """
    known = np.ones(target.size, dtype=bool) if known is None else known
    weights = np.ones(target.size) if weights is None else weights
    _check(features, target, known, folds)
    used, notes = _usable(features)
    yes_or_no = bool(np.isin(target[known], (0, 1)).all())
    score, fold = np.empty(target.size), np.empty(target.size, dtype=int)
    for place, (others, own) in enumerate(_splits(target, known, folds, seed, yes_or_no)):
        fitted = _pipeline(used, model, yes_or_no)
        fitted.fit(used.iloc[others], target[others], model__sample_weight=weights[others])
        rows = used.iloc[own]
        score[own] = fitted.predict_proba(rows)[:, 1] if yes_or_no else fitted.predict(rows)
        fold[own] = place
    return Crossfit(score=score, fold=fold, notes=(*notes, _said(model, folds, used)))


def _splits(
    target: np.ndarray, known: np.ndarray, folds: int, seed: int, yes_or_no: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to fit on and rows to score: known ones dealt evenly by class, unknown ones at random."""
    rows, unknown = np.flatnonzero(known), np.flatnonzero(~known)
    dealer = (StratifiedKFold if yes_or_no else KFold)(folds, shuffle=True, random_state=seed)
    dealt = np.random.default_rng([seed, unknown.size]).permutation(unknown.size) % folds
    for place, (others, own) in enumerate(dealer.split(rows, target[rows])):
        yield rows[others], np.concatenate((rows[own], unknown[dealt == place]))


def _pipeline(used: pd.DataFrame, model: str, yes_or_no: bool) -> Pipeline:
    text = [name for name in used if not pd.api.types.is_numeric_dtype(used[name])]
    numeric = [name for name in used if name not in text]
    median = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    filled = "passthrough" if model == "boosting" else median
    if model == "linear":
        filled = make_pipeline(filled, StandardScaler())
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer([("numbers", filled, numeric), ("text", encode, text)])
    return Pipeline([("columns", columns), ("model", _estimator(model, yes_or_no))])


def _estimator(model: str, yes_or_no: bool) -> BaseEstimator:
    if model == "linear":
        return LogisticRegression(max_iter=1000) if yes_or_no else LinearRegression()
    if model == "tree":
        return (DecisionTreeClassifier if yes_or_no else DecisionTreeRegressor)(max_depth=4, random_state=0)
    boosted = HistGradientBoostingClassifier if yes_or_no else HistGradientBoostingRegressor
    return boosted(**_BOOSTED, random_state=0)


def _check(features: pd.DataFrame, target: np.ndarray, known: np.ndarray, folds: int) -> None:
    if len(features) != target.size:
        raise InputError("features and outcomes do not fit", remedy="Give each person one row of each.")
    if target.size > MOST_ROWS:
        raise InputError(
            f"there are {target.size:,} rows",
            remedy=f"Models are fitted here on up to {MOST_ROWS:,}; bring a score that was made elsewhere.",
        )
    values, sizes = np.unique(target[known], return_counts=True)
    if known.sum() < 10 * folds:
        raise InputError(
            f"there are {int(known.sum())} rows with a known outcome", remedy=f"A model needs at least {10 * folds}."
        )
    if values.size < 2:
        raise InputError("the outcome is the same for everybody", remedy="There is nothing that a model could learn.")
    if np.isin(values, (0, 1)).all() and sizes.min() < folds:
        raise InputError(
            f"there are only {sizes.min()} people of one kind", remedy=f"A model needs at least {folds} of each."
        )


def _usable(features: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The columns that say something, as numbers or text, and notes on the others and on missing cells."""
    used, notes = {}, []
    for name in features:
        column = _column(features[name], str(name))
        if column.nunique(dropna=False) < 2:
            notes.append(f"Feature {name!r} is the same in every row and was left out.")
            continue
        known = int(column.notna().sum())
        if known < _FEWEST_KNOWN:
            notes.append(f"Feature {name!r} is known of {count(known, 'person', 'people')} only and was left out.")
            continue
        if (missing := column.size - known) and pd.api.types.is_numeric_dtype(column):
            notes.append(f"Feature {name!r}: {count(missing, 'missing cell')} kept, marked as missing to the model.")
        used[name] = column
    if not used:
        raise InputError("no feature differs between people", remedy="Choose other features.")
    return pd.DataFrame(used), notes


def _column(column: pd.Series, name: str) -> pd.Series:
    if pd.api.types.is_bool_dtype(column):
        return column.astype(float)
    if pd.api.types.is_numeric_dtype(column):
        values = column.astype(float)
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise InputError(
                "the value is infinite", column=name, row=int(infinite[0]) + 1, remedy="Give a finite number."
            )
        return values
    if pd.api.types.is_datetime64_any_dtype(column):
        raise InputError("it holds dates", column=name, remedy="Give a number, such as days since a fixed day.")
    text = column.astype(object).where(column.notna(), "").astype(str)
    if (distinct := text.nunique()) > MOST_CATEGORIES:
        raise InputError(
            f"it has {distinct:,} different texts",
            column=name,
            remedy=f"A model takes up to {MOST_CATEGORIES}: leave it out, as one would a name, or group its values.",
        )
    return text


def _said(model: str, folds: int, used: pd.DataFrame) -> str:
    return (
        f"The {model} model uses {count(used.shape[1], 'feature')}; each person is scored by a model fitted on the "
        f"other {folds - 1} of {folds} parts of the register."
    )
