"""LangChain: an agent that began on Gemini continues on Claude."""

from copy import deepcopy

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from showing import show

import segue
from segue.testing import StandIn

GEMINI = {"model_provider": "google_genai", "model_name": "gemini-2.5-pro"}
CALL = {"name": "weather", "args": {"city": "Paris"}, "id": "weather:1|x"}
HISTORY = [
    HumanMessage("How is the weather in Paris?"),
    AIMessage("Let me look.", tool_calls=[CALL], response_metadata=GEMINI),
    ToolMessage("18 C", tool_call_id=CALL["id"]),
    AIMessage("It is 18 degrees.", response_metadata=GEMINI),
    HumanMessage("Are you sure?"),
]


def ask(server: StandIn, repaired: bool) -> str:
    model = ChatAnthropic(model="claude-sonnet-5", api_key=server.key, base_url=server.url, max_retries=0)
    agent = create_agent(model, [], middleware=[segue.adapters.langchain.Repair()] if repaired else [])
    kept = agent.invoke({"messages": deepcopy(HISTORY)})["messages"]  # LangChain gives ids to messages without one
    assert [(each.type, each.content) for each in kept[:5]] == [(each.type, each.content) for each in HISTORY]
    assert kept[1].tool_calls == HISTORY[1].tool_calls
    return str(kept[-1].text)


show(ask, HISTORY, "anthropic")
