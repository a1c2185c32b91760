"""Adapt schemas of tools that are not strict for OpenAI. The schema is changed in place: pass a copy."""

from typing import Any

# "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
# (langchain-ai/langchainjs#9804, 2026-01)
_NOT_AT_THE_ROOT = ("oneOf", "anyOf", "allOf", "enum", "not")
# Keywords whose values are maps of schemas, and those whose values are data.
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA = frozenset({"const", "default", "enum", "example", "examples", "required"})


def adapt(schema: Any) -> tuple[dict[str, Any], bool]:
    """Return the schema, changed in place if necessary, and whether its meaning has changed."""
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}, True
    refused = [name for name in _NOT_AT_THE_ROOT if name in schema]
    for name in refused:
        del schema[name]
    changed = bool(refused) or schema.get("type") != "object"
    schema["type"] = "object"
    # "In context=(), object schema missing properties." (spring-projects/spring-ai#4776)
    if not isinstance(schema.get("properties"), dict):
        changed = changed or "properties" in schema
        schema["properties"] = {}
    _complete_arrays(schema)
    return schema, changed


def _complete_arrays(schema: dict[str, Any]) -> None:
    """Add empty ``items`` to arrays without: "array schema missing items." (mcp-digitalocean#265, 2026-02)"""
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += [item for item in node if isinstance(item, (dict, list))]
            continue
        kind = node.get("type")
        if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in node:
            node["items"] = {}
        for name, value in node.items():
            if name in _BY_NAME and isinstance(value, dict):
                waiting += [item for item in value.values() if isinstance(item, dict)]
            elif isinstance(value, (dict, list)) and name not in _DATA:
                waiting.append(value)
