"""`make bench`: every figure of the documentation, in one run."""

import platform
from importlib.metadata import version

import msgspec

from segue import Context

from . import decoding, encoding, projection, sessions, talking
from .conversations import tool_history
from .measure import import_times, medians, table
from .peers.pydantic_models import Conversation


def json_both_ways() -> None:
    context = tool_history(1000)
    data = context.to_json()
    untyped = msgspec.json.decode(data)
    model = Conversation.model_validate_json(data)
    assert msgspec.json.decode(model.model_dump_json(by_alias=True, exclude_none=True)) is not None
    for verb, candidates in {
        "decode": {
            "segue": lambda: Context.from_json(data),
            "msgspec.json, untyped": lambda: msgspec.json.decode(data),
            "pydantic, discriminated unions": lambda: Conversation.model_validate_json(data),
        },
        "encode": {
            "segue": context.to_json,
            "msgspec.json, untyped": lambda: msgspec.json.encode(untyped),
            "pydantic, discriminated unions": lambda: model.model_dump_json(by_alias=True, exclude_defaults=True),
        },
    }.items():
        times = medians(candidates)
        table(
            f"{verb} a conversation of 1,000 messages, {len(data) / 1e6:.1f} MB",
            [(name, seconds, f"{seconds / times['segue']:.1f} × segue") for name, seconds in times.items()],
            "ms",
            1e3,
        )


def imports() -> None:
    times = import_times(["msgspec", "segue", "segue.types"])
    table(
        "import, beyond a bare interpreter (time on the wall)",
        [(name, seconds, f"{seconds / times['msgspec']:.2f} × msgspec") for name, seconds in times.items()],
        "ms",
        1e3,
    )


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("segue", "msgspec", "pydantic"))
    print(f"Python {platform.python_version()}, {packages}; processor time, medians of interleaved rounds")
    json_both_ways()
    imports()
    projection.run()
    encoding.run()
    decoding.run()
    talking.run()
    sessions.run()


if __name__ == "__main__":
    main()
