#!/bin/sh
# The built wheel, installed into an empty environment: the library and the command must work there, away from the
# source tree, with nothing but what the wheel asks for.
set -eu
root=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/.venv/bin/python" -m pip --disable-pip-version-check --quiet wheel --no-deps --no-build-isolation \
    --wheel-dir "$work/dist" "$root"
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check --quiet install \
    --constraint "$root/requirements/run.txt" "$work"/dist/segue-*.whl

cp "$root/examples/three-models.json" "$work/conversation.json"
cd "$work"
venv/bin/segue --version
venv/bin/segue show conversation.json >/dev/null
venv/bin/segue show --json - <conversation.json >/dev/null
venv/bin/segue models --json claude-sonnet-5 >/dev/null
venv/bin/python - <<'PYTHON'
from pathlib import Path

import segue

home = Path(segue.__file__)
assert "site-packages" in home.parts, home
assert (home.parent / "py.typed").exists()
for name in segue.__all__:
    getattr(segue, name)
context = segue.Context.from_json(Path("conversation.json").read_bytes())
assert segue.Context.from_json(context.to_json()) == context
assert segue.get_model("anthropic/claude-sonnet-5").context_window > 0
print("the wheel works:", len(segue.list_models()), "models")
PYTHON
