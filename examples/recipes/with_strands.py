"""Strands: a conversation that began on Claude continues on Mistral."""

from copy import deepcopy

import openai
from showing import show
from strands import Agent
from strands.models.openai import OpenAIModel

import segue
from segue.testing import StandIn

ID = "toolu_01A09q90qw90lq917835lq9"  # Claude's form of an id
CALL = {"toolUseId": ID, "name": "weather", "input": {"city": "Paris"}}
RESULT = {"toolUseId": ID, "status": "success", "content": [{"text": "18 C"}]}
HISTORY = [
    {"role": "user", "content": [{"text": "How is the weather in Paris?"}]},
    {"role": "assistant", "content": [{"toolUse": CALL}]},
    {"role": "user", "content": [{"toolResult": RESULT}]},
    {"role": "assistant", "content": [{"text": "It is 18 degrees in Paris."}]},
]


def ask(server: StandIn, repaired: bool) -> str:
    http = segue.transport.async_client(provider="mistral") if repaired else None
    client = openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key, http_client=http, max_retries=0)
    agent = Agent(
        OpenAIModel(client, model_id="mistral-large-latest"), messages=deepcopy(HISTORY), callback_handler=None
    )
    agent("And now?")
    answer = agent("And tomorrow?")
    assert [each["content"] for each in agent.messages[:4]] == [each["content"] for each in HISTORY]
    return str(answer).strip()


show(ask, HISTORY, script=["Still 18.", "Rain."])
