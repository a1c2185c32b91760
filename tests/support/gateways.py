"""A gateway on loopback with a stand-in behind each protocol, and the official SDKs as its clients."""

import json
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anthropic
import httpx2
import openai
from google import genai
from google.genai import types as gemini
from msgspec.structs import replace

from segue.gateway.config import Config, GatewaySetting, Member, ProviderSetting, RouteSetting
from segue.gateway.gateway import Gateway
from segue.gateway.server import make_server
from segue.testing import Reply, StandIn
from segue.types import AssistantContent, Model, TextContent, ThinkingContent, ToolCall
from segue.wire import signature_of
from support.providers import MODELS
from support.waiting import HANGS, until

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = Reply([ThinkingContent("Where?"), TextContent("Let me look."), ToolCall("", "weather", {"city": "Paris"})])
RESULT = "22 degrees"
DATA = ("encrypted_content", "signature", "data")
"""Fields with what a provider must get back unchanged."""


class Provider(StandIn):
    """A stand-in that notes the signatures that it has issued."""

    def complete(self, *arguments: Any, **named: Any) -> Any:
        answer = super().complete(*arguments, **named)
        self.__dict__.setdefault("issued", []).extend(filter(None, map(signature_of, answer.content)))
        return answer

    @property
    def signatures(self) -> list[str]:
        return self.__dict__.setdefault("issued", [])


class Served:
    """A gateway in a thread. Each of ``models`` has a stand-in, and a route with its name leads to it."""

    def __init__(
        self,
        folder: Path,
        names: Iterable[str] = (),
        models: Mapping[str, Model] = MODELS,
        quirks: Mapping[str, Any] = MappingProxyType({}),  # more settings of each stand-in
        **settings: Any,
    ):
        self.models = {name: models[name] for name in names or models}
        self.standins = {
            name: Provider(model.provider, protocol=model.protocol, account=name, **quirks)
            for name, model in self.models.items()
        }
        self._stack = ExitStack()
        self.folder, self._settings = folder, settings
        self.config = Config()

    def __enter__(self) -> "Served":
        for standin in self.standins.values():
            self._stack.enter_context(standin)
        self.start()
        return self

    def start(self) -> None:
        """Start a gateway, with the store of the one before."""
        routes = self._settings.get("routes") or tuple(
            RouteSetting(name=name, models=(Member(model=model.ref, base_url=self.standins[name].url),))
            for name, model in self.models.items()
        )
        gateway = GatewaySetting(
            **{"listen": "127.0.0.1:0", "store": str(self.folder / "gateway.db")} | self._settings.get("gateway", {})
        )
        self.config = Config(
            gateway=gateway, routes=routes, providers=self.providers(), keys=self._settings.get("keys", ())
        )
        self.gateway = Gateway(self.config)
        self.gateway.routes.targets = self._targets  # type: ignore[method-assign]
        self.server = make_server(self.gateway, host="127.0.0.1", port=0)
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()
        deadline = threading.Event()
        while not self.server.started:
            assert self._thread.is_alive(), "the gateway did not start"
            deadline.wait(0.01)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"

    def providers(self) -> dict[str, ProviderSetting]:
        return {}

    def _targets(self, member: Member, protocol: str) -> Any:
        """Members by their address, or their model: some belong to the same provider."""
        name = next(
            name for name, model in self.models.items()
            if member.base_url == self.standins[name].url or (member.base_url is None and model.ref == member.model)
        )  # fmt: skip
        standin, model = self.standins[name], self.models[name]
        setting = ProviderSetting(base_url=standin.url, api_key=standin.key, protocol=model.protocol)
        return [self.gateway.routes._target(model, setting, member.account or standin.key, member.weight)]

    def stop(self) -> None:
        """Stop the gateway, not the stand-ins."""
        self.server.should_exit = True
        self._thread.join(HANGS)

    def __exit__(self, *error: Any) -> None:
        self.stop()
        self._stack.close()

    def __getitem__(self, protocol: str) -> Provider:
        return self.standins[protocol]

    def report(self, answer: httpx2.Response) -> dict[str, Any]:
        """The gateway's report of the request with this answer, which is written after it."""
        address = f"{self.url}/segue/requests/{answer.headers['x-segue-request']}"
        until(lambda: httpx2.get(address).status_code == 200)
        found: dict[str, Any] = httpx2.get(address).json()
        return found

    def refusals(self) -> list[str]:
        """What the stand-ins refused, because it broke a rule."""
        return [str(refusal) for standin in self.standins.values() for refusal in standin.refused]


class Talk:
    """A conversation through an SDK. ``say`` sends a text and runs the tool until there is a final text."""

    protocol = ""
    sdk: Any

    def __init__(self, url: str, key: str = "client-key", *, drops: bool = False) -> None:
        self.history: list[Any] = []
        self.drops = drops
        self.headers: Mapping[str, str] = {}
        self.connect(url, key)
        weakref.finalize(self, self.sdk.close)  # otherwise the collector finds open connections, in any later test

    def connect(self, url: str, key: str) -> None:
        raise NotImplementedError

    def say(self, model: str, text: str, stream: bool = False) -> str:
        self.user(text)
        while True:
            found = self.ask(model, stream)
            if found is not None:
                return found

    def user(self, text: str) -> None:
        raise NotImplementedError

    def ask(self, model: str, stream: bool) -> str | None:
        """Send the history, and add the answer; run its calls, or return its text."""
        raise NotImplementedError


class AnthropicTalk(Talk):
    protocol = "anthropic-messages"
    tools = [{"name": "weather", "description": "Weather", "input_schema": SCHEMA}]

    def connect(self, url: str, key: str) -> None:
        self.sdk = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def ask(self, model: str, stream: bool) -> str | None:
        asked: dict[str, Any] = {"model": model, "max_tokens": 4000, "messages": self.history, "tools": self.tools}
        asked["thinking"] = {"type": "enabled", "budget_tokens": 1024}
        if stream:
            with self.sdk.messages.stream(**asked) as events:
                message = events.get_final_message()
                self.headers = events.response.headers
        else:
            raw = self.sdk.messages.with_raw_response.create(**asked)
            message, self.headers = raw.parse(), raw.headers
        blocks = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in message.content]
        if self.drops:
            blocks = [block for block in blocks if "thinking" not in block["type"]]
        self.history.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not calls:
            return "".join(block["text"] for block in blocks if block["type"] == "text")
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": RESULT} for call in calls]
        self.history.append({"role": "user", "content": results})
        return None


class ChatTalk(Talk):
    protocol = "openai-completions"
    tools = [{"type": "function", "function": {"name": "weather", "description": "Weather", "parameters": SCHEMA}}]

    def connect(self, url: str, key: str) -> None:
        self.sdk = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)

    def user(self, text: str) -> None:
        self.history.append({"role": "user", "content": text})

    def ask(self, model: str, stream: bool) -> str | None:
        asked: dict[str, Any] = {"model": model, "messages": self.history, "tools": self.tools}
        if stream:
            with self.sdk.chat.completions.stream(**asked) as events:
                message = events.get_final_completion().choices[0].message
        else:
            raw = self.sdk.chat.completions.with_raw_response.create(**asked)
            message, self.headers = raw.parse().choices[0].message, raw.headers
        calls = [
            call.model_dump(include={"id": True, "type": True, "function": {"name", "arguments"}})
            for call in message.tool_calls or []
        ]
        answer = {"role": "assistant", "content": message.content}
        self.history.append(answer | ({"tool_calls": calls} if calls else {}))
        if not calls:
            return message.content or ""
        self.history += [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]
        return None


class ResponsesTalk(Talk):
    protocol = "openai-responses"
    tools = [{"type": "function", "name": "weather", "description": "Weather", "parameters": SCHEMA, "strict": False}]

    def connect(self, url: str, key: str) -> None:
        self.sdk = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)

    def user(self, text: str) -> None:
        self.history.append({"type": "message", "role": "user", "content": text})

    def ask(self, model: str, stream: bool) -> str | None:
        asked: dict[str, Any] = {
            "model": model, "input": self.history, "tools": self.tools, "store": False,
            "include": ["reasoning.encrypted_content"],
        }  # fmt: skip
        if stream:
            with self.sdk.responses.stream(**asked) as events:
                response = events.get_final_response()
        else:
            raw = self.sdk.responses.with_raw_response.create(**asked)
            response, self.headers = raw.parse(), raw.headers
        items = [item.model_dump(exclude_none=True) for item in response.output]
        for item in items:
            item.pop("parsed_arguments", None)
            for part in item.get("content") or []:
                part.pop("parsed", None)
        if self.drops:
            items = [item for item in items if item["type"] != "reasoning"]
        self.history += items
        calls = [item for item in items if item["type"] == "function_call"]
        if not calls:
            return response.output_text
        self.history += [
            {"type": "function_call_output", "call_id": call["call_id"], "output": RESULT} for call in calls
        ]
        return None


class GeminiTalk(Talk):
    protocol = "google-generative-ai"

    def connect(self, url: str, key: str) -> None:
        self.sdk = genai.Client(api_key=key, http_options=gemini.HttpOptions(base_url=url))

    def user(self, text: str) -> None:
        self.history.append(gemini.Content(role="user", parts=[gemini.Part(text=text)]))

    def ask(self, model: str, stream: bool) -> str | None:
        declared = gemini.FunctionDeclaration(name="weather", description="Weather", parameters_json_schema=SCHEMA)
        config = gemini.GenerateContentConfig(
            tools=[gemini.Tool(function_declarations=[declared])],
            automatic_function_calling=gemini.AutomaticFunctionCallingConfig(disable=True),
            thinking_config=gemini.ThinkingConfig(include_thoughts=True),
        )
        parts: list[gemini.Part] = []
        if stream:
            for chunk in self.sdk.models.generate_content_stream(model=model, contents=self.history, config=config):
                parts += (chunk.candidates[0].content.parts or []) if chunk.candidates else []
        else:
            answer = self.sdk.models.generate_content(model=model, contents=self.history, config=config)
            parts = answer.candidates[0].content.parts
        if self.drops:  # as the Gemini CLI does: thoughts are dropped, and ids by others
            parts = [part for part in parts if not part.thought]
            for part in parts:
                if part.function_call is not None:
                    part.function_call.id = None
        self.history.append(gemini.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call is not None]
        if not calls:
            return "".join(part.text or "" for part in parts if not part.thought)
        results = [
            gemini.Part(
                function_response=gemini.FunctionResponse(id=call.id, name=call.name, response={"output": RESULT})
            )
            for call in calls
        ]
        self.history.append(gemini.Content(role="user", parts=results))
        return None


TALKS: dict[str, type[Talk]] = {talk.protocol: talk for talk in (AnthropicTalk, ChatTalk, ResponsesTalk, GeminiTalk)}


def written(body: Any) -> str:
    """A body as text, for searching."""
    return json.dumps(body, ensure_ascii=False)


def parts_of(signature: str) -> list[str]:
    """What of a stored signature is in a body: for Responses it is an item, and the data in it counts. In Chat
    Completions it may be the name of the field that has the thinking."""
    if re.fullmatch("reasoning[a-z_]*", signature):
        return []
    try:
        item = json.loads(signature)
    except ValueError:
        return [signature]
    items = item if isinstance(item, list) else [item]
    return [each[name] for each in items if isinstance(each, dict) for name in DATA if each.get(name)]


def signed(content: list[AssistantContent]) -> list[str]:
    return [found for found in map(signature_of, content) if found is not None]


Change = Callable[[Config], Config]


def with_gateway(config: Config, **changes: Any) -> Config:
    return replace(config, gateway=replace(config.gateway, **changes))
