"""One gateway in front of the servers of `toolmark.toml`, in a folder of its own, and what a scenario needs to look at it."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mcp import Client

HERE = Path(__file__).parent
# A revision of each era, as the SDK names them.
ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
# Nothing is measured against the clock; this only ends what hangs.
PATIENCE = 60.0


class Page(BaseHTTPRequestHandler):
    """A page to fetch, so that nobody needs a network."""

    def do_GET(self):
        found = self.path == "/page"
        body = b"<html><body><article><h1>Tulips</h1><p>They flower in spring.</p></article></body></html>"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body if found else b"")

    def log_message(self, *_):
        pass


class Stage:
    def __init__(self):
        self.work = Path(os.environ["WORK"])
        self.config = self.work / "toolmark.toml"
        shutil.rmtree(self.work, ignore_errors=True)
        for folder in ["files", "archive", "repository", "home"]:
            (self.work / folder).mkdir(parents=True)
        shutil.copy(HERE / "toolmark.toml", self.config)
        git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-C", str(self.work / "repository")]
        subprocess.run([*git, "init", "--quiet"], check=True)
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "the first commit"], check=True)
        self.pages = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=self.pages.serve_forever, daemon=True).start()
        self.log = (self.work / "gateway.log").open("w")
        self.remote = self.elsewhere()
        where = next(line.split()[-1] for line in self.remote.stdout if line.startswith("listening on "))
        threading.Thread(target=self.remote.stdout.read, daemon=True).start()
        up = [os.environ["TOOLMARK"], "up", "--config", str(self.config), "--listen", "127.0.0.1:0"]
        self.gateway = subprocess.Popen(
            [*up, "--store", "sqlite::memory:"],
            cwd=self.work,
            env={**os.environ, "REMOTE": f"{where}/mcp"},
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.url = next(line.split()[-1] for line in self.gateway.stdout if line.startswith("listening on "))
        threading.Thread(target=self.gateway.stdout.read, daemon=True).start()

    def elsewhere(self):
        """A real server that nobody but us has started, reached over streamable HTTP."""
        server = Path(os.environ["NPM"]) / "@modelcontextprotocol/server-everything/dist/index.js"
        command = [os.environ["NODE"], "--import", str(HERE / "loopback.mjs"), str(server), "streamableHttp"]
        return subprocess.Popen(command, cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    @property
    def page(self):
        return f"http://127.0.0.1:{self.pages.server_address[1]}/page"

    def client(self, revision, address="", **callbacks):
        """A client of the Python SDK."""
        return Client(self.url + address, mode=ERAS[revision], read_timeout_seconds=PATIENCE, **callbacks)

    def packs(self):
        """How each pack stands."""
        try:
            with urllib.request.urlopen(self.url.replace("/mcp", "/readyz")) as answer:
                return json.load(answer)["packs"]
        except urllib.error.HTTPError as error:
            return json.load(error)["packs"]

    def started(self):
        """Every process that the gateway started, directly or not: pid and command line."""
        table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,command="], capture_output=True, text=True, check=True)
        rows = [line.split(None, 2) for line in table.stdout.splitlines()]
        found, parents = {}, {self.gateway.pid}
        while parents:
            new = {int(pid): command for pid, parent, command in rows if int(parent) in parents and int(pid) not in found}
            found |= new
            parents = set(new)
        return found

    def end(self):
        if self.gateway.poll() is None:
            self.gateway.kill()
            self.gateway.wait()
        self.remote.kill()
        self.remote.wait()
        self.pages.shutdown()


async def until(what, look):
    """Waits until something is the case, and gives it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = look()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"waited in vain until {what}")


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def call_meta(result):
    return (result.meta or {}).get("dev.toolmark/call", {})


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Somebody has to wait for it, but it runs no more.
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return not state.startswith("Z") and state != ""


def kill(pid):
    os.kill(pid, signal.SIGKILL)
