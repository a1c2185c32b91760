"""The import contracts in ``pyproject.toml`` name all protocols. ``lint-imports`` checks the imports themselves."""

import tomllib
from pathlib import Path

from segue.wire.registry import PROTOCOLS


def test_every_protocol_is_in_the_contract_that_keeps_them_independent() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    contracts = {contract["name"]: contract for contract in project["tool"]["importlinter"]["contracts"]}
    named = contracts["Protocols do not import each other"]["modules"]
    assert sorted(named) == sorted(f"segue.wire.{name.replace('-', '_')}" for name in PROTOCOLS)
