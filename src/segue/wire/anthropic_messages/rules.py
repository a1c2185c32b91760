"""The rules of ``POST /v1/messages`` that can be seen in a body, in the order of their numbers.

Not here, because no body shows them:
ANT-11 is a permission (an answer without content is legal). ANT-16: whether the model itself spoke after its calls.
ANT-33: one measurement, against the SDK's types. ANT-34: how to go on after a pause. ANT-36, ANT-37, ANT-43: whether a
signature verifies, and what the answer was like when it was made; of ANT-40, only how a request asks is here. ANT-50:
tokens are counted by the provider; preview estimates them. ANT-53: what the server keeps of a thread. ANT-54: headers.
"""

from ...rules import Rule
from .rules_messages import MESSAGES
from .rules_request import REQUEST
from .rules_shape import SHAPE
from .rules_thinking import THINKING
from .rules_tools import TOOLS

RULES: tuple[Rule, ...] = tuple(sorted([*MESSAGES, *TOOLS, *THINKING, *REQUEST, *SHAPE], key=lambda rule: rule.number))
