// A conversation that began on Claude continues on Mistral: node with_vercel_ai.mjs BASE_URL KEY
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

const [baseURL, apiKey] = process.argv.slice(2);
const mistral = createOpenAICompatible({ name: "mistral", baseURL, apiKey });
const toolCallId = "toolu_01A09q90qw90lq917835lq9"; // Claude's form of an id
const output = { type: "text", value: "18 C" };
const { text } = await generateText({
  model: mistral("mistral-large-latest"),
  maxRetries: 0,
  messages: [
    { role: "user", content: "How is the weather in Paris?" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "weather", input: { city: "Paris" } }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId, toolName: "weather", output }] },
  ],
});
console.log(text);
