"""All names of spans, attributes, events and metrics, as rows.

The conventions for generative AI are in development (open-telemetry/semantic-conventions, `docs/gen-ai`, up to 1.41;
now open-telemetry/semantic-conventions-genai, seen 2026-11). The names that are in use today are the default; the new
ones are used with ``OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental``.
"""

# -- operations and attributes ----------------------------------------------------------------------------------------

CHAT, TOOL, AGENT = "chat", "execute_tool", "invoke_agent"
OPERATIONS = {"google-generative-ai": "generate_content"}
"""The operation of a request, by protocol; ``chat`` for all others."""

PROVIDERS = {
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "moonshot-cn": "moonshot_ai",
    "google": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "amazon-bedrock": "aws.bedrock",
    "xai": "x_ai",
    "azure": "azure.ai.openai",
    "watsonx": "ibm.watsonx.ai",
}
"""The convention's names of providers, where they differ from those of the catalog."""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
COMPACTED = "gen_ai.conversation.compacted"
MODEL = "gen_ai.request.model"
OPTIONS = {
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "stop": "gen_ai.request.stop_sequences",
}
"""Options of a request, and their attributes."""
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_ID = "gen_ai.response.id"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE = {False: "gen_ai.usage.cache_creation.input_tokens", True: "gen_ai.usage.cache_write.input_tokens"}
"""The name of today, and the new one."""
TOKEN_TYPE = "gen_ai.token.type"
STATUS = "http.response.status_code"
ADDRESS, PORT = "server.address", "server.port"
PORTS = {"https": 443, "http": 80}
"""The port where an address has none: the conventions want it beside the address."""
ERROR = "error.type"
TOOL_NAME, TOOL_CALL_ID, TOOL_TYPE = "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.type"
TOOL_ARGUMENTS, TOOL_RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
AGENT_NAME = "gen_ai.agent.name"
SYSTEM, INPUT, OUTPUT = "gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"
DEFINITIONS = "gen_ai.tool.definitions"
DETAILS = "gen_ai.client.inference.operation.details"
"""The event with the content of a request."""

# -- segue's own ------------------------------------------------------------------------------------------------------

LOST, ADAPTED, CODES = "segue.changes.lost", "segue.changes.adapted", "segue.changes.codes"
ATTEMPTS = "segue.attempts"
SWITCH_FROM, SWITCH_TO, SWITCH_REASON = "segue.switch.from", "segue.switch.to", "segue.switch.reason"
POLICY = "segue.route.policy"
CURE = "segue.cure"
ATTEMPT_FAILED, SWITCHED = "segue.attempt.failed", "segue.switched"
SUMMARISED, CURED = "segue.compacted", "segue.cured"
GATEWAY = {
    "id": "segue.gateway.request",
    "protocol": "segue.gateway.protocol",
    "lane": "segue.gateway.lane",
    "turn": "segue.gateway.turn",
}
"""What the gateway reports about a request, and the attributes."""

# -- metrics ----------------------------------------------------------------------------------------------------------

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
FIRST = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
EACH = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
"""Boundaries of buckets, as the conventions give them for durations, tokens, the first token and each later one."""

HISTOGRAMS = {
    "duration": ("gen_ai.client.operation.duration", "gen_ai.client.inference.duration", "s", SECONDS),
    "first_chunk": (
        "gen_ai.client.operation.time_to_first_chunk",
        "gen_ai.client.inference.time_to_first_chunk",
        "s",
        FIRST,
    ),
    "each_chunk": (
        "gen_ai.client.operation.time_per_output_chunk",
        "gen_ai.client.inference.time_per_output_chunk",
        "s",
        EACH,
    ),
    "tokens": ("gen_ai.client.token.usage", None, "{token}", TOKENS),
    "tool": (None, "gen_ai.execute_tool.duration", "s", SECONDS),
    "agent": (None, "gen_ai.invoke_agent.duration", "s", SECONDS),
    "served": ("gen_ai.server.request.duration", "gen_ai.server.request.duration", "s", SECONDS),
    "served_first": ("gen_ai.server.time_to_first_token", "gen_ai.server.time_to_first_token", "s", FIRST),
}
"""Histograms: the name of today, the new name (``None``: there is none), the unit, and boundaries of buckets."""

COUNTERS = {
    "input": (None, "gen_ai.client.inference.usage.input_tokens", "{token}"),
    "output": (None, "gen_ai.client.inference.usage.output_tokens", "{token}"),
    "cache_read": (None, "gen_ai.client.inference.usage.cache_read.input_tokens", "{token}"),
    "cache_write": (None, "gen_ai.client.inference.usage.cache_write.input_tokens", "{token}"),
    "changes": ("segue.changes", "segue.changes", "{change}"),
    "switches": ("segue.switches", "segue.switches", "{switch}"),
    "cures": ("segue.cures", "segue.cures", "{cure}"),
}
"""Counters, in the same form, without buckets."""
