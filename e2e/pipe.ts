// The TypeScript SDK starts `toolmark stdio`: `node pipe.ts START REVISION`, where START is JSON. Lists, calls, is blocked, goes; any surprise is
// an error.

import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [start, revision] = process.argv.slice(2);
const modern = revision === '2026-07-28';
const client = new Client(
    { name: 'toolmark-e2e', version: '1.0.0' },
    { versionNegotiation: { mode: modern ? { pin: revision } : 'legacy' } },
);
await client.connect(new StdioClientTransport({ ...JSON.parse(start), stderr: 'ignore' }));

const names = (await client.listTools()).tools.map(tool => tool.name);
assert.ok(names.includes('get-sum') && names.includes('get_current_time'), names.join(', '));

const text = (result: any): string => result.content.map((block: any) => block.text ?? '').join('\n');
assert.match(text(await client.callTool({ name: 'get-sum', arguments: { a: 20, b: 22 } })), /42/);

const blocked = await client.callTool({ name: 'write_query', arguments: { query: 'CREATE TABLE orders (id INTEGER)' } });
assert.equal(blocked.isError, true);
assert.equal((blocked._meta as any)['dev.toolmark/call'].verdict, 'deny');
await client.close();
