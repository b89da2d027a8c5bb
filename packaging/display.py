"""A display without a screen, whose picture can be read."""

import re
import struct
import subprocess
import time

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
        """Returns the ids of the windows of the application `plimsoll`."""
        tree = subprocess.run(["xwininfo", "-root", "-tree", "-display", self.name], capture_output=True, text=True)
        return re.findall(r'(0x[0-9a-f]+) ".*": \("[a-z]*" "plimsoll"\)', tree.stdout)

    def colors(self):
        """Returns the number of colors of the screen, from the picture (XWD) that the server keeps in a file."""
        raw = (self.work / "Xvfb_screen0").read_bytes()
        fields = struct.unpack(">25I", raw[:100])
        size_of_header, colors = fields[0], fields[19]
        pixels = raw[size_of_header + colors * 12 :]
        return len(set(struct.unpack(f"<{len(pixels) // 4}I", pixels[: len(pixels) // 4 * 4])))

    def wait_for_picture(self, is_open, seconds):
        """Waits until a window shows a picture and `is_open` returns true, and returns the number of colors."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.windows() and is_open():
                colors = self.colors()
                if colors >= COLORS:
                    return colors
            time.sleep(0.1)
        raise SystemExit(f"deb: FAILED: no picture after {seconds} s; windows: {self.windows()}, colors: {self.colors()}")

    def close_windows(self):
        """Disconnects the programs that have a window."""
        for window in self.windows():
            subprocess.run(["xkill", "-display", self.name, "-id", window], capture_output=True, check=False)
