"""One server that existing clients point at: four protocols in, every provider out, and models that change at any turn.

A request goes through ``pipeline.py``: route and key, read, recall (what the client could not carry is put back), turn
binding, router, renderer, provider, writer of the client's protocol, remember. Requires the extra ``gateway``.
"""

from .config import Config as Config, default_file as default_file, load_config as load_config
from .gateway import Gateway as Gateway

__all__ = ["Config", "Gateway", "load_config"]
