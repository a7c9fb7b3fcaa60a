"""The official SDK of Python as a client of the server, in both eras of the protocol, over standard streams and HTTP."""

import asyncio
import os
import subprocess
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

HOST, SHOP = os.environ["TEST_HOST"], os.environ["TEST_SHOP"]
FLAGS = ["mcp", "--llm", "offline", "--db", SHOP]
TOOLS = ["ask_database", "search_schema", "run_sql", "explain_run"]


async def choose(context, params):
    """Answers each question by the first choice."""
    choices = params.requested_schema["properties"]["answer"]["enum"]
    return ElicitResult(action="accept", content={"answer": choices[0]})


async def use(server, mode, version):
    """Calls every tool and reads a table; the SDK checks results by the output schemas."""
    steps = []

    async def progress(done, total, message):
        steps.append(done)

    async with Client(server, mode=mode, elicitation_callback=choose, read_timeout_seconds=60) as client:
        assert client.protocol_version == version, client.protocol_version
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS, tools
        asked = await client.call_tool(
            "ask_database", {"question": "How many customers are there?"}, progress_callback=progress
        )
        assert not asked.is_error and asked.structured_content["schema"] == "syrch.answer/1", asked
        assert asked.content[0].text.startswith("Answered, confidence"), asked.content
        assert steps == sorted(steps) and steps, steps
        run = asked.structured_content["run"]
        explained = await client.call_tool("explain_run", {"run": run})
        assert explained.structured_content["run"] == run, explained
        found = await client.call_tool("search_schema", {"words": "country"})
        assert found.structured_content["tables"][0]["name"] == "customers", found
        rows = await client.call_tool("run_sql", {"sql": "SELECT COUNT(*) FROM customers"})
        assert len(rows.structured_content["rows"]) == 1, rows
        refused = await client.call_tool("run_sql", {"sql": "DROP TABLE customers"})
        assert refused.is_error, refused
        unclear = await client.call_tool("ask_database", {"question": "Who is the biggest customer?"})
        assert unclear.structured_content["answer"] is not None, unclear
        resources = (await client.list_resources()).resources
        table = await client.read_resource(str(resources[0].uri))
        assert "syrch.schema/1" in table.contents[0].text, table
    print(f"{version}: ok")


async def main():
    stdio = StdioServerParameters(command=HOST, args=FLAGS, env=dict(os.environ))
    listening = subprocess.Popen([HOST, *FLAGS, "--http", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = listening.stdout.readline().strip()
        for server in (stdio, url):
            await use(server, "legacy", "2025-11-25")
            await use(server, "auto", "2026-07-28")
    finally:
        listening.kill()


asyncio.run(main())
sys.exit(0)
