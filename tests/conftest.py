"""For all tests: laws are searched without a time limit per example, and where CI runs always along the same path."""

import os

from hypothesis import settings

settings.register_profile("laurel", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("laurel")
