"""Chromium, without a window: what it makes of a page in a file."""

import asyncio
import shutil

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WAIT_SECONDS = 120


async def chromium(*arguments: str) -> str:
    """What Chromium prints."""
    assert CHROMIUM is not None
    quiet = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
    running = await asyncio.create_subprocess_exec(
        CHROMIUM, *quiet, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        printed, _ = await asyncio.wait_for(running.communicate(), WAIT_SECONDS)
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return printed.decode()
