"""A Debian that contains nothing but its package manager, in a folder."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

# What a desktop has for a double click: `gio` starts programs as the file managers of GNOME, Xfce and Cinnamon do.
DESKTOP = ["desktop-file-utils", "libglib2.0-bin", "shared-mime-info"]
# Changed by every installation: lists, caches and logs of the package manager, and backups of its files.
PASSING = ("proc/", "sys/", "dev/", "tmp/", "run/", "root/", "home/", "var/cache/", "var/log/", "var/lib/apt/", "var/backups/")
PASSING_FILES = ("-old", "-")


def enter_own_mounts():
    """Starts the program again with its own mounts, which end with it."""
    if os.environ.get("PLIMSOLL_OWN_MOUNTS"):
        return
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("the test of the .deb needs root and debootstrap (apt-get install debootstrap xvfb x11-utils)")
    os.environ["PLIMSOLL_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


class BareDebian:
    """The system in a folder. Later runs copy the first one instead of downloading it."""

    def __init__(self, cache, root, suite):
        base = cache / f"debian-{suite}"
        if not (base / "complete").exists():
            start = time.monotonic()
            shutil.rmtree(base, ignore_errors=True)
            mirror = _apt("indextargets", "--format", "$(SITE)", "Created-By: Packages").split()
            # Without the mirror of this machine, debootstrap uses its own.
            command = ["debootstrap", "--variant=minbase", suite, str(base), *mirror[:1]]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            (base / "complete").touch()
            print(f"deb: bare Debian {suite} made in {time.monotonic() - start:.1f} s")
        subprocess.run(["cp", "-a", str(base), str(root)], check=True)
        self.root = root
        (root / "complete").unlink()
        # The network of this machine.
        settings = [line for line in _apt_config() if line.startswith("Acquire::")]
        (root / "etc/apt/apt.conf.d/00network").write_text("\n".join(settings) + "\n", encoding="utf-8")
        for name in ["resolv.conf", "hosts"]:
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "shm", str(root / "dev/shm")], check=True)
        # Nothing starts services in a folder.
        policy = root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
        policy.chmod(0o755)

    def run(self, command, user=None, cwd="/"):
        """Runs a command in the system and returns its output."""
        done = subprocess.run(
            self._command(command, user, cwd), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=_environment()
        )
        if done.returncode != 0:
            sys.exit(f"deb: FAILED: {' '.join(command)}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def start(self, command, screen):
        """Starts a program with a window as a user."""
        environment = dict(_environment(), DISPLAY=screen.name, HOME="/home/me")
        return subprocess.Popen(
            self._command(command, "me", "/home/me"),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )

    def stop(self, process, screen):
        """Closes the windows and waits for the program."""
        screen.close_windows()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            process.wait()

    def add_user(self, session):
        """Creates a user who has a session."""
        self.run(["useradd", "--create-home", "me"])
        shutil.copy(session, self.root / "home/me" / session.name)
        self.run(["chown", "me:me", f"/home/me/{session.name}"])

    def packages(self):
        """Returns the names of the installed packages."""
        return set(self.run(["dpkg-query", "-W", "-f", "${Package}\n"]).split())

    def has_opened(self, session):
        """Returns whether the user has opened a session: the program remembers it."""
        state = self.root / "home/me/.local/share/plimsoll/state.json"
        return state.exists() and session.name in state.read_text(encoding="utf-8")

    def forget(self):
        """Removes what the program remembers."""
        shutil.rmtree(self.root / "home/me/.local", ignore_errors=True)

    def files(self):
        """Returns the paths of all files that an installation may leave behind."""
        found = set()
        for folder, _folders, names in os.walk(self.root):
            inner = os.path.relpath(folder, self.root)
            for name in names:
                path = os.path.normpath(os.path.join(inner, name))
                if not path.startswith(PASSING) and not path.endswith(PASSING_FILES):
                    found.add(path)
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        """Unmounts the system. Its folder is the caller's."""
        for inner in ["dev/shm", "proc"]:
            subprocess.run(["umount", "--lazy", str(self.root / inner)], check=True)

    def _command(self, command, user, cwd):
        program = ["chroot", str(self.root)]
        if user:
            program = ["chroot", f"--userspec={user}", str(self.root)]
        return [*program, "env", "-C", cwd, *command]


def _environment():
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}


def _apt(*words):
    return subprocess.run(["apt-get", *words], check=True, capture_output=True, text=True).stdout


def _apt_config():
    return subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout.splitlines()
