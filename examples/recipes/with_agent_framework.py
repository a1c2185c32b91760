"""agent-framework: a conversation that began on Claude continues on Mistral."""

import asyncio

import openai
from agent_framework import Agent, Content, Message
from agent_framework.openai import OpenAIChatCompletionClient
from showing import show

import segue
from segue.testing import StandIn

ID = "toolu_01A09q90qw90lq917835lq9"  # Claude's form of an id
HISTORY = [
    Message("user", ["How is the weather in Paris?"]),
    Message("assistant", [Content.from_function_call(ID, "weather", arguments='{"city": "Paris"}')]),
    Message("tool", [Content.from_function_result(ID, result="18 C")]),
]


def ask(server: StandIn, repaired: bool) -> str:
    async def answer() -> str:
        http = segue.transport.async_client(provider="mistral") if repaired else None
        client = openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key, http_client=http)
        agent = Agent(OpenAIChatCompletionClient("mistral-large-latest", async_client=client))
        async with client:
            return str((await agent.run(HISTORY)).text)

    return asyncio.run(answer())


show(ask, HISTORY)
