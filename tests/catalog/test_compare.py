"""The comparison with data that is not a source of the catalog: what counts as different, and whom to believe."""

import json
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

SCRIPT = run_path(str(Path(__file__).parents[2] / "scripts" / "compare_catalog.py"))
ROW = {"context_window": 1_000_000, "max_tokens": 8_000, "input": ["text"], "reasoning": True}
PRICES = {"input": 2, "output": 4, "cacheRead": 1, "cacheWrite": 0}


def folder(path: Path, **models: Any) -> Path:
    """A package of pi with these models of one provider."""
    data = path / "dist" / "providers" / "data"
    data.mkdir(parents=True)
    listed = {
        name: {"id": name, "cost": PRICES, "input": ["text"], "reasoning": True} | of for name, of in models.items()
    }
    (data / "moonshotai.json").write_text(json.dumps({"openai-completions": listed}))
    return path


def groups(path: Path, theirs: dict[str, Any], **ours: Any) -> dict[str, str]:
    """The group of each field that differs."""
    row = ROW | {"cost": {"input": 2, "output": 4, "cache_read": 1}} | ours
    read = dict(SCRIPT["pi_rows"](folder(path, m={"contextWindow": 1_000_000, "maxTokens": 8_000} | theirs)))
    found = SCRIPT["differing"]({"moonshot/m": SCRIPT["our_fields"](row)}, read)
    return {field: SCRIPT["group_of"](pair).title for field, (pair,) in found.items()}


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        ({}, {}, {}),
        ({"contextWindow": 1_048_576}, {}, {"window": "rounded: 1,000,000 and 1,048,576"}),
        ({"contextWindow": 272_000}, {}, {"window": "272,000 for OpenAI's models"}),
        ({"maxTokens": 1_000_000}, {}, {"output": "pi repeats the window"}),
        ({"maxTokens": 32_000}, {}, {"output": "smaller here"}),
        ({"maxTokens": 32_000}, {"unverified": ["max_tokens"]}, {"output": "an assumption here"}),
        ({"maxTokens": 4_000}, {}, {"output": "larger here"}),
        ({"maxTokens": 4_000}, {"max_tokens": None}, {}),
        ({"input": ["text", "image"]}, {}, {"image": "stated on both sides"}),
        ({"cost": PRICES | {"input": 3}}, {}, {"input price": "lower here"}),
        ({"cost": PRICES | {"input": 1}}, {}, {"input price": "higher here"}),
        ({"cost": PRICES | {"input": 1}}, {"unverified": ["cost"]}, {"input price": "two prices here"}),
        ({"cost": PRICES | {"cacheRead": 0}}, {}, {"cache read": "unknown at pi"}),
    ],
)
def test_a_difference_belongs_to_the_first_group_that_explains_it(
    tmp_path: Path, theirs: dict[str, Any], ours: dict[str, Any], found: dict[str, str]
) -> None:
    assert groups(tmp_path, theirs, **ours) == found
