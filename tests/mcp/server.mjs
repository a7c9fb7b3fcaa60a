// What the scripts here share: the installed packages, and a server that listens.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.TEST_CLIENTS}/node/package.json`);

export const host = process.env.TEST_HOST;
export const flags = ['mcp', '--llm', 'offline', '--db', process.env.TEST_SHOP];
export const tools = ['ask_database', 'search_schema', 'run_sql', 'explain_run'];

/** Imports a module of an installed package. */
export const load = (name) => import(pathToFileURL(require.resolve(name)));

/** The path of a file of an installed package. */
export const file = (path) => `${process.env.TEST_CLIENTS}/node/node_modules/${path}`;

/** Starts a server, calls the function with its address, and ends it. */
export async function listening(use) {
	const child = spawn(host, [...flags, '--http', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
	try {
		const lines = createInterface({ input: child.stdout });
		const { value } = await lines[Symbol.asyncIterator]().next();
		return await use(new URL(value));
	} finally {
		child.kill();
	}
}

/** Calls every tool and reads a table; the SDK checks results by the output schemas. */
export async function use(client, equal, progress) {
	const list = await client.listTools();
	equal(list.tools.map((tool) => tool.name), tools);
	const steps = [];
	const asked = await progress('How many customers are there?', (step) => steps.push(step.progress));
	equal(asked.structuredContent.schema, 'syrch.answer/1');
	equal(steps.length > 0, true);
	equal(steps, [...steps].sort((one, other) => one - other));
	const { run } = asked.structuredContent;
	const explained = await client.callTool({ name: 'explain_run', arguments: { run } });
	equal(explained.structuredContent.run, run);
	const found = await client.callTool({ name: 'search_schema', arguments: { words: 'country' } });
	equal(found.structuredContent.tables[0].name, 'customers');
	const sql = 'SELECT COUNT(*) FROM customers';
	const rows = await client.callTool({ name: 'run_sql', arguments: { sql } });
	equal(rows.structuredContent.rows.length, 1);
	const refused = await client.callTool({ name: 'run_sql', arguments: { sql: 'DROP TABLE customers' } });
	equal(refused.isError, true);
	const unclear = { question: 'Who is the biggest customer?' };
	const answered = await client.callTool({ name: 'ask_database', arguments: unclear });
	equal(answered.structuredContent.answer !== null, true);
	const { resources } = await client.listResources();
	const table = await client.readResource({ uri: resources[0].uri });
	equal(JSON.parse(table.contents[0].text).schema, 'syrch.schema/1');
}

/** Answers a question by the first choice. */
export function choose(request) {
	const choices = request.params.requestedSchema.properties.answer.enum;
	return { action: 'accept', content: { answer: choices[0] } };
}
