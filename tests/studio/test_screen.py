"""The one screen, read as HTML and as JSON: the same facts as the functions that users call return."""

import json
import re
from pathlib import Path

import pytest

import segue

from .conftest import EXAMPLE, TWO, Running

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())


def test_a_column_has_what_preview_and_lint_return(studio: Running) -> None:
    found = studio.json(f"/c/{studio.open().id}.json?to={TWO}")
    for name, column in zip(TWO.split(","), found["columns"], strict=True):
        preview, model = segue.preview(CONTEXT, name), segue.get_model(name)
        findings = segue.lint(segue.encode(CONTEXT, model, None, "off").json(), model.protocol, model)
        assert column["model"] == model.ref
        assert column["tokens"]["tokens"] == preview.tokens.tokens
        assert column["cost"]["total"] == preview.cost.total
        assert column["lost"] == sum(change.lossy for change in preview.changes)
        assert column["adapted"] == sum(not change.lossy for change in preview.changes)
        assert column["refused"] == sum(finding.severity == "error" for finding in findings)


def test_every_change_and_finding_is_in_the_row_of_its_message(studio: Running) -> None:
    found = studio.json(f"/c/{studio.open().id}.json?to={TWO}")
    for at, name in enumerate(TWO.split(",")):
        changes = [(row["index"], c["code"]) for row in found["rows"] for c in row["columns"][at]["changes"]]
        expected = [(c.message, c.code) for c in segue.preview(CONTEXT, name).changes if c.message is not None]
        assert sorted(changes) == sorted(expected)
        request = segue.encode(CONTEXT, name, None, "off")
        for finding in segue.lint(request.json(), request.model.protocol, request.model):
            row = found["rows"][request.sources.messages(finding.path)[0]]
            assert finding.message in [each["message"] for each in row["columns"][at]["findings"]]


def test_a_row_has_the_rendered_messages_of_its_source(studio: Running) -> None:
    found = studio.json(f"/c/{studio.open().id}.json?to={TWO}")
    projection = segue.project(CONTEXT, TWO.split(",")[1])
    for row in found["rows"]:
        expected = [
            json.loads(segue.Context([message]).to_json())["messages"][0]
            for message, source in zip(projection.context.messages, projection.sources, strict=True)
            if source == row["index"]
        ]
        assert row["columns"][1]["messages"] == expected


def test_the_page_says_in_words_what_is_lost_adapted_and_refused(studio: Running) -> None:
    page = studio.page(f"/c/{studio.open().id}?to={TWO}")
    assert re.search(r'<b class="word">lost</b>', page)
    assert re.search(r'<b class="word">adapted</b>', page)
    assert re.search(r'<b class="word">refused</b>', page)
    assert "as stored" in page
    assert "a conversation of segue" in page
    rule = next(iter(segue.lint(segue.encode(CONTEXT, TWO.split(",")[1], None, "off").json(), "mistral-chat")))
    assert rule.source[:20].replace("'", "&#39;") in page


def test_a_loss_of_the_encoder_strikes_nothing_that_is_sent(studio: Running) -> None:
    drawing = segue.ImageContent("PHN2Zz4=", "image/svg+xml")
    context = segue.Context([segue.UserMessage([segue.TextContent("a plan"), drawing])])
    [opened] = studio.shelf.add_text(context.to_json(), "drawing")
    page = studio.page(f"/c/{opened.id}?to=anthropic/claude-sonnet-5")
    assert "image replaced by text" in page
    assert "<del" not in page
    assert '<span class="kind">as stored </span>' not in page


def test_without_models_two_of_other_makers_are_shown(studio: Running) -> None:
    found = studio.json(f"/c/{studio.open().id}.json")
    assert [column["target"]["model"] for column in found["columns"]] == ["anthropic/claude-sonnet-5", "openai/gpt-5.4"]


def test_an_unknown_model_is_an_error_in_its_column_only(studio: Running) -> None:
    found = studio.json(f"/c/{studio.open().id}.json?to=nowhere/x,mistral/mistral-large-latest")
    assert "unknown provider" in found["columns"][0]["error"]
    assert found["columns"][1]["error"] is None
    assert "unknown provider" in studio.page(f"/c/{studio.open().id}?to=nowhere/x")


def test_adding_a_model_leads_to_its_url(studio: Running) -> None:
    response = studio.get(f"/c/{studio.open().id}?to=anthropic/claude-sonnet-5&add=openai/gpt-5.4")
    assert response.url.params["to"] == "anthropic/claude-sonnet-5,openai/gpt-5.4"


def test_a_policy_changes_what_its_column_gets(studio: Running) -> None:
    model = "mistral/mistral-large-latest"
    found = studio.json(f"/c/{studio.open().id}.json?to={model},{model}&2.reasoning=drop")
    first, second = ([c["code"] for row in found["rows"] for c in row["columns"][at]["changes"]] for at in (0, 1))
    assert "thinking-as-text" in first
    assert "thinking-dropped" in second
    policy = segue.Policy(reasoning="drop")
    assert second.count("thinking-dropped") == [c.code for c in segue.project(CONTEXT, model, policy).changes].count(
        "thinking-dropped"
    )


def test_a_policy_that_does_not_exist_is_an_error_in_its_column(studio: Running) -> None:
    for choice in ("1.preset=nonsense", "1.reasoning=nonsense", "1.reasoning_limit=x"):
        found = studio.json(f"/c/{studio.open().id}.json?to=openai/gpt-5.4&{choice}")
        assert "policy" in found["columns"][0]["error"], choice


@pytest.mark.parametrize("choices", ["", "&1.preset=phi-core", "&1.preset=or&1.reasoning=drop&1.missing_result=gone"])
def test_the_python_that_can_be_copied_makes_the_same_request(
    studio: Running, choices: str, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"/c/{studio.open().id}?to=mistral/mistral-large-latest{choices}"
    code = re.search(r"<pre>(from pathlib.*?)</pre>", studio.page(address), re.DOTALL)
    assert code is not None
    names: dict[str, segue.Request] = {}
    exec(code[1].replace("&#39;", "'").replace("&#34;", '"'), names)
    body = studio.get(address.replace("?", "/body?") + "&raw=1").content
    assert names["request"].json() == body


def test_the_raw_body_is_what_encode_returns(studio: Running) -> None:
    id_ = studio.open().id
    body = studio.get(f"/c/{id_}/body?to={TWO}&raw=2").content
    assert body == segue.encode(CONTEXT, TWO.split(",")[1]).json()
    page = studio.page(f"/c/{id_}?to={TWO}&raw=2")
    assert "curl https://api.mistral.ai/v1/chat/completions" in page
    assert "<details open>" in page
    assert studio.get(f"/c/{id_}/body?to={TWO}").status_code == 404


def test_a_difference_marks_words(studio: Running) -> None:
    page = studio.page(f"/c/{studio.open().id}?to={TWO}&diff=1")
    assert "<ins>[Reasoning] </ins>" in page
    assert "thinking, signed there" in page
    assert "no difference" in page
    other = studio.page(f"/c/{studio.open().id}?to={TWO}&diff=0,2")
    assert "<del>toolu_01A7deploys</del>" in other


def test_find_counts_all_messages_and_marks_the_words(studio: Running) -> None:
    id_ = studio.open().id
    found = studio.json(f"/c/{id_}.json?to={TWO}&find=DEPLOYS")
    assert found["found"] == [1, 2]  # the call, and its result
    page = studio.page(f"/c/{id_}?to={TWO}&find=DEPLOYS&hit=2")
    assert f"2 of {len(found['found'])}" in page
    assert "<mark>deploys</mark>" in page
    assert "not found" in studio.page(f"/c/{id_}?find=zzzz")


def test_the_strip_links_to_every_switch(studio: Running) -> None:
    page = studio.page(f"/c/{studio.open().id}")
    strip = page[page.index('id="strip"') : page.index("</nav>")]
    assert re.findall(r'href="#m(\d+)"', strip) == ["1", "6", "10", "11"]
    assert "cancelled by the user" in strip


def test_the_url_of_a_file_is_the_same_in_the_next_studio(studio: Running) -> None:
    assert studio.open().id == studio.open().id


def test_a_request_body_that_was_opened_has_its_own_findings_at_their_place(studio: Running, tmp_path: Path) -> None:
    body = segue.encode(CONTEXT, "mistral/mistral-large-latest", None, "off").json()
    (tmp_path / "body.json").write_bytes(body)
    found = studio.json(f"/c/{studio.open(tmp_path / 'body.json').id}.json")
    assert found["form"] == "a request body of mistral-chat"
    placed = [row["index"] for row in found["rows"] if row["findings"]]
    assert placed
    assert "this body: refused" in studio.page(f"/c/{found['id']}")


def test_the_default_models_can_be_compared_and_have_policies_too(studio: Running) -> None:
    found = studio.page(f"/c/{studio.open().id}?diff=1&2.reasoning=drop")
    assert 'aria-current="true"' in found
    assert "policy: reasoning drop" in found
    assert "raw body for openai/gpt-5.4" in studio.page(f"/c/{studio.open().id}?raw=2")
