"""The rules of ``POST /responses`` that can be seen in a body, in the order of their numbers.

Not here, because no body shows them:
OAR-10: whether encrypted content verifies. OAR-18: tokens are counted by the provider; preview estimates them. Of
OAR-08, whether a message or call that has an id was made after reasoning that is missing now. Of OAR-16, whether a
stored response exists. AZU-01: which parameters a deployment does not know yet. AZU-02: the content filter. AZU-03: the
stream. AZU-04 and AZU-05: whether ids and encrypted content are of the same resource (projection takes another endpoint
for another origin). AZU-06: as OAR-05, OAR-14 and OAR-19; the rest is about Chat. AZU-07: as OAR-18. AZU-08: Claude,
another protocol.
"""

from ...rules import Rule
from .rules_history import HISTORY
from .rules_items import SHAPES as ITEMS
from .rules_request import REQUEST
from .rules_shape import SHAPE

RULES: tuple[Rule, ...] = tuple(sorted([*HISTORY, *ITEMS, *REQUEST, *SHAPE], key=lambda rule: rule.number))
