"""A display without a screen, whose picture can be read."""

import re
import struct
import subprocess
import time
from pathlib import Path

# A window that shows a session has hundreds of colors, an empty one a few.
COLORS = 60


class VirtualDisplay:
    """Xvfb. Programs in another root folder reach it through its socket."""

    def __init__(self, work, root):
        self.work, self.root = work, root

    def __enter__(self):
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-fbdir", str(self.work), "-ac"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.name = f":{self.server.stdout.readline().strip()}"
        sockets = self.root / "tmp/.X11-unix"
        sockets.mkdir(exist_ok=True)
        subprocess.run(["mount", "--bind", "/tmp/.X11-unix", str(sockets)], check=True)
        return self

    def __exit__(self, *_error):
        self.server.terminate()
        self.server.wait()
        subprocess.run(["umount", "--lazy", str(self.root / "tmp/.X11-unix")], check=True)

    def windows(self):
        """Returns id and title of the windows of the application `plimsoll`."""
        tree = subprocess.run(["xwininfo", "-root", "-tree", "-display", self.name], capture_output=True, text=True)
        return re.findall(r'(0x[0-9a-f]+) "(.*)": \("plimsoll"', tree.stdout)

    def colors(self):
        """Returns the number of colors of the screen."""
        raw = (Path(self.work) / "Xvfb_screen0").read_bytes()
        header, *fields = struct.unpack(">25I", raw[:100])
        pixels = raw[header + fields[18] * 12 :]
        return len(set(struct.unpack(f"<{len(pixels) // 4}I", pixels[: len(pixels) // 4 * 4])))

    def wait_for_picture(self, title, seconds):
        """Waits until a window with this title shows a picture, and returns its number of colors."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(title in shown for _id, shown in self.windows()):
                colors = self.colors()
                if colors >= COLORS:
                    return colors
            time.sleep(0.1)
        raise SystemExit(f"deb: FAILED: no window with a picture of {title} after {seconds} s; windows: {self.windows()}")

    def close_windows(self):
        """Closes the windows as the window manager would."""
        for window, _title in self.windows():
            subprocess.run(["xkill", "-display", self.name, "-id", window], capture_output=True, check=False)
