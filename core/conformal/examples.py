"""Bundled examples: small files in exactly the form in which a visitor's own data is read.

`python -m core.conformal.examples` makes them again, byte for byte with the pinned packages; data/README.md says where
each one comes from. Calibration rows are never rows on which the model was fitted. Rows are taken in turn (every
second or third), because scikit-learn's digits come ordered by writer and halves would not be exchangeable.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from core.common.examples import DATA, Example
from core.conformal.surrogate import SEED, draw_stand_in

__all__ = ["EXAMPLES", "FOLDER", "write"]

FOLDER = DATA / "conformal"

_LAMBDAS = range(50, 101, 2)  # per cent
_CODE_LENGTH = 4
_STAND_IN_ROWS, _STAND_IN_NEW = 600, 100


EXAMPLES: tuple[Example, ...] = (
    Example(
        key="diabetes_intervals",
        title="Diabetes: how far off is the forecast?",
        task="intervals",
        path=FOLDER / "diabetes_intervals.csv",
        sentence="221 patients: disease progression after a year (y) and a linear regression's forecast (pred), the "
        "regression fitted on 221 others.",
    ),
    Example(
        key="tumour_scores",
        title="Tumours: when to refer, so that few cancers are missed",
        task="scores",
        path=FOLDER / "tumour_scores.csv",
        sentence="110 malignant tumours: one minus the probability of malignancy by a logistic regression fitted on "
        "others. A tumour whose score is above the threshold is missed.",
    ),
    Example(
        key="tumour_classes",
        title="Tumours: benign, malignant, or both left open",
        task="classes",
        path=FOLDER / "tumour_classes.csv",
        sentence="284 tumours: a logistic regression's probabilities of benign and malignant, and what they were (y).",
    ),
    Example(
        key="digits_classes",
        title="Half-hidden digits: which digits could it be?",
        task="classes",
        path=FOLDER / "digits_classes.csv",
        sentence="599 handwritten digits of which the model saw the upper half only: ten probabilities and the digit.",
        new_rows=FOLDER / "digits_new.csv",
    ),
    Example(
        key="digits_curves",
        title="Four-digit codes: share of digits missed, by lambda",
        task="curves",
        path=FOLDER / "digits_curves.csv",
        sentence="149 codes of four half-hidden digits: the share of digits that are not among the candidates when "
        "every digit with probability of at least 1 - lambda is kept.",
    ),
    Example(
        key="digits_losses",
        title="Half-hidden digits: Brier scores",
        task="losses",
        path=FOLDER / "digits_losses.csv",
        sentence="599 half-hidden digits: half the squared distance between the ten probabilities and the truth, which "
        "lies between 0 and 1 by construction, and the digit as a group.",
    ),
    Example(
        key="stand_in_labels",
        title="Multi-label, synthetic stand-in with MS-COCO's shape",
        task="labels",
        path=FOLDER / "stand_in_labels.csv",
        sentence="600 synthetic rows with 80 classes, drawn at random, not MS-COCO: a score and a 0/1 label a class.",
        new_rows=FOLDER / "stand_in_new.csv",
    ),
)


def write(folder: Path) -> tuple[Path, ...]:
    """Make every bundled file again in ``folder``, which has to exist; returns the paths written, about 0.6 MB."""
    tables = {"diabetes_intervals": _diabetes(), **_tumours(), **_digits(), **_stand_in()}
    paths = tuple(folder / f"{name}.csv" for name in tables)
    for path, table in zip(paths, tables.values(), strict=True):
        path.write_bytes(table.to_csv(index=False, lineterminator="\n").encode())
    return paths


def _diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression

    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X[::2], y[::2])
    return pd.DataFrame({"y": y[1::2].astype(int), "pred": model.predict(X[1::2]).round(8)})


def _tumours() -> dict[str, pd.DataFrame]:
    from sklearn.datasets import load_breast_cancer

    X, benign = load_breast_cancer(return_X_y=True)
    malignant = (1 - _probabilities(X[::2], benign[::2], X[1::2])[:, 1]).round(6)
    truth = benign[1::2] == 1
    classes = pd.DataFrame({"prob_benign": (1 - malignant).round(6), "prob_malignant": malignant})
    classes["y"] = np.where(truth, "benign", "malignant")
    return {
        "tumour_scores": pd.DataFrame({"score": classes["prob_benign"][~truth]}),
        "tumour_classes": classes,
    }


def _digits() -> dict[str, pd.DataFrame]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    upper = X[:, :32]
    probabilities = _probabilities(upper[::3], y[::3], upper[1::3]).round(6)  # (599, 10)
    names = [f"prob_{digit}" for digit in range(10)]
    return {
        "digits_classes": pd.DataFrame(probabilities, columns=names).assign(y=y[1::3]),
        "digits_new": pd.DataFrame(_probabilities(upper[::3], y[::3], upper[2::3]).round(6), columns=names),
        "digits_curves": _curves(probabilities[np.arange(599), y[1::3]]),
        "digits_losses": _brier(probabilities, y[1::3]),
    }


def _probabilities(X_fit: np.ndarray, y_fit: np.ndarray, X: np.ndarray) -> np.ndarray:
    """A standardised logistic regression's class probabilities (rows, classes) for X."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X_fit, y_fit).predict_proba(X)


def _curves(truth: np.ndarray) -> pd.DataFrame:
    """Share of each code's digits whose true class has a probability (rows,) below 1 - lambda."""
    codes = truth[: truth.size // _CODE_LENGTH * _CODE_LENGTH].reshape(-1, _CODE_LENGTH)
    losses = {f"{per_cent / 100:.2f}": (codes < (100 - per_cent) / 100).mean(axis=1) for per_cent in _LAMBDAS}
    return pd.DataFrame({"code": np.arange(1, len(codes) + 1), **losses})


def _brier(probabilities: np.ndarray, digit: np.ndarray) -> pd.DataFrame:
    squared = ((probabilities - np.eye(10)[digit]) ** 2).sum(axis=1)
    return pd.DataFrame({"loss": (squared / 2).round(6), "digit": digit})


def _stand_in() -> dict[str, pd.DataFrame]:
    stand_in = draw_stand_in(np.random.default_rng(SEED))
    names = [f"class{k:02}" for k in range(1, stand_in.labels.shape[1] + 1)]
    scores = pd.DataFrame(stand_in.scores.round(4), columns=[f"score_{name}" for name in names])
    labels = pd.DataFrame(stand_in.labels.astype(int), columns=[f"label_{name}" for name in names])
    return {
        "stand_in_labels": pd.concat([scores, labels], axis=1).iloc[:_STAND_IN_ROWS],
        "stand_in_new": scores.iloc[_STAND_IN_ROWS : _STAND_IN_ROWS + _STAND_IN_NEW],
    }


if __name__ == "__main__":
    write(FOLDER)
