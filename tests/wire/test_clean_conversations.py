"""Law 7 on the wire: what a model made goes back to it as it came, tools of its provider and citations included."""

import json

from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support.clean import CITED, clean_contexts
from support.targets import distinct

import segue
from segue.types import AssistantMessage, Context, ProviderContent, TextContent, UserMessage

TARGETS = distinct()


@settings(max_examples=1000 if SOAK else 300)
@given(st.data(), st.sampled_from(sorted(TARGETS)))
def test_a_model_gets_its_own_blocks_back_as_they_came(data: st.DataObject, name: str) -> None:
    model = TARGETS[name]
    clean = data.draw(clean_contexts(model))
    context = Context([*clean.messages, UserMessage("And now?")], system_prompt=clean.system_prompt, tools=clean.tools)
    request = segue.encode(context, model)
    assert segue.lint(request.body, model.protocol, model) == []
    codes = {change.code for change in request.changes}
    assert not codes & {"provider-content-dropped", "provider-content-as-text", "citations-dropped", "tool-adapted"}
    body = request.json()
    for message in context.messages:
        for block in message.content if isinstance(message, AssistantMessage) else ():
            if isinstance(block, ProviderContent):
                assert bytes(block.raw) in body, block.kind
            elif isinstance(block, TextContent) and model.protocol in CITED:
                for citation in block.citations:
                    if model.protocol == "anthropic-messages":
                        citation.pop("file_id", None)  # only answers have it
                    assert json.dumps(citation, separators=(",", ":")).encode() in body
