"""Reading and writing a conversation, compared with untyped JSON and with pydantic."""

from collections.abc import Iterator
from importlib.metadata import version

import msgspec

from segue import Context

from .conversations import tool_history
from .measure import measured
from .peers.pydantic_models import Conversation
from .report import Part, Section, Table, cell, ratio

COUNT = 1_000
OWN = "segue"


def run() -> Iterator[Part]:
    context = tool_history(COUNT)
    data = context.to_json()
    untyped = msgspec.json.decode(data)
    model = Conversation.model_validate_json(data)
    assert msgspec.json.decode(model.model_dump_json(by_alias=True, exclude_none=True)) is not None
    plain, pydantic = f"msgspec {version('msgspec')}, untyped", f"pydantic {version('pydantic')}, discriminated unions"
    for verb, candidates in {
        "Read": {
            OWN: ("Context.from_json", lambda: Context.from_json(data)),
            plain: ("msgspec.json.decode", lambda: msgspec.json.decode(data)),
            pydantic: ("BaseModel.model_validate_json", lambda: Conversation.model_validate_json(data)),
        },
        "Write": {
            OWN: ("Context.to_json", context.to_json),
            plain: ("msgspec.json.encode", lambda: msgspec.json.encode(untyped)),
            pydantic: (
                "BaseModel.model_dump_json",
                lambda: model.model_dump_json(by_alias=True, exclude_defaults=True),
            ),
        },
    }.items():
        times = measured({name: call for name, (_, call) in candidates.items()})
        yield Table(
            f"{verb} a conversation of {COUNT:,} messages, {len(data) / 1e6:.1f} MB",
            ("", "time", "ratio", "called"),
            [
                (name, cell(times[name].times(1e3), "ms"), ratio(times[name], times[OWN], OWN), called)
                for name, (called, _) in candidates.items()
            ],
        )


SECTION = Section("json", "Conversations as JSON", run)
