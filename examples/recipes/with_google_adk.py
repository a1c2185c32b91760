"""Google ADK: a session that began on Gemini continues on Mistral."""

import asyncio

import litellm
from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from showing import show

import segue
from segue.testing import StandIn

CALL = FunctionCall(id="adk-8f14e45f-ceea-467f-a5c1", name="weather", args={"city": "Paris"})
RESULT = FunctionResponse(id=CALL.id, name="weather", response={"result": "18 C"})
HISTORY = [
    Event(author="user", content=Content(role="user", parts=[Part(text="How is the weather in Paris?")])),
    Event(author="helper", content=Content(role="model", parts=[Part(function_call=CALL)])),
    Event(author="helper", content=Content(role="user", parts=[Part(function_response=RESULT)])),
    Event(author="helper", content=Content(role="model", parts=[Part(text="18 degrees.")])),
]


def weather(city: str) -> str:
    """The weather in a city."""
    return "18 C"


async def answer(server: StandIn) -> str:
    model = LiteLlm("mistral/mistral-large-latest", api_base=f"{server.url}/v1", api_key=server.key)
    runner = InMemoryRunner(LlmAgent(name="helper", model=model, tools=[weather]), app_name="recipe")
    session = await runner.session_service.create_session(app_name="recipe", user_id="me")
    for event in HISTORY:
        await runner.session_service.append_event(session, event)
    question = Content(role="user", parts=[Part(text="And now?")])
    events = [event async for event in runner.run_async(user_id="me", session_id=session.id, new_message=question)]
    if events[-1].error_message:
        raise RuntimeError(events[-1].error_message)
    return str(events[-1].content.parts[0].text)


def ask(server: StandIn, repaired: bool) -> str:
    litellm.callbacks = [segue.adapters.litellm.Repair()] if repaired else []
    return asyncio.run(answer(server))


show(ask, HISTORY)
