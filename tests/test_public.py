"""The public names: one list, each found where it is said to be, and nothing heavy behind `import segue`."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import segue

SOURCE = Path(segue.__file__)


def test_the_export_list_and_the_imports_for_type_checkers_are_the_same() -> None:
    tree = ast.parse(SOURCE.read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    imports = {
        (node.module, alias.name) for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imports == {(room, name) for name, room in segue._HOMES.items()}
    assert segue.__all__ == sorted(name for _, name in imports)


def test_every_public_name_is_found_in_its_room() -> None:
    for name, room in segue._HOMES.items():
        home = import_module(f"segue.{room}")
        assert getattr(segue, name) is getattr(home, name)
        assert name in getattr(home, "__all__", dir(home))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(segue, "no_such_name")


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_segue_loads_no_http_no_command_line_and_no_sdk() -> None:
    """Only the client, which is the one door to providers, and the agent, which uses it, bring HTTP with them; tools
    need an event loop."""
    names = [name for name, room in segue._HOMES.items() if room not in {"client", "agent", "tools"}]
    everything = "; ".join(["import segue", *(f"segue.{name}" for name in names)])
    heavy = {
        "rich",
        "argparse",
        "httpx",
        "httpx2",
        "http",
        "ssl",
        "socket",
        "asyncio",
        "pydantic",
        "anthropic",
        "openai",
    }
    assert not loaded_by(everything) & heavy


def test_tools_bring_an_event_loop_but_no_http_no_command_line_and_no_server() -> None:
    names = [name for name, room in segue._HOMES.items() if room == "tools"]
    everything = "; ".join(["import segue", *(f"segue.{name}" for name in names)])
    heavy = {"rich", "argparse", "httpx", "httpx2", "http", "pydantic", "mcp", "jsonschema_rs", "docstring_parser"}
    assert not loaded_by(everything) & heavy
