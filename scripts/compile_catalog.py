"""Check the catalog's files, and write src/segue/catalog/compiled.json from those that are maintained by hand.

python scripts/compile_catalog.py         part of `make docs` and `make catalog`

Programs read it instead of the TOML files, which take longer to parse and to check.
"""

from collections.abc import Mapping

import msgspec

from segue.catalog.loader import HERE, compiled


def text() -> bytes:
    """The content of the file: one provider, family or model per line."""
    found = compiled()
    sections = {
        "providers": _table(found.providers),
        "families": b"[\n" + b",\n".join(msgspec.json.encode(family) for family in found.families) + b"\n]",
        "models": _table(found.models),
    }
    return b"{\n" + b",\n".join(b'"' + name.encode() + b'": ' + part for name, part in sections.items()) + b"\n}\n"


def _table(rows: Mapping[str, object]) -> bytes:
    lines = [msgspec.json.encode(name) + b": " + msgspec.json.encode(row) for name, row in rows.items()]
    return b"{\n" + b",\n".join(lines) + b"\n}"


if __name__ == "__main__":
    (HERE / "compiled.json").write_bytes(text())
