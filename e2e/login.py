"""A server that opens to the tokens of a real authorization server only, and what it takes to get in: a login, or a robot's secret."""

import asyncio
import html
import http.cookiejar
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from mcp import Client
from stage import ERAS, HERE, PATIENCE, text, until

SECRET = "a secret that only robots know"


def printed(process, what):
    """The first line that begins like this."""
    for line in process.stdout:
        if line.startswith(what):
            return line
    raise AssertionError(f"it ended before it said `{what}`")


class Door:
    def __init__(self):
        self.work = Path(os.environ["WORK"]) / "login"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.log = self.work / "gateway.log"
        self.others = (self.work / "servers.log").open("w")
        node, npm = os.environ["NODE"], Path(os.environ["NPM"])
        free = self.free_port()
        self.server = subprocess.Popen(
            [node, str(npm / "@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp"],
            env={**os.environ, "PORT": str(free)},
            stdout=self.others,
            stderr=self.others,
        )
        self.authority = subprocess.Popen(
            [node, str(HERE / "authority.ts"), f"http://127.0.0.1:{free}/mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.others,
            text=True,
        )
        said = json.loads(printed(self.authority, "{"))
        self.issuer, self.resource = said["issuer"], said["resource"]
        (self.work / "toolmark.toml").write_text(
            f"""
[packs.person]
url = "{self.resource}"
auth.oauth = {{}}

[packs.robot]
url = "{self.resource}"
[packs.robot.auth.oauth]
grant = "client_credentials"
client_id = "robot"
client_secret = "${{ROBOT_SECRET}}"
scopes = ["tools"]
"""
        )
        self.gateway = subprocess.Popen(
            self.command("up", "--listen", "127.0.0.1:0"),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=self.log.open("w"),
            text=True,
        )
        self.url = printed(self.gateway, "listening on ").split()[-1]
        threading.Thread(target=self.gateway.stdout.read, daemon=True).start()

    @staticmethod
    def free_port():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]

    def environment(self):
        return {**os.environ, "ROBOT_SECRET": SECRET}

    def command(self, *arguments):
        place = ["--config", str(self.work / "toolmark.toml"), "--store", str(self.work / "store.db")]
        return [os.environ["TOOLMARK"], *arguments, *place]

    def counts(self):
        with urllib.request.urlopen(self.resource.replace("/mcp", "/counts")) as answer:
            return json.load(answer)

    async def state(self, pack):
        def look():
            try:
                with urllib.request.urlopen(self.url.replace("/mcp", "/readyz")) as answer:
                    return json.load(answer)["packs"]
            except urllib.error.HTTPError as error:
                return json.load(error)["packs"]

        return (await asyncio.to_thread(look))[pack]

    def client(self):
        return Client(self.url, mode=ERAS["2025-11-25"], read_timeout_seconds=PATIENCE)

    def login(self, browse):
        """Runs `toolmark login`, with this browser; gives its exit code and everything that it said."""
        login = subprocess.Popen(
            self.command("login", "person", "--no-browser"),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = ""
        for line in login.stdout:
            said += line
            if line.strip().startswith("http"):
                browse(line.strip())
        return login.wait(), said

    def end(self):
        for process in [self.gateway, self.authority, self.server]:
            if process.poll() is None:
                process.kill()
            process.wait()


class Browser:
    """As much of a browser as a login needs: it follows redirects, keeps cookies and sends forms."""

    def __init__(self):
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(cookies)
        self.page = ""

    def open(self, url, form=None):
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        with self.opener.open(url, data) as answer:
            self.url, self.page = answer.url, answer.read().decode()

    def submit(self, **fields):
        action = re.search(r'<form[^>]*action="([^"]+)"', self.page)
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', self.page))
        self.open(urllib.parse.urljoin(self.url, html.unescape(action[1])), {**hidden, **fields})

    def abort(self):
        away = re.search(r'href="([^"]+/abort)"', self.page)
        self.open(urllib.parse.urljoin(self.url, html.unescape(away[1])))


def a_person_agrees(url):
    browser = Browser()
    browser.open(url)
    browser.submit(login="ann", password="anything")
    browser.submit()


def a_person_walks_away(url):
    browser = Browser()
    browser.open(url)
    browser.abort()


async def a_robot_gets_in_with_its_secret(door):
    await until("the robot is in", lambda: is_ready(door, "robot"))
    assert door.counts()["client_credentials"] >= 1
    assert await door.state("person") != "ready", "nobody logged in yet"


async def is_ready(door, pack):
    return (await door.state(pack)) == "ready"


async def a_login_that_is_given_up_brings_nothing(door):
    code, said = await asyncio.to_thread(door.login, a_person_walks_away)
    assert code != 0 and "access_denied" in said, said
    assert await door.state("person") != "ready"


async def a_person_logs_in_and_the_server_is_there(door):
    code, said = await asyncio.to_thread(door.login, a_person_agrees)
    assert code == 0, said
    counts = door.counts()
    assert counts["registered"] >= 1 and counts["authorization_code"] == 1, counts
    await until("the server lets it in", lambda: is_ready(door, "person"))
    token = door.work / "store.db.oauth" / "person.json"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600


async def tokens_are_renewed_and_nobody_notices(door):
    before = door.counts()
    async with door.client() as client:
        tools = (await client.list_tools()).tools
        echo = {tool.meta["dev.toolmark/identity"]["canonical"]: tool.name for tool in tools}

        async def renewed():
            for pack in ["person", "robot"]:
                assert "tulips" in text(await client.call_tool(echo[f"{pack}.echo"], {"message": "tulips"}))
            after = door.counts()
            return all(after[grant] > before[grant] for grant in ["refresh_token", "client_credentials"])

        await until("both have had another token", renewed)


async def nothing_that_was_said_holds_a_secret(door):
    kept = json.loads((door.work / "store.db.oauth" / "person.json").read_text())
    secrets = [value for key, value in walk(kept) if key in ["access", "refresh", "client_secret"]]
    assert len(secrets) >= 2, "there are tokens"
    for file in [door.log, *door.work.glob("store.db*")]:
        if file.is_file():
            content = file.read_bytes()
            assert not any(secret.encode() in content for secret in [*secrets, SECRET]), file


def walk(value, key=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from walk(inner, name)
    elif isinstance(value, str) and len(value) > 12 and not value.startswith("http"):
        yield key, value


async def logging_out_tells_the_authorization_server(door):
    logout = subprocess.run(door.command("logout", "person"), env=door.environment(), capture_output=True, text=True)
    assert logout.returncode == 0, logout.stderr
    assert door.counts()["revoked"] >= 1
    assert not (door.work / "store.db.oauth" / "person.json").exists()


ALL = [
    a_robot_gets_in_with_its_secret,
    a_login_that_is_given_up_brings_nothing,
    a_person_logs_in_and_the_server_is_there,
    tokens_are_renewed_and_nobody_notices,
    nothing_that_was_said_holds_a_secret,
    logging_out_tells_the_authorization_server,
]
