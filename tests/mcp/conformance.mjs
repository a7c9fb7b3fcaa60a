// The conformance suite of the protocol: every scenario for servers that concerns this one passes, and each of the others has its reason here.
import { spawnSync } from 'node:child_process';
import { file, listening } from './server.mjs';

const suite = file('@modelcontextprotocol/conformance/dist/index.js');

/** The eras of the protocol. A scenario that both have is tried in both. */
const eras = ['2025-11-25', '2026-07-28'];

/** The scenarios that the server passes. */
const passed = [
	'server-initialize',
	'server-session-lifecycle',
	'server-stateless',
	'ping',
	'tools-list',
	'resources-list',
	'sep-2164-resource-not-found',
	'dns-rebinding-protection',
	'caching',
	'http-header-validation',
	'server-sse-multiple-streams',
];

/** Checks of these scenarios that cannot pass, with the reason. */
const lacking = {
	'server-stateless': {
		'sep-2575-server-rejects-undeclared-capability': 'it calls a tool of the suite\'s own server',
		'sep-2575-missing-capability-http-400': 'it calls a tool of the suite\'s own server',
		'sep-2575-http-server-no-independent-requests-on-stream': 'it calls a tool of the suite\'s own server',
		'sep-2575-server-no-log-without-loglevel': 'it calls a tool of the suite\'s own server',
	},
	caching: { 'sep-2549-prompts-list-caching-hints': 'there are no prompts' },
};

/** The scenarios that do not concern the server, by the beginnings of their names, with the reason. */
const others = {
	'tools-call-': 'they call tools of the suite\'s own server',
	'json-schema-': 'it wants a tool of the suite\'s own server',
	'elicitation-': 'they call tools of the suite\'s own server',
	'input-required-': 'they call tools of the suite\'s own server',
	'server-sse-polling': 'it calls a tool of the suite\'s own server',
	'http-custom-header-': 'no tool here has arguments in headers',
	'resources-read-': 'they read resources of the suite\'s own server',
	'resources-templates-': 'there are no templates',
	'resources-subscribe': 'tables do not change while the server runs',
	'resources-unsubscribe': 'tables do not change while the server runs',
	'prompts-': 'there are no prompts',
	'completion-': 'nothing is completed',
	'logging-': 'the server logs to standard error',
	'sep-2640-skills': 'there are no skills',
	'tasks-': 'there are no tasks',
};

const run = (...words) => spawnSync(process.execPath, [suite, ...words], { encoding: 'utf8' });

/** The names of the checks that a run of the suite reports as failed. */
function failed(text) {
	const plain = text.replace(/\u001b\[[0-9;]*m/g, '');
	return [...plain.matchAll(/\[([\w-]+) *\] FAILURE/g)].map(([, name]) => name);
}

const listed = run('list', '--server').stdout.matchAll(/^ {2}- (\S+)/gm);
const scenarios = [...listed].map(([, name]) => name);
if (scenarios.length < 30) {
	throw new Error(`only ${scenarios.length} scenarios`);
}
const failures = [];
await listening(async (url) => {
	for (const scenario of scenarios) {
		const reason = Object.keys(others).find((start) => scenario.startsWith(start));
		if (passed.includes(scenario) === (reason !== undefined)) {
			failures.push(`${scenario} is in neither list, or in both`);
		}
		if (!passed.includes(scenario)) {
			continue;
		}
		const known = Object.keys(lacking[scenario] ?? {});
		let times = 0;
		for (const era of eras) {
			const ran = run('server', '--url', url.href, '--scenario', scenario, '--spec-version', era);
			if (ran.stdout.includes('SKIPPED: ')) {
				continue;
			}
			times += 1;
			const names = failed(ran.stdout);
			const isAsKnown = names.join() === known.join() && (ran.status === 0) === (known.length === 0);
			console.log(`${scenario} in ${era}: ${isAsKnown ? 'passed' : 'FAILED'}`);
			if (!isAsKnown) {
				failures.push(`${scenario} in ${era}: ${names.join(', ')}\n${ran.stdout}\n${ran.stderr}`);
			}
		}
		if (times === 0) {
			failures.push(`${scenario} is of neither era`);
		}
	}
});
if (failures.length > 0) {
	throw new Error(failures.join('\n\n'));
}
