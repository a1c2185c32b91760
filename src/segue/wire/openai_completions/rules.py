"""All rules of chat completions, by topic: OpenAI's own, those of single members on messages and on the request, and
those of chat templates. A fault that several members answer in words of their own is one rule; each file says which.

A year behind issues is that in which they were collected; ``answers`` in brackets is ours where no text is on record.
"""

from ...rules import Rule
from . import rules_family, rules_openai, rules_request, rules_shape, rules_templates, rules_tools

RULES: tuple[Rule, ...] = (
    *rules_openai.RULES,
    *rules_tools.RULES,
    *rules_shape.RULES,
    *rules_family.RULES,
    *rules_request.RULES,
    *rules_templates.RULES,
)
