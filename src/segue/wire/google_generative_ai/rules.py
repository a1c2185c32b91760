"""The rules of generateContent that can be checked in a body: what leads to an error or to a bad answer."""

from ...rules import Rule
from .rules_config import RULES as CONFIG
from .rules_contents import RULES as CONTENTS
from .rules_shape import RULES as SHAPE
from .rules_tools import RULES as TOOLS
from .rules_turns import RULES as TURNS

RULES: tuple[Rule, ...] = tuple(sorted((*CONTENTS, *CONFIG, *TURNS, *TOOLS, *SHAPE), key=lambda rule: rule.number))

# These cannot be checked in a body:
#   GEM-18  signatures are bound to their endpoint: its origin cannot be read from it (projection/origin.py).
#   GEM-19  a signature on an empty last text must not be lost: a missing one cannot be seen.
#   GEM-20  which dummy signatures are accepted: a permission (dialect field `dummy_signature`).
#   GEM-21  thoughts of another model are not sent as thought parts: they look like its own.
#   GEM-22  all signatures of earlier turns or none: one source only, and answers without thinking have none.
