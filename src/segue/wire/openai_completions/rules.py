"""All rules of chat completions, by topic: OpenAI's own, those of single members for messages and for the request, and
those of chat templates. A fault to which members answer with different texts is one rule; each file lists them.

A year after issues is the year in which they were collected. ``answers`` in brackets is our own text, where the
provider's is not recorded.
"""

from ...rules import Rule
from . import (
    rules_family,
    rules_openai,
    rules_options,
    rules_request,
    rules_schemas,
    rules_shape,
    rules_templates,
    rules_tools,
)

RULES: tuple[Rule, ...] = (
    *rules_openai.RULES,
    *rules_options.RULES,
    *rules_tools.RULES,
    *rules_schemas.RULES,
    *rules_shape.RULES,
    *rules_family.RULES,
    *rules_request.RULES,
    *rules_templates.RULES,
)
