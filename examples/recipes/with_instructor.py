"""instructor: a conversation that began on Claude continues on Mistral, with a typed answer."""

import instructor
import openai
from pydantic import BaseModel
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


class Weather(BaseModel):
    """The weather in a city."""

    celsius: int


def ask(server: StandIn, repaired: bool) -> str:
    http = segue.transport.client(provider="mistral") if repaired else None
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.key, http_client=http)
    typed = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
    answer = typed.chat.completions.create(
        model="mistral-large-latest", messages=HISTORY, response_model=Weather, max_retries=0
    )
    return repr(answer)


show(ask, HISTORY, script=[segue.testing.Reply([segue.ToolCall("", "Weather", {"celsius": 18})])])
