# SPDX-License-Identifier: BSD-3-Clause
"""Runs an sshd for the tests."""
import os
import pathlib
import shutil
import socket
import subprocess

from harness import MLICTL, Case, wait_for


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SshdCase(Case):
    """Runs an sshd on the loopback interface, with its own keys and configuration."""

    def setUp(self):
        super().setUp()
        self.sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not self.sshd or not shutil.which("ssh") or not shutil.which("ssh-keygen"):
            self.skipTest("there is no sshd (openssh-server)")
        self.keys = self.root / "ssh"
        self.keys.mkdir(mode=0o700)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.keys / name],
                           check=True)
        shutil.copy(self.keys / "user.pub", self.keys / "authorized")
        self.port = free_port()
        self.start_sshd()

    def start_sshd(self):
        config = self.keys / "sshd_config"
        config.write_text(f"""Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.keys}/host
AuthorizedKeysFile {self.keys}/authorized
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
SetEnv PATH={pathlib.Path(MLICTL).parent}:/usr/bin:/bin
""")
        log = open(self.keys / "log", "wb")
        self.addCleanup(log.close)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # where root's sshd confines itself
        process = subprocess.Popen([self.sshd, "-D", "-e", "-f", config], stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

        def listens():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        if not wait_for(lambda: listens() or process.poll() is not None, 60) or not listens():
            self.skipTest("sshd does not start: " + (self.keys / "log").read_text())
        wrapper = self.keys / "ssh"
        wrapper.write_text(f"""#!/bin/sh
exec ssh -F none -i '{self.keys}/user' -o IdentitiesOnly=yes -o BatchMode=yes \\
    -o StrictHostKeyChecking=no -o UserKnownHostsFile='{self.keys}/known' -o LogLevel=ERROR "$@"
""")
        wrapper.chmod(0o755)

    def environment(self):
        return dict(super().environment(), MLI_SSH=str(self.keys / "ssh"))
