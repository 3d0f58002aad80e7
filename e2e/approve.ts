// The TypeScript SDK is asked before a call runs: `node approve.ts URL REVISION DECISION QUERY`. Any surprise is an error.

import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, revision, decision, query] = process.argv.slice(2);
const modern = revision === '2026-07-28';
const client = new Client(
    { name: 'toolmark-e2e', version: '1.0.0' },
    {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: modern ? { pin: revision } : 'legacy' },
    },
);
const shown: string[] = [];
client.setRequestHandler('elicitation/create', async request => {
    shown.push((request.params as any).message);
    return decision === 'decline'
        ? { action: 'decline' }
        : { action: 'accept', content: { decision, reason: decision === 'reject' ? 'not before Monday' : '' } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const result: any = await client.callTool({ name: 'write_query', arguments: { query } });
const text = result.content.map((block: any) => block.text ?? '').join('\n');
assert.equal(shown.length, 1);
assert.ok(shown[0].includes(query), shown[0]);
if (decision === 'approve once') {
    assert.ok(!result.isError, text);
} else {
    assert.equal(result.isError, true);
    assert.match(text, decision === 'reject' ? /not before Monday/ : /said no/);
}
await client.close();
