"""litellm's ``config.yaml``, read as the same settings. Every setting that is not used is named, one line each.

Fields: docs.litellm.ai/docs/proxy/configs and litellm/types/router.py (2026-11).
"""

from .config import Config


def read_litellm(name: str, data: bytes) -> Config:
    """Read a file of litellm."""
    raise NotImplementedError
