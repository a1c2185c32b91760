"""The rules of ``POST /responses`` that can be checked in a body, by number.

Left out, because a body does not show them:
OAR-10: whether encrypted content is valid. OAR-18: the provider counts tokens; preview estimates them. Of OAR-08,
whether a message or call with an id was made after reasoning that is missing now. Of OAR-16, whether a stored response
exists. AZU-01: which parameters a deployment does not know yet. AZU-02: the content filter. AZU-03: the stream. AZU-04
and AZU-05: whether ids and encrypted content are of the same resource (projection treats another endpoint as another
origin). AZU-06: like OAR-05, OAR-14 and OAR-19; the rest is about Chat. AZU-07: like OAR-18. AZU-08: Claude, another
protocol.
"""

from ...rules import Rule
from .rules_history import HISTORY
from .rules_items import SHAPES as ITEMS
from .rules_request import REQUEST
from .rules_shape import SHAPE
from .rules_tools import TOOLS

RULES: tuple[Rule, ...] = tuple(sorted([*HISTORY, *ITEMS, *REQUEST, *SHAPE, *TOOLS], key=lambda rule: rule.number))
