"""`segue gateway`: one server that existing clients point at, and the commands that change it while it runs."""

import argparse
import asyncio
import logging
import os
import secrets
import shlex
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import SettingError
from ..types import dollars
from .printable import one_line
from .standin import port
from .terminal import Screen, print_log, print_note, print_text, write_json

if TYPE_CHECKING:
    from ..gateway import Config, Store

T = TypeVar("T")
PLAYED = (
    ("anthropic", "anthropic-messages", "claude-sonnet-5-5"),
    ("openai", "openai-responses", "gpt-5.6"),
    ("google", "google-generative-ai", "gemini-pro-latest"),
)
"""The providers whose stand-ins are served without a key."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="segue.toml, or litellm's config.yaml")
    parser.add_argument("--to", metavar="MODEL", help="send everything to this model, whatever the client asks for")
    parser.add_argument("--host", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=port, help="the port to listen on (default: 4000)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--store", metavar="STORE", help="a file for SQLite, or postgresql://…")
    parser.add_argument("--strict", action="store_true", help="refuse requests instead of losing anything of them")
    parser.add_argument("--json", action="store_true", help="print JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="while it runs")
    route = actions.add_parser("route", help="change a route, from the next turn of each conversation on")
    route.add_argument("name", nargs="?", help="what clients ask for")
    route.add_argument("models", nargs="*", metavar="MODEL", help="the models that answer")
    route.add_argument("--policy", choices=("fixed", "round-robin", "failover", "weighted"), default="failover")
    route.add_argument("--reset", action="store_true", help="return to the route of the file, or to all of them")
    keys = actions.add_parser("keys", help="add, list or revoke keys of clients")
    keys.add_argument("do", choices=("add", "list", "revoke"))
    keys.add_argument("name", nargs="?")
    keys.add_argument("--tenant", default="", help="whose answers are remembered together (default: the name)")
    keys.add_argument("--model", action="append", default=[], metavar="NAME", help="a name that the key may ask for")
    keys.add_argument("--dollars", type=float, help="a budget")
    keys.add_argument("--per", choices=("day", "month"), default="month", help="of the budget (default: month)")
    keys.add_argument("--requests", type=int, metavar="N", help="requests per minute")
    keys.add_argument("--tokens", type=int, metavar="N", help="tokens per minute")
    keys.add_argument("--expires", type=date.fromisoformat, metavar="YYYY-MM-DD")
    actions.add_parser("usage", help="show what each key has used of each model")
    forget = actions.add_parser("forget", help="delete everything that was remembered for a tenant")
    forget.add_argument("tenant")


def run(args: argparse.Namespace) -> int:
    """Serve, or change a gateway that runs."""
    if args.action is None and args.workers > 1:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="segue-metrics-")  # read at the next import
    try:
        import segue.gateway.server  # noqa: F401
    except ImportError as error:
        raise SettingError(f"the gateway needs {error.name}: pip install 'segue[gateway]'") from None
    config = _config(args)
    action = _ACTIONS.get(args.action)
    return _serve(args, config) if action is None else action(args, config)


def _config(args: argparse.Namespace) -> "Config":
    from msgspec.structs import replace

    from ..gateway import Config, default_file, load_config

    path = args.config or default_file()
    config = Config() if path is None else load_config(path)
    changes: dict[str, Any] = {"strict": True} if args.strict else {}
    if args.store:
        changes["store"] = args.store
    return replace(config, gateway=replace(config.gateway, **changes))


# -- serving ---------------------------------------------------------------------------------------------------------


def _serve(args: argparse.Namespace, config: "Config") -> int:
    from ..gateway import Gateway, address_of, bind, check_start, run_server, run_workers, url_of, with_listen

    if args.workers < 1:
        raise SettingError("--workers must be at least 1")
    config = with_listen(config, args.host, args.port)
    stored = _with_store(config, lambda store: store.keys())[0]
    check_start(config, args.to, bool(stored))
    for route in _with_store(config, lambda store: store.routes()):  # they win over the file and `--to`
        models = ", ".join(member.model for member in route.models)
        reset = f"segue gateway route --reset {shlex.quote(route.name)}"
        print_note(one_line(f"{route.name} is answered by {models}, as it was changed before; to undo that: {reset}"))
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    print_log("segue.gateway.access")  # one line of JSON per request
    with ExitStack() as stack:
        config, model = _providers(config, args.to, stack)
        gateway = Gateway(config, to=args.to)
        host, number = address_of(config)
        try:
            listening = stack.enter_context(bind(host, number))
        except OSError as error:
            raise SettingError(f"{host}:{number} cannot be used: {error.strerror}; choose another --port") from None
        _introduce(
            config, url_of(host, listening.getsockname()[1]), args.to or model, gateway.keys.required or bool(stored)
        )

        def work() -> None:
            run_server(gateway, sockets=[listening])

        if args.workers == 1:
            work()
        else:
            run_workers(args.workers, work, listening)
    return 0


def _providers(config: "Config", to: str | None, stack: ExitStack) -> "tuple[Config, str]":
    """The configuration, with local models and stand-ins if no key is set; and the name of a model to show."""
    from ..gateway import usable_providers, with_local, with_standins
    from ..testing import StandIn
    from .model_choice import FIRST_CHOICES

    usable = usable_providers(config)
    if config.routes:
        return config, next((route.name for route in config.routes if "*" not in route.name), config.routes[0].name)
    if usable or to is not None:
        named = [ref for ref in FIRST_CHOICES if ref.partition("/")[0] in usable]
        return config, next(iter(named), f"{usable[0]}/MODEL" if usable else "")
    print_note("no key of a provider is set; set ANTHROPIC_API_KEY, for example. Until then, these answer:")
    models = _local_models(stack)
    for ref, url in models.items():
        print_note(one_line(f"  {ref}, a model of this machine at {url}"))
    found = []
    for provider, protocol, _ in PLAYED:
        standin = stack.enter_context(StandIn(provider, protocol=protocol))
        found.append((provider, protocol, standin.url, standin.key or ""))
    print_note(f"  stand-ins for models of {', '.join(name for name, _, _ in PLAYED)}, with made-up texts")
    return with_local(with_standins(config, found), models), next(iter(models), PLAYED[0][2])


def _local_models(stack: ExitStack) -> dict[str, str]:
    """The models of servers that run on this machine, and the small one if it is installed; with their addresses."""
    from .local_servers import SMALL, running_models, served
    from .model_choice import is_installed

    models = {model.ref: model.base_url or "" for model in asyncio.run(running_models())}
    if SMALL not in models and is_installed():
        server = served()[SMALL]()
        stack.callback(server.stop)
        models[SMALL] = server.url
    return models


def _introduce(config: "Config", url: str, model: str, needs_key: bool) -> None:
    from ..gateway import client_lines

    for note in config.notes:
        print_note(one_line(note))
    print_text(f"segue gateway listens at {url}")
    key = "YOUR_KEY" if needs_key else "anything"
    for line in client_lines(url, model, key):
        print_text(f"  {line}")
    print_note("Ctrl-C stops it")


# -- while it runs ---------------------------------------------------------------------------------------------------


def _with_store(config: "Config", act: "Callable[[Store], Coroutine[Any, Any, T]]") -> T:
    from ..gateway import open_gateway_store

    async def work() -> T:
        store = open_gateway_store(config)
        try:
            return await act(store)
        finally:
            store.close()

    return asyncio.run(work())


def _route(args: argparse.Namespace, config: "Config") -> int:
    from ..gateway import Member, RouteSetting, check_route

    if args.reset:
        _reset(args.name, config)
        return 0
    if args.name is None or not args.models:
        for route in _with_store(config, lambda store: store.routes()):
            print_text(one_line(f"{route.name}: {', '.join(member.model for member in route.models)} ({route.policy})"))
        return 0
    route = RouteSetting(
        name=args.name, models=tuple([Member(model=model) for model in args.models]), policy=args.policy
    )
    check_route(route, config)
    _with_store(config, lambda store: store.set_route(route))
    print_note(one_line(f"{route.name} is answered by {', '.join(args.models)} from the next turn on"))
    return 0


def _reset(name: str | None, config: "Config") -> None:
    changed = [route.name for route in _with_store(config, lambda store: store.routes())]
    if name is not None and name not in changed:
        names = f"; these were: {', '.join(changed)}" if changed else ""
        raise SettingError(f"the route {name!r} was not changed while a gateway ran{names}")
    _with_store(config, lambda store: store.reset_routes([] if name is None else [name]))
    print_note("the routes of the file are used again")


def _keys(args: argparse.Namespace, config: "Config") -> int:
    from ..gateway import checked_key, digest_of

    if args.do == "list":
        added, revoked = _with_store(config, lambda store: store.keys())
        for each in [*[key for key in config.keys if key.name not in revoked], *added]:
            print_text(one_line(f"{each.name}  tenant {each.owner}  {', '.join(each.models) or 'all models'}"))
        return 0
    if not args.name:
        raise SettingError(f"keys {args.do} needs a name")
    if args.do == "revoke":
        added, revoked = _with_store(config, lambda store: store.keys())
        names = sorted({key.name for key in (*config.keys, *added)} - revoked)
        if args.name not in names:
            raise SettingError(f"there is no key {args.name!r}; the keys are {', '.join(names) or 'none'}")
        _with_store(config, lambda store: store.revoke_key(args.name))
        print_note(one_line(f"the key {args.name} is revoked, within a second"))
        return 0
    key = f"sk-segue-{secrets.token_urlsafe(24)}"
    limits = {"requests_per_minute": args.requests, "tokens_per_minute": args.tokens}
    setting = checked_key(
        {
            "name": args.name,
            "digest": digest_of(key),
            "tenant": args.tenant,
            "models": args.model,
            "budget": None if args.dollars is None else {"dollars": args.dollars, "per": args.per},
            "limits": {name: value for name, value in limits.items() if value is not None},
            "expires": args.expires,
        }
    )
    _with_store(config, lambda store: store.add_key(setting))
    print_text(key)
    print_note("this key is shown once; only its digest is kept")
    return 0


def _usage(args: argparse.Namespace, config: "Config") -> int:
    import msgspec

    rows = _with_store(config, lambda store: store.usage())
    if args.json:
        for row in rows:
            write_json(msgspec.json.encode(row) + b"\n")
        return 0
    if not rows:
        print_note("nothing has been used")
        return 0
    Screen().table(
        ["day", "key", "model", "requests", "input", "output", "cost"],
        [
            [row.day, one_line(row.key), one_line(row.model), str(row.requests), f"{row.input:,}", f"{row.output:,}",
             dollars(row.dollars)]
            for row in rows
        ],
        ["day", "key", "model"],
    )  # fmt: skip
    return 0


def _forget(args: argparse.Namespace, config: "Config") -> int:
    count = _with_store(config, lambda store: store.forget(args.tenant))
    print_note(one_line(f"{count} rows of {args.tenant} were deleted"))
    return 0


_ACTIONS: dict[str | None, Callable[[argparse.Namespace, Any], int]] = {
    "route": _route,
    "keys": _keys,
    "usage": _usage,
    "forget": _forget,
}
