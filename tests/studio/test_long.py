"""Long conversations: in chunks, each with an address, and found as a whole."""

import re

import segue
from segue.types import AssistantMessage, TextContent, UserMessage

from .conftest import Running

COUNT = 1_050


def long_conversation(count: int = COUNT) -> bytes:
    messages = [
        UserMessage(f"question {at}") if at % 2 == 0 else AssistantMessage([TextContent(f"answer {at}")])
        for at in range(count)
    ]
    return segue.Context(messages).to_json()


def opened(studio: Running) -> str:
    return studio.shelf.add_text(long_conversation(), "long")[0].id


def rows(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'<article id="m(\d+)"', page)]


def test_a_page_has_the_first_chunk_and_places_for_the_others(studio: Running) -> None:
    page = studio.page(f"/c/{opened(studio)}")
    assert rows(page) == list(range(200))
    assert re.findall(r'id="c(\d+)" class="chunk waiting"', page) == ["200", "400", "600", "800", "1000"]


def test_every_chunk_has_an_address(studio: Running) -> None:
    page = studio.page(f"/c/{opened(studio)}?to=openai/gpt-5.4")
    sources = [source.replace("&amp;", "&") for source in re.findall(r'data-src="([^"]+)"', page)]
    assert [number for source in sources for number in rows(studio.page(source))] == list(range(COUNT))


def test_a_message_can_be_part_of_the_page_without_scripts(studio: Running) -> None:
    assert rows(studio.page(f"/c/{opened(studio)}?at=950")) == [*range(200), *range(800, 1000)]


def test_find_reaches_what_is_not_on_the_page(studio: Running) -> None:
    id_ = opened(studio)
    page = studio.page(f"/c/{id_}?find=answer+951")
    assert "1 of 1" in page
    assert 'href="#m951"' in page
    assert 951 in rows(page)
    assert "<mark>answer 951</mark>" in page
    assert studio.json(f"/c/{id_}.json?find=question")["found"] == list(range(0, COUNT, 2))


def test_json_has_a_chunk_and_the_address_of_the_next(studio: Running) -> None:
    address, seen = f"/c/{opened(studio)}.json", 0
    while address:
        found = studio.json(address)
        assert [row["index"] for row in found["rows"]] == list(range(seen, min(seen + 200, COUNT)))
        seen += len(found["rows"])
        address = found["next"]
    assert seen == COUNT


def test_a_long_raw_body_is_shown_in_parts(studio: Running) -> None:
    page = studio.page(f"/c/{opened(studio)}?to=openai/gpt-5.4&raw=1&at=400")
    assert "400–599" in page
    assert "question 400" in page
    assert "question 600" not in page
