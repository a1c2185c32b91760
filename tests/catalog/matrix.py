"""The matrix of dialects, printed from code: each distinct set of cells with the models that have it.

    python tests/catalog/matrix.py > tests/catalog/matrix.txt

regenerates the file that ``test_matrix.py`` compares with, so that a change in resolution shows in a diff.
"""

import json
from collections import defaultdict

from segue.catalog import Catalog, differing
from segue.types.model import Model

EXAMPLES = 4
WIDTH = 118


def render(catalog: Catalog) -> str:
    """One block for each distinct pair of protocol and cells, with a few of its models."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for model in [*catalog.resolve_all(), *_unknown(catalog)]:
        cells = json.dumps(differing(model.dialect), sort_keys=True)
        groups[model.protocol, cells].append(model.ref)
    return "".join(_block(protocol, cells, refs) for (protocol, cells), refs in sorted(groups.items()))


def _unknown(catalog: Catalog) -> list[Model]:
    """A model without a row, for each provider and protocol."""
    return [
        catalog.resolve(f"{name}/a-model-nobody-knows", protocol)
        for name, provider in catalog.providers.items()
        for protocol in provider.protocols
    ]


def _block(protocol: str, cells: str, refs: list[str]) -> str:
    lines = [f"  {name} = {json.dumps(value)}" for name, value in json.loads(cells).items()]
    names = ", ".join(refs[:EXAMPLES]) + (", …" if len(refs) > EXAMPLES else "")
    return "\n".join([protocol, *(lines or ["  (defaults)"]), f"  : {names}"]) + "\n\n"


if __name__ == "__main__":
    print(render(Catalog.load()), end="")
