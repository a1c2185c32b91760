"""Ids of the items of OpenAI Responses: in the provider's form, ``rs_`` or ``msg_`` or ``fc_`` and 48 hex digits.

An id can be told from a foreign one, and tells which reasoning its item followed, without anything being remembered:
12 digits of its own, those of the reasoning (zeros: none), and 24 that only the account can make of both. Encrypted
content names the item that it is of.
"""

from ..signatures import Signer

_OWN, _LINK, _ALL = 12, 24, 48
_NOTHING = "0" * _OWN
_FERNET = "gAAAAA"
"""How encrypted content begins, as seen in public issues (openai/codex#8119 and others, 2025-12)."""


def new_id(prefix: str, text: str, after: str | None, signer: Signer) -> str:
    """The id of an item that says ``text`` and was made after the reasoning ``after``."""
    own = signer.digest(signer.issue(text))[:_OWN]
    return _made(prefix, own, _digits(after)[:_OWN] if after else _NOTHING, signer)


def is_issued(item_id: str, signer: Signer) -> bool:
    """Whether this account made the id."""
    digits = _digits(item_id)
    made = _made(item_id.partition("_")[0], digits[:_OWN], digits[_OWN:_LINK], signer)
    return len(digits) == _ALL and item_id == made


def reasoning_of(item_id: str, signer: Signer) -> str | None:
    """The id of the reasoning that the item of an issued id followed."""
    link = _digits(item_id)[_OWN:_LINK]
    return None if link == _NOTHING else _made("rs", link, _NOTHING, signer)


def encrypted(item_id: str, signer: Signer) -> str:
    """The encrypted content of a reasoning item."""
    return _FERNET + _digits(item_id) + signer.issue(item_id)


def owner_of(content: str, signer: Signer) -> str | None:
    """The id of the item that encrypted content is of; none: this account did not make it."""
    digits = content.removeprefix(_FERNET)
    item_id = f"rs_{digits[:_ALL]}"
    return item_id if signer.verify(digits[_ALL:], item_id) else None


def _made(prefix: str, own: str, link: str, signer: Signer) -> str:
    return f"{prefix}_{own}{link}{signer.digest(f'{prefix}_{own}{link}')[: _ALL - _LINK]}"


def _digits(item_id: str) -> str:
    return item_id.partition("_")[2]
