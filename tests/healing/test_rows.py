"""The table of cures: every row is complete, and its words are those that were seen."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from support.providers import MODELS, reach
from support.quirks import QUIRKS, Quirk

import segue
from segue import Facts
from segue.catalog import checked
from segue.cli.learn import exported
from segue.dialects import DIALECTS
from segue.rules import CURES, Cure, Refused, treat
from segue.testing import StandIn
from segue.types import LIMITS, Options
from segue.types.options import ReasoningLevel
from segue.wire.registry import PROTOCOLS

CASES = sorted((Path(__file__).parents[1] / "cases" / "cures").glob("*.json"))
IN_TEST_QUIRKS = {"23", "3", "22"}
"""Rows that need a conversation with the endpoint before: ``test_quirks.py`` has a test for each."""
OTHERS = {"5c", "14c", "15c", "16", "17", "24b"}
"""Rows of which only the reading of the words is tested, or that are reported."""


@pytest.mark.parametrize("cure", CURES, ids=lambda cure: cure.number)
def test_a_row_matches_the_words_that_it_cites(cure: Cure) -> None:
    import re

    assert re.search(cure.words, cure.example, re.IGNORECASE)
    assert cure.source and re.fullmatch(r"20\d\d-\d\d", cure.seen)


@pytest.mark.parametrize("cure", CURES, ids=lambda cure: cure.number)
def test_what_a_row_sets_exists(cure: Cure) -> None:
    protocols = cure.protocols or PROTOCOLS
    treatment = cure.treatment
    for name, value in {**treatment.cells, **treatment.once}.items():
        having = [protocol for protocol in protocols if name in DIALECTS[protocol].__struct_fields__]
        assert having, name
        for protocol in having:
            checked(protocol, name, value)
    assert set(treatment.limits) <= LIMITS
    assert set(treatment.options) <= set(Options.__struct_fields__)
    assert treatment.options.get("reasoning", "off") in get_args(ReasoningLevel)


def test_every_number_is_used_once() -> None:
    numbers = [cure.number for cure in CURES]
    assert len(numbers) == len(set(numbers))
    assert {str(number) for number in range(1, 24)} <= set(numbers)


def test_every_row_is_tried() -> None:
    tried = {quirk.cure for quirk in QUIRKS} | IN_TEST_QUIRKS | OTHERS
    assert {cure.number for cure in CURES} <= tried


def check(case: dict[str, Any]) -> None:
    """A case has the words of a row, and these give the cell."""
    model = segue.Catalog.load().resolve(case["model"], case["protocol"])
    found = treat(Refused(400, case["words"]), model, case["body"])
    assert found is not None and found.treatment is not None
    assert case["cure"].split(", ")[0] in [cure.number for cure in found.cures]
    wanted = checked(case["protocol"], case["field"], case["value"])
    assert {**found.treatment.cells, **found.treatment.limits}[case["field"]] == wanted


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_gives_the_cell_that_it_names(path: Path) -> None:
    check(json.loads(path.read_text()))


@pytest.mark.parametrize("quirk", QUIRKS, ids=repr)
def test_what_is_exported_is_such_a_case(quirk: Quirk) -> None:
    facts = Facts()
    model = segue.Catalog.load().resolve(quirk.model, quirk.protocol)
    with StandIn(model.provider, protocol=quirk.protocol, refuses=quirk.refuses) as server:
        segue.complete_sync(quirk.context, model, quirk.options, connection=reach(server, facts=facts), check=False)
    own = {"id_form": "call_a1.b2"}
    for fact in facts:
        text = exported(fact)
        assert own.get(fact.field, "search") not in text and server.url not in text
        check(json.loads(text.partition(".json\n")[2]))


# -- words in other forms --------------------------------------------------------------------------------------------

BODY = {
    "model": "m",
    "metadata": {"customer": "x"},
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "citations": []}]}],
    "tools": [{"name": "f", "strict": True, "input_schema": {"properties": {"a": {"type": "string"}}}}],
    "generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}},
    "top_p": 0.5,
}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "top_p"], "msg": "Extra inputs are not permitted"}]},
         ("top_p",)),
        ({"message": {"detail": [{"loc": ["body", "tools", 0, "custom", "strict"],
                                  "msg": "Extra inputs are not permitted"}]}}, ("tools.*.strict",)),
        ({"error": {"message": "messages.0.content.0.text.citations: Extra inputs are not permitted"}},
         ("messages.*.content.*.citations",)),
        ({"error": {"message": "Unrecognized request argument supplied: top_p"}}, ("top_p",)),
        ({"error": {"message": "no", "param": "top_p", "code": "unknown_parameter"}}, ("top_p",)),
        ({"error": {"message": "metadata.customer: Extra inputs are not permitted"}}, None),
        ({"error": {"message": "tools.0.input_schema.properties.a.type: Extra inputs are not permitted"}}, None),
        ({"error": {"message": "messages.0.content.0.text: Extra inputs are not permitted"}}, None),
        ({"error": {"message": "gone: Extra inputs are not permitted"}}, None),
    ],
)  # fmt: skip
def test_the_field_is_found_however_the_error_names_it(error: object, expected: tuple[str, ...] | None) -> None:
    text = str(error["error"]["message"]) if isinstance(error, dict) and "error" in error else "invalid"
    found = treat(Refused.read(400, error, text), MODELS["anthropic-messages"], BODY)
    cells = None if found is None or found.treatment is None else found.treatment.cells.get("refused_fields")
    assert cells == expected


def test_google_names_fields_in_snake_case() -> None:
    words = (
        "Invalid JSON payload received. Unknown name \"thinkingLevel\" at 'generation_config.thinking_config': Cannot"
    )
    found = treat(Refused(400, words), MODELS["google-generative-ai"], BODY)
    assert found is not None and found.treatment is not None
    assert found.treatment.cells == {"refused_fields": ("generationConfig.thinkingConfig.thinkingLevel",)}


def test_several_keywords_in_one_refusal_are_all_left_out() -> None:
    place = "at 'tools[0].function_declarations[{}].parameters.properties[0].value': Cannot find field."
    words = "\n".join(f'Unknown name "{name}" {place.format(at)}' for at, name in enumerate(["readOnly", "$id"]))
    found = treat(Refused(400, words), MODELS["google-generative-ai"], BODY)
    assert found is not None and found.treatment is not None
    assert found.treatment.cells == {"refused_keywords": ("readOnly", "$id")}


@pytest.mark.parametrize(
    ("number", "protocol", "words", "cells"),
    [
        ("5c", "google-generative-ai", "Corrupted thought signature.", {"signature_required": True}),
        ("13", "anthropic-messages", "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
         {"max_image_bytes": 5_242_880}),
        ("13", "anthropic-messages", "image exceeds 4 MB maximum", {"max_image_bytes": 4 * 1024 * 1024}),
        ("13b", "anthropic-messages",
         "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
         {"max_image_pixels": 2_000}),
        ("14c", "openai-responses",
         "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64, but got 70",
         {"id_form": "call-64"}),
        ("15c", "openai-responses",
         "Invalid schema for function 'f': In context=('properties', 'q'), 'propertyNames' is not permitted.",
         {"refused_keywords": ("propertyNames",)}),
        ("24b", "openai-completions",
         "Unsupported value: 'messages[0].role' does not support 'system' with this model.", {"system_role": "user"}),
    ],
)  # fmt: skip
def test_these_rows_read_their_words(number: str, protocol: str, words: str, cells: dict[str, object]) -> None:
    found = treat(Refused(400, words), MODELS[protocol], {})
    assert found is not None and found.treatment is not None
    assert number in [cure.number for cure in found.cures]
    assert cells.items() <= found.treatment.cells.items()


def test_a_limit_is_read_whatever_the_words_are() -> None:
    for words in (
        "max_tokens: 1000000 > 64,000, which is the maximum allowed number of output tokens for claude",
        "This model supports at most 64000 completion tokens, whereas you provided 100000.",
        "`max_tokens` must be less than or equal to `64000`",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 64000]",
        "The maximum tokens you requested exceeds the model limit of 64000",
    ):
        found = treat(Refused(400, words), MODELS["anthropic-messages"], {})
        assert found is not None and found.treatment is not None, words
        assert found.treatment.limits == {"max_tokens": 64_000}, words
