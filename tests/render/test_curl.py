"""``request.curl()``: the command sends the request, and shows no secret."""

import shlex
from itertools import pairwise

from msgspec.structs import replace

import segue


def test_the_command_has_the_address_and_the_headers_of_the_request() -> None:
    request = segue.encode("hello", "anthropic/claude-sonnet-5")
    command, address, *rest = shlex.split(request.curl())
    assert (command, address) == ("curl", f"{request.model.base_url}{request.path}")
    assert rest[-2:] == ["--data-binary", "@body.json"]
    headers = [each for flag, each in pairwise(rest) if flag == "-H"]
    assert headers == [f"{name}: {value}" for name, value in request.headers.items()]


def test_a_secret_in_a_header_is_not_shown_and_quotes_stay_quoted() -> None:
    model = replace(
        segue.get_model("openai/gpt-5.4"), headers={"authorization": "Bearer sk-1234567890abcdef", "x-note": "it's; rm"}
    )
    command = segue.encode("hello", model).curl()
    assert "1234567890abcdef" not in command
    assert "x-note: it's; rm" in shlex.split(command)
