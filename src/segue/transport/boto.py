"""Hooks for boto3: they repair the arguments of ``converse`` and ``converse_stream`` before they are checked and
signed. A signed request cannot be changed, so nothing heals here.

Events: botocore 1.44.0, ``client.py``, ``_make_api_call`` (2026-11).
"""

from typing import Any

import msgspec

from ..catalog import Catalog
from ..errors import ModelError
from ..types import Options
from ..types.text import scrub_json
from ..wire import protocol_of
from .conversations import HALVES, Body
from .repair import Passage, Repairer

PROVIDER, PROTOCOL = "amazon-bedrock", "bedrock-converse"
OPERATIONS = ("Converse", "ConverseStream")
CONTENT = ("messages", "system", "toolConfig")
_KEY = "segue-passage"


class BedrockHooks:
    """The hooks of one client."""

    def __init__(self, repairer: Repairer, base_url: str) -> None:
        self._repairer = repairer
        self._base_url = base_url

    def repair(self, params: dict[str, Any], context: dict[str, Any] | None = None, **_: Any) -> None:
        """Repair the arguments of a call, in place."""
        name = params.get("modelId")
        if not isinstance(name, str) or "messages" not in params:
            return
        try:
            model = Catalog.default().resolve(f"{PROVIDER}/{name}", PROTOCOL).replace(base_url=self._base_url)
        except ModelError:
            return
        body = _body({key: value for key, value in params.items() if key != "modelId"})
        passage = self._repairer.passage(body, model)
        if passage is None:
            return
        if context is not None:
            context[_KEY] = passage
        if passage.body is not body.data or body.changes:
            changed = protocol_of(PROTOCOL).sdk_kwargs(msgspec.json.decode(passage.body), model, Options())
            params.update({key: changed[key] for key in CONTENT if key in changed})

    def remember(self, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        """Remember who made a whole answer."""
        passage = context.get(_KEY)
        if isinstance(passage, Passage) and "output" in parsed:
            answer = {key: value for key, value in parsed.items() if key != "ResponseMetadata"}
            passage.answered(msgspec.json.encode(answer))


def _body(arguments: dict[str, Any]) -> Body:
    try:
        return Body(msgspec.json.encode(arguments))
    except UnicodeEncodeError:
        return Body(msgspec.json.encode(scrub_json(arguments)), [HALVES])


def register(client: Any, repairer: Repairer) -> None:
    """Register the hooks with a client of boto3 for ``bedrock-runtime``."""
    hooks = BedrockHooks(repairer, str(client.meta.endpoint_url).rstrip("/"))
    for name in OPERATIONS:
        client.meta.events.register(f"before-parameter-build.bedrock-runtime.{name}", hooks.repair)
    client.meta.events.register("after-call.bedrock-runtime.Converse", hooks.remember)
