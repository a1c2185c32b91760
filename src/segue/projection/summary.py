"""The report in a few lines for people to read, however long the conversation is."""

from collections import Counter
from collections.abc import Sequence

from ..types import Change, ChangeCode

PHRASES: dict[ChangeCode, tuple[str, str]] = {
    "failed-turn-dropped": ("failed turn left out", "parts of failed turns left out"),
    "failed-turn-trimmed": ("failed turn cut to what was done", "failed turns cut to what was done"),
    "result-duplicate": ("result left out that came twice", "results left out that came twice"),
    "image-downgraded": ("image replaced by text", "images replaced by text"),
    "file-omitted": ("file left out", "files left out"),
    "url-omitted": ("address not attached", "addresses not attached"),
    "provider-content-dropped": ("block of a provider left out", "blocks of providers left out"),
    "citations-dropped": ("text without its citations", "texts without their citations"),
    "thinking-dropped": ("thought left out", "thoughts left out"),
    "arguments-adapted": ("call with arguments left out", "calls with arguments left out"),
    "tool-duplicate": ("tool left out that is defined twice", "tools left out that are defined twice"),
    "result-orphaned": ("result without a call", "results without a call"),
    "result-synthesized": ("missing result filled in", "missing results filled in"),
    "result-moved": ("result moved to its call", "results moved to their calls"),
    "call-reconstructed": ("call made up for its result", "calls made up for their results"),
    "file-as-text": ("file shown as text", "files shown as text"),
    "provider-content-as-text": ("block of a provider shown as text", "blocks of providers shown as text"),
    "thinking-as-text": ("thought shown as text", "thoughts shown as text"),
    "signature-dropped": ("signature left out", "signatures left out"),
    "text-sanitized": ("text with half characters cleaned", "texts with half characters cleaned"),
    "empty-dropped": ("empty part left out", "empty parts left out"),
    "empty-filled": ("empty result marked", "empty results marked"),
    "name-projected": ("tool name adapted", "tool names adapted"),
    "tool-adapted": ("tool or call sent as a function", "tools and calls sent as functions"),
    "name-kept": ("tool name kept that the target may refuse", "tool names kept that the target may refuse"),
    "id-projected": ("call id adapted", "call ids adapted"),
    "tools-stubbed": ("stand-in tool defined", "stand-in tools defined"),
    "image-moved": ("image of a tool moved to the user", "images of tools moved to the user"),
    "file-moved": ("file of a tool moved to the user", "files of tools moved to the user"),
    "file-renamed": ("file under another name or none", "files under other names or none"),
    "turns-merged": ("message merged with its neighbour", "messages merged with their neighbours"),
    "blocks-reordered": ("answer with its calls moved to the end", "answers with their calls moved to the end"),
    "filler-inserted": ("filler inserted", "fillers inserted"),
    "error-as-text": ("error flag written as text", "error flags written as text"),
    "tools-as-text": ("call or result written as text", "calls and results written as text"),
    "system-as-text": ("system prompt sent as the user's words", "system prompts sent as the user's words"),
    "schema-adapted": ("tool schema adapted", "tool schemas adapted"),
    "option-dropped": ("option left out", "options left out"),
    "field-dropped": ("field of the request left out", "fields of the request left out"),
}
"""For every code its phrase in the singular and in the plural, in the order of a summary."""


def phrase(code: ChangeCode, count: int = 1) -> str:
    """What a change is, in a few words; in the plural for several."""
    return PHRASES[code][count > 1]


def summarize(changes: Sequence[Change], target: str, messages: int) -> str:
    """One line for what is sent, one for what was lost, and one for what was changed without loss."""
    lines = [f"{target} gets {messages} message{'' if messages == 1 else 's'}" + ("" if changes else ", as stored")]
    for title, lossy in (("lost", True), ("adapted", False)):
        counts = Counter(change.code for change in changes if change.lossy is lossy)
        shown = [f"{counts[code]} {phrase(code, counts[code])}" for code in PHRASES if counts[code]]
        if shown:
            lines.append(f"{title}: {', '.join(shown)}")
    return "\n".join(lines)
