"""Answers on their way: every byte is sent once, in its order, and the end comes once."""

import asyncio
from typing import Any

from segue.gateway.output import Output

Sent = list[dict[str, Any]]


def bodies(sent: Sent) -> bytes:
    return b"".join(each["body"] for each in sent if each["type"] == "http.response.body")


class Client:
    """A client that reads nothing before ``reads`` is set."""

    def __init__(self) -> None:
        self.sent: Sent = []
        self.reads = asyncio.Event()

    async def send(self, message: dict[str, Any]) -> None:
        await self.reads.wait()
        self.sent.append(message)


def test_nothing_is_sent_after_the_end() -> None:
    """Not by the timer of the keepalive either, if it fires just then."""

    async def run() -> Sent:
        client = Client()
        client.reads.set()
        output = Output(client.send)
        output.start(200, {})
        output.push(b"all")
        output.end()
        await asyncio.gather(output.flush(), output.flush())
        await output.flush()
        return client.sent

    sent = asyncio.run(run())
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert bodies(sent) == b"all" and sent[-1]["more_body"] is False


def test_nothing_is_lost_when_the_task_that_sends_is_cancelled() -> None:
    async def run() -> Sent:
        client = Client()
        output = Output(client.send)
        output.start(200, {})
        output.push(b"one ")
        for piece in (b"two ", b"three "):
            flush = asyncio.ensure_future(output.flush())
            await asyncio.sleep(0)
            output.push(piece)
            flush.cancel()
            await asyncio.wait([flush])
        client.reads.set()
        output.push(b"four")
        output.end()
        await output.flush()
        return client.sent

    sent = asyncio.run(run())
    assert bodies(sent) == b"one two three four"
    assert [each["type"] for each in sent].count("http.response.start") == 1


def test_what_is_pushed_while_a_client_does_not_read_follows_in_its_order() -> None:
    async def run() -> Sent:
        client = Client()
        output = Output(client.send)
        output.start(200, {})
        flushes = []
        for piece in (b"a", b"b", b"c"):
            output.push(piece)
            flushes.append(asyncio.ensure_future(output.flush()))
            await asyncio.sleep(0)
        client.reads.set()
        await asyncio.gather(*flushes)
        output.end(broken=True)
        await output.flush()
        return client.sent

    sent = asyncio.run(run())
    assert bodies(sent) == b"abc"
    assert all(each["more_body"] for each in sent if "body" in each)  # broken off: the last message never comes
