"""Commands get the environment without its secrets."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.calls import results_of, text_of

from segue.catalog import Catalog
from segue.tools import shell_tool
from segue.tools.environment import is_secret, without_secrets

SECRET_NAMES = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SHARED_CREDENTIALS_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "PGSSLKEY",
    "PGSSLPASSWORD",
    "MYSQL_PWD",
    "REDIS_PASS",
    "DB_PASSWORD",
    "db_passwd",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_PAT",
    "NPM_TOKEN",
    "NPM_CONFIG__AUTH",
    "HF_TOKEN",
    "SLACK_BOT_TOKEN",
    "CLIENT_SECRET",
    "DJANGO_SECRET_KEY",
    "APIKEY",
    "apikey",
    "SSH_KEY_PASSPHRASE",
    "SESSION_COOKIE",
    "MY_JWT",
    "AZURE_SAS",
    "NETRC",
    "SSHPASS",
    "SLACK_WEBHOOK_URL",
    "DOCKER_AUTH_CONFIG",
]
SECRET_VALUES = [
    "postgresql://user:hunter22@db.example/segue",
    "postgresql://user:hunter22/with@slash@db.example/segue",
    "postgres://:hunter22@db.example",
    "sqlite://user:hunter22@/path",
    "mysql+pymysql://user:hunter22@db.example:3306/x?ssl=1",
    "http://user:hunter22@proxy.example:3128",
    "https://hunter22@github.example/repository.git",
    "before https://user:hunter22@host.example after",
    "host=db.example user=segue password=hunter22",
    "host=db.example password = 'hunter22'",
    "postgresql://db.example/segue?user=u&password=hunter22",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=hunter22==;",
    "https://x.blob.example/c?sv=1&sig=hunter22",
    '{"token": "hunter22"}',
    '{"auths": {"registry.example": {"auth": "aHVudGVyMjI="}}}',
    "Authorization: Bearer hunter22",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter22",
]
HARMLESS = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/me",
    "PWD": "/home/me",
    "OLDPWD": "/tmp",
    "LANG": "C.UTF-8",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "GIT_ASKPASS": "/usr/bin/ask",
    "XDG_DATA_DIRS": "/usr/share",
    "VIRTUAL_ENV": "/venv",
    "SEGUE_SESSIONS": "/home/me/sessions.db",
    "DATABASE_URL": "postgresql://db.example:5432/segue",
    "HTTPS_PROXY": "http://proxy.example:3128",
    "GIT_URL": "ssh://git@github.example/x.git",
    "EMAIL": "me@example.com",
    "PYTHONPATH": "/src",
}


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets_are_left_out(name: str) -> None:
    assert without_secrets({name: "x", "HARMLESS": "y"}) == {"HARMLESS": "y"}


@pytest.mark.parametrize("value", SECRET_VALUES)
def test_values_with_credentials_are_left_out_under_any_name(value: str) -> None:
    assert without_secrets({"SEGUE_SESSIONS": value, "ANYTHING": value, "HARMLESS": "y"}) == {"HARMLESS": "y"}


def test_harmless_variables_are_kept() -> None:
    assert without_secrets(HARMLESS) == HARMLESS


def test_the_keys_of_every_provider_are_left_out() -> None:
    names = [name for provider in Catalog.default().providers.values() for name in provider.keys]
    assert names and without_secrets(dict.fromkeys(names, "x")) == {}


WORD = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh0123456789_", max_size=10)


@given(
    WORD,
    st.sampled_from(["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSFILE", "CREDENTIAL", "Credentials"]),
    WORD,
)
def test_a_secret_word_anywhere_in_a_name_is_enough(before: str, word: str, after: str) -> None:
    assert is_secret(before + word + after, "x")


PART = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789%-._~!$&'()*+,;=", min_size=1, max_size=12)


@given(st.sampled_from(["postgresql", "postgres", "http", "https", "redis", "amqp+ssl"]), PART, PART, PART)
def test_a_url_with_a_password_is_secret(scheme: str, user: str, password: str, host: str) -> None:
    assert is_secret("ANYTHING", f"{scheme}://{user}:{password}@{host}/x")


def test_a_command_cannot_print_any_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRET_NAMES:
        monkeypatch.setenv(name, "hunter22")
    for number, value in enumerate(SECRET_VALUES):
        monkeypatch.setenv(f"VALUE_{number}", value)
    monkeypatch.setenv("HARMLESS", "harmless")
    [result] = asyncio.run(results_of([shell_tool(tmp_path)], ("shell", {"command": "env"})))
    assert "hunter22" not in text_of(result) and "harmless" in text_of(result)


def test_an_mcp_server_gets_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package that starts it passes only a list of names."""
    stdio = pytest.importorskip("mcp.client.stdio")
    for name in SECRET_NAMES:
        monkeypatch.setenv(name, "hunter22")
    for number, value in enumerate(SECRET_VALUES):
        monkeypatch.setenv(f"VALUE_{number}", value)
    environment = stdio.get_default_environment()
    assert environment["PATH"] == os.environ["PATH"] and without_secrets(environment) == environment
    assert "hunter22" not in "".join(environment.values())
