"""Headless Chromium, for pages in files."""

import asyncio
import shutil

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
WAIT_SECONDS = 120


async def chromium(*arguments: str) -> str:
    """Run Chromium with these arguments and return its standard output. Raises TimeoutError after WAIT_SECONDS."""
    assert CHROMIUM is not None
    headless = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, *headless, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), WAIT_SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode()
