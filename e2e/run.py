"""Runs every scenario against one gateway, and says which held. Started by `cargo xtask e2e`, which installs what is needed."""

import asyncio
import sys
import time
import traceback

from scenarios import ALL
from stage import Stage


def innermost(error):
    """The SDK wraps what goes wrong in groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def main():
    stage, failed = Stage(), []
    try:
        for scenario in ALL:
            name, start = scenario.__name__.replace("_", " "), time.monotonic()
            try:
                await scenario(stage)
                word = "ok    "
            except Exception as error:
                traceback.print_exception(innermost(error))
                failed.append(name)
                word = "FAILED"
            print(f"{word} {name} ({time.monotonic() - start:.1f} s)", flush=True)
    finally:
        stage.end()
    if failed:
        print(f"what the gateway said:\n{(stage.work / 'gateway.log').read_text()[-4000:]}")
    print(f"{len(ALL) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
