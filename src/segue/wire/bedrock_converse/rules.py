"""The rules of Converse that can be checked in a body, ordered by number.

BED rules are checked by the service model and Converse itself; ANT rules by Claude's API behind it. A letter after a
number marks a part of a rule that applies to other models.

These cannot be checked in a body:
The second half of BED-14 (tools while streaming: streaming is in the path, not in the body). BED-24: which models
accept ``strict`` is not documented. BED-25: the model's id is in the path. BED-26: the provider counts tokens; preview
estimates them. BED-27: answers of server tools; no client writes such blocks. ANT-36, ANT-37, ANT-40 and ANT-43:
whether a signature verifies, and the original form of the answer.
These are covered by another rule: ANT-08, ANT-09 (BED-04), ANT-14 (BED-23), ANT-15, ANT-35 (BED-20), ANT-20 (BED-07),
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
