"""A request to a model whose last day is near or past warns, once per process."""

import warnings
from datetime import date, timedelta
from pathlib import Path

import pytest
from support.providers import CONTEXT, reach

import segue
from segue.client import retiring
from segue.testing import StandIn


@pytest.fixture(autouse=True)
def _nothing_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(retiring, "_warned", set())


SHIPPED = segue.get_model("openai/gpt-5.6-terra")


def warned(name: str, days: int | None) -> list[str]:
    """The warnings of two requests to a model that is served for so many more days."""
    last = None if days is None else (date.today() + timedelta(days)).isoformat()
    model = SHIPPED.replace(id=name, retires=last)
    with StandIn("openai") as server, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):
            segue.complete_sync(CONTEXT, model, connection=reach(server))
    return [str(each.message) for each in seen if each.category is segue.RetiringModelWarning]


@pytest.mark.parametrize(("days", "verb"), [(-300, "was"), (-3, "was"), (3, "is"), (27, "is")])
def test_a_last_day_that_is_near_or_past_is_warned_about_once(days: int, verb: str) -> None:
    [text] = warned(f"gpt-5.6-terra-{days}", days)
    last = date.today() + timedelta(days)
    assert text.startswith(f"the last day of openai/gpt-5.6-terra-{days} {verb} {last}, according to the catalog")
    assert "another model" in text


@pytest.mark.parametrize("days", [None, 33, 4000])
def test_a_model_without_a_last_day_or_with_a_later_one_is_not(days: int | None) -> None:
    assert warned("gpt-5.6-terra", days) == []


def test_the_day_is_that_of_the_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "catalog.toml"
    path.write_text('[models."openai/house-model"]\nretires = "2020-02-30"\n')
    monkeypatch.setenv("SEGUE_CATALOG", str(path))
    with (
        StandIn("openai") as server,
        pytest.warns(segue.RetiringModelWarning, match="the last day of openai/house-model was 2020-02-30"),
    ):
        segue.complete_sync(CONTEXT, "openai/house-model", connection=reach(server))
