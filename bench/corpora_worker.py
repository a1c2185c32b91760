"""The obvious alternatives to `segue bulk convert`: a loop, or `datasets.map`, with the converter of another library.

``python -m bench.corpora_worker CONVERTER WAY IN OUT``: reads rows with ``messages`` and ``tools`` in the form of chat
completions from JSONL, and writes them with a request body for Claude, as JSON text, in their place. The loops read and
write with msgspec, which is faster than what the libraries use themselves.
"""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from .peers.encoders import ANTHROPIC, KEY, MAX_TOKENS

Row = dict[str, Any]
Convert = Callable[[Row], Any]


def litellm() -> Convert:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise importing it uses the network
    config = import_module("litellm").AnthropicConfig()

    def convert(row: Row) -> Any:
        asked = {"tools": row["tools"], "max_tokens": MAX_TOKENS}
        options = config.map_openai_params(asked, {}, ANTHROPIC.model, drop_params=False)
        return config.transform_request(
            model=ANTHROPIC.model, messages=row["messages"], optional_params=options, litellm_params={}, headers={}
        )

    return convert


def langchain() -> Convert:
    to_messages = import_module("langchain_core.messages").convert_to_messages
    library = import_module("langchain_anthropic")
    to_tool = import_module("langchain_anthropic.chat_models").convert_to_anthropic_tool
    model = library.ChatAnthropic(model=ANTHROPIC.model, api_key=KEY, max_tokens=MAX_TOKENS)

    def convert(row: Row) -> Any:
        tools = [to_tool(tool) for tool in row["tools"]]
        return model._get_request_payload(to_messages(row["messages"]), tools=tools)

    return convert


def loop(convert: Convert, source: str, target: str) -> None:
    with open(source, "rb") as lines, open(target, "wb") as file:
        for line in lines:
            row = msgspec.json.decode(line)
            row["request"] = msgspec.json.encode(convert(row)).decode()
            del row["messages"]
            file.write(msgspec.json.encode(row) + b"\n")


def datasets(convert: Convert, source: str, target: str) -> None:
    """`Dataset.map`, in one process."""
    library = import_module("datasets")
    library.disable_progress_bars()
    with TemporaryDirectory() as folder:
        rows = library.load_dataset("json", data_files=source, split="train", cache_dir=folder)
        done = rows.map(
            lambda row: {"request": msgspec.json.encode(convert(row)).decode()}, remove_columns=["messages"]
        )
        done.to_json(target)


CONVERTERS = {"litellm": litellm, "langchain": langchain}
WAYS = {"loop": loop, "datasets": datasets}


if __name__ == "__main__":
    converter, way, source, target = sys.argv[1:]
    WAYS[way](CONVERTERS[converter](), source, target)
