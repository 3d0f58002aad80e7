"""What `toolmark wrap` writes into a client's file, started by real clients over pipes; one function a scenario, in the order of `ALL`."""

import asyncio
import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from scenarios import all_tools
from stage import ERAS, HERE, PATIENCE, call_meta, is_alive, text, until

# What the servers of `pipes.toml` need; clients hand on nothing that is not named.
VARIABLES = ["NODE", "NPM", "SERVERS", "SQLITE", "PIPES"]


class Pipes:
    def __init__(self):
        self.work = Path(os.environ["WORK"]) / "pipes"
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "home/.cursor").mkdir(parents=True)
        os.environ["PIPES"] = str(self.work)
        shutil.copy(HERE / "pipes.toml", self.work / "toolmark.toml")
        self.log = (self.work / "gateway.log").open("w")
        # A client with these servers, and what becomes of its file.
        packs = tomllib.loads((self.work / "toolmark.toml").read_text())["packs"]
        servers = {name: {key: pack[key] for key in ("command", "args") if key in pack} for name, pack in packs.items()}
        file = self.work / "home/.cursor/mcp.json"
        file.write_text(json.dumps({"mcpServers": servers}))
        wrap = [os.environ["TOOLMARK"], "wrap", "cursor", "--home", "home", "--task", "read-only"]
        subprocess.run(wrap, cwd=self.work, stdout=self.log, stderr=self.log, check=True)
        written = json.loads(file.read_text())["mcpServers"]
        assert list(written) == ["toolmark"], written
        self.command, self.args = written["toolmark"]["command"], written["toolmark"]["args"]
        self.env = {name: os.environ[name] for name in VARIABLES} | {"HOME": str(self.work / "home")}

    def client(self, revision):
        """A client of the Python SDK that starts what the file says."""
        start = StdioServerParameters(command=self.command, args=self.args, env=self.env, cwd=self.work)
        return Client(stdio_client(start, errlog=self.log), mode=ERAS[revision], read_timeout_seconds=PATIENCE)

    def running(self):
        """Toolmark itself and every server of `pipes.toml`, whoever their parent is now."""
        table = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
        rows = [line.split(None, 1) for line in table.stdout.splitlines()]
        return {int(pid): command for pid, command in rows if str(self.work) in command and is_alive(int(pid))}

    def end(self):
        self.log.close()


async def a_wrapped_client_reaches_its_servers_and_only_reads(stage):
    for revision in ERAS:
        async with stage.client(revision) as client:
            assert client.protocol_version == revision, client.protocol_version
            packs = {tool.meta["dev.toolmark/identity"]["pack"] for tool in await all_tools(client)}
            assert packs == {"everything", "sqlite", "deaf"}, packs
            result = await client.call_tool("get-sum", {"a": 20, "b": 22})
            assert not result.is_error and "42" in text(result), result
            result = await client.call_tool("get_current_time", {"timezone": "Asia/Tokyo"})
            assert not result.is_error and "Asia/Tokyo" in text(result), result
            blocked = await client.call_tool("write_query", {"query": "CREATE TABLE orders (id INTEGER)"})
            assert blocked.is_error and call_meta(blocked)["verdict"] == "deny", blocked


async def nothing_is_left_when_the_client_goes(stage):
    for revision in ERAS:
        async with stage.client(revision) as client:
            await client.call_tool("get-sum", {"a": 1, "b": 2})
            running = stage.running()
            # The one that does not hear the end of its input among them.
            assert len(running) > 3 and any("deaf" in command for command in running.values()), running
        assert not stage.running(), stage.running()


async def nothing_is_left_when_toolmark_is_told_to_end(stage):
    async with stage.client("2025-11-25") as client:
        await client.call_tool("get-sum", {"a": 1, "b": 2})
        ours = [pid for pid, command in stage.running().items() if " stdio --config " in command]
        assert len(ours) == 1, stage.running()
        os.kill(ours[0], 15)
        await until("everything has ended", lambda: not stage.running())


async def another_sdk_gets_the_same_and_leaves_nothing_behind(stage):
    for revision in ERAS:
        process = await asyncio.create_subprocess_exec(
            os.environ["NODE"],
            str(HERE / "pipe.ts"),
            json.dumps({"command": stage.command, "args": stage.args, "env": stage.env, "cwd": str(stage.work)}),
            revision,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0, f"{revision}: {err.decode()}{out.decode()}"
        assert not stage.running(), stage.running()


ALL = [
    a_wrapped_client_reaches_its_servers_and_only_reads,
    nothing_is_left_when_the_client_goes,
    nothing_is_left_when_toolmark_is_told_to_end,
    another_sdk_gets_the_same_and_leaves_nothing_behind,
]
