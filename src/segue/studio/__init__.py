"""The studio: a page on which a person sees a conversation, and side by side what each model would receive of it.

Everything on it comes from the functions that users call; the studio adds how it looks.
"""

from .opened import Document as Document, Event as Event, Opened as Opened, Read as Read, id_of as id_of
from .serve import Server as Server
from .shelf import Shelf as Shelf
from .view import Target as Target, View as View
