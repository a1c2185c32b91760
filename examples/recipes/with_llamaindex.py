"""LlamaIndex: a conversation that began on Claude continues on Mistral."""

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock
from llama_index.llms.openai_like import OpenAILike
from showing import show

import segue
from segue.testing import StandIn

ID = "toolu_01A09q90qw90lq917835lq9"  # Claude's form of an id
HISTORY = [
    ChatMessage("How is the weather in Paris?"),
    ChatMessage(
        role=MessageRole.ASSISTANT,
        blocks=[ToolCallBlock(tool_call_id=ID, tool_name="weather", tool_kwargs={"city": "Paris"})],
    ),
    ChatMessage(
        role=MessageRole.TOOL,
        blocks=[TextBlock(text="18 C")],
        additional_kwargs={"name": "weather", "tool_call_id": ID},
    ),
]


def ask(server: StandIn, repaired: bool) -> str:
    llm = OpenAILike(
        model="mistral-large-latest",
        api_base=f"{server.url}/v1",
        api_key=server.key,
        is_chat_model=True,
        is_function_calling_model=True,
        http_client=segue.transport.client(provider="mistral") if repaired else None,
        max_retries=0,
    )
    return str(llm.chat(HISTORY).message.content)


show(ask, HISTORY)
