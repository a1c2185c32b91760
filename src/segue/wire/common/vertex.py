"""Models of other vendors on Vertex: their own protocol, with the model in the path."""

import re
from urllib.parse import quote

from ...types import Model, Options

RAW_PATH = re.compile(r"/models/(?P<model>[^/:]+):(?P<method>rawPredict|streamRawPredict)$")
STREAMED = "streamRawPredict"


def vertex_path(model: Model, options: Options) -> str:
    """The path of a request, below the publisher of the model."""
    return f"/models/{quote(model.id, safe='@')}:{STREAMED if options.stream else 'rawPredict'}"
