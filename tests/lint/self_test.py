#!/usr/bin/env python3
"""A lint that cannot fail is none: each rule must find a violation planted in a small tree, and nothing in the clean one."""
import shutil
import sys
import tempfile
from pathlib import Path

import docs
import format as formatting
import includes
import shell
import style

CLEAN = {
    "src/base/result.h": "// Errors as values.\n#pragma once\n\nnamespace tlstrata {}  // namespace tlstrata\n",
    "src/tcp/stream.h": '// Streams of bytes; reinterpret_cast, printf( and throw stand only in this comment.\n#pragma once\n\n'
    '#include "base/result.h"\n\nnamespace tlstrata::tcp {}  // namespace tlstrata::tcp\n',
    "src/tcp/stream.cpp": '#include "tcp/stream.h"\n\nnamespace tlstrata::tcp {\n\n'
    "const char* words = \"printf( throw getenv\";\nint count = 1'000;\n\n}  // namespace tlstrata::tcp\n",
    "src/tls/record.h": "// Records of TLS 1.3.\n#pragma once\n",
    "provider/key.h": '// Keys of groups.\n#pragma once\n\n#include <openssl/evp.h>\n\nnamespace tlstrata::provider {}  // namespace '
    "tlstrata::provider\n",
    "tools/good.sh": "#!/bin/sh\nset -eu\necho \"$1\"\n",
    "docs/note.md": "See [the map](../HACKING.md).\n",
}

# lint, file, what is added at its end, what the finding must say
PLANTED = [
    (includes, "src/tcp/stream.cpp", '#include "tls/record.h"\n', 'src/tcp must not include "tls/record.h"'),
    (includes, "src/tcp/stream.cpp", "#include <openssl/evp.h>\n", "does not give it OpenSSL::SSL"),
    (includes, "src/tcp/stream.cpp", "#include <pcap.h>\n", "does not give it pcap_header"),
    (includes, "src/tcp/stream.cpp", '#include "stream.h"\n', "src/tcp must not include"),
    (includes, "src/tcp/stream.cpp", "namespace tlstrata::tls {}\n", "in a folder of namespace tlstrata::tcp"),
    (includes, "provider/key.h", '#include "base/result.h"\n', "it stands alone"),
    (includes, "provider/key.h", '#include "provider/none.h"\n', "write the path from the checkout"),
    (includes, "provider/key.h", "#include <fmt/format.h>\n", "it links libcrypto alone"),
    (includes, "provider/key.h", "namespace tlstrata::ossl {}\n", "in a folder of namespace tlstrata::provider"),
    (style, "provider/key.h", "auto* p = reinterpret_cast<const int*>(words);\n", "reinterpret_cast outside of dispatch.h"),
    (style, "provider/key.h", "void f() { throw 1; }\n", "exceptions in the provider"),
    (style, "provider/key.h", 'auto* home = std::getenv("HOME");\n', "a library that reads the environment"),
    (includes, "src/extra/x.h", "// A folder of no layer.\n#pragma once\n", "src/extra is not in the table"),
    (includes, "cmake/layers.cmake", "tlstrata_layer(low USES high)\ntlstrata_layer(high)\n", "does not stand above it"),
    (style, "src/tcp/bare.h", "#pragma once\n", "a header opens with what it is for"),
    (style, "src/tcp/twice.h", "// A header that is read twice.\n", "no #pragma once"),
    (style, "src/tcp/stream.cpp", "auto* p = reinterpret_cast<const int*>(words);\n", "reinterpret_cast where input is read"),
    (style, "src/tcp/stream.cpp", "void f() { throw 1; }\n", "throw in the pipeline"),
    (style, "src/tcp/stream.cpp", 'void f() { std::printf("x"); }\n', "a library that prints"),
    (style, "src/tcp/stream.cpp", "void f() { std::cerr << 1; }\n", "a library that prints"),
    (style, "src/tcp/stream.cpp", "void f() { exit(1); }\n", "a library that ends the process"),
    (style, "src/tcp/stream.cpp", 'auto* home = std::getenv("HOME");\n', "a library that reads the environment"),
    (style, "src/tcp/stream.cpp", "\n" * 600, "more than 600 lines"),
    (style, "src/tcp/Stream.h", "// A file named like a type.\n#pragma once\n", "file names are snake_case"),
    (style, "src/tcp/stream.cpp", "// TO" "DO: later\n", "a promise or a skipped test"),
    (style, "docs/note.md", "Fetch it from http://deb.deb" "ian.org/debian.\n", "the host name of a package registry"),
    (style, "docs/note.md", "It lies in /wo" "rk/main.\n", "a path of one machine"),
    (docs, "docs/note.md", "See [nothing](nothing.md).\n", "no such file: nothing.md"),
    (docs, "cmake/layers.cmake", "tlstrata_layer(unmapped)\n", "the folder map lacks unmapped"),
    (formatting, "src/tcp/stream.cpp", "int   x=1;\n", "code should be clang-formatted"),
    (shell, "tools/good.sh", "cd $1\n", "SC2086"),
    (shell, "tools/good.sh", "if true; then\n", "tools/good.sh"),
]


def lay_clean_tree(real, tree):
    for name in ("cmake/layers.cmake", "HACKING.md", ".clang-format"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real / name, tree / name)
    for layer in includes.read_table(real):
        (tree / "src" / layer).mkdir(parents=True)
    for name, text in CLEAN.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    # The real page's links lead to files that this tree lacks.
    page = (tree / "HACKING.md").read_text()
    (tree / "HACKING.md").write_text(page.replace("](", "] ("))


def failures(real, tree):
    lay_clean_tree(real, tree)
    wrong = [f"in the clean tree: {finding}" for module in (includes, style, docs, formatting, shell)
             for finding in module.check(tree)]
    for module, name, addition, expected in PLANTED:
        path = tree / name
        before = path.read_text() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((before or "") + addition)
        found = module.check(tree)
        if not any(expected in finding for finding in found):
            wrong.append(f"{module.__name__} did not say {expected!r} of {addition!r}, but {found}")
        if before is None:
            path.unlink()
            if path.parent.name == "extra":
                path.parent.rmdir()
        else:
            path.write_text(before)
    return wrong


def main():
    real = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as scratch:
        wrong = failures(real, Path(scratch))
    for line in wrong:
        print(line)
    print(f"{len(PLANTED)} planted violations, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
