import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.common.errors import InputError
from core.conformal.certificate import Certificate

share = st.floats(0, 1)
certificates = st.builds(
    Certificate,
    method=st.text(),
    promise=st.text(),
    n=st.integers(1, 10**9),
    alpha=share,
    beta=share,
    bound=st.floats(0.1, 1e9),
    lambda_hat=st.none() | st.floats(allow_nan=False),
    probability=st.none() | share,
    empirical_risk=st.none() | share,
    fingerprint=st.text(),
    date=st.dates().map(str),
)


@given(certificates)
def test_json_round_trip(certificate):
    text = certificate.to_json()
    assert Certificate.from_json(text) == certificate
    json.loads(text, parse_constant=pytest.fail)  # NaN and Infinity are no JSON


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '"text"', '{"method": 1}', '{"lambda_hat": "inf"}', "nonsense"]
)
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(InputError, match="no certificate"):
        Certificate.from_json(text)
