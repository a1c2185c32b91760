"""The forms of tool-call ids, as a table, and deriving an id of a form."""

from hashlib import blake2b
from typing import NamedTuple

from .base import IdForm


class IdShape(NamedTuple):
    """The pattern of ids that segue makes (``form``), and of ids that the target accepts (``accepts``).

    Both patterns match the whole id.
    """

    prefix: str
    form: str
    accepts: str
    digits: int
    """The number of characters after the prefix of a new id; 0 if ids are counted."""

    @property
    def counted(self) -> bool:
        """Whether an id consists of the tool's name and the number of calls before it."""
        return not self.digits

    def counted_id(self, name: str, number: int) -> str:
        """An id of a counted form: the name of the tool and the number of calls before this one."""
        return f"{self.prefix}{name}:{number}"


ID_SHAPES: dict[IdForm, IdShape] = {
    # "string too long. Expected a string with maximum length 40" (OpenAI Chat and Azure, 2024-25; 64 seen in 2026, but
    # 40 works everywhere).
    "call-40": IdShape("call_", r"call_[A-Za-z0-9_-]{1,35}", r"[!-~]{1,40}", 24),
    # "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64" (OpenAI Responses,
    # fastllm#45, 2026).
    "call-64": IdShape("call_", r"call_[A-Za-z0-9_-]{1,59}", r"[!-~]{1,64}", 24),
    # "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'" (Anthropic; no documented maximum, all clients use
    # 64). Gemini has no form of its own and accepts these.
    "toolu-64": IdShape("toolu_", r"toolu_[A-Za-z0-9_-]{1,58}", r"[A-Za-z0-9_-]{1,64}", 24),
    # toolUseId: 1 to 64 of [a-zA-Z0-9_.:-] in botocore 1.44, [a-zA-Z0-9_-] in 1.40 and for Claude behind it.
    "plain-64": IdShape("tooluse_", r"[A-Za-z0-9_-]{1,64}", r"[A-Za-z0-9_-]{1,64}", 22),
    # "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (Mistral, code 3280; the chat templates of
    # Mistral models on self-hosted servers check the same).
    "nine": IdShape("", r"[A-Za-z0-9]{9}", r"[A-Za-z0-9]{9}", 9),
    # functions.{name}:{index}, the index counting over the whole conversation: Kimi K2 was trained on it and stalls
    # on other ids if the server does not rewrite them (kimchi#1063, llxprt-code#713, 2026). Always counted again.
    "kimi": IdShape("functions.", r"functions\.[A-Za-z0-9_-]{1,64}:[0-9]+", r"(?!)", 0),
}

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [high + low for low in _DIGITS for high in _DIGITS]
"""All pairs of digits in base 62, the least significant digit first."""


def fresh_id(stored: str, form: IdForm, attempt: int = 0) -> str:
    """Derive an id of a form from ``stored``, which identifies the call; ``attempt`` resolves collisions."""
    shape = ID_SHAPES[form]
    number = int.from_bytes(blake2b(f"{attempt}:{stored}".encode("utf-8", "surrogatepass"), digest_size=24).digest())
    pairs = []
    for _ in range(0, shape.digits, 2):
        number, pair = divmod(number, len(_PAIRS))
        pairs.append(_PAIRS[pair])
    return shape.prefix + "".join(pairs)[: shape.digits]
