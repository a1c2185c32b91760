"""The rules of Converse that can be seen in a body, in the order of their numbers.

BED is what the service model and Converse itself check; ANT is what Claude's API checks behind it. A letter after a
number is a part of that rule that holds for other models than the rest.

Not here, because no body shows them:
BED-14's second half (tools while streaming: the path says so, not the body). BED-24: which models take ``strict`` is
listed nowhere. BED-25: the model's id stands in the path. BED-26: tokens are counted by the provider; preview
estimates them. BED-27: what server tools answer; no client makes such blocks up. ANT-36, ANT-37, ANT-40 and ANT-43:
whether a signature verifies, and what the answer was like when it was made.
The same as a rule that is here: ANT-08, ANT-09 (BED-04), ANT-14 (BED-23), ANT-15, ANT-35 (BED-20), ANT-20 (BED-07),
ANT-21 (BED-08), ANT-24 (BED-11), ANT-25 (BED-12), ANT-46 (BED-21).
"""

from ...rules import Rule
from .rules_media import MEDIA
from .rules_request import REQUEST
from .rules_shape import SHAPE
from .rules_thinking import THINKING
from .rules_tools import TOOLS
from .rules_turns import TURNS

RULES: tuple[Rule, ...] = tuple(
    sorted(
        [*TURNS, *TOOLS, *THINKING, *MEDIA, *REQUEST, *SHAPE],
        key=lambda rule: (rule.number[:3] != "BED", rule.number),
    )
)
