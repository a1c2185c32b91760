"""Everything that Google answers an error to, or spoils an answer for, as far as a body shows it."""

from ...rules import Rule
from .rules_contents import RULES as CONTENTS
from .rules_shape import RULES as SHAPE
from .rules_tools import RULES as TOOLS
from .rules_turns import RULES as TURNS

RULES: tuple[Rule, ...] = tuple(sorted((*CONTENTS, *TURNS, *TOOLS, *SHAPE), key=lambda rule: rule.number))

# Not here, because a body does not show them:
#   GEM-18  signatures are bound to their endpoint: who made one cannot be read from it (projection/origin.py).
#   GEM-19  a signature on an empty last text must not be lost: what is missing leaves no trace.
#   GEM-20  which dummy signatures are accepted: a permission (dialect field `dummy_signature`).
#   GEM-21  thoughts of another model are not shown as thought parts: theirs look like its own.
#   GEM-22  all signatures of earlier turns or none: a single statement, and answers without thinking have none.
