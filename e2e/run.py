"""Runs every scenario against a gateway, and says which held. Started by `cargo xtask e2e`, which installs what is needed."""

import asyncio
import sys
import time
import traceback

import approvals
import login
import pipes
import scenarios
from desk import Desk
from stage import Stage

# What each list of scenarios is played on. A stage makes the folder of work anew, so it comes first.
PLAYS = [(Stage, scenarios.ALL), (pipes.Pipes, pipes.ALL), (Desk, approvals.ALL), (login.Door, login.ALL)]


def innermost(error):
    """The SDK wraps what goes wrong in groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def play(scenario, stage):
    """Whether it held."""
    name, start = scenario.__name__.replace("_", " "), time.monotonic()
    try:
        await scenario(stage)
        held = True
    except Exception as error:
        traceback.print_exception(innermost(error))
        held = False
    print(f"{'ok    ' if held else 'FAILED'} {name} ({time.monotonic() - start:.1f} s)", flush=True)
    return held


async def main():
    held = []
    for make, all_of_it in PLAYS:
        stage = make()
        try:
            here = [await play(scenario, stage) for scenario in all_of_it]
        finally:
            stage.end()
        if not all(here):
            print(f"what the gateway said:\n{(stage.work / 'gateway.log').read_text()[-4000:]}")
        held += here
    print(f"{held.count(True)} passed, {held.count(False)} failed")
    return 0 if all(held) else 1


sys.exit(asyncio.run(main()))
