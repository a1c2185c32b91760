"""Which images are read: png, jpeg, webp and gif (documentation of OpenAI, 2026; OAC-16)."""

_STARTS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)
"""The first characters of base64 data of each kind."""

MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_ALIASES = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}


def media_type(data: str, label: str) -> str | None:
    """What the bytes say that it is, else the label; ``None`` where neither is a kind that is read."""
    for start, kind in _STARTS:
        if data.startswith(start):
            return kind
    label = label.lower()
    label = _ALIASES.get(label, label)
    return label if label in MEDIA_TYPES else None
