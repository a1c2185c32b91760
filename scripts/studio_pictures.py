"""Make the two pictures of the studio in its page: docs/studio-light.png and docs/studio-dark.png.

Run it after the looks have changed. It needs what `scripts/browser.sh` installs, and Pillow.
"""

import sys
import threading
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import chromium, visitor  # noqa: E402

from segue.cli.studio import read_lines  # noqa: E402
from segue.studio import Server, Shelf  # noqa: E402

MODELS = "anthropic/claude-sonnet-5,mistral/mistral-large-latest"


def write(page: Any, name: str) -> None:
    """Write a picture with the 256 colours that it needs at most: half the size."""
    images: Any = import_module("PIL.Image")  # installed for this script alone
    picture = images.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=images.Dither.NONE).save(ROOT / "docs" / name, optimize=True)


def main() -> None:
    shelf = Shelf(read_lines, None)
    [opened] = shelf.add_file(str(ROOT / "examples" / "three-models.json"))
    server = Server(shelf)
    thread = threading.Thread(target=server.run)
    thread.start()
    address = server.url(f"/c/{opened.id}?to={MODELS}")
    try:
        with chromium() as browser:
            with visitor(browser, address, color_scheme="light") as page:
                page.locator("#m1 .finding > summary").first.click()
                page.mouse.move(900, 130)  # where nothing changes under it
                page.evaluate("scrollTo(0, 0)")
                write(page, "studio-light.png")
            with visitor(browser, address, color_scheme="dark") as page:
                page.get_by_role("region", name=MODELS.split(",")[1]).wait_for()
                for _ in range(4):  # to the fourth message with findings
                    page.keyboard.press("N")
                page.locator("#m6.current").wait_for()
                page.wait_for_url("**#m6")
                write(page, "studio-dark.png")
    finally:
        server.stop()
        thread.join()


if __name__ == "__main__":
    main()
