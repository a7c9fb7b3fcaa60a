// The Inspector's command line: lists tools, and calls one over standard streams and over HTTP.
import { strictEqual as equal } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { file, flags, host, listening, tools } from './server.mjs';

const launcher = file('@modelcontextprotocol/inspector/clients/launcher/build/index.js');

function inspect(target, ...words) {
	const ran = spawnSync(process.execPath, [launcher, '--cli', ...target, ...words], {
		encoding: 'utf8',
		env: { ...process.env, HOME: process.env.TEST_WORK },
	});
	if (ran.status !== 0) {
		throw new Error(`${words.join(' ')}: ${ran.status}\n${ran.stdout}\n${ran.stderr}`);
	}
	return JSON.parse(ran.stdout);
}

function check(target) {
	const list = inspect(target, '--method', 'tools/list');
	equal(list.tools.map((tool) => tool.name).join(), tools.join());
	const words = ['--tool-name', 'ask_database', '--tool-arg', 'question=How many customers are there?'];
	const asked = inspect(target, '--method', 'tools/call', ...words);
	equal(asked.structuredContent.schema, 'syrch.answer/1');
}

check([host, ...flags]);
await listening((url) => check([url.href]));
console.log('Inspector: ok');
