"""Reads the body of a request: limited in size, before and after it is decompressed, and in time."""

import asyncio
import zlib
from collections.abc import Callable
from typing import Any


class BodyError(Exception):
    """A body that is not read: its status, and the reason."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Disconnected(Exception):
    """The client has left before its request was complete."""


async def read_bytes(receive: Any, encoding: str, most: int, seconds: float) -> bytes:
    """The body of a request, decompressed."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                piece = message.get("body", b"")
                size += len(piece)
                if size > most:
                    raise BodyError(413, f"the body has more than {most:,} bytes")
                pieces.append(piece)
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise BodyError(408, f"the body did not arrive within {seconds:g} seconds") from None
    data = b"".join(pieces)
    for name in reversed([each.strip().lower() for each in encoding.split(",") if each.strip()]):
        data = _decoded(data, name, most)
    return data


def _decoded(data: bytes, name: str, most: int) -> bytes:
    if name == "identity":
        return data
    decode = _DECODERS.get(name)
    if decode is None:
        raise BodyError(415, f"the encoding {name!r} is not supported; use {', '.join(_DECODERS)}")
    try:
        found = decode(data, most + 1)
    except (zlib.error, ValueError, EOFError) as error:
        raise BodyError(400, f"the body cannot be decompressed as {name}: {error}") from None
    if len(found) > most:
        raise BodyError(413, f"the body has more than {most:,} bytes after decompression")
    return found


def _inflate(bits: int) -> Callable[[bytes, int], bytes]:
    def decode(data: bytes, most: int) -> bytes:
        machine = zlib.decompressobj(bits)
        found = machine.decompress(data, most)
        if len(found) < most and not machine.eof:
            raise ValueError("it ends too early")
        return found

    return decode


def _zstd(data: bytes, most: int) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            found: bytes = reader.read(most)
            return found
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _inflate(31),
    "deflate": _inflate(15),
    "zstd": _zstd,
}
