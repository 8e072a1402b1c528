"""PLACEHOLDER until the real module is written."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

MODELS = {"linear": "linear", "tree": "tree"}


@dataclass
class Crossfit:
    score: np.ndarray
    fold: np.ndarray
    notes: tuple
    model: str


def crossfit(features, target, *, model, folds=5, seed=0, known=None, weights=None):
    X = pd.get_dummies(features, drop_first=True).to_numpy(float)
    n = len(X)
    out = np.empty(n)
    fold = np.empty(n, int)
    known = np.ones(n, bool) if known is None else known
    binary = set(np.unique(target[known])) <= {0, 1}
    for k, (a, b) in enumerate(KFold(folds, shuffle=True, random_state=seed).split(X)):
        a = a[known[a]]
        m = {
            ("linear", False): LinearRegression(),
            ("linear", True): LogisticRegression(max_iter=1000),
            ("tree", False): DecisionTreeRegressor(max_depth=4, random_state=0),
            ("tree", True): DecisionTreeClassifier(max_depth=4, random_state=0),
        }[model, binary]
        m.fit(X[a], target[a], sample_weight=None if weights is None else weights[a])
        out[b] = m.predict_proba(X[b])[:, 1] if binary else m.predict(X[b])
        fold[b] = k
    return Crossfit(out, fold, (), model)
