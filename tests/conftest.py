"""Two sizes of the same tests: `make test` runs the small one, `make soak` the one with the full counts."""

import os

from hypothesis import HealthCheck, settings

SOAK = bool(os.environ.get("SEGUE_SOAK"))

settings.register_profile("test", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("soak" if SOAK else "test")
