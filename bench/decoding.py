"""The cost of reading a streamed answer, per event, compared with the official SDK of each protocol on the same bytes.

The SDKs get the bytes from a transport without I/O, in pieces of the same size, and return raw events: unlike segue,
they do not build a message.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from typing import Any

import segue
from segue import Context, Model, Options, UserMessage

from .measure import Effort, measured
from .peers.encoders import KEY, REGION
from .report import Part, Section, Table, cell, ratio
from .streams import STREAMS, arguments, texts

PIECE = 4096
EFFORT = Effort(9, 6)
MODELS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "openai/gpt-5.1",
    "openai-responses": "openai/gpt-5.1",
    "google-generative-ai": "google/gemini-2.5-pro",
    "bedrock-converse": "amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/mistral-large-latest",
}
ASKED: list[Any] = [{"role": "user", "content": "Hi"}]


def pieces_of(data: bytes) -> list[bytes]:
    return [data[at : at + PIECE] for at in range(0, len(data), PIECE)]


def own(request: segue.Request, pieces: list[bytes]) -> int:
    decoder = segue.Decoder(request)
    count = 0
    for piece in pieces:
        count += len(decoder.feed(piece))
    count += len(decoder.close())
    assert decoder.message is not None and decoder.message.stop_reason in ("stop", "toolUse"), decoder.message
    return count


def exhaust(stream: Any) -> int:
    return sum(1 for _ in stream)


def _http(module: Any, data: bytes) -> Any:
    """A client of httpx or httpx2 that gets ``data`` as every answer."""

    class Pieces(module.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            return iter(pieces_of(data))

    def answer(request: Any) -> Any:
        return module.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces())

    return module.Client(transport=module.MockTransport(answer))


def anthropic_sdk(model: Model, data: bytes) -> Callable[[], int]:
    import anthropic
    import httpx

    client = anthropic.Anthropic(api_key=KEY, http_client=_http(httpx, data))
    ask = partial(client.messages.create, model=model.id, max_tokens=1000, messages=ASKED, stream=True)
    return lambda: exhaust(ask())


def chat_sdk(model: Model, data: bytes) -> Callable[[], int]:
    import httpx2
    import openai

    client = openai.OpenAI(api_key=KEY, http_client=_http(httpx2, data))
    return lambda: exhaust(client.chat.completions.create(model=model.id, messages=ASKED, stream=True))


def responses_sdk(model: Model, data: bytes) -> Callable[[], int]:
    import httpx2
    import openai

    client = openai.OpenAI(api_key=KEY, http_client=_http(httpx2, data))
    return lambda: exhaust(client.responses.create(model=model.id, input="Hi", stream=True))


def gemini_sdk(model: Model, data: bytes) -> Callable[[], int]:
    import httpx
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(httpx_client=_http(httpx, data)))
    return lambda: exhaust(client.models.generate_content_stream(model=model.id, contents="Hi"))


def mistral_sdk(model: Model, data: bytes) -> Callable[[], int]:
    import httpx2
    from mistralai.client import Mistral

    client = Mistral(api_key=KEY, client=_http(httpx2, data))
    return lambda: exhaust(client.chat.stream(model=model.id, messages=ASKED))


def bedrock_sdk(model: Model, data: bytes) -> Callable[[], int]:
    """The object that boto3 returns as the stream of an answer."""
    import boto3
    from botocore.eventstream import EventStream
    from botocore.parsers import EventStreamJSONParser

    class Raw:
        def stream(self) -> Iterator[bytes]:
            return iter(pieces_of(data))

        def close(self) -> None: ...

    client = boto3.client("bedrock-runtime", region_name=REGION, aws_access_key_id=KEY, aws_secret_access_key=KEY)
    shape = client.meta.service_model.operation_model("ConverseStream").output_shape.members["stream"]
    return lambda: exhaust(EventStream(Raw(), shape, EventStreamJSONParser(), "ConverseStream"))


SDKS: dict[str, tuple[str, Callable[[Model, bytes], Callable[[], int]], str]] = {
    "anthropic-messages": ("anthropic", anthropic_sdk, "messages.create"),
    "openai-completions": ("openai", chat_sdk, "chat.completions.create"),
    "openai-responses": ("openai", responses_sdk, "responses.create"),
    "google-generative-ai": ("google-genai", gemini_sdk, "generate_content_stream"),
    "bedrock-converse": ("boto3", bedrock_sdk, "EventStream"),
    "mistral-chat": ("mistralai", mistral_sdk, "chat.stream"),
}


def run() -> Iterator[Part]:
    for kind, call, short, long in (("text", False, 1_000, 10_000), ("argument", True, 200, 2_000)):
        yield Table(
            f"A streamed answer of {long:,} {kind} deltas, µs per event",
            ("protocol", "segue", f"segue, {short:,} deltas", "SDK", "ratio", "called"),
            [row(protocol, make, call, short, long) for protocol, make in STREAMS.items()],
            ("The SDKs yield raw events; segue also builds the message.",),
        )


def row(protocol: str, make: Callable[[list[str], bool], bytes], call: bool, short: int, long: int) -> tuple[str, ...]:
    split = arguments if call else texts
    model = segue.get_model(MODELS[protocol], protocol=protocol)
    request = segue.encode(Context(messages=[UserMessage("Hi")]), model, Options(stream=True))
    few, many = make(split(short), call), make(split(long), call)
    package, load, called = SDKS[protocol]
    theirs = load(model, many)
    assert theirs() >= long
    times = measured(
        {
            "few": partial(own, request, pieces_of(few)),
            "segue": partial(own, request, pieces_of(many)),
            "sdk": theirs,
        },
        EFFORT,
    )
    return (
        protocol,
        cell(times["segue"].times(1e6 / long), "µs"),
        cell(times["few"].times(1e6 / short), "µs"),
        cell(times["sdk"].times(1e6 / long), "µs"),
        ratio(times["sdk"], times["segue"], "segue"),
        f"Decoder.feed; {called} of {package} {version(package)}",
    )


SECTION = Section("streams", "Streamed answers", run)
