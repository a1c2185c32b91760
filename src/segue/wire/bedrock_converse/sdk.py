"""The body as keyword arguments of boto3's ``converse`` and ``converse_stream``: with ``bytes`` instead of base64, and
with the model's id."""

from base64 import b64decode
from typing import Any

from ...types import Model, Options


def sdk_kwargs(body: dict[str, Any], model: Model, options: Options) -> dict[str, Any]:
    """Convert the body. Only blocks that contain bytes are copied."""
    messages = [turn | {"content": [_block(block) for block in turn["content"]]} for turn in body["messages"]]
    return {"modelId": model.id, **body, "messages": messages}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    for kind in ("image", "document", "video", "audio"):
        if kind in block:
            media = block[kind]
            return {kind: media | {"source": {"bytes": b64decode(media["source"]["bytes"])}}}
    if "toolResult" in block:
        result = block["toolResult"]
        return {"toolResult": result | {"content": [_block(each) for each in result["content"]]}}
    reasoning = block.get("reasoningContent", {})
    if "redactedContent" in reasoning:
        return {"reasoningContent": {"redactedContent": b64decode(reasoning["redactedContent"])}}
    return block
