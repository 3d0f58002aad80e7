// A small MCP server over standard input and output: tools that do nothing but say what they were called with.
import readline from "node:readline";

const text = (description) => ({ type: "object", properties: { query: { type: "string", description } }, required: ["query"] });
const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tools = [
  { name: "search_regulations", title: "Search regulations", description: "Searches the regulations.", inputSchema: text("what to look for"), annotations: { readOnlyHint: true } },
  { name: "search_companies", description: "Searches the companies.", inputSchema: text("what to look for"), annotations: { readOnlyHint: true } },
  { name: "delete_file", description: "Deletes a file.", inputSchema: path, annotations: { destructiveHint: true } },
  { name: "slow_search", description: "Searches for a second.", inputSchema: text("what to look for"), annotations: { readOnlyHint: true } },
];
let deleted = 0;
const run = {
  search_regulations: ({ query }) => `3 articles about ${query}`,
  search_companies: ({ query }) => `1 company called ${query}`,
  delete_file: ({ path }) => `deleted ${path} (${++deleted})`,
  slow_search: async ({ query }) => { await new Promise((r) => setTimeout(r, 1000)); return `slowly found ${query}`; },
};
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

for await (const line of readline.createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "agui-check", version: "1" } } });
  else if (method === "ping") send({ id, result: {} });
  else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call") Promise.resolve(run[params.name](params.arguments ?? {})).then((said) => send({ id, result: { content: [{ type: "text", text: said }] } }));
  else send({ id, error: { code: -32601, message: "not known here" } });
}
