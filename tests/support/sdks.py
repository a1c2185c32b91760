"""The official SDKs as callers of a stand-in, with an HTTP client of the test's: sync and async, whole and streamed."""

from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any

import anthropic
import boto3
import openai
from botocore.config import Config
from google import genai
from google.genai import types
from mistralai.client import Mistral

from segue.testing import StandIn

from .waiting import HANGS

Kwargs = dict[str, Any]
Ask = Callable[[StandIn, Any, Kwargs, bool], Any]
AsyncAsk = Callable[[StandIn, Any, Kwargs, bool], Coroutine[Any, Any, Any]]

PROVIDERS = {
    "anthropic-messages": "anthropic",
    "openai-completions": "openai",
    "openai-responses": "openai",
    "mistral-chat": "mistral",
    "google-generative-ai": "google",
}
"""The provider of the SDK of each protocol. Hosts on loopback do not show that a path is one of Mistral's."""


@lru_cache(maxsize=2)  # to create a client takes longer than a request
def _openai(server: StandIn, http: Any, kind: Any = openai.OpenAI) -> Any:
    return kind(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)


@lru_cache(maxsize=2)
def _google(server: StandIn, **clients: Any) -> genai.Client:
    retries = types.HttpRetryOptions(attempts=1)
    options = types.HttpOptions(base_url=server.url, retry_options=retries, **clients)
    return genai.Client(api_key=server.key, http_options=options)


@lru_cache(maxsize=2)
def _anthropic(server: StandIn, http: Any, kind: Any = anthropic.Anthropic) -> Any:
    return kind(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)


@lru_cache(maxsize=2)
def _mistral(server: StandIn, **clients: Any) -> Mistral:
    return Mistral(api_key=server.key, server_url=server.url, retry_config=None, **clients)


def _drained(answer: Any, streams: bool) -> Any:
    return list(answer) if streams else answer


async def _adrained(answer: Any, streams: bool) -> Any:
    return [each async for each in answer] if streams else answer


# -- sync ------------------------------------------------------------------------------------------------------------


def ask_anthropic(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    client = _anthropic(server, http)
    return _drained(client.messages.create(**{"max_tokens": 1000} | kwargs, stream=streams), streams)


def ask_chat(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    return _drained(_openai(server, http).chat.completions.create(**kwargs, stream=streams), streams)


def ask_responses(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    return _drained(_openai(server, http).responses.create(**kwargs, stream=streams), streams)


def ask_mistral(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    client = _mistral(server, client=http)
    return _drained(client.chat.stream(**kwargs), True) if streams else client.chat.complete(**kwargs)


def ask_google(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    models = _google(server, httpx_client=http).models
    return list(models.generate_content_stream(**kwargs)) if streams else models.generate_content(**kwargs)


SYNC: dict[str, Ask] = {
    "anthropic-messages": ask_anthropic,
    "openai-completions": ask_chat,
    "openai-responses": ask_responses,
    "mistral-chat": ask_mistral,
    "google-generative-ai": ask_google,
}


# -- async -----------------------------------------------------------------------------------------------------------


async def aask_anthropic(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    client = _anthropic(server, http, anthropic.AsyncAnthropic)
    return await _adrained(await client.messages.create(**{"max_tokens": 1000} | kwargs, stream=streams), streams)


async def aask_chat(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    client = _openai(server, http, openai.AsyncOpenAI)
    return await _adrained(await client.chat.completions.create(**kwargs, stream=streams), streams)


async def aask_responses(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    client = _openai(server, http, openai.AsyncOpenAI)
    return await _adrained(await client.responses.create(**kwargs, stream=streams), streams)


async def aask_mistral(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    client = _mistral(server, async_client=http)
    if streams:
        return await _adrained(await client.chat.stream_async(**kwargs), True)
    return await client.chat.complete_async(**kwargs)


async def aask_google(server: StandIn, http: Any, kwargs: Kwargs, streams: bool) -> Any:
    models = _google(server, httpx_async_client=http).aio.models
    if streams:
        return await _adrained(await models.generate_content_stream(**kwargs), True)
    return await models.generate_content(**kwargs)


ASYNC: dict[str, AsyncAsk] = {
    "anthropic-messages": aask_anthropic,
    "openai-completions": aask_chat,
    "openai-responses": aask_responses,
    "mistral-chat": aask_mistral,
    "google-generative-ai": aask_google,
}


# -- boto3 -----------------------------------------------------------------------------------------------------------


def bedrock(server: StandIn) -> Any:
    """A client of boto3 for a stand-in."""
    session = boto3.Session("AKIAIOSFODNN7EXAMPLE", "none-of-the-tests", None, "us-east-1")
    config = Config(retries={"total_max_attempts": 1}, proxies={}, connect_timeout=HANGS, read_timeout=HANGS)
    return session.client("bedrock-runtime", endpoint_url=server.url, config=config)
