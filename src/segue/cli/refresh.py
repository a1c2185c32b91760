"""`segue models --refresh`: bring newer windows, prices and dates of models."""

import os
import time

import httpx2
import msgspec

from ..catalog import Catalog, RefreshedFile, from_models_dev, refreshed_file, write_refreshed
from ..client import parse_endpoint
from ..environment import make_http
from ..errors import SettingError
from ..types.secret import shown_address
from ..types.text import count_of
from .keys import LOOPBACK
from .terminal import print_note

URL_VARIABLE = "SEGUE_CATALOG_URL"
URL = "https://models.dev/api.json"
LARGEST = 64 * 1024 * 1024
TIMEOUT = 60.0
SHOWN = 5
"""How many faults are printed."""


def refresh() -> int:
    """Download the list, check it, and write the file. The exit status is 1 if nothing in it is usable."""
    url = os.environ.get(URL_VARIABLE) or URL
    document = _decoded(_download(url), url)
    shipped = Catalog.load()
    models, faults = from_models_dev(document, shipped.providers, shipped.models)
    for fault in faults[:SHOWN]:
        print_note(f"left out: {fault}")
    if len(faults) > SHOWN:
        print_note(f"left out: {len(faults) - SHOWN} more")
    if not models:
        print_note(f"{shown_address(url)} has no usable model; the rows stay as they are")
        return 1
    path = refreshed_file()
    day = time.strftime("%Y-%m-%d", time.gmtime())
    write_refreshed(path, RefreshedFile(source=shown_address(url), date=day, models=models))
    known = set(shipped.names)
    new = sum(ref not in known for ref in models)
    print_note(f"{count_of(len(models), 'model')} from {shown_address(url)}, {new} of them new, saved to {path}")
    return 0


def _download(url: str) -> bytes:
    """The document. Anything but HTTPS is accepted only from this machine."""
    shown = shown_address(url)
    bare, user = parse_endpoint(url, query=True)
    parts = httpx2.URL(bare)
    if parts.scheme != "https" and parts.host not in LOOPBACK:
        raise SettingError(f"{URL_VARIABLE} is {shown!r}; it must begin with https://")
    data = bytearray()
    try:
        made = make_http(lambda: httpx2.Client(timeout=TIMEOUT, follow_redirects=False))
        with made as http, http.stream("GET", bare, headers=user) as answer:
            if answer.status_code != 200:
                raise SettingError(f"{shown} answered with status {answer.status_code}; set {URL_VARIABLE} to a mirror")
            for piece in answer.iter_bytes():
                data += piece
                if len(data) > LARGEST:
                    raise SettingError(f"{shown} sends more than {LARGEST // 1024 // 1024} MB, which is not the list")
    except httpx2.HTTPError as error:
        raise SettingError(f"{shown} cannot be reached: {error}; set {URL_VARIABLE} to a mirror") from None
    return bytes(data)


def _decoded(data: bytes, url: str) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SettingError(f"{shown_address(url)} is not a list of models: {error}") from None
