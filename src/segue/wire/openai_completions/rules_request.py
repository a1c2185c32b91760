"""What single members of the family refuse outside of messages: switches for reasoning, sampling, tools.

KIM-08 also covers DSK-09 (a forced choice). Left out, because they were only read in source code and the encoder never
violates them: CER-03 (schemas of structured output, one report), FWK-02 and QWN-05 (``file`` parts), OLL-03 (image
URLs), OLL-06, LCP-08 and LCP-09 (what a server was started with), VLL-05 and VLL-09 (nothing is refused, or by a
template), DSK-09 and LCP-08 (tools that are not functions), MMX-06 (one report).
"""

from ...rules import Rule
from ...types import Model
from . import walk
from .walk import Found, Object, get, where

_TOOLS = "wire/openai_completions/tools.py"
_OPTIONS = "wire/openai_completions/options.py"


def _one_switch(body: Object, model: Model | None) -> Found:
    thinking = body.get("thinking")
    if thinking is not None and body.get("reasoning_effort") is not None:
        yield "reasoning_effort", "set together with thinking"
    if thinking is not None and not isinstance(thinking, dict):
        yield "thinking", "must be an object"


def _forced(body: Object, model: Model | None) -> Found:
    choice = body.get("tool_choice")
    forces = choice == "required" or isinstance(choice, dict)
    if forces and not walk.is_off(body):
        yield "tool_choice", "a forced call, which this model does not accept"


def _temperature(body: Object, model: Model | None) -> Found:
    if body.get("temperature") not in (None, 1) and not walk.is_off(body):
        yield "temperature", "only 1 is allowed"


def _efforts(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    if body.get("reasoning_format") is not None and body.get("include_reasoning") is not None:
        yield "include_reasoning", "not together with reasoning_format"
    effort = body.get("reasoning_effort")
    if dialect is not None and dialect.effort and effort is not None and effort not in dialect.effort:
        yield "reasoning_effort", f"{effort!r} is not one of {', '.join(dialect.effort)}"


def _grok(body: Object, model: Model | None) -> Found:
    for name in ("stop", "presence_penalty", "frequency_penalty"):
        if body.get(name) is not None:
            yield name, "refused by this model"


def _strict(body: Object, model: Model | None) -> Found:
    for path, function in walk.functions(body):
        if "strict" in function:
            yield f"{path}.strict", "strict, which this provider does not support"


def _disabled(body: Object, model: Model | None) -> Found:
    if get(body.get("thinking"), "type") == "disabled":
        yield "thinking", "cannot be disabled"


def _whole_thinking(body: Object, model: Model | None) -> Found:
    if body.get("stream") is True or model is None or not model.reasoning:
        return
    if body.get("enable_thinking") is not False:
        yield "enable_thinking", "must be false, because the answer is not streamed"


def _no_tools(body: Object, model: Model | None) -> Found:
    for name in ("tools", "functions"):
        if body.get(name) == []:
            yield name, f"an empty list of {name}"


def _template_flags(body: Object, model: Model | None) -> Found:
    if body.get("continue_final_message") is True and body.get("add_generation_prompt") is True:
        yield "continue_final_message", "not together with add_generation_prompt"


RULES: tuple[Rule, ...] = (
    Rule(
        number="KIM-02",
        title="thinking and reasoning_effort exclude each other, and thinking is an object",
        answers="cannot specify both 'thinking' and 'reasoning_effort'",
        source="nanobot#3939, TeXRA#1905, 2026",
        prevented_by=_OPTIONS,
        check=_one_switch,
        only=where(lambda dialect: dialect.reasoning_required == "calls"),
    ),
    Rule(
        number="KIM-08",
        title="A tool call cannot be forced",
        answers="tool_choice 'specified' is incompatible with thinking enabled",
        source="sim#5716 and error texts in public clients; DeepSeek litellm#30722; collected 2026-11",
        prevented_by=_TOOLS,
        check=_forced,
        only=where(lambda dialect: not dialect.forced_tool_choice),
    ),
    Rule(
        number="KIM-09",
        title="The temperature cannot be changed",
        answers="invalid temperature: only 1 is allowed for this model",
        source="sim#5716, litellm source, error texts in public clients, collected 2026-11",
        prevented_by=_OPTIONS,
        check=_temperature,
        only=where(lambda dialect: not dialect.sampling and dialect.max_tokens_field == "max_tokens"),
    ),
    Rule(
        number="GRQ-06",
        title="reasoning_effort is a level of the model; reasoning_format and include_reasoning exclude each other",
        answers="`reasoning_effort` must be one of `none` or `default`",
        source="SDK groq 1.7.0; error texts in public clients, collected 2026-11",
        prevented_by=_OPTIONS,
        check=_efforts,
        only=where(lambda dialect: dialect.reasoning_switch == "reasoning_effort" and dialect.sampling),
    ),
    Rule(
        number="XAI-03",
        title="No stop and no penalties",
        answers="Argument not supported on this model: stop",
        source="catwalk#181, litellm source, error texts in public clients, collected 2026-11",
        prevented_by=_OPTIONS,
        check=_grok,
        only=where(lambda dialect: not dialect.stop and dialect.max_tokens_field == "max_tokens"),
    ),
    Rule(
        number="TOG-02",
        title="No strict in tools",
        answers="",
        source="compatibility table of pi, 2026",
        prevented_by=_TOOLS,
        check=_strict,
        severity="warning",
        only=where(lambda dialect: not dialect.strict_tools),
    ),
    Rule(
        number="ZAI-05",
        title="Thinking cannot be disabled",
        answers="(an error; its text is not recorded)",
        source="pydantic-ai source on GLM-5.3, 2026",
        prevented_by=_OPTIONS,
        check=_disabled,
        only=where(
            lambda dialect: (
                dialect.reasoning_switch == "reasoning_effort" and dialect.effort != () and "none" not in dialect.effort
            )
        ),
    ),
    Rule(
        number="QWN-06",
        title="A whole answer is not combined with thinking",
        answers="parameter.enable_thinking must be set to false for non-streaming calls",
        source="new-api#1109, langchain4j#3974, llxprt-code#229, coze-studio#324, 2025-26; of open-weight Qwen3, the "
        "stricter reading for others",
        prevented_by=_OPTIONS,
        check=_whole_thinking,
        only=where(lambda dialect: dialect.thinking_streams_only),
    ),
    Rule(
        number="VLL-01",
        title="A list of tools is not empty",
        answers="`tools` must not be an empty array.",
        source="vllm/entrypoints, 2026",
        prevented_by=_TOOLS,
        check=_no_tools,
    ),
    Rule(
        number="VLL-08",
        title="continue_final_message and add_generation_prompt exclude each other",
        answers="Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
        source="vllm/entrypoints, 2026",
        prevented_by="wire/openai_completions/encode.py",
        check=_template_flags,
    ),
)
