"""`segue studio`: a page that shows a conversation, and side by side what each model would receive of it."""

import argparse
import os
import threading
import webbrowser
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import SessionError, SettingError
from ..session import Store, default_path, find_session, open_store
from .files import FILE_HELP
from .formats import Item, Source, read_file
from .standin import port
from .terminal import print_note, print_text

if TYPE_CHECKING:
    from ..studio import Shelf

INSTALL = "segue studio needs the extra `studio`: pip install 'segue[studio]'"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", metavar="FILE", help=f"{FILE_HELP}; or a stored session (default: a list)")
    parser.add_argument(
        "--to", nargs="+", action="extend", default=[], metavar="MODEL", help="the models to show, as PROVIDER/MODEL"
    )
    parser.add_argument("--gateway", metavar="URL", default="", help="also show the requests of a running gateway")
    parser.add_argument("--store", help="where sessions are stored (default: the same as for segue chat)")
    parser.add_argument("--port", type=port, default=0, help="the port to listen on (default: any free one)")
    parser.add_argument("--no-open", action="store_true", help="do not open the page in a browser")


def run(args: argparse.Namespace) -> int:
    try:
        from ..studio import Server, Shelf
    except ImportError as error:
        raise SettingError(f"{INSTALL} ({error.name} is missing)") from None
    shelf = Shelf(read_lines, _store(args.store))
    path = _open(shelf, args.what, args.to)
    server = Server(shelf, port=args.port, gateway=args.gateway)
    url = server.url(path)
    print_text(url)
    print_note("the studio runs on this machine only; Ctrl-C stops it")
    if not args.no_open:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    server.run()
    return 0


def read_lines(lines: Iterable[bytes], name: str) -> Iterator[Item]:
    """Read all conversations of a document, in any format that commands read."""
    return read_file(lines, Source(name))


def _store(location: str | None) -> Store | None:
    """The store, unless nothing has been stored yet."""
    if location is None and not os.environ.get("SEGUE_SESSIONS") and not default_path().exists():
        return None
    return open_store(location, create=False)


def _open(shelf: "Shelf", what: str | None, to: list[str]) -> str:
    """Open what the user named, and return the path of its page."""
    from ..studio import Target, View, id_of

    view = View(to=tuple(Target(name) for each in to for name in each.split(",") if name))
    query = f"?{view.query()}" if view.to else ""
    if what is None:
        return "/"
    if os.path.exists(what):
        found = shelf.add_file(what)
        return f"/c/{found[0].id}{query}" if len(found) == 1 else "/"
    if shelf.store is None:
        raise SessionError(f"{what}: there is no such file, and nothing is stored yet")
    return f"/c/{id_of('session', find_session(shelf.store, what))}{query}"
