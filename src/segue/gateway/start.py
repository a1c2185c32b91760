"""What has to be true before a gateway listens, what it serves without any configuration, and the lines for clients."""

import os
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ..catalog import Catalog
from ..errors import ConfigError, ModelError
from .config import Config, GatewaySetting, Member, ProviderSetting, RouteSetting, split_listen
from .guard import is_loopback


def address_of(config: Config, port: int | None = None) -> tuple[str, int]:
    """Host and port to listen on."""
    found = split_listen(config.gateway.listen)
    if found is None:
        raise ConfigError("gateway", [f"listen: {config.gateway.listen!r} is not HOST:PORT"])
    return found[0], found[1] if port is None else port


def check_start(config: Config, to: str | None, has_stored_keys: bool = False) -> None:
    """Raise if the gateway must not start: on a public address without a key, or for a model that does not exist."""
    faults: list[str] = []
    host, _ = address_of(config)
    has_keys = config.keys or has_stored_keys or (config.master_is_client and config.gateway.master_key)
    if not is_loopback(host) and not has_keys:
        faults.append(
            f"listen: {host} can be reached by others, and there are no keys; add [[keys]], or listen on 127.0.0.1"
        )
    if to is not None:
        try:
            Catalog.default().find(to)
        except ModelError as error:
            faults.append(f"--to: {error.for_shell()}")
    if faults:
        raise ConfigError("gateway", faults)


def with_listen(config: Config, host: str | None, port: int | None) -> Config:
    """The configuration with another address."""
    old_host, old_port = address_of(config)
    listen = f"{host or old_host}:{old_port if port is None else port}"
    return replace(config, gateway=replace(config.gateway, listen=listen))


def usable_providers(config: Config) -> list[str]:
    """The providers whose key is set, in the file or in the environment."""
    return [
        row.id
        for row in Catalog.default().providers.values()
        if row.id in config.providers or any(os.environ.get(name, "").strip() for name in row.keys)
    ]


def with_standins(config: Config, standins: Iterable[tuple[str, str, str, str]]) -> Config:
    """The configuration with stand-ins in place of providers: for each its provider, protocol, address and key."""
    found = {
        provider: ProviderSetting(base_url=url, api_key=key, protocol=protocol)
        for provider, protocol, url, key in standins
    }
    return replace(config, providers={**found, **config.providers})


def with_local(config: Config, models: Mapping[str, str | None]) -> Config:
    """The configuration with models of this machine, each with its address, or ``None`` for that of its row."""
    routes = [RouteSetting(name=ref, models=(Member(model=ref, base_url=url),)) for ref, url in models.items()]
    return replace(config, routes=(*config.routes, *routes))


def url_of(host: str, port: int) -> str:
    """The address that clients use."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def client_lines(url: str, model: str, key: str = "anything") -> list[str]:
    """The commands that point each client at the gateway."""
    settings = f'name="segue", base_url="{url}/v1", env_key="GATEWAY_KEY", wire_api="responses"'
    codex = f"model_providers.segue={{{settings}}}"
    return [
        f"Claude Code   ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key} claude --model {model}",
        f"Codex         GATEWAY_KEY={key} codex -m {model} -c model_provider=segue -c '{codex}'",
        f"Gemini CLI    GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key} gemini -m {model}",
        f"OpenAI SDK    OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}",
        f"Anthropic SDK ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key}",
        f"google-genai  GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key}",
    ]


def default_settings() -> GatewaySetting:
    """The settings without a file."""
    return GatewaySetting()
