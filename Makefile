# `make app` opens the dashboard, `make test` runs the tests; both set up what they need first.
PYTHON ?= python3.11
BIN := .venv/bin
READY := .venv/.ready

.PHONY: app test lint reproduce bench clean

app: $(READY)
	$(BIN)/streamlit run app.py

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pytest

reproduce: $(READY)
	$(BIN)/python -m core.reproduce all

bench: $(READY)
	sh tests/benchmarks/run.sh

# One resolve for everything, so that no package moves another's pin.
$(READY): requirements.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
