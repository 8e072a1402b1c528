"""What a calibration certifies, as a record that can be kept beside the deployed model."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

from core.common.errors import InputError

__all__ = ["Certificate"]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """One rule's answer for one calibration file.

    ``lambda_hat`` is None if nothing is certified; then ``promise`` says so. It may be infinite (scores may be), which
    JSON has no number for and which is written as text. ``probability`` is Pr(L+ <= alpha) at
    lambda_hat. ``fingerprint`` is that of the calibration file's bytes and reading, ``date`` in ISO form.
    """

    method: str
    promise: str
    n: int
    alpha: float
    beta: float
    bound: float
    lambda_hat: float | None
    probability: float | None
    empirical_risk: float | None
    fingerprint: str
    date: str

    def to_json(self) -> str:
        """The certificate as JSON; ``from_json`` reads it back unchanged."""
        record = asdict(self)
        if self.lambda_hat is not None and math.isinf(self.lambda_hat):
            record["lambda_hat"] = str(self.lambda_hat)
        return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """The certificate that ``to_json`` wrote; InputError if the text is none."""
        try:
            record = json.loads(text)
            if record["lambda_hat"] in ("inf", "-inf"):
                record["lambda_hat"] = float(record["lambda_hat"])
            return cls(**record)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("this is no certificate", remedy="Give the JSON file as it was saved.") from error
