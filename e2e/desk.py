"""A gateway that asks before it writes, with a store that outlives it, and the people who are asked."""

import asyncio
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path

from mcp import Client
from mcp.types import ElicitResult
from stage import ERAS, HERE, PATIENCE, text

TOOL = "write_query"


class Desk:
    def __init__(self):
        self.work = Path(os.environ["WORK"]) / "approvals"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        shutil.copy(HERE / "approvals.toml", self.work / "toolmark.toml")
        # No key: an order that is written twice is there twice.
        with sqlite3.connect(self.work / "shop.db") as shop:
            shop.execute("CREATE TABLE orders (id INTEGER)")
        # It comes back under the same address, which therefore cannot be left to chance each time.
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.url = f"http://{self.address}/mcp"
        self.log = self.work / "gateway.log"
        self.next = 0
        self.gateway = None
        self.token = self.toolmark("token", "create", "ann", "--approver", "--json")["token"]
        self.start()

    def command(self, *arguments):
        place = ["--config", str(self.work / "toolmark.toml"), "--store", str(self.work / "store.db")]
        return [os.environ["TOOLMARK"], *arguments, *place]

    def start(self):
        self.gateway = subprocess.Popen(
            self.command("up", "--listen", self.address),
            cwd=self.work,
            stdout=subprocess.PIPE,
            stderr=self.log.open("a"),
            text=True,
        )
        for line in self.gateway.stdout:
            if "tools in" in line:
                break
        else:
            raise AssertionError(f"the gateway did not start: {self.log.read_text()}")
        threading.Thread(target=self.gateway.stdout.read, daemon=True).start()

    def stop(self):
        """As a crash would: nothing is tidied up."""
        self.gateway.kill()
        self.gateway.wait()

    def restart(self):
        self.stop()
        self.start()

    def end(self):
        if self.gateway.poll() is None:
            self.stop()

    def toolmark(self, *arguments):
        """Runs the command line to its end, and reads its JSON."""
        done = subprocess.run(self.command(*arguments), cwd=self.work, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def open(self, order):
        """The questions about an order that wait: their ids."""
        asks = self.toolmark("approvals", "list", "--json")["approvals"]
        return [ask["id"] for ask in asks if f"VALUES ({order})" in str(ask["arguments"])]

    def request(self, path, body=None, token=None):
        """A request to the gateway's own interface: status and answer."""
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}/api/{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def order(self):
        """An order that nobody wrote yet, and the arguments that write it."""
        self.next += 1
        return self.next, {"query": f"INSERT INTO orders VALUES ({self.next})"}

    def written(self, order):
        """How often an order was written, by what the server's own database says."""
        with sqlite3.connect(self.work / "shop.db") as shop:
            return shop.execute("SELECT count(*) FROM orders WHERE id = ?", (order,)).fetchone()[0]

    def client(self, revision, **callbacks):
        return Client(self.url, mode=ERAS[revision], read_timeout_seconds=PATIENCE, **callbacks)


class Person:
    """Somebody who fills in forms, one answer after the other, and keeps what was shown."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.shown = []

    async def __call__(self, _, params):
        self.shown.append(params)
        answer = self.answers.pop(0)
        if callable(answer):
            answer = await asyncio.to_thread(answer)
        return answer


def says(decision, **more):
    return ElicitResult(action="accept", content={"decision": decision, **more})


def waiting(result):
    """The id of the question that a call waits for, as a model reads it."""
    assert result.is_error, result
    before, found, after = text(result).partition("It waits for a person (")
    assert found and "It has not run" in after, before + found + after
    return after.partition(")")[0]
