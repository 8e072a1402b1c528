#!/bin/sh
# Every benchmark beside its peers, one run, into tests/benchmarks/*.md. TorchCP comes without its dependencies: they
# would move torch to another build, and the one function that is compared needs torch alone.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -f .venv-bench/.ready ]; then
    "${PYTHON:-python3.11}" -m venv .venv-bench
    .venv-bench/bin/pip install --quiet --disable-pip-version-check -r requirements-bench.txt
    .venv-bench/bin/pip install --quiet --disable-pip-version-check --no-deps torchcp==1.2.1
    touch .venv-bench/.ready
fi
PYTHONPATH=. .venv-bench/bin/python tests/benchmarks/conformal.py
PYTHONPATH=. .venv-bench/bin/python tests/benchmarks/targeting.py
