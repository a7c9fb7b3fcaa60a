// The official SDK of TypeScript, version 2: the stateless era, over standard streams and HTTP.
import { deepStrictEqual as equal } from 'node:assert';
import { choose, flags, host, listening, load, use } from './server.mjs';

const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

async function connect(transport) {
	const client = new Client(
		{ name: 'test', version: '1' },
		{ capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } }
	);
	client.setRequestHandler('elicitation/create', choose);
	await client.connect(transport);
	equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
	await use(client, equal, (question, onprogress) =>
		client.callTool({ name: 'ask_database', arguments: { question } }, { onprogress })
	);
	await client.close();
}

await connect(new StdioClientTransport({ command: host, args: flags, env: process.env }));
await listening((url) => connect(new StreamableHTTPClientTransport(url)));
console.log('2026-07-28: ok');
