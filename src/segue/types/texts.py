"""The fixed texts that segue adds to a conversation where a target needs a text."""

OPENING = "Continue the conversation."
CLOSING = "Continue."
BETWEEN = "Understood."
ERROR = "Error: "
EMPTY_RESULT = "(no output)"
ORPHAN = "[Result of an earlier call to {}]"
REASONING = "[Reasoning] "
IMAGE_OMITTED = "(image omitted: model does not support images)"
TOOL_IMAGE_OMITTED = "(tool image omitted: model does not support images)"
IMAGES_BELOW = "(see the images below)"
MOVED_IMAGES = "Images from the tool results above:"


def as_error(text: str) -> str:
    """Mark the text of a failed result, for protocols that have no flag for it."""
    return text if text.startswith(ERROR) else ERROR + text
