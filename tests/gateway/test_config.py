"""Configuration: everything that is wrong is reported at once; litellm's file is read as it is."""

from pathlib import Path

import pytest

from segue.errors import ConfigError, ModelNotFoundError
from segue.gateway import check_start, load_config
from segue.gateway.config import Config, GatewaySetting
from segue.gateway.guard import Guard
from segue.gateway.routes import Routes

GOOD = """
[gateway]
listen = "127.0.0.1:4000"
master_key = "env:SEGUE_TEST_MASTER"
[[routes]]
name = "claude-*"
models = ["anthropic/claude-sonnet-5", { model = "openai/gpt-5.4", weight = 2, account = "b" }]
policy = "weighted"
[providers.openai]
[[providers.openai.accounts]]
name = "a"
api_key = "key-of-a"
[[providers.openai.accounts]]
name = "b"
api_key = "key-of-b"
[providers.anthropic]
api_key = "key-of-anthropic"
[[keys]]
name = "alice"
key = "alices-key"
models = ["claude-*"]
budget = { dollars = 20, per = "day" }
limits = { requests_per_minute = 60 }
expires = 2037-01-01
"""

LITELLM = """
model_list:
  - model_name: fast
    litellm_params: {model: gemini/gemini-2.5-pro, api_key: os.environ/SEGUE_TEST_MASTER, rpm: 6, timeout: 3}
  - model_name: fast
    litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: sk-one}
  - model_name: big
    litellm_params: {model: gpt-5.1, api_key: sk-two, api_base: "https://example.com/v1"}
    model_info: {mode: chat}
router_settings:
  fallbacks: [{fast: [big]}]
  model_group_alias: {quick: {model: fast, hidden: true}}
  num_retries: 1
  routing_strategy: least-busy
litellm_settings: {drop_params: true}
general_settings: {master_key: sk-master}
"""


def load(tmp_path: Path, text: str, name: str = "segue.toml") -> Config:
    (tmp_path / name).write_text(text)
    return load_config(tmp_path / name)


def test_a_good_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_TEST_MASTER", "the-master")
    config = load(tmp_path, GOOD)
    assert config.gateway.master_key == "the-master"
    assert [member.weight for member in config.routes[0].models] == [1, 2]
    [key] = config.keys
    assert key.owner == "alice" and "alices-key" not in repr(config)
    route = Routes(config).resolve("claude-anything", "anthropic-messages")
    assert [(target.model.ref, target.reach.connection.api_key) for target in route.targets] == [
        ("anthropic/claude-sonnet-5", "key-of-anthropic"),
        ("openai/gpt-5.4", "key-of-b"),
    ]


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("sonnet-5", "sonnet-5").replace('policy = "weighted"', 'policy = "lucky"\nmodel = "x"')
    text = text.replace("expires = 2037-01-01", 'expires = "soon"') + "[extra]\n[providers.antropic]\n"
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    found = "\n".join(caught.value.faults)
    for part in ("SEGUE_TEST_MASTER is not set", "policy", "routes[0].model:", "expires", "extra", "anthropic"):
        assert part in found


BAD = """
[gateway]
listen = "nowhere"
master_key = ""
secret = ""
keepalive = inf
idle_timeout = nan
[[routes]]
name = "one"
models = [
    { model = "openai/gpt-5.4", wieght = 2, base_url = "x" },
    { modle = "x" },
    "nope/x",
    5,
]
policy = "lucky"
[providers.openai]
base_url = "not an address"
[[providers.openai.accounts]]
name = "a"
[[providers.openai.accounts]]
api_key = "env:SEGUE_TEST_MISSING"
[[keys]]
name = "one"
key = "same"
budget = { dollars = inf, per = "year" }
limits = { requests_per_minute = 0, tokens_per_hour = 5 }
[[keys]]
name = "two"
key = "same"
[[keys]]
name = "three"
key = " "
"""
PLACES = (
    "gateway.listen: 'nowhere'", "gateway.master_key:", "gateway.secret:", "gateway.keepalive:",
    "gateway.idle_timeout:",
    "routes[0].models[0].wieght", "routes[0].models[1].modle", "routes[0].models[1]: model is missing", "'nope'",
    "routes[0].models[3]", "route 'one': base_url", "routes[0].policy", "providers.openai.base_url",
    "providers.openai.accounts[0]: api_key is missing", "SEGUE_TEST_MISSING", "accounts[1]: name is missing",
    "keys[0].budget.dollars", "keys[0].budget.per", "keys[0].limits.requests_per_minute",
    "keys[0].limits.tokens_per_hour", "keys: 'one' and 'two' are the same key", "keys[2].key: it is empty",
)  # fmt: skip


def test_so_are_those_of_tables_in_tables(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, BAD)
    assert [part for part in PLACES if part not in "\n".join(caught.value.faults)] == []
    assert len(caught.value.faults) == len(PLACES), caught.value.faults


def test_litellms_file_is_read_and_every_unused_setting_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEGUE_TEST_MASTER", "google-key")
    config = load(tmp_path, LITELLM, "config.yaml")
    routes = {route.name: [(each.model, each.weight) for each in route.models] for route in config.routes}
    fast = [("google/gemini-2.5-pro", 6), ("anthropic/claude-sonnet-4-5", 1), ("openai/gpt-5.1", 0)]
    assert routes == {"fast": fast, "quick": fast, "big": [("openai/gpt-5.1", 1)]}
    assert config.master_is_client and config.gateway.retries == 1
    assert [note.split()[0] for note in config.notes] == [
        "router_settings.routing_strategy",
        "litellm_settings.drop_params",
        "model_list[0].litellm_params.timeout",
        "model_list[2].model_info.mode",
        "router_settings.model_group_alias.quick.hidden",
    ]


BAD_LITELLM = """
model_list:
  - model_name: fast
    litellm_params: {model: openai/gpt-5.1, api_key: os.environ/SEGUE_TEST_MISSING, weight: -1, api_base: nowhere}
  - 5
router_settings: {num_retries: 1.5, cooldown_time: soon, fallbacks: {fast: [big]}, model_group_alias: [a]}
litellm_settings: [drop_params]
general_settings: {master_key: [a]}
environment_variables: x
"""


def test_all_faults_of_litellms_file_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, BAD_LITELLM, "config.yaml")
    found = "\n".join(caught.value.faults)
    places = (
        "SEGUE_TEST_MISSING", "model_list[0].litellm_params.weight", "'nowhere'", "model_list[1]",
        "router_settings.num_retries", "router_settings.cooldown_time", "router_settings.fallbacks",
        "router_settings.model_group_alias", "litellm_settings:", "environment_variables:",
        "general_settings.master_key",
    )  # fmt: skip
    assert [part for part in places if part not in found] == []


def test_a_store_is_found_from_the_file_not_from_the_working_directory(tmp_path: Path) -> None:
    """A cloned repository may have a file of that name, with routes that lead the keys elsewhere."""
    assert load(tmp_path, '[gateway]\nstore = "gateway.db"').gateway.store == str(tmp_path / "gateway.db")
    for store in ("/var/lib/segue.db", "postgresql://segue@db/segue"):
        assert load(tmp_path, f'[gateway]\nstore = "{store}"').gateway.store == store


def test_a_public_address_needs_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_TEST_MASTER", "the-master")
    public = Config(gateway=GatewaySetting(listen="0.0.0.0:4000"))
    with pytest.raises(ConfigError, match="can be reached by others"):
        check_start(public, None)
    check_start(load(tmp_path, GOOD.replace("127.0.0.1", "0.0.0.0")), None)


@pytest.mark.parametrize(
    ("headers", "served"),
    [
        ({"host": "127.0.0.1:4000"}, True),
        ({"host": "localhost"}, True),
        ({"host": "[::1]:4000"}, True),
        ({"host": "evil.example"}, False),
        ({"host": "llm.example:8443"}, True),
        ({"host": "localhost", "origin": "https://evil.example"}, False),
        ({"host": "localhost", "origin": "https://good.example"}, True),
        ({"host": "localhost", "x-forwarded-for": "1.2.3.4"}, False),
    ],
)
def test_web_pages_and_proxies_are_not_local_clients(headers: dict[str, str], served: bool) -> None:
    guard = Guard("127.0.0.1", ["LLM.example:443"], ["https://good.example"], public=False)
    assert (guard.problem(headers) is None) == served


def test_exact_names_come_before_patterns_and_those_before_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-openai")
    routes = Routes(Config())
    assert routes.resolve("gpt-5.4", "openai-responses").targets[0].model.ref == "openai/gpt-5.4"
    assert routes.resolve("openai/gpt-5.4", "openai-responses").targets[0].model.ref == "openai/gpt-5.4"


def test_a_bare_name_is_that_of_its_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a cloud that hosts it has a key, too; without a key of the vendor, the cloud answers."""
    monkeypatch.setenv("AZURE_API_KEY", "azure-key")
    monkeypatch.setenv("AZURE_RESOURCE_NAME", "resource")
    monkeypatch.setenv("XAI_API_KEY", "xai-key")
    assert Routes(Config())._catalog_name("grok-4") == "xai/grok-4"
    monkeypatch.delenv("XAI_API_KEY")
    assert Routes(Config())._catalog_name("grok-4") == "azure/grok-4"


def test_an_unknown_name_is_refused_with_the_nearest_ones_each_once() -> None:
    with pytest.raises(ModelNotFoundError) as caught:
        Routes(Config()).resolve("nope-5", "openai-responses")
    _, _, hint = str(caught.value).partition("did you mean ")
    names = hint.rstrip("?").split(" or ")
    assert len(names) == len(set(names)) > 1


def test_the_model_behind_every_name_is_listed() -> None:
    assert Routes(Config(), to="openai/gpt-5.4").names() == ["openai/gpt-5.4"]
