"""Ids of items of OpenAI Responses in the provider's form: ``rs_``, ``msg_`` or ``fc_``, and 48 hex digits.

An id shows whether the account made it and which reasoning its item followed, so that nothing has to be stored: 12
digits of its own, 12 of the reasoning (zeros: none), and 24 that only the account can compute from both. Encrypted
content contains the id of its item.
"""

from ..signatures import Signer

_OWN, _LINK, _ALL = 12, 24, 48
_NOTHING = "0" * _OWN
_FERNET = "gAAAAA"
"""The prefix of encrypted content in public issues (openai/codex#8119 and others, 2025-12)."""


def new_id(prefix: str, text: str, after: str | None, signer: Signer) -> str:
    """A new id for an item with ``text`` that follows the reasoning ``after``."""
    own = signer.digest(signer.issue(text))[:_OWN]
    return _build(prefix, own, _digits(after)[:_OWN] if after else _NOTHING, signer)


def is_issued(item_id: str, signer: Signer) -> bool:
    """Whether this account made the id."""
    digits = _digits(item_id)
    expected = _build(item_id.partition("_")[0], digits[:_OWN], digits[_OWN:_LINK], signer)
    return len(digits) == _ALL and item_id == expected


def reasoning_of(item_id: str, signer: Signer) -> str | None:
    """The id of the reasoning that the item with this id followed; the id must be issued."""
    link = _digits(item_id)[_OWN:_LINK]
    return None if link == _NOTHING else _build("rs", link, _NOTHING, signer)


def encrypted(item_id: str, signer: Signer) -> str:
    """The encrypted content of a reasoning item."""
    return _FERNET + _digits(item_id) + signer.issue(item_id)


def owner_of(content: str, signer: Signer) -> str | None:
    """The id of the item that encrypted content belongs to; ``None`` if this account did not make it."""
    digits = content.removeprefix(_FERNET)
    item_id = f"rs_{digits[:_ALL]}"
    return item_id if signer.verify(digits[_ALL:], item_id) else None


def _build(prefix: str, own: str, link: str, signer: Signer) -> str:
    return f"{prefix}_{own}{link}{signer.digest(f'{prefix}_{own}{link}')[: _ALL - _LINK]}"


def _digits(item_id: str) -> str:
    return item_id.partition("_")[2]
