"""The first things that newcomers try: each as they type it, and what they get. Stand-ins replace the providers.

The code is that of a user whose keys are set: a catalog file points the providers at stand-ins on loopback. Where the
code raises, the last line of the output is that of the traceback.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from support.printed import environment

from segue.testing import Fault, Reply
from segue.types import TextContent

WEATHER = {"call": "weather", "arguments": {"city": "Paris"}}


class Try(NamedTuple):
    """What somebody types, what the providers answer, and what is printed."""

    code: str
    prints: str
    answers: dict[str, list[Any]] = {}


TRIES: dict[str, Try] = {
    "ask a model": Try(
        """
        import segue

        answer = segue.complete_sync("Hello!", "anthropic/claude-sonnet-5")
        print(answer.text)
        """,
        "Hello. How can I help?\n",
        {"anthropic": ["Hello. How can I help?"]},
    ),
    "forget the key": Try(
        """
        import os, segue

        del os.environ["OPENAI_API_KEY"]
        segue.complete_sync("Hello!", "openai/gpt-5.1")
        """,
        "segue.errors.SettingError: no key for OpenAI: set OPENAI_API_KEY; "
        "in Python, pass segue.Connection(api_key=…)\n",
    ),
    "use a wrong key": Try(
        """
        import os, segue

        os.environ["ANTHROPIC_API_KEY"] = "sk-ant-expired"
        segue.complete_sync("Hello!", "anthropic/claude-sonnet-5")
        """,
        "segue.errors.AuthenticationError: anthropic/claude-sonnet-5 (HTTP 401): "
        "authentication_error: invalid x-api-key\n",
    ),
    "misspell the provider": Try(
        """
        import segue

        segue.complete_sync("Hello!", "antropic/claude-sonnet-5")
        """,
        "segue.errors.UnknownProviderError: unknown provider 'antropic': did you mean anthropic? "
        "Add your own providers to a catalog file (docs/catalog.md)\n",
    ),
    "leave out the provider": Try(
        """
        import segue

        segue.complete_sync("Hello!", "mistral-large-latest")
        """,
        "segue.errors.ModelError: 'mistral-large-latest' does not name a provider: write "
        '"provider/model", such as "anthropic/claude-sonnet-5"; did you mean mistral/mistral-large-latest?\n',
    ),
    "pass the list that they have": Try(
        """
        import segue

        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is the capital of France?"},
        ]
        print(segue.complete_sync(messages, "google/gemini-2.5-pro").text)
        """,
        "Paris.\n",
        {"google": ["Paris."]},
    ),
    "append the answer and change the model": Try(
        """
        import segue

        messages = [{"role": "user", "content": "What is the capital of France?"}]
        for model in ("openai/gpt-5.1", "anthropic/claude-sonnet-5", "mistral/mistral-large-latest"):
            answer = segue.complete_sync(messages, model)
            print(model, "says", answer.text)
            messages += [answer, {"role": "user", "content": "Are you sure?"}]
        """,
        "openai/gpt-5.1 says Paris.\n"
        "anthropic/claude-sonnet-5 says I am.\n"
        "mistral/mistral-large-latest says Absolument.\n",
        {"openai": ["Paris."], "anthropic": ["I am."], "mistral": ["Absolument."]},
    ),
    "print the answer while it arrives": Try(
        """
        import segue

        with segue.stream_sync("Count to three.", "anthropic/claude-sonnet-5") as stream:
            for event in stream:
                if event.type == "text_delta":
                    print(event.delta, end="")
        print("\\n" + stream.message.stop_reason)
        """,
        "One, two, three.\nstop\n",
        {"anthropic": ["One, two, three."]},
    ),
    "use await": Try(
        """
        import asyncio, segue

        async def main():
            questions = ("One?", "Two?", "Three?")
            answers = await asyncio.gather(*(segue.complete(each, "openai/gpt-5.1") for each in questions))
            print(len(answers), "answers:", *sorted(answer.text for answer in answers))

        asyncio.run(main())
        """,
        "3 answers: a b c\n",
        {"openai": ["a", "b", "c"]},
    ),
    "call it in a notebook, where an event loop runs": Try(
        """
        import asyncio, segue

        async def cell():
            print(segue.complete_sync("Hello!", "anthropic/claude-sonnet-5").text)

        asyncio.run(cell())
        """,
        "Hi.\n",
        {"anthropic": ["Hi."]},
    ),
    "send a body of Anthropic to GPT": Try(
        """
        import segue

        body = {
            "model": "claude-sonnet-5",
            "max_tokens": 500,
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "Weather in Paris?"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 C"}]},
            ],
        }
        print(segue.complete_sync(body, "openai/gpt-5.1").text)
        """,
        "Mild: 18 degrees.\n",
        {"openai": ["Mild: 18 degrees."]},
    ),
    "look before they switch": Try(
        """
        import pathlib, segue

        context = segue.Context.from_json(pathlib.Path("examples/three-models.json").read_bytes())
        ahead = segue.preview(context, "deepseek/deepseek-v4-pro")
        print(ahead.fits, sorted(ahead.lost))
        """,
        "True ['failed-turn-dropped', 'image-downgraded']\n",
    ),
    "give a model a tool": Try(
        '''
        import segue

        @segue.tool
        def weather(city: str) -> str:
            """The weather in a city."""
            return f"18 degrees in {city}"

        with segue.Agent("anthropic/claude-sonnet-5", [weather]) as agent:
            print(agent.run_sync("Weather in Paris?").text)
            agent.switch("openai/gpt-5.1")
            print(agent.run_sync("And tomorrow?").text)
        print(weather("Rome"))
        ''',
        "It is mild.\nThe same.\n18 degrees in Rome\n",
        {"anthropic": [WEATHER, "It is mild."], "openai": [WEATHER, "The same."]},
    ),
    "come back the next day": Try(
        """
        import segue

        session = segue.Session.create("anthropic/claude-sonnet-5", id="monday-7f3a", title="Trip to Paris")
        session.ask_sync("My name is Ada.")

        for info in segue.sessions():
            print(info.id, "·", info.title)
        again = segue.Session.open("monday")
        again.switch("mistral/mistral-large-latest")
        print(again.ask_sync("What is my name?").text)
        """,
        "monday-7f3a · Trip to Paris\nAda.\n",
        {"anthropic": ["Hello Ada."], "mistral": ["Ada."]},
    ),
    "show a picture": Try(
        """
        import base64, pathlib, segue

        pathlib.Path("dot.gif").write_bytes(base64.b64decode("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="))
        question = segue.UserMessage([segue.TextContent("What is this?"), segue.ImageContent.from_file("dot.gif")])
        print(segue.complete_sync([question], "google/gemini-2.5-pro").text)
        """,
        "A dot.\n",
        {"google": ["A dot."]},
    ),
    "want JSON": Try(
        """
        import pydantic, segue

        class City(pydantic.BaseModel):
            name: str
            people: int

        options = segue.Options(response_format=City)
        answer = segue.complete_sync("The capital of France?", "openai/gpt-5.1", options)
        print(segue.parse(answer, City))
        """,
        "name='Paris' people=2100000\n",
        {"openai": ['{"name": "Paris", "people": 2100000}']},
    ),
    "set an option that the model does not have": Try(
        """
        import segue

        request = segue.encode("Hello!", "anthropic/claude-sonnet-5", segue.Options(temperature=0.2))
        for change in request.changes:
            print(change.code, "·", change.detail)
        """,
        "option-dropped · temperature: the newest API version does not have it\n",
    ),
    "set a field that only one provider has": Try(
        """
        import segue

        options = segue.Options(extra={"service_tier": "flex"})
        print(segue.encode("Hello!", "openai/gpt-5.1", options).body["service_tier"])
        """,
        "flex\n",
    ),
    "keep their SDK": Try(
        """
        import openai, segue

        messages = [{"role": "user", "content": "Hello!"}]
        client = openai.OpenAI()
        messages += client.responses.create(model="gpt-5.1", input=messages).output  # objects of the SDK
        messages.append({"role": "user", "content": "And you?"})
        print(segue.complete_sync(messages, "anthropic/claude-sonnet-5").text)
        """,
        "Fine, thanks.\n",
        {"openai": ["How are you?"], "anthropic": ["Fine, thanks."]},
    ),
    "take their history back": Try(
        """
        import segue

        context = segue.Context([segue.UserMessage("Hi"), segue.AssistantMessage("Hello.")], system_prompt="Be brief.")
        print(segue.export(context, "openai-completions").body["messages"])
        """,
        "[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi'}, "
        "{'role': 'assistant', 'content': 'Hello.'}]\n",
    ),
    "save a conversation and load it": Try(
        """
        import pathlib, segue

        context = segue.Context([segue.UserMessage("Hi"), segue.complete_sync("Hi", "openai/gpt-5.1")])
        pathlib.Path("talk.json").write_bytes(context.to_json())
        again = segue.Context.from_json(pathlib.Path("talk.json").read_bytes())
        print(again == context, [message.role for message in again.messages])
        """,
        "True ['user', 'assistant']\n",
    ),
    "find out why a request was refused": Try(
        """
        import segue

        body = {"model": "claude-sonnet-5", "max_tokens": 100, "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 C"}]}]}
        for finding in segue.lint(body):
            print(finding.path, "·", finding.message)
        """,
        "messages[0].content[0] · no call 'toolu_1' in the turn before\n"
        "messages[0].content[0] · a tool_result block, and no tool is defined\n",
    ),
    "put dicts into a Context": Try(
        """
        import segue

        segue.Context([{"role": "user", "content": "Hi"}])
        """,
        "TypeError: messages[0] of a Context must be AssistantMessage, ToolResultMessage, UserMessage, not dict; "
        "segue.ingest reads messages that are dicts\n",
    ),
    "pass options as a dict": Try(
        """
        import segue

        segue.complete_sync("Hi", "openai/gpt-5.1", {"temperature": 0.2})
        """,
        "TypeError: options are segue.Options(…), not a dict\n",
    ),
    "see what a failed answer had": Try(
        """
        import segue

        try:
            segue.complete_sync("Tell me a story.", "anthropic/claude-sonnet-5", segue.Options(stream=True))
        except segue.NetworkError as error:
            print(error.message.text.strip(), "…", error.message.stop_reason)
        """,
        "Once upon a … error\n",
        {"anthropic": [Fault("cut", Reply([TextContent("Once upon a time there was a model.")]))]},
    ),
}


@pytest.fixture
def user(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, and the environment of a user whose keys are set."""
    with environment(tmp_path, TRIES[request.getfixturevalue("name")].answers) as variables:
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "SEGUE_SESSIONS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield


def typed(code: str) -> str:
    """What the code prints, with the last line of a traceback if it raises."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(dedent(code), "<typed>", "exec"), {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001, whatever the user would see
            kind = type(error)
            module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
            print(f"{module}{kind.__qualname__}: {error}")
    return printed.getvalue()


@pytest.mark.usefixtures("user")
@pytest.mark.parametrize("name", TRIES)
def test_what_newcomers_try(name: str) -> None:
    assert typed(TRIES[name].code) == TRIES[name].prints


def test_there_are_at_least_twenty() -> None:
    assert len(TRIES) >= 20
