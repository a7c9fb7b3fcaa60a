"""Starts the server of an unpacked MCP bundle as a client does that reads the manifest, and asks it a question: use_mcpb.py FOLDER DATABASE."""

import json
import os
import subprocess
import sys

folder, database = sys.argv[1:]
with open(os.path.join(folder, "manifest.json")) as file:
    manifest = json.load(file)
settings = {name: setting.get("default") for name, setting in manifest["user_config"].items()}
settings["database"] = database


def fill(text):
    text = text.replace("${__dirname}", folder)
    for name, value in settings.items():
        text = text.replace("${user_config." + name + "}", str(value))
    assert "${" not in text, text
    return text


server = manifest["server"]
config = server["mcp_config"]
assert os.access(os.path.join(folder, server["entry_point"]), os.X_OK), "the program cannot be run"
environment = {**os.environ, **config.get("env", {})}
command = [fill(config["command"]), *map(fill, config["args"])]
process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def send(message):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def ask(number, method, params):
    send({"id": number, "method": method, "params": params})
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message["result"]
    sys.exit("the server has ended")


client = {"name": "test", "version": "1"}
begun = ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
assert begun["serverInfo"]["version"] == manifest["version"], begun
send({"method": "notifications/initialized"})
tools = [tool["name"] for tool in ask(2, "tools/list", {})["tools"]]
assert tools == [tool["name"] for tool in manifest["tools"]], tools
question = {"question": "What is the total revenue in each region?"}
answer = ask(3, "tools/call", {"name": "ask_database", "arguments": question})
assert not answer["isError"], answer
assert "GROUP BY" in answer["structuredContent"]["sql"], answer
process.stdin.close()
assert process.wait(timeout=20) == 0
