"""Parts of contents as blocks of a conversation."""

from typing import Any

from ...errors import FormatError
from ...types import FileContent, ImageContent, TextContent, UserContent
from ...types.media import UNKNOWN_TYPE, is_address, type_of_address
from .shapes import get


def text_of(part: dict[str, Any], path: str) -> str:
    """The text of a part that has no other content."""
    text = get(part, "text")
    if text is not None and not isinstance(text, str):
        raise FormatError("text must be a text", path=f"{path}.text")
    return text or ""


def user_block(part: Any, path: str) -> UserContent:
    """A part as text, image or file. Anything else becomes a text that describes it."""
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
        return _file(file)
    return TextContent(_description(part))


def _file(file: Any) -> UserContent:
    """A file by address. Addresses that only Google reads become texts."""
    mime_type, uri = str(get(file, "mimeType") or ""), get(file, "fileUri")
    is_image = (mime_type or type_of_address(str(uri)) or "").startswith("image/")
    if not isinstance(uri, str) or not is_address(uri):
        return TextContent(f"({'image' if is_image else 'file'} at {uri})")
    if is_image:
        return ImageContent(url=uri, mime_type=mime_type)
    name = get(file, "displayName")
    mime_type = mime_type or type_of_address(uri) or UNKNOWN_TYPE
    return FileContent(url=uri, mime_type=mime_type, name=name if isinstance(name, str) else None)


def _inline(inline: Any, path: str) -> UserContent:
    data, mime_type = get(inline, "data"), get(inline, "mimeType")
    if not isinstance(data, str) or not isinstance(mime_type, str):
        raise FormatError("inline data must have data and mimeType", path=path)
    if mime_type.startswith("image/"):
        return ImageContent(data, mime_type)
    name = get(inline, "displayName")
    return FileContent(data, mime_type or UNKNOWN_TYPE, name=name if isinstance(name, str) else None)


def _description(part: dict[str, Any]) -> str:
    """What is readable of a part that has no form in a conversation, such as code that the provider ran."""
    code, result = get(part, "executableCode"), get(part, "codeExecutionResult")
    if isinstance(code, dict):
        return f"(code that was run)\n{code.get('code', '')}"
    if isinstance(result, dict):
        return f"(its output)\n{result.get('output', '')}"
    named = ", ".join(name for name in part if name not in ("thought", "thoughtSignature", "thought_signature"))
    return f"(part of another kind: {named})" if named else ""
