"""Answers as the providers' official SDKs read them from a server on loopback, streamed and whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import anthropic
import openai
from google import genai
from google.genai import errors, types
from msgspec import Struct
from openai.lib.streaming.chat import ChatCompletionStreamState
from pydantic_core import from_json

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
JSON, SSE = "application/json", "text/event-stream"
FAILURES = (anthropic.APIError, openai.APIError, errors.APIError)
"""The errors of the SDKs for an answer that failed."""


class Read(Struct):
    """What an SDK found in an answer."""

    id: str | None = None
    model: str | None = None
    text: str = ""
    thinking: str = ""
    # Ids, names and arguments.
    calls: list[tuple[str | None, str, Any]] = []
    signatures: list[str] = []
    stop: str | None = None
    refusal: str = ""
    # Types of content that only its provider can read back.
    others: list[str] = []
    # Of the prompt without cached tokens, of the answer, read from the cache, written to it, in total.
    usage: dict[str, int] | None = None


def so_far(arguments: str) -> Any:
    """The arguments, or what can be read of them; ``None`` if they are not JSON."""
    try:
        return from_json(arguments, allow_partial="trailing-strings")
    except ValueError:
        return None


def _call(call: Any) -> tuple[str | None, str, Any]:
    if call.type == "custom":
        custom = (
            call.custom if isinstance(call.custom, dict) else call.custom.to_dict()
        )  # the SDK streams functions only
        return call.id, custom["name"], {"input": custom["input"]}
    return call.id, call.function.name, so_far(call.function.arguments)


def error_text(error: Exception) -> str:
    """The provider's text in an error of an SDK."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return str(inner["message"] if isinstance(inner, dict) else getattr(error, "message", ""))


class Server:
    """A server on loopback that answers every request with the same bytes, until others are set."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status, self.content_type, self.body = 200, JSON, b"{}"


@contextmanager
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(serving.status)
            self.send_header("content-type", serving.content_type)
            self.send_header("content-length", str(len(serving.body)))
            self.end_headers()
            self.wfile.write(serving.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the name in the base class
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    serving = Server(f"http://127.0.0.1:{listening.server_address[1]}")
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield serving
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


class Sdks:
    """The clients of the four protocols, all at one server."""

    def __init__(self, serving: Server) -> None:
        self.serving = serving
        self.anthropic = anthropic.Anthropic(api_key="none", base_url=serving.url, max_retries=0)
        self.openai = openai.OpenAI(api_key="none", base_url=serving.url, max_retries=0)
        options = types.HttpOptions(base_url=serving.url, retry_options=types.HttpRetryOptions(attempts=1))
        self.google = genai.Client(api_key="none", vertexai=False, http_options=options)
        self._read: dict[str, Callable[[bool], Read]] = {
            "anthropic-messages": self._messages,
            "openai-completions": self._completions,
            "openai-responses": self._responses,
            "google-generative-ai": self._gemini,
        }

    def close(self) -> None:
        self.anthropic.close()
        self.openai.close()
        self.google.close()

    def read(self, protocol: str, body: bytes, stream: bool, status: int = 200) -> Read:
        """The answer in ``body``. One that failed raises one of ``FAILURES``."""
        self.serving.status, self.serving.body = status, body
        self.serving.content_type = SSE if stream else JSON
        return self._read[protocol](stream)

    # -- Anthropic Messages ------------------------------------------------------------------------------------------

    def _messages(self, stream: bool) -> Read:
        asked: Any = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "Go on."}]}
        if stream:
            with self.anthropic.messages.stream(**asked) as events:
                message = events.get_final_message()
        else:
            message = self.anthropic.messages.create(**asked)
        usage, read = message.usage, message.usage.cache_read_input_tokens or 0
        counts = {"input": usage.input_tokens, "output": usage.output_tokens, "read": read}
        counts["written"] = usage.cache_creation_input_tokens or 0
        found = Read(message.id, str(message.model), stop=message.stop_reason, usage=counts)
        for block in message.content:
            if block.type == "text":
                found.text += block.text
            elif block.type == "thinking":
                found.thinking += block.thinking
                found.signatures += [block.signature] if block.signature else []
            elif block.type == "redacted_thinking":
                found.signatures.append(block.data)
            elif block.type == "tool_use":
                found.calls.append((block.id, block.name, block.input))
            else:
                found.others.append(block.type)
        if message.stop_details is not None:
            found.refusal = message.stop_details.explanation or ""
        return found

    # -- Chat Completions --------------------------------------------------------------------------------------------

    def _completions(self, stream: bool) -> Read:
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": "Go on."}]}
        if not stream:
            return self._completion(self.openai.chat.completions.create(**asked))
        state: Any = ChatCompletionStreamState()
        usage = None
        for chunk in self.openai.chat.completions.create(**asked, stream=True):
            state.handle_chunk(chunk)
            usage = chunk.usage or usage
        found = self._completion(state.current_completion_snapshot)
        found.usage = self._prompt_usage(usage)
        return found

    def _completion(self, completion: Any) -> Read:
        choice = completion.choices[0]
        message = choice.message
        return Read(
            completion.id,
            completion.model,
            message.content or "",
            "".join(getattr(message, name, None) or "" for name in REASONING_FIELDS),
            [_call(call) for call in message.tool_calls or []],
            stop=choice.finish_reason,
            refusal=message.refusal or "",
            usage=self._prompt_usage(completion.usage),
        )

    @staticmethod
    def _prompt_usage(usage: Any) -> dict[str, int] | None:
        if usage is None:
            return None
        details = usage.prompt_tokens_details
        read, written = details.cached_tokens or 0, getattr(details, "cache_write_tokens", None) or 0
        counts = {"input": usage.prompt_tokens - read - written, "output": usage.completion_tokens, "read": read}
        return counts | {"written": written, "total": usage.total_tokens}

    # -- Responses ---------------------------------------------------------------------------------------------------

    def _responses(self, stream: bool) -> Read:
        if not stream:
            return self._response(self.openai.responses.create(model="m", input="Go on."))
        last: Any = None
        with self.openai.responses.stream(model="m", input="Go on.") as events:
            for event in events:
                last = event
        return self._response(last.response)

    @staticmethod
    def _response(response: Any) -> Read:
        if response.status == "failed":
            raise openai.APIError(response.error.message, None, body=None)  # type: ignore[arg-type] # not looked at
        reason = response.incomplete_details.reason if response.incomplete_details else None
        found = Read(response.id, response.model, stop=reason or response.status)
        for item in response.output:
            if item.type == "message":
                for part in item.content:
                    if part.type == "refusal":
                        found.refusal += part.refusal
                    else:
                        found.text += part.text
            elif item.type == "reasoning":
                found.thinking += "\n\n".join(part.text for part in [*item.summary, *(item.content or [])])
                found.signatures += [item.encrypted_content] if item.encrypted_content else []
            elif item.type == "function_call":
                found.calls.append((item.call_id, item.name, so_far(item.arguments)))
            elif item.type == "custom_tool_call":
                found.calls.append((item.call_id, item.name, {"input": item.input}))
            else:
                found.others.append(item.type)
        usage = response.usage
        details = usage.input_tokens_details
        read, written = details.cached_tokens, details.cache_write_tokens
        counts = {"input": usage.input_tokens - read - written, "output": usage.output_tokens, "read": read}
        found.usage = counts | {"written": written, "total": usage.total_tokens}
        return found

    # -- Gemini ------------------------------------------------------------------------------------------------------

    def _gemini(self, stream: bool) -> Read:
        config = types.GenerateContentConfig(automatic_continuation=False)
        asked: Any = {"model": "m", "contents": "Go on.", "config": config}
        if stream:
            responses = list(self.google.models.generate_content_stream(**asked))
        else:
            responses = [self.google.models.generate_content(**asked)]
        found = Read()
        for response in responses:
            found.id, found.model = response.response_id, response.model_version
            self._usage_metadata(response.usage_metadata, found)
            for candidate in response.candidates or []:
                found.stop = candidate.finish_reason.value if candidate.finish_reason else found.stop
                for part in (candidate.content and candidate.content.parts) or []:
                    self._part(part, found)
        return found

    @staticmethod
    def _part(part: types.Part, found: Read) -> None:
        if part.thought_signature:
            found.signatures.append(part.thought_signature.hex())
        if part.function_call is not None:
            found.calls.append((part.function_call.id, part.function_call.name or "", part.function_call.args))
        elif part.thought:
            found.thinking += part.text or ""
        else:
            found.text += part.text or ""

    @staticmethod
    def _usage_metadata(usage: Any, found: Read) -> None:
        if usage is not None:
            read = usage.cached_content_token_count or 0
            counts = {"input": usage.prompt_token_count - read, "output": usage.candidates_token_count, "read": read}
            found.usage = counts | {"total": usage.total_token_count}
