"""litellm: a conversation that began on Claude continues on Mistral."""

import asyncio

import litellm
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
    litellm.callbacks = [segue.adapters.litellm.Repair()] if repaired else []
    answer = litellm.acompletion(
        model="mistral/mistral-large-latest", messages=HISTORY, api_base=f"{server.url}/v1", api_key=server.key
    )
    return str(asyncio.run(answer).choices[0].message.content)


show(ask, HISTORY)
