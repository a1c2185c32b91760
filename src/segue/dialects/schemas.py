"""The forms of tool schemas that targets accept, as a table. ``wire/common/schema`` adapts schemas to them, and lint
checks them."""

from typing import Literal, NamedTuple

SchemaForm = Literal["2020-12", "draft-7", "openai", "xai", "moonshot", "gemini", "gemini-subset", "nova"]
"""The rules that a target has for the schemas of tools."""

SchemaRefs = Literal["keep", "inline", "none"]
"""How a target reads ``$ref``: well; badly, so that definitions are inlined, except for recursive ones; or not at all,
so that recursion ends after some levels."""


class SchemaShape(NamedTuple):
    """What a form accepts. The defaults accept everything."""

    draft: Literal["2020-12", "7"] = "2020-12"
    """The draft of JSON Schema by which keywords are checked."""
    root: Literal["any", "object", "plain"] = "plain"
    """The root: any schema; a schema of type object; or one that also has no alternatives (``anyOf``, ``not`` …)."""
    root_keywords: frozenset[str] | None = None
    """The keywords that the root may have; ``None``: all of them."""
    root_properties: bool = False
    """Whether the root must have ``properties``."""
    property_names: str | None = None
    """The pattern of the names of the root's properties; ``None``: any name."""
    refs: SchemaRefs = "keep"
    tuples: Literal["any", "prefixItems", "one"] = "any"
    """Tuples: as written; with ``prefixItems``, where ``items`` must be one schema; or one schema for all elements."""
    array_items: bool = False
    """Whether every array must have ``items``."""
    booleans: bool = True
    """Whether ``true`` and ``false`` are schemas below the root."""
    patterns: Literal["any", "python", "plain"] = "any"
    """Regular expressions: any; those that Python compiles; or also without lookahead and lookbehind."""
    unions: Literal["any", "alone"] = "any"
    """``alone``: ``anyOf`` is the only union, and only annotations are beside it."""
    typed: bool = False
    """Whether every schema must have a type, and its ``enum`` only values of that type."""
    known_required: bool = False
    """Whether ``required`` may name only defined properties."""
    subset: bool = False
    """Whether only the keywords of Google's OpenAPI subset exist (``wire/common/schema/subset.py``)."""


SCHEMA_SHAPES: dict[SchemaForm, SchemaShape] = {
    # "JSON schema is invalid. It must match JSON Schema draft 2020-12"; "input_schema does not support oneOf, allOf, or
    # anyOf at the top level" (Anthropic, claude-code#63673 and #40075, 2026); "input_schema.properties: Property keys
    # should match pattern" (erikmaday/unusual-whales-mcp#57, 2026-01).
    "2020-12": SchemaShape(tuples="prefixItems", property_names=r"[a-zA-Z0-9_.-]{1,64}"),
    # "Invalid tool schema: …": mistral-common checks draft 7 with the library jsonschema, which compiles patterns in
    # Python (mistral-common 1.13 validator.py, 2026-11).
    "draft-7": SchemaShape(draft="7", root="any", patterns="python"),
    # "[{'type': 'number'}, …] is not of type 'object', 'boolean'" (vercel/ai#2271); "array schema missing items", also
    # beside prefixItems (fastcore#798, 2026-04; openai-agents-python#302); "'^…\\p{Cc}…' is not a 'regex'"
    # (litellm#40485, 2026-09); "Invalid JSON schema: regex lookaround is not supported" (vercel/ai#20021, 2026-08);
    # "object schema missing properties" (spring-ai#4776). `true` is written as `{}`, as all clients do (opencode).
    "openai": SchemaShape(
        root_properties=True, tuples="prefixItems", array_items=True, booleans=False, patterns="plain"
    ),
    # "'items' must be a schema (object or boolean), not an array. For tuple validation use 'prefixItems' instead."
    # (xAI, hermes-agent#20976, 2026-05)
    "xai": SchemaShape(root_properties=True, tuples="prefixItems", booleans=False),
    # Moonshot Flavored JSON Schema: "tools.function.parameters is not a valid moonshot flavored json schema, details:
    # <At path '…': …>". Its validator is public (MoonshotAI/walle, docs/validation-principles.md, 2026-11); the API
    # uses the level `lite`. Older versions refuse more: `type` and other keywords beside `anyOf` or `$ref`, unknown
    # names in `required`, an `enum` without a type or with values of another (kimi-cli#2061, opencode#37496, pi#4138,
    # kimi-code#1610, 2026-04 to 2026-08). A gateway was seen to refuse every `$ref` (CLIProxyAPI#5316), so only
    # recursive definitions stay references.
    "moonshot": SchemaShape(
        root_properties=True,
        refs="inline",
        tuples="one",
        booleans=False,
        unions="alone",
        typed=True,
        known_required=True,
    ),
    # `parametersJsonSchema`: "Schema.ref was set alongside unsupported fields" (gemini-cli-mcp-openai-bridge#10,
    # 2026-05); clients inline references (hermes-agent#98928, 2026-08). A list in `items` is not a schema.
    "gemini": SchemaShape(root="object", refs="inline", tuples="prefixItems"),
    # `parameters`: a subset of OpenAPI (GEM-16). OpenRouter converts schemas to it and does not know `$defs`, `const`,
    # `oneOf`, exclusive bounds or enums of numbers (pydantic-ai#3617 and providers/openrouter.py, 2.66.0, 2026-11).
    "gemini-subset": SchemaShape(
        refs="none", tuples="one", array_items=True, booleans=False, unions="alone", typed=True, subset=True
    ),
    # "Only three fields are supported in top-level Object: type, properties, and required" (docs.aws.amazon.com, Nova,
    # "Troubleshooting tool calls"; an error according to pydantic-ai#1623), so there is no place for definitions.
    "nova": SchemaShape(
        root_keywords=frozenset({"type", "properties", "required"}),
        root_properties=True,
        refs="none",
        tuples="prefixItems",
    ),
}
