"""The grammars of free-text tools: what a parser of them certainly refuses. They are not parsed."""

import re
from typing import Any

# "Lark … the grammar must have a rule `start`" and "the syntax of the Rust regex crate, not Python's `re` module":
# OpenAI's guide to function calling, "Context-free grammars" (2025-08), and guidance-ai/llguidance, docs/syntax.md.
_START = re.compile(r"^\s*[?!]*start(?:\.-?\d+)?\s*:", re.MULTILINE).search
_ATOMS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_LOOKAROUND = re.compile(r"\(\?<?[=!]").search
_REPEATS_NOTHING = re.compile(r"(?:^|\(|\|)[*+?](?!\?)").search


def grammar_fault(grammar: Any) -> str:
    """What is wrong with a grammar, an object with syntax and definition; "" if nothing was found."""
    definition = grammar.get("definition") if isinstance(grammar, dict) else None
    if not isinstance(definition, str):
        return ""  # reported by the rules about the shape
    if not definition.strip():
        return "the definition of the grammar is empty"
    if grammar.get("syntax") == "lark":
        return "" if _START(definition) else "a Lark grammar must have a rule 'start'"
    return _regex_fault(definition) if grammar.get("syntax") == "regex" else ""


def _regex_fault(pattern: str) -> str:
    rest = _ATOMS.sub("x", pattern)
    if _LOOKAROUND(rest):
        return "the grammar has a lookaround, which is not supported"
    if "[" in rest or rest.endswith("\\"):
        return "the regular expression is cut"
    if _REPEATS_NOTHING(rest.replace("(?", "(x")):
        return "the regular expression repeats nothing"
    depth = 0
    for character in rest:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
    return "the regular expression has an unmatched parenthesis" if depth else ""
