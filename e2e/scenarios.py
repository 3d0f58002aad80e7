"""What people do with a gateway, one function each, in the order of `ALL`. Every scenario leaves the stage as it found it."""

import asyncio
import json
import os
import signal
import subprocess

from mcp.types import CreateMessageResult, ElicitResult, TextContent
from stage import ERAS, HERE, PATIENCE, call_meta, is_alive, kill, text, until

# One call for each pack: the tool, its arguments, and what the answer must hold.
CALLS = {
    "files": lambda stage: ("read_text_file", {"path": str(stage.work / "files/note.txt")}, "from files"),
    "archive": lambda stage: ("archive__read_text_file", {"path": str(stage.work / "archive/note.txt")}, "from archive"),
    "everything": lambda _: ("get-sum", {"a": 20, "b": 22}, "42"),
    "memory": lambda _: ("read_graph", {}, "entities"),
    "git": lambda stage: ("git_log", {"repo_path": str(stage.work / "repository")}, "the first commit"),
    "sqlite": lambda _: ("read_query", {"query": "SELECT 6 * 7 AS n"}, "42"),
    "fetch": lambda stage: ("fetch", {"url": stage.page}, "They flower in spring."),
    "time": lambda _: ("get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
    "remote": lambda _: ("remote__get-sum", {"a": 19, "b": 23}, "42"),
}
# Those that the gateway starts no program for.
ELSEWHERE = {"remote"}


async def all_tools(client):
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def every_server_starts(stage):
    await until("all packs are ready", lambda: set(stage.packs().values()) == {"ready"})
    for folder in ["files", "archive"]:
        (stage.work / folder / "note.txt").write_text(f"from {folder}")


async def every_tool_is_listed_under_a_name_of_its_own(stage):
    lists = []
    for revision in ERAS:
        async with stage.client(revision) as client:
            assert client.protocol_version == revision, client.protocol_version
            lists.append(await all_tools(client))
    old, new = ([tool.name for tool in tools] for tools in lists)
    assert old == new, "both eras see the same list in the same order"
    assert len(set(old)) == len(old), "no name is there twice"
    packs = {tool.meta["dev.toolmark/identity"]["pack"] for tool in lists[0]}
    assert packs == set(CALLS), packs


async def every_server_answers_in_both_eras(stage):
    for revision in ERAS:
        async with stage.client(revision) as client:
            for pack, describe in CALLS.items():
                tool, arguments, expected = describe(stage)
                result = await client.call_tool(tool, arguments)
                assert not result.is_error and expected in text(result), (revision, pack, result)
                assert call_meta(result)["canonical"].startswith(f"{pack}."), result.meta


async def tools_with_the_same_name_are_both_there(stage):
    async with stage.client("2026-07-28") as client:
        owners = {}
        for tool in await all_tools(client):
            identity = tool.meta["dev.toolmark/identity"]
            if identity["raw"] == "list_allowed_directories":
                owners[identity["pack"]] = tool.name
        assert set(owners) == {"files", "archive"}, owners
        for pack, name in owners.items():
            said = text(await client.call_tool(name, {}))
            assert str(stage.work / pack) in said, (pack, name, said)


async def what_a_call_would_really_do_is_blocked(stage):
    async with stage.client("2025-11-25") as client, stage.client("2026-07-28", "/read-only") as reader:
        done = [
            await client.call_tool("create_table", {"query": "CREATE TABLE orders (id INTEGER)"}),
            await client.call_tool("write_query", {"query": "INSERT INTO orders VALUES (1), (2)"}),
        ]
        assert not any(result.is_error for result in done), done
        for query in ["DELETE FROM orders", "DROP TABLE orders", "SELECT 1; DELETE FROM orders"]:
            blocked = await client.call_tool("read_query", {"query": query})
            assert blocked.is_error and call_meta(blocked)["verdict"] == "deny", (query, blocked)
        left = await client.call_tool("read_query", {"query": "SELECT count(*) AS n FROM orders"})
        assert "2" in text(left), left

        target = stage.work / "files/new.txt"
        blocked = await reader.call_tool("write_file", {"path": str(target), "content": "x"})
        assert blocked.is_error and "read-only" in text(blocked), blocked
        assert not target.exists()
        note = await reader.call_tool("read_text_file", {"path": str(stage.work / "files/note.txt")})
        assert "from files" in text(note), note


async def questions_of_a_server_reach_the_person_behind_the_client(stage):
    asked = []

    async def elicit(_, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"name": "Ann"})

    async def sample(_, params):
        asked.append(params.messages[0].content.text)
        said = TextContent(type="text", text="a sampled answer")
        return CreateMessageResult(role="assistant", content=said, model="none")

    for revision in ERAS:
        asked.clear()
        async with stage.client(revision, elicitation_callback=elicit, sampling_callback=sample) as client:
            told = await client.call_tool("trigger-elicitation-request", {})
            assert not told.is_error and "Ann" in text(told), (revision, told)
            told = await client.call_tool("trigger-sampling-request", {"prompt": "tulips"})
            assert "a sampled answer" in text(told), (revision, told)
            # The same server elsewhere asks in the stream of its answer.
            told = await client.call_tool("remote__trigger-elicitation-request", {})
            assert not told.is_error and "Ann" in text(told), (revision, told)
        assert len(asked) == 3 and "tulips" in asked[1], (revision, asked)


async def a_server_elsewhere_tells_how_far_it_is_and_answers_on_when_a_call_is_given_up(stage):
    for revision in ERAS:
        heard = []

        async def progress(done, total, _):
            heard.append((done, total))

        async with stage.client(revision) as client:
            tool = "remote__trigger-long-running-operation"
            done = await client.call_tool(tool, {"duration": 1, "steps": 4}, progress_callback=progress)
            assert not done.is_error and "completed" in text(done).lower(), (revision, done)
            await until("all of it was heard", lambda: len(heard) >= 4)
            assert heard[-1] == (4, 4), (revision, heard)
            slow = asyncio.create_task(client.call_tool(tool, {"duration": 600, "steps": 600}))
            await asyncio.sleep(0.2)
            slow.cancel()
            answer = await client.call_tool("remote__get-sum", {"a": 1, "b": 2})
            assert "3" in text(answer), (revision, answer)


async def other_clients_get_the_same(stage):
    async def run(*command):
        process = await asyncio.create_subprocess_exec(
            os.environ["NODE"],
            *map(str, command),
            # The Inspector writes into the folder of its user.
            env={**os.environ, "HOME": str(stage.work / "home")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0, f"{command}: {err.decode()}{out.decode()}"
        return out.decode()

    async def inspector(era):
        start = HERE / "node_modules/@modelcontextprotocol/inspector" / json.loads(
            (HERE / "node_modules/@modelcontextprotocol/inspector/package.json").read_text()
        )["bin"]["mcp-inspector"]
        inspect = [start, "--cli", stage.url, "--transport", "http", "--protocol-era", era, "--format", "json", "-q"]
        listed = await run(*inspect, "--method", "tools/list")
        assert "archive__read_text_file" in listed, listed
        called = await run(*inspect, "--method", "tools/call", "--tool-name", "get-sum", "--tool-args-json", '{"a": 20, "b": 22}')
        assert "42" in called, called

    await asyncio.gather(inspector("legacy"), inspector("modern"))
    # The TypeScript SDK checks by itself and ends with an error if something is wrong. One after the other: a program of the old
    # era does not say whom it asks, so with two calls under way nobody is asked.
    for revision in ERAS:
        await run(HERE / "client.ts", stage.url, revision)


async def a_killed_server_takes_nobody_with_it(stage):
    victims = [pid for pid, command in stage.started().items() if "server-everything" in command]
    answered, failed, stop = [], [], asyncio.Event()

    async def bystander(client, worker):
        for number in range(40):
            mark = worker * 1000 + number
            result = await client.call_tool("write_query", {"query": f"INSERT INTO calls VALUES ({mark})"})
            assert not result.is_error, result
            result = await client.call_tool("read_query", {"query": f"SELECT id FROM calls WHERE id = {mark}"})
            assert not result.is_error and str(mark) in text(result), result
            answered.append(mark)

    async def regular(client, worker):
        number = 0
        while not stop.is_set():
            number += 1
            mark = f"<{worker}-{number}>"
            result = await client.call_tool("echo", {"message": mark})
            # Its own answer, or a result that says that there is none; never somebody else's.
            if result.is_error:
                failed.append(text(result))
                await asyncio.sleep(0.05)
            else:
                assert mark in text(result), (mark, result)

    async with stage.client("2026-07-28") as new, stage.client("2025-11-25") as old:
        await new.call_tool("create_table", {"query": "CREATE TABLE calls (id INTEGER)"})
        async with asyncio.TaskGroup() as group:
            for worker, client in enumerate([new, old]):
                group.create_task(regular(client, worker))
            bystanders = [group.create_task(bystander(client, worker)) for worker, client in enumerate([new, old] * 2)]
            await until("the load is on", lambda: len(answered) > 20)
            for pid in victims:
                kill(pid)
            await until("a call has failed", lambda: failed)
            await asyncio.gather(*bystanders)
            await until("the server is back", lambda: stage.packs()["everything"] == "ready")
            stop.set()
        result = await new.call_tool("read_query", {"query": "SELECT count(*) AS n, count(DISTINCT id) AS d FROM calls"})
        # Every insert was answered, and none ran twice.
        assert "'n': 160" in text(result) and "'d': 160" in text(result), result

        async def echoes():
            return not (await new.call_tool("echo", {"message": "again"})).is_error

        await until("it answers again", echoes)
    assert victims and all("everything" in why or "server" in why for why in failed), failed


async def a_changed_configuration_is_taken_over_and_a_broken_one_is_not(stage):
    before = stage.config.read_text()
    more = '\n[packs.clock]\ncommand = "${SERVERS}/mcp-server-time"\nargs = ["--local-timezone", "UTC"]\n'

    def written(content):
        # At once, as editors do it: nobody sees half a file.
        new = stage.work / "toolmark.toml.new"
        new.write_text(content)
        new.replace(stage.config)

    async with stage.client("2026-07-28") as client, stage.client("2025-11-25") as other:

        async def names():
            return {tool.name for tool in await all_tools(client)}

        first = await names()
        under_way = asyncio.create_task(
            other.call_tool("trigger-long-running-operation", {"duration": 4, "steps": 4})
        )
        written(before + more)
        await until("the new pack is listed", lambda: has(names, "clock__get_current_time"))
        said = text(await client.call_tool("clock__convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}))
        assert "21:00" in said, said

        written(before + more + "\n[packs.clock\n")
        await until("the mistake is reported", lambda: "not taken over" in (stage.work / "gateway.log").read_text())
        assert await names() == first | {"clock__get_current_time", "clock__convert_time"}
        assert not (await client.call_tool("get-sum", {"a": 1, "b": 2})).is_error

        written(before)
        await until("the pack is gone", lambda: has(names, "clock__get_current_time", False))
        assert await names() == first
        result = await under_way
        assert not result.is_error and "completed" in text(result).lower(), result


async def has(names, name, there=True):
    return (name in await names()) == there


async def it_stops_when_it_is_told_to_and_leaves_nothing_behind(stage):
    started = stage.started()
    assert len(started) >= len(CALLS.keys() - ELSEWHERE), started
    stage.gateway.send_signal(signal.SIGTERM)
    await until("the gateway has ended", lambda: stage.gateway.poll() is not None)
    assert stage.gateway.returncode == 0, stage.gateway.returncode
    await until("nothing that it started runs", lambda: not any(is_alive(pid) for pid in started))


ALL = [
    every_server_starts,
    every_tool_is_listed_under_a_name_of_its_own,
    every_server_answers_in_both_eras,
    tools_with_the_same_name_are_both_there,
    what_a_call_would_really_do_is_blocked,
    questions_of_a_server_reach_the_person_behind_the_client,
    a_server_elsewhere_tells_how_far_it_is_and_answers_on_when_a_call_is_given_up,
    other_clients_get_the_same,
    a_killed_server_takes_nobody_with_it,
    a_changed_configuration_is_taken_over_and_a_broken_one_is_not,
    it_stops_when_it_is_told_to_and_leaves_nothing_behind,
]
