"""OpenAI Agents SDK: a conversation that began on Claude continues on Mistral."""

import openai
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, set_tracing_disabled
from showing import show

import segue
from segue.testing import StandIn

ID = "toolu_01A09q90qw90lq917835lq9"  # Claude's form of an id
HISTORY = [
    {"role": "user", "content": "How is the weather in Paris?"},
    {"type": "function_call", "call_id": ID, "name": "weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call_output", "call_id": ID, "output": "18 C"},
]


def ask(server: StandIn, repaired: bool) -> str:
    if repaired:
        connection = segue.Connection(base_url=server.url, api_key=server.key)
        agent = Agent(name="helper", model="mistral/mistral-large-latest")
        config = RunConfig(model_provider=segue.adapters.openai_agents.Provider(connection=connection))
    else:
        client = openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.key)
        agent = Agent(name="helper", model=OpenAIChatCompletionsModel("mistral-large-latest", client))
        config = RunConfig()
    return str(Runner.run_sync(agent, HISTORY, run_config=config).final_output)


set_tracing_disabled(True)
show(ask, HISTORY)
