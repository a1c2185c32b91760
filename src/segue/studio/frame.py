"""The frame of every page: head, title line, help. The exported file has the same, with everything inside it."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import htpy as h
from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
POLICY = (
    "default-src 'none'; {script}; {style}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
SERVED = POLICY.format(script="script-src 'self'", style="style-src 'self'")
"""The content security policy of pages that the studio serves."""

KEYS = (
    ("j k", "next and previous message"),
    ("n p", "next and previous change"),
    ("N P", "next and previous finding"),
    ("/", "find"),
    ("1 … 9", "go to a column"),
    ("d", "difference, on and off"),
    ("r", "raw body, on and off"),
    ("G", "go to the end, and follow it if the conversation grows"),
    ("?", "this list"),
)


def page(title: str, *content: h.Node, line: h.Node = None) -> str:
    """A page that is served, with its title line."""
    return _document(
        title,
        [h.link(rel="stylesheet", href="/assets/studio.css"), h.script(type="module", src="/assets/studio.js")],
        [h.header("#top")[h.a(".home", href="/")["segue studio"], line], h.main("#page")[content], _help()],
    )


def file_page(title: str, *content: h.Node, line: h.Node = None) -> str:
    """A page that needs no server: with its style and its keys inside, and nothing else that runs."""
    style, script = (ASSETS / "studio.css").read_text(), (ASSETS / "keys.js").read_text()
    policy = POLICY.format(script=f"script-src '{_digest(script)}'", style=f"style-src '{_digest(style)}'")
    # Not possible in a <meta>, and a file has neither.
    policy = policy.replace("; frame-ancestors 'none'", "").replace(" connect-src 'self';", "")
    return _document(
        title,
        [
            h.meta(http_equiv="Content-Security-Policy", content=policy),
            h.style[Markup(style)],
            h.script(type="module")[Markup(script)],
        ],
        [h.header("#top")[h.span(".home")["segue studio"], line], h.main("#page")[content], _help()],
    )


def _document(title: str, head: h.Node, body: h.Node) -> str:
    return str(
        h.html(lang="en")[
            h.head[
                h.meta(charset="utf-8"),
                h.meta(name="viewport", content="width=device-width, initial-scale=1"),
                h.title[f"{title} · segue studio" if title else "segue studio"],
                h.link(rel="icon", href="data:,"),
                head,
            ],
            h.body[body],
        ]
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def keys_button() -> h.Renderable:
    """What opens the list of all keys."""
    return h.button("#keys", type="button", aria_label="keys", title="keys (?)")["?"]


def _help() -> h.Renderable:
    rows = [h.div[h.dt[h.kbd[keys]], h.dd[what]] for keys, what in KEYS]
    return h.dialog("#help", aria_label="Keys")[
        h.h2["Keys"], h.dl(".keys")[rows], h.form(method="dialog")[h.button["Close"]]
    ]
