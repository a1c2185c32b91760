"""One conversation through six providers: what each would get, and what was changed on the way.

    make tour

Nothing is sent. The conversation in three-models.json was begun by Claude, went on with Gemini, was interrupted in the
middle of four parallel calls, and ended with Mistral: replayed as it is, every one of these providers refuses it.
"""

import sys
from pathlib import Path

import segue

TARGETS = (
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5.4",
    "google/gemini-3-pro-preview",
    "amazon-bedrock/us.amazon.nova-pro-v1:0",
    "mistral/mistral-large-latest",
    "moonshot/kimi-k2.5",
)


def naive_findings(context: segue.Context, model: segue.Model) -> list[segue.Finding]:
    """What the provider would refuse if the history were sent as it is stored."""
    body = segue.encode(context, model, policy="off").body
    return [finding for finding in segue.lint(body, model.protocol, model) if finding.severity == "error"]


def main() -> int:
    context = segue.Context.from_json(Path(__file__).with_name("three-models.json").read_bytes())
    print(f"A conversation of {len(context.messages)} messages by three models (see it with `segue show`).\n")
    refused = 0
    for name in TARGETS:
        model = segue.get_model(name)
        naive = naive_findings(context, model)
        request = segue.encode(context, model)
        findings = segue.lint(request.body, model.protocol, model)
        refused += bool(findings)
        print(f"{name}  ({model.protocol}, POST {request.path}, {len(request.json()):,} bytes)")
        print(f"  as it is stored: {f'refused: {naive[0].answers}' if naive else 'accepted'}"[:118])
        verdict = "accepted" if not findings else f"refused: {findings[0].rule}"
        print(f"  through segue:   {verdict}")
        for line in request.summary().splitlines()[1:]:
            print(f"    {line}")
        print()
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
