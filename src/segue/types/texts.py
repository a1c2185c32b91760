"""The fixed texts that segue adds to a conversation where a target needs a text."""

OPENING = "Continue the conversation."
CLOSING = "Continue."
BETWEEN = "Understood."
ERROR = "Error: "
EMPTY_RESULT = "(no output)"
SYSTEM = "[System] {}"
ORPHAN = "[Result of an earlier call to {}]"
REASONING = "[Reasoning] "
IMAGE_OMITTED = "(image omitted: model does not support images)"
IMAGE_TOO_LARGE = "(image omitted: it is larger than the model accepts)"
TOOL_IMAGE_OMITTED = "(tool image omitted: model does not support images)"
IMAGE_EMPTY = "(image omitted: it is empty)"
FILE_OMITTED = "(file omitted: {}; model does not support it)"
FILE_AS_TEXT = "[File {}]\n{}"
IMAGE_NOT_ATTACHED = "(image not attached: {})"
FILE_NOT_ATTACHED = "(file not attached: {})"
PROVIDER_CONTENT = "[{}] {}"
IMAGES_BELOW = "(see the images below)"
FILES_BELOW = "(see the files below)"
MOVED_IMAGES = "Images from the tool results above:"
MOVED_FILES = "Files from the tool results above:"
MOVED_BOTH = "Images and files from the tool results above:"


def as_error(text: str) -> str:
    """Mark the text of a failed result, for protocols that have no flag for it."""
    return text if text.startswith(ERROR) else ERROR + text
