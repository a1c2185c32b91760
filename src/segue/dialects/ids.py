"""The forms of tool-call ids, as a table, and ids that are derived in one of them."""

from hashlib import blake2b
from typing import NamedTuple

from .base import IdForm


class IdShape(NamedTuple):
    """How ids of a form look (``form``), and which ids the target takes back because it made them (``accepts``).

    Both patterns match the whole id.
    """

    prefix: str
    form: str
    accepts: str
    digits: int
    """How many characters segue puts after the prefix when it mints an id; none, if it counts."""

    @property
    def counted(self) -> bool:
        """Whether an id is made of the name of the tool and of how many calls came before."""
        return not self.digits

    def counted_id(self, name: str, number: int) -> str:
        """An id of a counted form: the name of the tool and the number of calls before this one."""
        return f"{self.prefix}{name}:{number}"


ID_SHAPES: dict[IdForm, IdShape] = {
    # "string too long. Expected a string with maximum length 40" (OpenAI Chat and Azure, 2024-25; 64 seen in 2026:
    # the shorter one holds everywhere).
    "call-40": IdShape("call_", r"call_[A-Za-z0-9_-]{1,35}", r"[!-~]{1,40}", 24),
    # "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64" (OpenAI Responses,
    # fastllm#45, 2026).
    "call-64": IdShape("call_", r"call_[A-Za-z0-9_-]{1,59}", r"[!-~]{1,64}", 24),
    # "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" (Anthropic; no documented maximum, 64 is what
    # every client uses). Gemini has no form of its own and takes these.
    "toolu-64": IdShape("toolu_", r"toolu_[A-Za-z0-9_-]{1,58}", r"[A-Za-z0-9_-]{1,64}", 24),
    # toolUseId: 1 to 64 of [a-zA-Z0-9_.:-] in botocore 1.44, [a-zA-Z0-9_-] in 1.40 and for Claude behind it.
    "plain-64": IdShape("tooluse_", r"[A-Za-z0-9_-]{1,64}", r"[A-Za-z0-9_-]{1,64}", 22),
    # "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (Mistral, code 3280; the chat templates of
    # Mistral models on self-hosted servers check the same).
    "nine": IdShape("", r"[A-Za-z0-9]{9}", r"[A-Za-z0-9]{9}", 9),
    # functions.{name}:{index}, the index counting over the whole conversation: Kimi K2 was trained on it and stalls
    # on other ids where the server does not rewrite them (kimchi#1063, llxprt-code#713, 2026). Always counted anew.
    "kimi": IdShape("functions.", r"functions\.[A-Za-z0-9_-]{1,64}:[0-9]+", r"(?!)", 0),
}

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [high + low for low in _DIGITS for high in _DIGITS]
"""Two digits of a number in base 62 at a time, the least significant first."""


def fresh_id(stored: str, form: IdForm, attempt: int = 0) -> str:
    """An id of the form, derived from the identity alone; ``attempt`` is the way out of collisions."""
    shape = ID_SHAPES[form]
    number = int.from_bytes(blake2b(f"{attempt}:{stored}".encode("utf-8", "surrogatepass"), digest_size=24).digest())
    pairs = []
    for _ in range(0, shape.digits, 2):
        number, pair = divmod(number, len(_PAIRS))
        pairs.append(_PAIRS[pair])
    return shape.prefix + "".join(pairs)[: shape.digits]
