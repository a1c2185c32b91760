"""Protocols without I/O, both directions: one folder each, all with the same few files."""

from .common.answer import Answer as Answer, Failure as Failure
from .common.arguments import read_arguments as read_arguments
from .common.asked import Asked as Asked
from .common.checks import is_torn as is_torn
from .common.coverage import check_fields as check_fields
from .common.dataurl import to_builtins as to_builtins, to_json as to_json
from .common.frame import MAX_FRAME as MAX_FRAME, BrokenStream as BrokenStream, Frame as Frame, Framing as Framing
from .common.headers import join_headers as join_headers
from .common.images import image_size as image_size
from .common.options import LEVELS as LEVELS, nearest_level as nearest_level
from .common.outgoing import Outgoing as Outgoing
from .common.reader import MALFORMED as MALFORMED, error_text as error_text
from .common.reading import DATA_URL as DATA_URL
from .common.refused import without_fields as without_fields
from .common.seals import signature_of as signature_of
from .common.sse import ServerSentEvents as ServerSentEvents
from .common.turns import Mark as Mark, Turns as Turns
from .common.writing import (
    AnswerForm as AnswerForm,
    Head as Head,
    StreamWriter as StreamWriter,
    explanation as explanation,
    failure_of as failure_of,
    input_of as input_of,
    json_bytes as json_bytes,
)
from .protocol import Protocol as Protocol
from .registry import PROTOCOLS as PROTOCOLS, protocol_of as protocol_of
