"""A real nginx for tests and measurements of clients: TLS 1.3, HTTP/1.1 and HTTP/2, files by size."""

import pathlib
import re
import subprocess
import time

import tls_servers

CONFIGURATION = """daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
{user}
events {{ worker_connections 4096; }}
http {{
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  log_format terse '$ssl_server_name $request_method $http_x_test $content_length $ssl_cipher $ssl_session_reused';
  access_log {log};
  server {{
    listen {host}:{port} ssl http2 backlog=4096;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.3;
    ssl_ecdh_curve {groups};
    keepalive_requests {keep_alive};
    root {folder}/html;
    location = /echo {{ return 200 "$request_method $http_x_test $request_body\\n"; }}
    {extra}
  }}
}}
"""


class Nginx:
    """Runs until the end of the block; `port` is where it listens."""

    def __init__(self, source, openssl, certificates, folder, extra="", logs=False, keep_alive=1_000_000,
                 groups="X25519MLKEM768:X25519:MLKEM1024", host="127.0.0.1", inside=()):
        # `inside`: what a command line begins with to be run where `host` is one's own address.
        self._program = subprocess.run([pathlib.Path(source) / "tools/nginx.sh"], check=True, capture_output=True,
                                       text=True).stdout.strip()
        self._environment = openssl.environment
        self._inside, self.host = inside, host
        self.folder = pathlib.Path(folder).resolve()
        (self.folder / "html").mkdir(parents=True, exist_ok=True)
        self.port = tls_servers.free_port()
        for name, size in (("4KiB", 4096), ("40KiB", 40960), ("1MB", 1_000_000)):
            (self.folder / "html" / name).write_bytes(b"x" * size)
        log = f"{self.folder}/access.log terse" if logs else "off"
        (self.folder / "nginx.conf").write_text(CONFIGURATION.format(
            folder=self.folder, port=self.port, host=host, certificate=certificates.certificate, key=certificates.key, extra=extra,
            log=log, keep_alive=keep_alive, user=self._user(), groups=groups), encoding="ascii")
        self.process = None

    @staticmethod
    def _user():
        # Started as root it would read its files as nobody.
        return "user root;" if pathlib.Path("/proc/self").stat().st_uid == 0 else ""

    def __enter__(self):
        (self.folder / "access.log").unlink(missing_ok=True)
        self.process = subprocess.Popen([*self._inside, self._program, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")],
                                        env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + tls_servers.PATIENCE_S
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"nginx does not listen: {self.process.stderr.read().decode(errors='replace')}")
            time.sleep(0.02)
        return self

    def _listens(self):
        if not self._inside:
            return tls_servers.can_connect((self.host, self.port))
        probe = f"exec 3<>/dev/tcp/{self.host}/{self.port}"
        return subprocess.run([*self._inside, "bash", "-c", probe], capture_output=True, check=False).returncode == 0

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self.process.stderr.close()

    def __exit__(self, *_):
        self.stop()

    def workers(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        return [int(pid) for pid in re.findall(r"\d+", children)]

    def requests(self):
        """Lines of the log: server name, method, X-Test, content length, cipher, `r` where the session was reused."""
        return (self.folder / "access.log").read_text(encoding="utf-8").splitlines()
