"""Tables keyed by a closed union have a row for every member, so that a new member is named by a test.

Consumers without a table end in ``assert_never``, and mypy names those.
"""

import ast
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from support.commands import entries
from support.entries import FIELDS

import segue
from segue.cli.session_view import NEXT_STEPS
from segue.router import Decision
from segue.session import AnyEntry

BY_STREAM: set[object] = {"cut", "silence", "broken-json"}
"""Faults that every protocol has in the same way, so that no voice has a row for them."""
WITHOUT: dict[str, set[object]] = {
    "segue.wire.common.options.BUDGETS": {"off"},  # no budget is sent at all
    "segue.wire.google_generative_ai.options.BUDGETS": {"off"},
    "segue.wire.common.answer._READINGS": {"strict"},  # nothing to report
    "segue.testing.voices.anthropic_messages._FAULTS": BY_STREAM,
    "segue.testing.voices.bedrock_converse._FAULTS": BY_STREAM,
    "segue.testing.voices.completions_quirks.FAULTS": BY_STREAM,
    "segue.testing.voices.google_generative_ai._FAULTS": BY_STREAM,
    "segue.testing.voices.mistral_chat._FAULTS": BY_STREAM,
    "segue.testing.voices.openai_responses._FAULTS": BY_STREAM,
}
"""Members that a table leaves out on purpose."""
OPTIONAL = ("agents", "botocore", "langchain", "litellm", "pydantic_ai", "google", "mcp", "xllamacpp", "psycopg")
"""Packages that only extras install; modules that need a missing one are skipped."""


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(segue.__path__, "segue."):
        if found.name.endswith("__main__"):
            continue
        try:
            yield import_module(found.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in OPTIONAL:
                raise


def members(key: Any) -> set[object] | None:
    """The members of the closed union that ``key`` annotates; ``None`` if it is open, such as ``str``."""
    if get_origin(key) is type:
        inner = get_args(key)[0]
        return set(get_args(inner)) if isinstance(inner, UnionType) else None
    if get_origin(key) is Literal:
        return set(get_args(key))
    if get_origin(key) in (Union, UnionType):
        found = [{None} if part is type(None) else members(part) for part in get_args(key)]
        return None if None in found else set().union(*(each for each in found if each is not None))
    return None


def tables() -> Iterator[tuple[str, dict[Any, Any], set[object]]]:
    """Every annotated dict of a module whose keys are a closed union."""
    for module in modules():
        for node in ast.parse(inspect.getsource(module)).body:
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            annotation = node.annotation
            if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "dict":
                assert isinstance(annotation.slice, ast.Tuple)
                key = ast.unparse(annotation.slice.elts[0])
                known = members(eval(key, vars(module)))
                if known is not None:
                    yield f"{module.__name__}.{node.target.id}", getattr(module, node.target.id), known


TABLES = {name: (table, known) for name, table, known in tables()}


def test_the_tables_are_found() -> None:
    assert TABLES.keys() >= WITHOUT.keys() | {
        "segue.types.messages.PLACEMENT",
        "segue.projection.prefix._ROLES",
        "segue.projection.passes.text._CLEANERS",
        "segue.projection.policy.KEEPS",
        "segue.projection.summary.PHRASES",
        "segue.cli.run.STATUS",
        "segue.wire.bedrock_converse.options._SWITCHES",
        "segue.wire.openai_completions.options._SWITCHES",
        "segue.testing.voices.mistral_chat._STOPS",
        "segue.dialects.ids.ID_SHAPES",
    }


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_row_for_every_member(name: str) -> None:
    table, known = TABLES[name]
    assert set(table) == known - WITHOUT.get(name, set())


def test_every_decision_about_a_failed_attempt_is_shown_in_words() -> None:
    assert set(NEXT_STEPS) == {kind.word for kind in get_args(Decision)}


def test_stores_and_commands_are_tested_with_every_kind_of_entry() -> None:
    assert set(FIELDS) == {type(entry) for entry in entries()} == set(get_args(AnyEntry))
