#!/usr/bin/env python3
"""Asks doctor about this machine as root, as an ordinary user, and where the kernel allows no namespaces."""

import argparse
import json
import os
import subprocess
import sys
import time
import unittest

ARGUMENTS = None
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
# To the kernel a root without these is an ordinary user, and one that can read the checkout wherever it lies. (To map
# itself into a user namespace, user 0 alone needs CAP_SETFCAP.)
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-sys_admin,-net_admin,-net_raw"]


def doctor(*arguments, before=(), environment=None):
    return subprocess.run([*before, ARGUMENTS.tlstrata, "doctor", *arguments], cwd="/", text=True, capture_output=True,
                          env=environment or ENVIRONMENT, timeout=60, check=False)


def findings_of(done):
    document = json.loads(done.stdout)
    return document, {finding["name"]: finding for finding in document["findings"]}


class Doctor(unittest.TestCase):
    def setUp(self):
        self.is_root = os.geteuid() == 0

    def test_this_machine_can_run_a_lab(self):
        start = time.monotonic()
        done = doctor("--json", "-")
        self.assertLess(time.monotonic() - start, 20)
        document, findings = findings_of(done)
        self.assertEqual(list(document)[:3], ["tool", "version", "command"])
        for name in ["openssl", "test-bed", "capture", "nginx"]:
            self.assertEqual(findings[name]["verdict"], "ok", findings[name])
        self.assertEqual(done.returncode, 0 if document["can_run_lab"] else 3)
        # It is asked in /, where an ordinary user may not write results.
        self.assertEqual(document["can_run_lab"], self.is_root)

    def test_the_table_says_what_and_what_to_do(self):
        done = doctor()
        self.assertEqual(done.stderr, "")
        self.assertIn("openssl", done.stdout)
        self.assertRegex(done.stdout, r"\nlab can(not)? run here")
        self.assertNotIn("\x1b", done.stdout)

    def test_a_missing_nginx_is_exit_code_3_and_one_remedy(self):
        done = doctor("--json", "-", environment=ENVIRONMENT | {"TLSTRATA_NGINX": "/no/such/nginx"})
        self.assertEqual(done.returncode, 3)
        _, findings = findings_of(done)
        self.assertEqual(findings["nginx"]["verdict"], "missing")
        self.assertIn("/no/such/nginx", findings["nginx"]["state"])

    def test_an_ordinary_user_has_a_bed_in_a_user_namespace(self):
        done = doctor("--json", "-", before=WITHOUT_RIGHTS if self.is_root else [])
        _, findings = findings_of(done)
        self.assertEqual(findings["test-bed"]["verdict"], "ok", findings["test-bed"])
        self.assertEqual(findings["capture"]["verdict"], "ok", findings["capture"])
        self.assertIn("user namespace", findings["privileges"]["state"])

    def test_a_kernel_without_namespaces_is_named_with_the_way_out(self):
        script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
        done = doctor("--json", "-", before=["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh",
                                             *WITHOUT_RIGHTS])
        self.assertEqual(done.returncode, 3, done.stderr)
        _, findings = findings_of(done)
        self.assertEqual(findings["test-bed"]["verdict"], "missing")
        self.assertIn("max_user_namespaces = 0", findings["test-bed"]["state"])
        self.assertIn("sudo", findings["test-bed"]["remedy"])

    def test_it_leaves_nothing(self):
        doctor()
        left = subprocess.run(["ip", "-o", "link"], text=True, capture_output=True, env=ENVIRONMENT, check=True).stdout
        for name in ["proxy-front", "proxy-back"]:
            self.assertNotIn(name, left)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlstrata", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--scratch", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    ARGUMENTS.tlstrata = os.path.abspath(ARGUMENTS.tlstrata)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
