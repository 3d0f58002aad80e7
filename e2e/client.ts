// The TypeScript SDK against the gateway: `node client.ts URL REVISION`. Lists, calls, is asked something; any surprise is an error.

import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, revision] = process.argv.slice(2);
const modern = revision === '2026-07-28';
const client = new Client(
    { name: 'toolmark-e2e', version: '1.0.0' },
    {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: modern ? { pin: revision } : 'legacy' },
    },
);
let asked = 0;
client.setRequestHandler('elicitation/create', async () => {
    asked += 1;
    return { action: 'accept', content: { name: 'Ann' } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const names: string[] = [];
let cursor: string | undefined;
do {
    const page = await client.listTools({ cursor });
    names.push(...page.tools.map(tool => tool.name));
    cursor = page.nextCursor;
} while (cursor);
assert.equal(new Set(names).size, names.length, 'no name is there twice');
assert.ok(names.includes('read_text_file') && names.includes('archive__read_text_file'));

const text = (result: any): string => result.content.map((block: any) => block.text ?? '').join('\n');
assert.match(text(await client.callTool({ name: 'get-sum', arguments: { a: 20, b: 22 } })), /42/);

const blocked = await client.callTool({ name: 'read_query', arguments: { query: 'DROP TABLE orders' } });
assert.equal(blocked.isError, true);
assert.equal((blocked._meta as any)['dev.toolmark/call'].verdict, 'deny');

assert.match(text(await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })), /Ann/);
assert.equal(asked, 1);
await client.close();
