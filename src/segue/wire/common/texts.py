"""Texts that encoders write where a protocol needs words that nobody said."""

OPENING = "Continue the conversation."
CLOSING = "Continue."
BETWEEN = "Understood."
ERROR = "Error: "
IMAGES_BELOW = "(see the images below)"
MOVED_IMAGES = "Images from the tool results above:"


def as_error(text: str) -> str:
    """The text of a failed result where the protocol has no flag for it."""
    return text if text.startswith(ERROR) else ERROR + text
