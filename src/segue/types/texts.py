"""The fixed texts that segue writes into a conversation where a target needs words that no one wrote."""

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
    """The text of a failed result where the protocol has no flag for it."""
    return text if text.startswith(ERROR) else ERROR + text
