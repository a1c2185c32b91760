"""Parts of contents, in requests and in answers, as text and images of a conversation."""

from typing import Any

from ...errors import FormatError
from ...types import ImageContent, TextContent
from .shapes import get


def readable(part: Any, path: str) -> str:
    """The text of a part of an answer that is not a call."""
    plain = text_or_image(part, path)
    return plain.text if isinstance(plain, TextContent) else f"({plain.mime_type} that the model made: left out)"


def text_or_image(part: Any, path: str) -> TextContent | ImageContent:
    """A part as text or image. Anything else becomes a text that describes it."""
    if not isinstance(part, dict):
        raise FormatError("a part must be an object", path=path)
    text, inline, file = get(part, "text"), get(part, "inlineData"), get(part, "fileData")
    if text is not None:
        if not isinstance(text, str):
            raise FormatError("text must be a text", path=f"{path}.text")
        return TextContent(text)
    if inline is not None:
        return _inline(inline, f"{path}.inlineData")
    if file is not None:
        mime_type, uri = str(get(file, "mimeType") or ""), get(file, "fileUri")
        return TextContent(f"({'image' if mime_type.startswith('image/') else 'file'} at {uri})")
    return TextContent(_description(part))


def _inline(inline: Any, path: str) -> TextContent | ImageContent:
    data, mime_type = get(inline, "data"), get(inline, "mimeType")
    if not isinstance(data, str) or not isinstance(mime_type, str):
        raise FormatError("inline data must have data and mimeType", path=path)
    if mime_type.startswith("image/"):
        return ImageContent(data, mime_type)
    return TextContent(f"({mime_type} of {len(data) * 3 // 4} bytes: left out)")


def _description(part: dict[str, Any]) -> str:
    """What is readable of a part that has no form in a conversation, such as code that the provider ran."""
    code, result = get(part, "executableCode"), get(part, "codeExecutionResult")
    if isinstance(code, dict):
        return f"(code that was run)\n{code.get('code', '')}"
    if isinstance(result, dict):
        return f"(its output)\n{result.get('output', '')}"
    named = ", ".join(name for name in part if name not in ("thought", "thoughtSignature", "thought_signature"))
    return f"(part of another kind: {named})" if named else ""
