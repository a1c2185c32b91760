"""The index of error messages in docs/troubleshooting.md: one heading per message that providers send.

The messages come from the rules, the table of overflows and the stand-ins. What to do about each kind is here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from segue.rules import Rule
from segue.rules.overflow import FROM_ONE, OVERFLOW
from segue.testing.script import FaultKind
from segue.testing.voices import voice_of
from segue.wire.registry import PROTOCOLS, protocol_of

LET_SEGUE = (
    "segue never sends such a request: `segue.complete`, `segue.encode` and sessions repair the conversation first."
)


class Kind(NamedTuple):
    """A kind of messages: its title, what to do, and the modules of segue that prevent it."""

    title: str
    advice: str
    modules: tuple[str, ...]


KINDS = (
    Kind(
        "Calls and their results",
        "Every tool call needs exactly one result, directly after it. A history loses one when a run is interrupted, "
        "when it is cut between a call and its result, or when two writers store the same result. "
        f"{LET_SEGUE} If you write requests yourself: store a result for every call, also for cancelled ones, and cut "
        "only between whole turns.",
        ("tool_interactions",),
    ),
    Kind(
        "Ids of calls",
        "The history comes from a provider whose ids have another form, or two calls have the same id. "
        f"{LET_SEGUE} If you write requests yourself: replace the id in the call and in its result in the same way.",
        ("ids",),
    ),
    Kind(
        "Names of tools",
        f"A tool or a call has a name that this provider does not allow. {LET_SEGUE} Answers with the changed name are "
        "mapped back to yours. If you write requests yourself: use letters, digits, underscores and hyphens, at most "
        "64.",
        ("names",),
    ),
    Kind(
        "Thinking and signatures",
        "Thinking and encrypted reasoning are valid only for the provider, and often the account, that made them, "
        "unchanged and in their place. "
        f"{LET_SEGUE} Thinking of another model becomes text, or is left out. If you write requests yourself: remove "
        "thinking of other models, and never change your own.",
        ("reasoning", "replay"),
    ),
    Kind(
        "Empty and broken texts",
        "A message or a block is empty or blank, or a text was cut inside a character. "
        f"{LET_SEGUE} If you write requests yourself: leave out what is empty, and cut texts between characters.",
        ("text",),
    ),
    Kind(
        "Images and files",
        "The model does not read images, or not in this place, or an image is too large or mislabelled. "
        "`segue.preview` shows this before a switch. segue moves images to where the provider accepts them, and "
        "replaces them by a text for models without images; a later model that reads images gets them again.",
        ("images", "media", "preview"),
    ),
    Kind(
        "Order and form of messages",
        "The request does not have the form that this provider expects. Often the body was written for another "
        f"provider. {LET_SEGUE} If you write requests yourself: `segue lint FILE` shows the place.",
        ("encode", "turns", "pipeline", "project", "messages", "content"),
    ),
    Kind(
        "Tools and their schemas",
        "The definition of a tool has something that this provider does not accept. "
        f"{LET_SEGUE} Schemas are adapted to the target. If you write requests yourself: `segue lint FILE` shows the "
        "place.",
        ("tools", "schema"),
    ),
    Kind(
        "Options",
        "The model does not accept this parameter, this value or this combination. segue leaves out what a model does "
        "not have and reports it as `option-dropped`. If you write requests yourself: `segue lint FILE` shows it.",
        ("options",),
    ),
)

FAULTS: dict[FaultKind, str] = {
    "wrong-key": "The key is wrong, expired, or of another account. `segue.AuthenticationError`; it is not retried. "
    "See [which variable holds which key](environment.md#keys).",
    "rate-limit": "Too many requests or tokens in a short time. `segue.RateLimitError`; the client waits and tries "
    "again, and a [router](routing.md) can use another model.",
    "overloaded": "The provider has no capacity. `segue.OverloadedError`; the client waits and tries again, and a "
    "[router](routing.md) can use another model.",
    "server-error": "A failure on the side of the provider. `segue.ServerError`; the client tries again.",
    "unavailable": "The provider or a proxy before it is down. `segue.ServerError`; the client tries again.",
}
"""What to do about failures that no request can prevent."""


def lines() -> list[str]:
    """The whole index."""
    found: list[str] = []
    for kind in KINDS:
        found += [f"## {kind.title}", "", kind.advice, "", *_of_rules(kind)]
    found += ["## The conversation is too long", "", OVERFLOW_ADVICE, "", *_of_overflows()]
    found += ["## Keys, limits and outages", "", *_of_faults()]
    return found[:-1]


OVERFLOW_ADVICE = (
    "The conversation does not fit into the context window of the model. `segue.is_context_overflow` recognises all of "
    "these ([how](overflow.md)), and the client raises `segue.ContextOverflowError`. Sessions and agents "
    "[compact](compaction.md) the conversation and try again; a [router](routing.md) can use a model with a larger "
    "window. `segue.preview` shows before a switch whether the conversation fits."
)


def kind_of(rule: Rule) -> Kind:
    """The kind of a rule, by the module that prevents it."""
    module = rule.prevented_by.partition(":")[0].partition(",")[0].rpartition("/")[2].removesuffix(".py")
    return next(kind for kind in KINDS if module in kind.modules)


def messages(rule: Rule) -> list[str]:
    """The messages of a rule: none if its text was not recorded."""
    return [text.strip() for text in rule.answers.split(" / ") if text.strip() and not text.startswith("(")]


def by_message() -> dict[str, list[tuple[str, Rule]]]:
    """The rules with the same message: protocols often share one."""
    found: dict[str, list[tuple[str, Rule]]] = {}
    for protocol in PROTOCOLS:
        for rule in protocol_of(protocol).rules:
            for text in messages(rule) if rule.severity == "error" else ():
                found.setdefault(text, []).append((protocol, rule))
    return found


def _of_rules(kind: Kind) -> Iterator[str]:
    for text, rules in by_message().items():
        if kind_of(rules[0][1]) is not kind:
            continue
        yield from (heading(text), "")
        for protocol, rule in rules:
            some = ", some models" if rule.only is not None else ""
            title = rule.title if rule.title.endswith(".") else f"{rule.title}."
            yield f"- {title} *{protocol}{some}: [{rule.number}](rules.md#{protocol})*"
        yield ""


def _of_overflows() -> Iterator[str]:
    for phrase in (*OVERFLOW, *FROM_ONE.values()):
        yield from (heading(phrase.example), "", f"{phrase.who}.", "")


def _of_faults() -> Iterator[str]:
    seen: set[str] = set()
    for kind, advice in FAULTS.items():
        for protocol in PROTOCOLS:
            refusal = voice_of(protocol).faults[kind]
            if refusal.text not in seen:
                seen.add(refusal.text)
                yield from (heading(refusal.text), "", f"{advice} *{protocol}, status {refusal.status}*", "")


def heading(text: str) -> str:
    """A heading with a message, as code, so that it is printed as it is."""
    marks = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"### {marks}{space}{' '.join(text.split())}{space}{marks}"
