"""Read what three packages contain about models, and convert it to one form, ``Facts``.

The packages are not imported, which takes six seconds for litellm; only their data files are read. ``catalog.py``
chooses between the sources.
"""

import ast
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from catalog_prices import Prices, from_genai, from_litellm, from_models_dev
from catalog_providers import GENAI_PRICES, LITELLM, MODELS_DEV


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts that one source has about one model; ``None`` if unknown."""

    name: str | None = None
    # All tokens of a request and its answer, those of the request alone, and those of the answer alone.
    context_window: int | None = None
    max_input: int | None = None
    max_tokens: int | None = None
    image: bool | None = None
    reasoning: bool | None = None
    tools: bool | None = None
    prices: Prices = field(default_factory=Prices)
    # The last day, as YYYY-MM-DD.
    retires: str | None = None
    # According to the source, the model is not for chat.
    unwanted: bool | None = None


Source = Mapping[str, Facts]
"""Facts by ``provider/model``."""

Lookup = Callable[[str], Facts | None]
"""Returns the facts of a ``provider/model``, for a source that describes models by patterns."""

LITELLM_FILE = "model_prices_and_context_window_backup.json"
EARLIER = "litellm-earlier"
CHAT_MODES = ("chat", "responses")
DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
SHARED_WINDOW = 32_768

REGIONAL = re.compile(r"amazon-bedrock/(us|eu|apac|au|jp|ca|in|global|us-gov)\.")
"""Regional profiles have their own prices, but the patterns of genai-prices match them like the plain model."""


def installed(package: str, module: str, file: str) -> tuple[str, bytes]:
    """Return the version of an installed package and the bytes of a file in it, without importing the package."""
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed: pip install --no-deps -r requirements/catalog.txt")
    return version(package), (Path(spec.submodule_search_locations[0]) / file).read_bytes()


def read_litellm(data: bytes) -> Source:
    """Read litellm's price file: prices per token, limits, flags, and the date on which a model is retired."""
    found: dict[str, Facts] = {}
    for key, entry in json.loads(data).items():
        target = LITELLM.get(entry.get("litellm_provider", ""))
        if target is None:
            continue
        provider, prefix = target
        found.setdefault(f"{provider}/{key.removeprefix(prefix)}", _litellm_facts(entry))
    return found


def _litellm_facts(entry: Mapping[str, Any]) -> Facts:
    window = _whole(entry.get("max_input_tokens"))
    output = _whole(entry.get("max_output_tokens") or entry.get("max_tokens"))
    day = entry.get("deprecation_date")
    return Facts(
        context_window=window,
        max_tokens=None if is_copy(output, window) else output,
        image=entry.get("supports_vision"),
        reasoning=entry.get("supports_reasoning"),
        tools=entry.get("supports_function_calling"),
        prices=from_litellm(entry),
        retires=day if isinstance(day, str) and DAY.fullmatch(day) else None,
        unwanted=entry.get("mode") not in CHAT_MODES,
    )


def is_copy(output: int | None, window: int | None) -> bool:
    """Whether a source repeats the window as the limit of the output because it does not know it. Old models with
    small windows really may fill them."""
    return output is not None and output == window and window > SHARED_WINDOW


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def read_models_dev(data: bytes) -> Source:
    """Read models-dev: names, limits, modalities; prices per million. Not updated since May 2026."""
    document = json.loads(gzip.decompress(data))
    return {
        f"{provider}/{model_id}": _models_dev_facts(entry)
        for theirs, provider in MODELS_DEV.items()
        for model_id, entry in document.get(theirs, {}).get("models", {}).items()
    }


def _models_dev_facts(entry: Mapping[str, Any]) -> Facts:
    limit, modalities = entry.get("limit", {}), entry.get("modalities", {})
    window, output = _whole(limit.get("context")), _whole(limit.get("output"))
    return Facts(
        name=entry.get("name"),
        context_window=window,
        max_input=_whole(limit.get("input")),
        max_tokens=None if is_copy(output, window) else output,
        image="image" in modalities.get("input", ()),
        reasoning=entry.get("reasoning"),
        tools=entry.get("tool_call"),
        prices=from_models_dev(entry.get("cost") or {}),
        unwanted=modalities.get("output") != ["text"],
    )


def read_genai_prices(data: bytes, today: date) -> tuple[Source, Lookup]:
    """Read genai-prices: prices per million and windows. Its data is a Python literal, read with ``ast``, not run.

    Returns the models by id, and a lookup that uses the package's patterns for model ids.
    """
    tree = ast.parse(data)
    literal = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign))
    known: dict[str, Facts] = {}
    patterns: dict[str, list[tuple[Mapping[str, Any], Facts]]] = {}
    for theirs in _value(literal) if literal is not None else []:
        provider = GENAI_PRICES.get(theirs["id"])
        if provider is None:
            continue
        patterns[provider] = [(entry["match"], _genai_facts(entry, today)) for entry in theirs["models"]]
        known |= {f"{provider}/{entry['id']}": _genai_facts(entry, today) for entry in theirs["models"]}

    def lookup(ref: str) -> Facts | None:
        provider, _, model_id = ref.partition("/")
        if REGIONAL.match(ref):
            return known.get(ref)
        matches = (facts for rule, facts in patterns.get(provider, ()) if _matches(rule, model_id.lower()))
        return known.get(ref) or next(matches, None)

    return known, lookup


def _value(node: ast.expr) -> Any:
    """Evaluate a literal in which calls are records: ``Name(key=…)`` is a dict with the name under ``kind``."""
    match node:
        case ast.Constant(value):
            return value
        case ast.List(items):
            return [_value(item) for item in items]
        case ast.Call(func=ast.Name("Decimal"), args=[ast.Constant(str(digits))]):
            return float(digits)
        case ast.Call(func=ast.Attribute(attr="date"), args=[*parts]):
            return date(*map(_value, parts))
        case ast.Call(func=ast.Name(kind) | ast.Attribute(attr=kind), keywords=keywords):
            return {"kind": kind, **{word.arg: _value(word.value) for word in keywords if word.arg}}
        case _:
            return None


def _genai_facts(entry: Mapping[str, Any], today: date) -> Facts:
    prices = _prices_on(entry.get("prices"), today)
    return Facts(
        name=entry.get("name"),
        context_window=entry.get("context_window"),
        prices=from_genai(prices),
    )


def _prices_on(prices: Any, today: date) -> Mapping[str, Any]:
    """Return the prices of a day: the last that have started. Prices for some hours of a day are left out."""
    current: Mapping[str, Any] = {}
    for entry in prices if isinstance(prices, list) else [{"prices": prices or {}}]:
        constraint = entry.get("constraint") or {}
        if constraint.get("kind") in (None, "StartDateConstraint") and constraint.get("start_date", today) <= today:
            current = entry["prices"]
    return current


def _matches(rule: Mapping[str, Any], text: str) -> bool:
    return CLAUSES[rule["kind"]](rule, text)


CLAUSES: dict[str, Callable[[Mapping[str, Any], str], bool]] = {
    "ClauseEquals": lambda rule, text: text == rule["equals"].lower(),
    "ClauseStartsWith": lambda rule, text: text.startswith(rule["starts_with"].lower()),
    "ClauseEndsWith": lambda rule, text: text.endswith(rule["ends_with"].lower()),
    "ClauseContains": lambda rule, text: rule["contains"].lower() in text,
    "ClauseRegex": lambda rule, text: re.search(rule["regex"], text) is not None,
    "ClauseOr": lambda rule, text: any(_matches(part, text) for part in rule["or_"]),
    "ClauseAnd": lambda rule, text: all(_matches(part, text) for part in rule["and_"]),
}


def read_installed(today: date, earlier: Path | None = None) -> Iterator[tuple[str, str, Source, Lookup]]:
    """Yield the installed sources: name, version, models, and the lookup of a model.

    ``earlier`` is a directory with an earlier version of litellm: models that it lists and that no other source has any
    more are retired.
    """
    number, data = installed("litellm", "litellm", LITELLM_FILE)
    litellm = read_litellm(data)
    yield "litellm", number, litellm, litellm.get
    number, data = installed("genai-prices", "genai_prices", "data.py")
    genai, lookup = read_genai_prices(data, today)
    yield "genai-prices", number, genai, lookup
    number, data = installed("models-dev", "models_dev", "data.json.gz")
    models_dev = read_models_dev(data)
    yield "models-dev", number, models_dev, models_dev.get
    if earlier is not None:
        known = {*litellm, *genai, *models_dev}
        listed = read_litellm((earlier / "litellm" / LITELLM_FILE).read_bytes())
        retired = {ref: facts for ref, facts in listed.items() if ref not in known}
        [dist] = earlier.glob("litellm-*.dist-info")
        yield EARLIER, dist.name.removeprefix("litellm-").removesuffix(".dist-info"), retired, retired.get
