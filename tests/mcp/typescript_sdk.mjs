// The official SDK of TypeScript, version 1: sessions, over standard streams and HTTP.
import { deepStrictEqual as equal } from 'node:assert';
import { choose, flags, host, listening, load, use } from './server.mjs';

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { CallToolResultSchema, ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');

async function connect(transport) {
	const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
	client.setRequestHandler(ElicitRequestSchema, choose);
	await client.connect(transport);
	await use(client, equal, (question, onprogress) =>
		client.callTool({ name: 'ask_database', arguments: { question } }, CallToolResultSchema, { onprogress })
	);
	await client.close();
}

await connect(new StdioClientTransport({ command: host, args: flags, env: process.env }));
await listening((url) => connect(new StreamableHTTPClientTransport(url)));
console.log('2025-11-25: ok');
