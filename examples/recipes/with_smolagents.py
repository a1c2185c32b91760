"""smolagents: an agent that looked at a picture continues on a model without eyes."""

from showing import show
from smolagents import ChatMessage, MessageRole, OpenAIModel

import segue
from segue.testing import StandIn

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
HISTORY = [
    ChatMessage(MessageRole.USER, [{"type": "text", "text": "What is on the screen?"}]),
    ChatMessage(MessageRole.TOOL_CALL, [{"type": "text", "text": "Calling tools: screenshot()"}]),
    ChatMessage(
        MessageRole.TOOL_RESPONSE,
        [
            {"type": "text", "text": "Observation: the screen"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        ],
    ),
]


def ask(server: StandIn, repaired: bool) -> str:
    client = {"http_client": segue.transport.client(provider="deepseek")} if repaired else {}
    model = OpenAIModel("deepseek-chat", api_base=server.url, api_key=server.key, client_kwargs=client)
    return str(model.generate(HISTORY).content)


show(ask, HISTORY, "deepseek", script=["I would need a description of it."])
