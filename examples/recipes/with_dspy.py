"""DSPy: a conversation that began on Claude continues on Mistral."""

import dspy
from showing import show

import segue
from segue.testing import StandIn

CALL = {
    "id": "toolu_01A09q90qw90lq917835lq9",  # Claude's form of an id
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
}
HISTORY = [
    {"role": "user", "content": "How is the weather in Paris?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "18 C", "tool_call_id": CALL["id"]},
]
repair = segue.adapters.litellm.Repair()


class RepairedLM(dspy.LM):
    """A model of DSPy that repairs what is sent. DSPy's names of models are those of litellm."""

    def __call__(self, prompt=None, *, messages=None, **settings):
        return super().__call__(prompt, messages=messages and repair.repair(messages, self.model), **settings)

    async def acall(self, prompt=None, *, messages=None, **settings):
        return await super().acall(prompt, messages=messages and repair.repair(messages, self.model), **settings)


def ask(server: StandIn, repaired: bool) -> str:
    kind = RepairedLM if repaired else dspy.LM
    lm = kind(
        "mistral/mistral-large-latest", api_base=f"{server.url}/v1", api_key=server.key, cache=False, num_retries=0
    )
    return str(lm(messages=HISTORY)[0])


show(ask, HISTORY)
