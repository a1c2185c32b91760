"""The wheel and the sdist contain what they should and nothing else. `make wheel` also installs and uses them."""

import tomllib
from pathlib import Path

import check_wheel

import segue

ROOT = Path(__file__).parents[1]


def test_both_contain_the_package_and_nothing_else(tmp_path: Path) -> None:
    wheel, sdist = check_wheel.built(tmp_path)
    assert wheel.name.startswith(f"segue-{segue.__version__}-")
    assert [*check_wheel.differences(wheel, sdist)] == []


def test_the_changelog_begins_with_this_version() -> None:
    assert f"\n## {segue.__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_each_version_of_python_that_is_checked_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each}
    assert declared == set(check_wheel.PYTHONS)
