"""Text that is safe to print on a terminal, by the rules of ``types.printable``."""

from ..types.printable import escape_json as escape_json, mask as mask, one_line as one_line, printable as printable
