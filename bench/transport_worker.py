"""Calls of SDKs with and without the transport, in the environment that has their current versions: prints the seconds
of each round as JSON, by SDK and kind of call. ``python -m bench.transport_worker``"""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import anthropic
import httpx2
import openai

import segue
from segue.transport.http import transports
from segue.types import Context, Options
from segue.wire import protocol_of

from .conversations import tool_history
from .measure import Effort, measured
from .own_history import own_history
from .transporting import COUNT, STEP

EFFORT = Effort(25, 20)
CALLS = 2 * EFFORT.most + 1
"""Calls of each candidate: fast ones are made twice in each round, and one does not count."""
OPENING = "Conversation {:04}."


class Sdk(NamedTuple):
    """An SDK: its protocol, the model, how it is called, and a whole answer."""

    name: str
    ref: str
    protocol: str
    call: Callable[[Any, dict[str, Any]], object]
    answer: dict[str, Any]


def _anthropic(http: Any, kwargs: dict[str, Any]) -> object:
    client = _clients.setdefault(http, anthropic.Anthropic(api_key="k", http_client=http, max_retries=0))
    return client.messages.create(max_tokens=100, **kwargs)


def _chat(http: Any, kwargs: dict[str, Any]) -> object:
    client = _clients.setdefault(http, openai.OpenAI(api_key="k", http_client=http, max_retries=0))
    return client.chat.completions.create(**kwargs)


def _responses(http: Any, kwargs: dict[str, Any]) -> object:
    client = _clients.setdefault(http, openai.OpenAI(api_key="k", http_client=http, max_retries=0))
    return client.responses.create(**kwargs)


_clients: dict[Any, Any] = {}
_CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Fine."}}
_PART = {"type": "output_text", "text": "Fine.", "annotations": []}
SDKS = (
    Sdk(
        "anthropic",
        "anthropic/claude-opus-4-7",
        "anthropic-messages",
        _anthropic,
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-7",
            "content": [{"type": "text", "text": "Fine."}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    ),
    Sdk(
        "openai, chat completions",
        "openai/gpt-4.1",
        "openai-completions",
        _chat,
        {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices": [_CHOICE]},
    ),
    Sdk(
        "openai, responses",
        "openai/gpt-5.1",
        "openai-responses",
        _responses,
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "gpt-5.1",
            "output": [
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [_PART]}
            ],
        },
    ),
)


def _candidates(sdk: Sdk) -> dict[str, Callable[[], object]]:
    answer, headers = json.dumps(sdk.answer).encode(), {"content-type": "application/json"}
    last: list[httpx2.Request] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        last[:] = [request]
        return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(answer))

    below = httpx2.MockTransport(respond)
    plain = httpx2.Client(transport=below)
    model = segue.get_model(sdk.ref, protocol=sdk.protocol)
    history = own_history(tool_history(COUNT + STEP), model)

    def requests(context: Context, length: int) -> Iterator[httpx2.Request]:
        """The HTTP request that the SDK makes, as the first one of many conversations."""
        sdk.call(plain, _begun(_kwargs(context, sdk, length), protocol_of(sdk.protocol).history))
        return map(partial(_numbered, last[0]), range(CALLS))

    def sender(made: Iterator[httpx2.Request], through: httpx2.BaseTransport) -> Callable[[], object]:
        made = iter(list(made))
        return lambda: through.handle_request(next(made)).read()

    def transport(**settings: Any) -> Any:
        return transports(httpx2)[0](segue.transport.Repairer(facts=segue.Facts(), **settings), below)

    growing = transport()
    for request in requests(history, COUNT + 1 - STEP):
        growing.handle_request(request).read()
    whole = _kwargs(history, sdk, COUNT + 1)
    return {
        "sdk": lambda: sdk.call(plain, whole),
        "below": sender(requests(history, COUNT + 1), below),
        "first": sender(requests(history, COUNT + 1), transport()),
        "extends": sender(requests(history, COUNT + 1), growing),
        "torn": sender(requests(_torn(history), COUNT), transport()),
        "reported": sender(requests(_torn(history), COUNT), transport(on_changes=lambda repaired: None)),
    }


def _begun(kwargs: dict[str, Any], history: str) -> dict[str, Any]:
    """The same conversation with another first message."""
    return {**kwargs, history: [{"role": "user", "content": OPENING.format(0)}, *kwargs[history][1:]]}


def _numbered(request: httpx2.Request, number: int) -> httpx2.Request:
    """The same request in another conversation: its first message differs."""
    body = request.content.replace(OPENING.format(0).encode(), OPENING.format(number).encode())
    return httpx2.Request(request.method, request.url, headers=request.headers, content=body)


def _kwargs(context: Context, sdk: Sdk, length: int) -> dict[str, Any]:
    """The first ``length`` messages as arguments of the SDK."""
    part = Context(system_prompt=context.system_prompt, messages=context.messages[:length], tools=context.tools)
    model = segue.get_model(sdk.ref, protocol=sdk.protocol)
    body = segue.export(part, sdk.protocol).body
    return {"model": model.id} | protocol_of(sdk.protocol).sdk_kwargs(body, model, Options())


def _torn(context: Context) -> Context:
    """The same history without one result."""
    at = next(at for at, message in enumerate(context.messages) if isinstance(message, segue.ToolResultMessage))
    messages = [*context.messages[:at], *context.messages[at + 1 :]]
    return Context(system_prompt=context.system_prompt, messages=messages, tools=context.tools)


def main() -> None:
    rounds = {}
    for sdk in SDKS:
        figures = measured(_candidates(sdk), EFFORT, time.thread_time)
        rounds[sdk.name] = {name: list(figure.rounds) for name, figure in figures.items()}
    print(json.dumps(rounds))


if __name__ == "__main__":
    main()
