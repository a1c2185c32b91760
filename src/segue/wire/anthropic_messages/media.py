"""Which images the API reads: "Image does not match the provided media type" where the label lies (ANT-44)."""

# The first characters of base64 data of each kind: PNG, JPEG, GIF87a and GIF89a, RIFF (of which images are WebP).
_STARTS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGODdh", "image/gif"),
    ("R0lGODlh", "image/gif"),
    ("UklGR", "image/webp"),
)
# SDK anthropic 2.8.0, Base64ImageSourceParam.media_type.
MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def kind_of(data: str) -> str | None:
    """The media type that base64 data is of, where its first bytes tell."""
    for start, kind in _STARTS:
        if data.startswith(start):
            return kind
    return None


def media_type(data: str, label: str) -> str | None:
    """The media type to send: what the bytes say, else the label; ``None`` where neither is one that the API reads."""
    found = kind_of(data)
    if found is not None:
        return found
    label = label.lower()
    if label == "image/jpg":
        return "image/jpeg"
    return label if label in MEDIA_TYPES else None
