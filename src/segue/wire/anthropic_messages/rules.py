"""The rules of ``POST /v1/messages`` that can be checked in a body, ordered by number.

These cannot be checked in a body:
ANT-11 is a permission (an answer without content is valid).
ANT-33: one measurement, against the SDK's types. ANT-34: how to continue after a pause. ANT-36, ANT-37, ANT-43: whether
a signature verifies, and the original form of the answer; of ANT-40, only the field of the request is checked. ANT-50:
the provider counts tokens; preview estimates them. ANT-53: what the server keeps of a thread. ANT-54: headers.
"""

from ...rules import Rule
from .rules_messages import MESSAGES
from .rules_request import REQUEST
from .rules_servers import SERVERS
from .rules_shape import SHAPE
from .rules_thinking import THINKING
from .rules_tools import TOOLS

RULES: tuple[Rule, ...] = tuple(
    sorted([*MESSAGES, *TOOLS, *SERVERS, *THINKING, *REQUEST, *SHAPE], key=lambda rule: rule.number)
)
