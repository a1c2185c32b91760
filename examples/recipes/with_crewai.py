"""CrewAI: a conversation that began on Claude continues on Mistral."""

from contextlib import nullcontext

from crewai import LLM
from showing import show

import segue
from segue.testing import StandIn

CALL = {
    "id": "toolu_01A09q90qw90lq917835lq9",  # Claude's form of an id
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
}
HISTORY = [
    {"role": "user", "content": "How is the weather in Paris?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "18 C", "tool_call_id": CALL["id"]},
]


def ask(server: StandIn, repaired: bool) -> str:
    llm = LLM(
        model="mistral-large-latest",
        provider="openai",
        base_url=f"{server.url}/v1",
        api_key=server.key,
        max_retries=0,
    )
    with segue.transport.patch(provider="mistral") if repaired else nullcontext():
        return str(llm.call([*HISTORY]))


show(ask, HISTORY)
