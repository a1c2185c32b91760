"""The section of the bench on accepted requests: for segue all are, and its judges can refuse."""

import json
import re
from pathlib import Path

import pytest

from bench import judge
from bench.accepted import question
from bench.corpus import conversations
from bench.histories import send_all
from bench.provider import Recorder
from bench.users.segue import Segue
from segue.wire.registry import PROTOCOLS, protocol_of

ROOT = Path(__file__).parents[1]


def test_every_request_of_segue_for_the_corpus_would_be_accepted() -> None:
    library, every = Segue(), conversations()
    assert len(every) > 60
    refused = []
    with Recorder().running() as server:
        for conversation in every:
            for target, sent in send_all(library, conversation, server).items():
                assert not sent.raised, (conversation.names, target.title, sent.raised)
                body = judge.Body(*json.loads(question(target, conversation, sent)))
                refused += [(conversation.names, target.title, each) for each in judge.judged(body)]
    assert refused == []


FOREIGN = {
    "anthropic-messages": (
        "anthropic/claude-sonnet-4-5",
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "go"}]},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]},
                {"role": "user", "content": [{"type": "text", "text": "next"}]},
            ],
        },
    ),
    "google-generative-ai": (
        "google/gemini-2.5-pro",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"text": "ok", "thoughtSignature": "c2ln"}]},
                {"role": "user", "parts": [{"text": "next"}]},
            ]
        },
    ),
}


@pytest.mark.parametrize("protocol", FOREIGN)
def test_a_signature_is_refused_unless_the_target_made_it(protocol: str) -> None:
    ref, body = FOREIGN[protocol]
    own = judge.Body(protocol, ref, json.dumps(body), ["c2ln"])
    foreign = judge.Body(protocol, ref, json.dumps(body), ["b3RoZXI="])
    assert not [each for each in judge.judged(own) if each.judge == "signature"]
    assert [each for each in judge.judged(foreign) if each.judge == "signature"]


def test_mistral_common_and_botocore_refuse_what_they_refuse() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "user", "content": "next"},
    ]
    assert judge.by_mistral_common("mistral-chat", {"model": "m", "messages": messages})
    assert not judge.by_mistral_common("mistral-chat", {"model": "m", "messages": messages[:1]})
    assert judge.by_botocore("bedrock-converse", {"messages": [{"role": "user", "content": [{"txt": "go"}]}]})
    assert not judge.by_botocore("bedrock-converse", {"messages": [{"role": "user", "content": [{"text": "go"}]}]})


def test_rules_that_are_not_counted_exist_and_have_a_reason() -> None:
    known = {rule.number for protocol in PROTOCOLS for rule in protocol_of(protocol).rules}
    for row in judge.DISPUTED:
        assert row.rule in known
        assert row.why.endswith(".")


def test_the_page_names_every_target_and_gives_segue_all_requests() -> None:
    page = (ROOT / "docs" / "accepted.md").read_text()
    shares = next(line for line in page.splitlines() if line.startswith("| segue ") and "%" in line)
    *counts, total = [cell.strip() for cell in shares.strip("| ").split("|")][1:]
    assert len(set(counts)) == 1 and len(counts) == len(PROTOCOLS) and total.endswith("(100 %)")


def test_the_readme_shows_this_figure_first_with_the_number_of_conversations() -> None:
    readme, page = (ROOT / "README.md").read_text(), (ROOT / "docs" / "accepted.md").read_text()
    figures = re.findall(r"^!\[.*\]\((.*)\)", readme, flags=re.MULTILINE)
    assert figures[0] == "docs/bench-accepted.svg"
    measured = re.search(r"of (\d+) conversations each", page)
    assert measured is not None and f"Of the {measured[1]} conversations" in readme
