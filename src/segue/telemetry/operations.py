"""Spans of requests, tools and agents. Where nothing is configured, each function returns ``None``, at no cost."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from . import content, names
from .api import NAME, Api, tracing

Attributes = dict[str, Any]


class Switched:
    """A change of models: from which one to which one, and why (user, router, failover, overflow)."""

    __slots__ = ("after", "before", "reason")

    def __init__(self, before: str, after: str, reason: str) -> None:
        self.before, self.after, self.reason = before, after, reason

    def attributes(self) -> Attributes:
        values = (self.before, self.after, self.reason)
        return dict(zip((names.SWITCH_FROM, names.SWITCH_TO, names.SWITCH_REASON), values, strict=True))


class RequestSpan:
    """The span of a request with all its attempts."""

    def __init__(self, api: Api, model: Any, base_url: str) -> None:
        self._api, self._begun = api, monotonic()
        operation = names.OPERATIONS.get(model.protocol, names.CHAT)
        place = urlsplit(base_url)
        self._common: Attributes = {
            names.OPERATION: operation,
            names.PROVIDER: names.PROVIDERS.get(model.provider, model.provider),
            names.MODEL: model.id,
            names.ADDRESS: place.hostname or "",
        }
        if port := place.port or names.PORTS.get(place.scheme):
            self._common[names.PORT] = port
        self._span = api.tracer.start_span(
            f"{operation} {model.id}", kind=api.trace.SpanKind.CLIENT, attributes=self._common
        )
        self._last: float | None = None  # when something arrived last
        self._attempts = 0
        self._ended = False
        self._request: Any = None

    def sent(self, request: Any) -> None:
        """Note an attempt, with what was changed for the model."""
        self._attempts += 1
        self._request = request
        if not self._span.is_recording():
            return
        options = {name: getattr(request.options, name, None) for name in names.OPTIONS}
        for name, value in options.items():
            if value is not None and value != () and value != []:
                self._span.set_attribute(names.OPTIONS[name], list(value) if isinstance(value, list | tuple) else value)
        self._span.set_attributes(_changes(request.changes))

    def belongs_to(self, conversation: str, policy: str) -> None:
        """Note the conversation, and the policy that chose the model."""
        if conversation:
            self._span.set_attribute(names.CONVERSATION, conversation)
        if policy:
            self._span.set_attribute(names.POLICY, policy)

    def switched(self, switch: Switched) -> None:
        self._span.set_attributes(switch.attributes())
        self._span.add_event(names.SWITCHED, switch.attributes())
        self._api.measure("switches", 1, {"reason": switch.reason})

    def compacted(self) -> None:
        self._span.set_attribute(names.COMPACTED, True)
        self._span.add_event(names.SUMMARISED)

    def cured(self, cure: str) -> None:
        self._span.set_attribute(names.CURE, cure)
        self._span.add_event(names.CURED, {names.CURE: cure})
        self._api.measure("cures", 1, {"cure": cure, "provider": self._common[names.PROVIDER]})

    def received(self) -> None:
        """Note that a piece of the answer has arrived. The conventions measure that for streamed answers only."""
        if self._request is None or not self._request.options.stream:
            return
        now = monotonic()
        if self._last is None:
            self._api.measure("first_chunk", now - self._begun, self._common)
        else:
            self._api.measure("each_chunk", now - self._last, self._common)
        self._last = now

    def failed(self, error: Any) -> None:
        """Note a failed attempt."""
        self._last = None
        attributes = {names.ERROR: error.kind, names.MODEL: self._common[names.MODEL], names.ATTEMPTS: self._attempts}
        self._span.add_event(names.ATTEMPT_FAILED, attributes)

    def end(self, message: Any, error: Any = None) -> None:
        """End the span with the answer, or with what had arrived of it."""
        if self._ended:
            return
        self._ended = True
        kind = error.kind if error is not None else "cancelled" if getattr(message, "failed", False) else None
        self._span.set_attribute(names.ATTEMPTS, self._attempts)
        if message is not None:
            self._answer(message)
        if kind is not None:
            self._span.set_attribute(names.ERROR, kind)
            self._span.set_status(self._api.trace.Status(self._api.trace.StatusCode.ERROR))
        self._metrics(message, {names.ERROR: kind} if kind is not None else {})
        self._content(message)
        self._span.end()

    def _answer(self, message: Any) -> None:
        usage = message.usage
        found = {
            names.RESPONSE_MODEL: message.response_model,
            names.RESPONSE_ID: message.response_id,
            names.FINISH_REASONS: [content.FINISHED.get(message.stop_reason, message.stop_reason)],
        }
        if usage.total_tokens:
            found |= {names.INPUT_TOKENS: usage.prompt, names.OUTPUT_TOKENS: usage.output}
            found |= {names.CACHE_READ: usage.cache_read, names.CACHE_WRITE[self._api.latest]: usage.cache_write}
        self._span.set_attributes({name: value for name, value in found.items() if value is not None})

    def _metrics(self, message: Any, failure: Attributes) -> None:
        measure, common = self._api.measure, self._common
        measure("duration", monotonic() - self._begun, common | failure)
        if message is not None and message.usage.total_tokens:
            usage = message.usage
            measure("tokens", usage.prompt, common | {names.TOKEN_TYPE: "input"})
            measure("tokens", usage.output, common | {names.TOKEN_TYPE: "output"})
            counts = {
                "input": usage.prompt,
                "output": usage.output,
                "cache_read": usage.cache_read,
                "cache_write": usage.cache_write,
            }
            for name, count in counts.items():
                measure(name, count, common)
        if self._request is not None:
            changes = Counter((change.code, change.lossy) for change in self._request.changes)
            for (code, lossy), count in changes.items():
                measure("changes", count, {"code": code, "lossy": lossy, "provider": common[names.PROVIDER]})

    def _content(self, message: Any) -> None:
        places = content.places()
        if not places or self._request is None:
            return
        source = self._request.source
        found = {names.INPUT: content.input_messages(source.context.messages[: source.count])}
        if source.context.system_prompt:
            found[names.SYSTEM] = content.system_instructions(source.context.system_prompt)
        if source.context.tools:
            found[names.DEFINITIONS] = content.tool_definitions(source.context.tools)
        if message is not None:
            found[names.OUTPUT] = content.output_messages(message)
        if "span" in places:
            self._span.set_attributes(found)
        if "event" in places:
            self._api.emit(names.DETAILS, self._common | found, self._span)


def _changes(changes: Sequence[Any]) -> Attributes:
    lost = sum(change.lossy for change in changes)
    codes = sorted({change.code for change in changes})
    return {names.LOST: lost, names.ADAPTED: len(changes) - lost, names.CODES: codes}


def request_span(model: Any, base_url: str) -> RequestSpan | None:
    """Begin the span of a request to a model; ``None`` where nothing is configured."""
    api = tracing()
    return None if api is None else RequestSpan(api, model, base_url)


@contextmanager
def agent_span(name: str, conversation: str) -> Iterator[Any]:
    """The span of a run of an agent. Everything that the run does is below it."""
    api = tracing()
    if api is None:
        yield None
        return
    attributes = {names.OPERATION: names.AGENT, names.CONVERSATION: conversation}
    if name:
        attributes[names.AGENT_NAME] = name
    title = f"{names.AGENT} {name}".rstrip()
    begun = monotonic()
    with api.tracer.start_as_current_span(title, kind=api.trace.SpanKind.INTERNAL, attributes=attributes) as span:
        try:
            yield span
        finally:
            api.measure("agent", monotonic() - begun, {names.OPERATION: names.AGENT, names.AGENT_NAME: name})


class ToolSpan:
    """The span of one call of a tool, which is current where the tool runs."""

    def __init__(self, api: Api, name: str, call_id: str, arguments: Mapping[str, Any]) -> None:
        self._api, self._begun, self._name = api, monotonic(), name
        attributes = {
            names.OPERATION: names.TOOL,
            names.TOOL_NAME: name,
            names.TOOL_CALL_ID: call_id,
            names.TOOL_TYPE: "function",
        }
        if "span" in content.places():
            attributes[names.TOOL_ARGUMENTS] = content.as_json(arguments)
        self._span = api.tracer.start_span(f"{names.TOOL} {name}", attributes=attributes)
        api.context.attach(api.trace.set_span_in_context(self._span))

    def end(self, text: str, is_error: bool) -> None:
        """End the span with the output of the tool."""
        failure = {names.ERROR: "tool_error"} if is_error else {}
        if "span" in content.places():
            self._span.set_attribute(names.TOOL_RESULT, text)
        if failure:
            self._span.set_attributes(failure)
            self._span.set_status(self._api.trace.Status(self._api.trace.StatusCode.ERROR))
        common = {names.OPERATION: names.TOOL, names.TOOL_NAME: self._name}
        self._api.measure("tool", monotonic() - self._begun, common | failure)
        self._span.end()


def tool_span(name: str, call_id: str, arguments: Mapping[str, Any]) -> ToolSpan | None:
    """Begin the span of a call, in the context of the tool; ``None`` where nothing is configured."""
    api = tracing()
    return None if api is None else ToolSpan(api, name, call_id, arguments)


@contextmanager
def gateway_span(report: Any, headers: Mapping[str, str]) -> Iterator[None]:
    """The span of a request that a client sent to the gateway, below the client's own. Requests to providers are below
    it. It ends with what ``report`` has then."""
    api = tracing()
    if api is None:
        yield
        return
    operation = names.OPERATIONS.get(report.protocol, names.CHAT)
    start = api.tracer.start_as_current_span(operation, api.caller(headers), kind=api.trace.SpanKind.SERVER)
    with start as span:
        begun = monotonic()
        try:
            yield
        finally:
            common = {names.OPERATION: operation, names.PROVIDER: NAME}
            if report.error:
                common[names.ERROR] = report.error
                span.set_status(api.trace.Status(api.trace.StatusCode.ERROR))
            if report.model:  # otherwise the name of the model is whatever the client sent
                common[names.MODEL] = report.asked
                span.update_name(f"{operation} {report.asked}")
            span.set_attributes(common | _served(report))
            api.measure("served", monotonic() - begun, common)
            if report.first_byte is not None:
                api.measure("served_first", report.first_byte - report.began, common)


def _served(report: Any) -> Attributes:
    found = {attribute: getattr(report, name) for name, attribute in names.GATEWAY.items()}
    found |= {names.STATUS: report.status, names.RESPONSE_MODEL: report.model, names.ATTEMPTS: report.attempts}
    if report.usage is not None:
        found |= {names.INPUT_TOKENS: report.usage.prompt, names.OUTPUT_TOKENS: report.usage.output}
    return {name: value for name, value in found.items() if value} | _changes(report.changes)
