"""One gateway per module."""

from collections.abc import Iterator

import pytest
from support.gateways import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway with a stand-in of every protocol behind it."""
    with Served(tmp_path_factory.mktemp("gateway")) as found:
        yield found
