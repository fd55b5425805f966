#!/usr/bin/env python3
"""What `cmake --install` and cpack make works without the checkout: no path leads back, and a moved copy runs."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import arguments

ARGUMENTS = None
SCRATCH = None
# As on a machine that has nothing of this one's set-up.
BARE = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def run(*command, code=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=240, **options)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}: {command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build_folder():
    return pathlib.Path(ARGUMENTS.tlstrata).parent


def has_private_openssl():
    cache = (build_folder() / "CMakeCache.txt").read_text()
    return "TLSTRATA_OPENSSL:STRING=system" not in cache


def programs_and_libraries(root):
    """Every ELF file below `root`."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    found.append(path)
    return found


def git(*words):
    return subprocess.run(["git", "-C", ARGUMENTS.source, *words], capture_output=True, check=False)


class Commit(unittest.TestCase):
    """cmake/commit.cmake, in trees of each kind."""

    def commit_of(self, tree):
        written = SCRATCH / "commit.cpp"
        run("cmake", f"-DSOURCE={tree}", f"-DOUTPUT={written}", "-P", tree / "cmake" / "commit.cmake")
        return re.findall(r'return "(.*)";', written.read_text())

    def test_a_tree_that_nobody_vouches_for_is_unknown(self):
        # Within this checkout's repository, whose commit it must not take.
        tree = SCRATCH / "tree"
        for name in ["cmake/commit.cmake", "cmake/commit.txt", "src/cli/commit.cpp.in"]:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(pathlib.Path(ARGUMENTS.source) / name, tree / name)
        self.assertEqual(self.commit_of(tree), ["unknown", ""])
        # As `git archive` fills it in.
        (tree / "cmake/commit.txt").write_text("0123456789abcdef0123456789abcdef01234567 2026-01-02\n")
        self.assertEqual(self.commit_of(tree), ["0123456789ab", "2026-01-02"])

    def test_checkout_has_the_commit_that_git_says(self):
        source = pathlib.Path(ARGUMENTS.source).resolve()
        top = git("rev-parse", "--show-toplevel").stdout.decode().strip()
        said = self.commit_of(source)[0]
        if not top or pathlib.Path(top).resolve() != source:  # an archive, or a checkout of somebody else's
            self.assertRegex(said, r"^([0-9a-f]{12}|unknown)$")
            return
        head = git("rev-parse", "HEAD").stdout.decode()
        changed = git("status", "--porcelain", "--untracked-files=no").stdout
        self.assertEqual(said, head[:12] + (" with changes" if changed else ""))
        archive = subprocess.run(["tar", "-xO"], input=git("archive", "HEAD", "cmake/commit.txt").stdout, capture_output=True,
                                 check=True)
        self.assertEqual(archive.stdout.decode().split()[0], head.strip())


class Installed(unittest.TestCase):
    """All checks of an installation, on the folder that stands in for /usr."""

    def check_elsewhere(self, usr, carried):
        elsewhere = [str(pathlib.Path(ARGUMENTS.source).resolve()), str(build_folder().resolve())]
        files = programs_and_libraries(usr)
        self.assertIn(usr / "bin" / "tlstrata", files)
        self.assertIn(usr / "lib" / "tlstrata" / "tlstrata-provider.so", files)
        for path in files:
            dynamic = run("readelf", "-d", path)
            for paths in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic):
                for folder in paths.split(":"):
                    self.assertTrue(folder.startswith("$ORIGIN"), f"{path}: RUNPATH {folder}")
            content = path.read_bytes()
            for place in elsewhere:
                self.assertNotIn(place.encode(), content, f"{path} names {place}")
            if path.name.startswith("lib"):
                continue  # loaded by the program, which has found what it needs then
            linked = run("ldd", path, env=BARE)
            self.assertNotIn("not found", linked, path)
            for place in elsewhere:
                self.assertNotIn(place, linked.replace(str(usr), ""), path)  # which may lie below them
        linked = run("ldd", usr / "bin" / "tlstrata", env=BARE)
        for name in carried:
            self.assertRegex(linked, rf"lib{name}\.so\.\S+ => {re.escape(str(usr))}/bin/\.\./lib/tlstrata/")

    def check_runs(self, usr):
        program = usr / "bin" / "tlstrata"
        said = run(program, "--version", env=BARE, cwd="/")
        self.assertRegex(said, r"^tlstrata [0-9.]+ \(commit ([0-9a-f]{12}( with changes)?|unknown)\)\n")
        self.assertRegex(said, r"\nOpenSSL (3\.[5-9]|3\.\d\d|[4-9])\S* .* in \S.* \(built with [34]\.\d+\.\d+\)\n")
        self.assertIn(f"provider: {usr}/lib/tlstrata/tlstrata-provider.so\n", said)
        if has_private_openssl():
            self.assertIn(f" in {usr}/lib/tlstrata (built", said)
        said = run(program, "handshake", "--groups", "X25519,X25519MLKEM512", "--handshakes", "5", "--runs", "1", env=BARE,
                   cwd="/")
        self.assertIn("X25519MLKEM512", said)
        self.assertIn("layered-study", run(program, "lab", "--list", env=BARE, cwd="/"))

    def own_names(self):
        return ["ssl", "crypto", "fmt", "tomlplusplus"] if has_private_openssl() else []

    def test_no_program_looks_for_libraries_where_one_happens_to_be(self):
        for path in (path for path in programs_and_libraries(build_folder()) if path.parent == build_folder()):
            for paths in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", run("readelf", "-d", path)):
                for folder in paths.split(":"):
                    self.assertTrue(folder.startswith(("/", "$ORIGIN")), f"{path}: RUNPATH {paths}")

    def test_installation_can_be_moved(self):
        first = SCRATCH / "first"
        run("cmake", "--install", build_folder(), "--prefix", first)
        self.check_elsewhere(first, self.own_names())
        usr = SCRATCH / "moved away"
        first.rename(usr)
        self.check_elsewhere(usr, self.own_names())
        self.check_runs(usr)
        for path in ["share/man/man1/tlstrata.1", "share/man/man1/tlstrata-serve-origin.1",
                     "share/bash-completion/completions/tlstrata", "share/zsh/vendor-completions/_tlstrata",
                     "share/doc/tlstrata/copyright", "share/doc/tlstrata/README.md"]:
            self.assertTrue((usr / path).is_file(), path)

    def test_debian_package(self):
        folder = SCRATCH / "deb"
        run("cpack", "-G", "DEB", "-B", folder, cwd=build_folder())
        packages = sorted(folder.glob("*.deb"))
        self.assertTrue(any(path.name.startswith("tlstrata_") for path in packages), packages)
        # Overrides count as said; what they silence stands with its reason in packaging/.
        run("lintian", "--fail-on", "error,warning", *packages)
        package = next(path for path in packages if path.name.startswith("tlstrata_"))
        depends = run("dpkg-deb", "-f", package, "Depends")
        self.assertRegex(depends, r"libc6 \(>= 2\.\d+\)")
        self.assertIn("libpcap0.8t64 | libpcap0.8", depends)
        self.assertIn("libnghttp2-14", depends)
        if has_private_openssl():
            # Names of one release alone would keep it from the next.
            self.assertNotRegex(depends, r"libssl|libfmt|libtomlplusplus|t64 \(")
        else:
            self.assertRegex(depends, r"libssl3\S* \(>= 3\.[5-9]")
        root = SCRATCH / "root"
        run("dpkg-deb", "-x", package, root)
        self.check_elsewhere(root / "usr", self.own_names())
        self.check_runs(root / "usr")
        for path in packages:
            owners = run("dpkg-deb", "-c", path)
            self.assertEqual([line for line in owners.splitlines() if " root/root " not in line], [], path)
        if (build_folder() / "tlstrata-mpi").exists():
            package, = folder.glob("tlstrata-mpi_*.deb")
            version = run("dpkg-deb", "-f", package, "Version").strip()
            depends = run("dpkg-deb", "-f", package, "Depends")
            self.assertIn(f"tlstrata (= {version})", depends)
            self.assertIn("libopenmpi", depends)
            if has_private_openssl():
                self.assertNotRegex(depends, r"libssl|libfmt|libtomlplusplus")
            run("dpkg-deb", "-x", package, root)
            self.check_elsewhere(root / "usr", self.own_names())
            self.assertIn("tlstrata-mpi", run(root / "usr" / "bin" / "tlstrata-mpi", "--version", env=BARE, cwd="/"))

    def test_tarball(self):
        folder = SCRATCH / "tgz"
        run("cpack", "-G", "TGZ", "-B", folder, cwd=build_folder())
        archive, = folder.glob("*.tar.gz")
        run("tar", "-xzf", archive, "-C", folder)
        usr, = [path for path in folder.iterdir() if path.is_dir() and path.name.startswith("tlstrata-")]
        self.check_elsewhere(usr, ["ssl", "crypto", "fmt", "tomlplusplus", "nghttp2", "cares"])
        self.check_runs(usr)
        self.assertTrue((usr / "share/doc/tlstrata/Apache-2.0").is_file())


if __name__ == "__main__":
    ARGUMENTS, SCRATCH, REST = arguments.read()
    os.umask(0o022)
    arguments.run_tests(REST)
