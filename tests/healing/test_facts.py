"""What is learnt from a refused request: it is kept where the caller wants, it expires, and the user's file overrides
it."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.providers import reach
from support.quirks import ASKED

import segue
from segue import Catalog, Fact, Facts, Model, Options
from segue.catalog import FactFile, read_facts
from segue.healing.facts import LIFETIME, default_facts
from segue.healing.file import write_facts, written
from segue.rules import CURES
from segue.testing import StandIn

WORDS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
NAME = "vllm/Gpt-9[x]*"
MODEL = Catalog.load().resolve(NAME)
[ROW] = [cure for cure in CURES if cure.number == "8"]


def learnt(facts: Facts, model: Model = MODEL, **values: object) -> Model:
    """Teach ``facts`` these values, as a healed request does."""
    values = values or {"max_tokens_field": "max_completion_tokens"}
    after = model.amended(values)
    facts.learn(model, after, values, "8", ROW.example)
    return after


def refusing(body: dict[str, object]) -> str | None:
    return WORDS if "max_tokens" in body else None


def ask(server: StandIn, facts: Facts, heal: bool = True) -> segue.AssistantMessage:
    connection = reach(server, facts=facts, heal=heal)
    return segue.complete_sync(ASKED, MODEL, Options(max_tokens=100), connection=connection, check=False)


def test_a_fact_says_what_was_learnt_where_and_when() -> None:
    facts = Facts(clock=lambda: 1_800_000_000.0)
    with StandIn("vllm", refuses=refusing) as server:
        ask(server, facts)
        url = server.url
    [fact] = facts
    assert (fact.provider, fact.model, fact.protocol) == ("vllm", "Gpt-9[x]*", "openai-completions")
    assert (fact.endpoint, fact.field, fact.value) == (url, "max_tokens_field", "max_completion_tokens")
    assert (fact.cure, fact.words, fact.version) == ("8", ROW.example, segue.__version__)
    assert (fact.first, fact.last, fact.count) == ("2027-01-15T08:00:00Z", "2027-01-15T08:00:00Z", 1)
    assert fact.expires == "2027-02-14T08:00:00Z"


def test_a_fact_expires_and_is_tried_without_once() -> None:
    now = [1_800_000_000.0]
    facts = Facts(clock=lambda: now[0])
    with StandIn("vllm", refuses=refusing) as server:
        ask(server, facts)
        ask(server, facts)
        assert len(server.requests) == 3
        now[0] += LIFETIME + 1
        ask(server, facts)  # without the fact: it is refused again, and learnt again
        assert len(server.requests) == 5
        [fact] = facts
        assert (fact.first, fact.count) == ("2027-01-15T08:00:00Z", 2)
        ask(server, facts)
        assert len(server.requests) == 6


def test_an_expired_fact_that_no_longer_holds_is_forgotten() -> None:
    now = [0.0]
    facts = Facts(clock=lambda: now[0])
    learnt(facts)
    now[0] += LIFETIME + 1
    assert facts.amend(MODEL) == MODEL
    learnt(facts, sampling=False)
    assert [fact.field for fact in facts] == ["sampling"]


def test_a_fact_is_about_one_model_at_one_endpoint() -> None:
    facts = Facts()
    after = learnt(facts)
    assert facts.amend(MODEL).dialect == after.dialect
    assert facts.amend(MODEL.replace(id="gpt-9[x]*")).dialect == after.dialect  # names are compared in lower case
    for other in (MODEL.replace(id="gpt-9"), MODEL.replace(base_url="http://other"), MODEL.replace(provider="other")):
        assert facts.amend(other) == other


def test_a_model_says_which_of_its_fields_were_learnt() -> None:
    facts = Facts()
    learnt(facts, max_tokens_field="max_completion_tokens", sampling=False, max_tokens=7)
    model = facts.amend(MODEL)
    assert model.learnt == ("max_tokens", "max_tokens_field", "sampling")
    assert model.max_tokens == 7


def test_a_fact_that_is_learnt_again_counts() -> None:
    now = [1_800_000_000.0]
    facts = Facts(clock=lambda: now[0])
    learnt(facts)
    now[0] += 24 * 3600
    learnt(facts)
    [fact] = facts
    assert fact.count == 2
    assert (fact.first, fact.last) == ("2027-01-15T08:00:00Z", "2027-01-16T08:00:00Z")


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_file_keeps_facts_for_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "below" / "learnt.toml"
    after = learnt(Facts(path), refused_keywords=("pattern", "format"), reasoning_field=None, input=("text",))
    assert after.dialect == Facts(path).amend(MODEL).dialect
    assert {fact.field for fact in Facts(path)} == {"refused_keywords", "reasoning_field"}  # input did not change
    assert path.stat().st_mode & 0o077 == 0


def test_without_writing_a_file_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "learnt.toml"
    learnt(Facts(path))
    before = path.read_bytes()
    facts = Facts(path, writes=False)
    learnt(facts, sampling=False)
    assert path.read_bytes() == before
    assert facts.amend(MODEL).learnt == ("max_tokens_field", "sampling")


def test_a_file_that_cannot_be_written_does_not_break_a_request(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    facts = Facts(blocked / "learnt.toml")
    learnt(facts)
    assert facts.amend(MODEL).learnt == ("max_tokens_field",)


def test_threads_and_processes_do_not_overwrite_each_other(tmp_path: Path) -> None:
    path = tmp_path / "learnt.toml"
    models = [MODEL.replace(id=f"model-{number}") for number in range(20)]
    threads = [threading.Thread(target=learnt, args=(Facts(path), model)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {fact.model for fact in Facts(path)} == {model.id for model in models}


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
FACTS = st.builds(
    Fact,
    provider=st.sampled_from(["vllm", "openai"]),
    model=TEXT.filter(bool),
    protocol=st.just("openai-completions"),
    endpoint=TEXT,
    field=st.just("refused_fields"),
    value=st.lists(TEXT, max_size=3).map(tuple),
    cure=TEXT,
    words=TEXT,
    version=TEXT,
    first=TEXT,
    last=TEXT,
    count=st.integers(1, 9),
    expires=TEXT,
)


@given(facts=st.lists(FACTS, max_size=4), signatures=st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT, min_size=1)))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, facts: list[Fact], signatures: dict[str, dict[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("facts") / "learnt.toml"
    hexed = {name: {key.encode().hex() or "0": when for key, when in each.items()} for name, each in signatures.items()}
    file = FactFile(tuple(facts), hexed)
    write_facts(str(path), file)
    assert read_facts(str(path)) == file, written(file)


@pytest.mark.parametrize(
    "text",
    [
        "not = [toml",
        "families = 3",
        "[[families]]\nmodels = 1",
        '[[families]]\nmodels = ["vllm/x"]\nprotocol = "openai-completions"\nwhy = "x"\ndialect = { gone = 1 }\n'
        "learnt = {}",
        "signatures = 3",
        "\x00",
    ],
)
def test_a_damaged_file_is_reported_and_breaks_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "learnt.toml"
    path.write_text(text)
    facts = Facts(path)
    assert list(facts) == []
    assert facts.amend(MODEL) == MODEL
    learnt(facts)
    assert [fact.field for fact in Facts(path)] == ["max_tokens_field"]


# -- the catalog -----------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "learnt.toml"
    monkeypatch.setenv("SEGUE_LEARNT", str(path))
    monkeypatch.delenv("SEGUE_LEARN", raising=False)
    monkeypatch.setattr("segue.healing.facts._persists", False)  # a command in this process may have set it
    return path


def test_the_catalog_knows_what_was_learnt_about_its_own_endpoints(file: Path) -> None:
    learnt(Facts(file))
    assert Catalog.default().resolve(NAME).learnt == ("max_tokens_field",)
    assert Catalog.load().resolve(NAME).learnt == ()


@pytest.mark.parametrize(
    "row",
    [
        "[providers.vllm.dialect.openai-completions]",
        f'[models."{NAME}".dialect.openai-completions]',
    ],
)
def test_the_users_file_overrides_what_was_learnt(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    learnt(Facts(file), max_tokens_field="max_completion_tokens", sampling=False)
    own = tmp_path / "catalog.toml"
    own.write_text(f'{row}\nmax_tokens_field = "max_tokens"\n')
    monkeypatch.setenv("SEGUE_CATALOG", str(own))
    model = Catalog.default().resolve(NAME)
    assert model.learnt == ("sampling",)
    assert Facts(file).amend(model).learnt == ("sampling",)


@pytest.mark.parametrize(("mode", "reads", "writes"), [("off", False, False), ("use", True, False), ("on", True, True)])
def test_a_variable_says_whether_the_file_is_used(
    file: Path, monkeypatch: pytest.MonkeyPatch, mode: str, reads: bool, writes: bool
) -> None:
    learnt(Facts(file))
    before = file.read_bytes()
    monkeypatch.setenv("SEGUE_LEARN", mode)
    assert (Catalog.default().resolve(NAME).learnt != ()) is reads
    facts = default_facts()
    assert (facts.amend(MODEL).learnt != ()) is reads
    learnt(facts, MODEL.replace(id=mode))
    assert (file.read_bytes() != before) is writes


def test_the_library_does_not_write_by_default(file: Path) -> None:
    learnt(default_facts())
    assert not file.exists()


def test_another_value_of_the_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_LEARN", "yes")
    with pytest.raises(segue.SettingError, match="SEGUE_LEARN is 'yes'; it must be off, use or on"):
        segue.get_model("openai/gpt-5.1")


# -- forgetting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda path: Facts(), lambda path: Facts(path / "learnt.toml")])
def test_facts_can_be_forgotten(tmp_path: Path, make: Callable[[Path], Facts]) -> None:
    facts = make(tmp_path)
    other = MODEL.replace(id="other")
    for model in (MODEL, other):
        learnt(facts, model)
        facts.learn(model, model.replace(foreign=frozenset({"abc"})), [], "1", "")
    assert facts.amend(MODEL).foreign == frozenset({"abc"})
    assert [fact.model for fact in facts.forget("vllm/OTHER")] == ["other"]
    assert facts.amend(other) == other and facts.amend(MODEL) != MODEL
    facts.forget()
    assert facts.amend(MODEL) == MODEL
