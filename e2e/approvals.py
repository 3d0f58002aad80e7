"""How people are asked before a call runs, one function a scenario: clients of both eras and both SDKs, the command line, HTTP, restarts.

What ran is counted by the server behind: every order that was written is a row of its database, and none may be there twice.
"""

import asyncio
import os
import subprocess

from desk import TOOL, Person, says, waiting
from mcp.types import ElicitResult
from stage import ERAS, HERE, PATIENCE, call_meta, text


async def a_person_at_the_client_approves_and_the_call_runs_once(desk):
    for revision in ERAS:
        order, arguments = desk.order()
        person = Person(says("approve once"), says("approve once"))
        async with desk.client(revision, elicitation_callback=person) as client:
            done = await client.call_tool(TOOL, arguments)
            assert not done.is_error and desk.written(order) == 1, (revision, done)
            shown = person.shown[0]
            assert f"INSERT INTO orders VALUES ({order})" in shown.message and "shop.write_query" in shown.message, shown
            assert desk.open(order) == []
            # Once is once: the same again is another question.
            assert not (await client.call_tool(TOOL, arguments)).is_error
            assert len(person.shown) == 2 and desk.written(order) == 2, revision


async def a_person_at_the_client_says_no_and_the_model_reads_why(desk):
    for revision in ERAS:
        person = Person(says("reject", reason="not before Monday"), ElicitResult(action="decline"))
        async with desk.client(revision, elicitation_callback=person) as client:
            order, arguments = desk.order()
            for _ in range(2):
                told = await client.call_tool(TOOL, arguments)
                assert told.is_error and "not before Monday" in text(told), (revision, told)
            assert len(person.shown) == 1, "a no stands: nobody is asked the same again"
            other, arguments = desk.order()
            told = await client.call_tool(TOOL, arguments)
            assert told.is_error and "said no" in text(told), (revision, told)
            assert desk.written(order) == 0 and desk.written(other) == 0, revision


async def the_other_sdk_asks_its_person_too(desk):
    for revision in ERAS:
        for decision, runs in [("approve once", 1), ("reject", 0), ("decline", 0)]:
            order, arguments = desk.order()
            process = await asyncio.create_subprocess_exec(
                os.environ["NODE"],
                str(HERE / "approve.ts"),
                *[desk.url, revision, decision, arguments["query"]],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
            assert process.returncode == 0, (revision, decision, said.decode())
            assert desk.written(order) == runs, (revision, decision, said.decode())


async def a_client_that_cannot_ask_is_approved_on_the_command_line(desk):
    for revision in ERAS:
        order, arguments = desk.order()
        async with desk.client(revision) as client:
            question = waiting(await client.call_tool(TOOL, arguments))
            assert waiting(await client.call_tool(TOOL, arguments)) == question, "the same call is the same question"
            assert desk.open(order) == [question]
            decided = desk.toolmark("approvals", "approve", question, "--as", "ann", "--json")
            assert decided["state"] == "approved", decided
            done = await client.call_tool(TOOL, arguments)
            assert not done.is_error and call_meta(done)["approved_by"] == "ann", (revision, done)
            again = waiting(await client.call_tool(TOOL, arguments))
            assert again != question and desk.written(order) == 1, "one approval, one run"
            desk.toolmark("approvals", "reject", again, "--message", "one is enough", "--json")
            told = await client.call_tool(TOOL, arguments)
            assert told.is_error and "one is enough" in text(told), (revision, told)
            assert desk.written(order) == 1, revision


async def a_client_that_cannot_ask_is_approved_over_http(desk):
    for revision in ERAS:
        order, arguments = desk.order()
        async with desk.client(revision) as client:
            question = waiting(await client.call_tool(TOOL, arguments))
            status, shown = desk.request(f"approvals/{question}")
            assert status == 200 and f"({order})" in str(shown["arguments"]), shown
            status, refused = desk.request(f"approvals/{question}/decision", {"decision": "approve"}, token="tm_nobody")
            assert status == 401, refused
            assert waiting(await client.call_tool(TOOL, arguments)) == question, "nobody decided"
            status, decided = desk.request(f"approvals/{question}/decision", {"decision": "approve"})
            assert status == 200 and decided["state"] == "approved", decided
            status, late = desk.request(f"approvals/{question}/decision", {"decision": "reject"})
            assert status == 409, late
            done = await asyncio.gather(*(client.call_tool(TOOL, arguments) for _ in range(4)))
            assert sum(not result.is_error for result in done) == 1, (revision, done)
            assert desk.written(order) == 1, revision


async def a_form_is_answered_although_somebody_else_was_faster(desk):
    for revision in ERAS:
        order, arguments = desk.order()

        def too_late():
            (question,) = desk.open(order)
            desk.toolmark("approvals", "approve", question, "--json")
            return says("approve once")

        async with desk.client(revision, elicitation_callback=Person(too_late)) as client:
            done = await client.call_tool(TOOL, arguments)
            assert not done.is_error and desk.written(order) == 1, (revision, done)


async def a_question_outlives_the_gateway_that_asked_it(desk):
    # 2026-07-28: the gateway is gone between the question and the answer; what the client was handed is good for the next one.
    order, arguments = desk.order()

    def after_a_restart():
        desk.restart()
        return says("approve once")

    person = Person(after_a_restart)
    async with desk.client("2026-07-28", elicitation_callback=person) as client:
        done = await client.call_tool(TOOL, arguments)
        assert not done.is_error and len(person.shown) == 1 and desk.written(order) == 1, done

    # 2025-11-25: its session ends with the gateway, the question does not. A new session calls again and is asked again.
    order, arguments = desk.order()
    asked = asyncio.Event()

    async def thinks(_, __):
        asked.set()
        await asyncio.Event().wait()

    async def waits_in_vain():
        async with desk.client("2025-11-25", elicitation_callback=thinks) as client:
            await client.call_tool(TOOL, arguments)

    waiter = asyncio.create_task(waits_in_vain())
    await asyncio.wait_for(asked.wait(), PATIENCE)
    (question,) = desk.open(order)
    await asyncio.to_thread(desk.restart)
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    assert desk.open(order) == [question], "it still waits, and is the same"
    person = Person(says("approve once"))
    async with desk.client("2025-11-25", elicitation_callback=person) as client:
        done = await client.call_tool(TOOL, arguments)
        assert not done.is_error and len(person.shown) == 1 and desk.written(order) == 1, done


async def a_decision_outlives_the_gateway_and_may_be_made_while_there_is_none(desk):
    for revision in ERAS:
        before, during = desk.order(), desk.order()
        async with desk.client(revision) as client:
            first = waiting(await client.call_tool(TOOL, before[1]))
            second = waiting(await client.call_tool(TOOL, during[1]))
        desk.request(f"approvals/{first}/decision", {"decision": "approve"})
        desk.stop()
        desk.toolmark("approvals", "approve", second, "--json")
        desk.start()
        async with desk.client(revision) as client:
            for order, arguments in [before, during]:
                done = await client.call_tool(TOOL, arguments)
                assert not done.is_error and desk.written(order) == 1, (revision, done)
                waiting(await client.call_tool(TOOL, arguments))
                assert desk.written(order) == 1, "one approval, one run, also after a restart"


async def the_audit_has_one_record_for_everything_that_ran(desk):
    desk.gateway.terminate()
    desk.gateway.wait(PATIENCE)
    listed = subprocess.run(
        desk.command("audit", "--json", "--limit", "0"), capture_output=True, text=True, timeout=PATIENCE
    )
    assert listed.returncode == 0, listed.stderr
    ran = listed.stdout.count('"outcome":"approved"')
    written = sum(desk.written(order) for order in range(1, desk.next + 1))
    assert ran == written and written > 0, (ran, written)
    whole = subprocess.run(desk.command("audit", "verify"), capture_output=True, text=True, timeout=PATIENCE)
    assert whole.returncode == 0, whole.stdout + whole.stderr


ALL = [
    a_person_at_the_client_approves_and_the_call_runs_once,
    a_person_at_the_client_says_no_and_the_model_reads_why,
    the_other_sdk_asks_its_person_too,
    a_client_that_cannot_ask_is_approved_on_the_command_line,
    a_client_that_cannot_ask_is_approved_over_http,
    a_form_is_answered_although_somebody_else_was_faster,
    a_question_outlives_the_gateway_that_asked_it,
    a_decision_outlives_the_gateway_and_may_be_made_while_there_is_none,
    the_audit_has_one_record_for_everything_that_ran,
]
