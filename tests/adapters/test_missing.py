"""An adapter without its framework says what to install."""

import subprocess
import sys

import pytest

import segue
from segue.adapters import FRAMEWORKS

BLOCKED = """
import sys
for name in ("pydantic_ai", "langchain", "langchain_core", "litellm", "agents"):
    sys.modules[name] = None
import segue
try:
    getattr(segue.adapters, sys.argv[1])
except segue.SettingError as error:
    print(error)
"""


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_adapter_without_its_framework_says_what_to_install(name: str) -> None:
    shown = subprocess.run([sys.executable, "-c", BLOCKED, name], capture_output=True, text=True, check=True).stdout
    assert f"pip install {FRAMEWORKS[name]}" in shown


def test_another_name_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError):
        segue.adapters.haystack  # noqa: B018
