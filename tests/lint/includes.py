#!/usr/bin/env python3
"""The walls: an #include in src/ must be one that cmake/layers.cmake allows.

Checks that the table itself has no cycle (a layer uses only rows above it), that every folder of src/ is in it, that our own
headers and those of outside libraries are included only where the table says so, and that each file keeps to its
folder's namespace. provider/ includes OpenSSL and itself.
"""
import re
from pathlib import Path

import lint

TABLE = Path("cmake/layers.cmake")
# Beside src/, and no layer: docs/adr/0012-provider.md.
PROVIDER = "provider"

# Which library of the table a system header belongs to. <openssl/...> is thereby src/ossl's alone.
LIBRARY_OF_HEADER = {
    r"openssl/": "OpenSSL::SSL",
    r"pcap(/|\.h)": "pcap_header",
    r"zlib\.h": "ZLIB::ZLIB",
    r"zstd\.h": "PkgConfig::zstd",
    r"boost/": "Boost::headers",
    r"nghttp2/": "PkgConfig::nghttp2",
    r"ares\.h": "PkgConfig::cares",
    r"nlohmann/": "nlohmann_json::nlohmann_json",
    r"toml(\+\+|plusplus)": "tomlplusplus::tomlplusplus",
    r"CLI/": "CLI11::CLI11",
    r"mpi\.h": "MPI::MPI_CXX",
}


def read_table(source):
    """{layer: (used layers, libraries)} in the order of the table."""
    text = re.sub(r"#[^\n]*", "", (source / TABLE).read_text())
    table = {}
    for call in re.findall(r"tlstrata_layer\(([^)]*)\)", text):
        words = call.split()
        groups = {"USES": [], "LIBRARIES": []}
        into = None
        for word in words[1:]:
            if word in groups:
                into = groups[word]
            else:
                into.append(word)
        table[words[0]] = (groups["USES"], groups["LIBRARIES"])
    return table


def check_table(source, table):
    findings = []
    above = set()
    for layer, (uses, _) in table.items():
        for used in uses:
            if used not in above:
                findings.append(f"{TABLE}: {layer} uses {used}, which does not stand above it")
        above.add(layer)
    for folder in sorted(path for path in (source / "src").iterdir() if path.is_dir()):
        if folder.name not in table and any(folder.iterdir()):
            findings.append(f"{TABLE}: src/{folder.name} is not in the table")
    return findings


def check_include(source, layer, table, include):
    """What is wrong with one #include of a layer's file, or None."""
    uses, libraries = table[layer]
    quoted, name = include
    if quoted:
        folder = name.split("/")[0]
        if folder != layer and folder not in uses:
            return f'src/{layer} must not include "{name}": the table gives it {" ".join(uses) or "nothing"}'
        if not (source / "src" / name).is_file():
            return f'"{name}" is not below src/: write the path from there'
        return None
    for pattern, library in LIBRARY_OF_HEADER.items():
        if re.match(pattern, name) and library not in libraries:
            return f"src/{layer} must not include <{name}>: the table does not give it {library}"
    return None


INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def check_provider(source):
    """The provider is loaded into other people's programs: OpenSSL's headers, its own and the language's are all it gets."""
    findings = []
    others = [pattern for pattern, library in LIBRARY_OF_HEADER.items() if library != "OpenSSL::SSL"]
    for path in lint.files(source, PROVIDER, suffixes=lint.CPP):
        where = path.relative_to(source)
        for number, line in enumerate(lint.code_of(path.read_text()), 1):
            included = INCLUDE.match(line)
            if included and included[1] and not (source / included[1]).is_relative_to(source / PROVIDER):
                findings.append(f'{where}:{number}: {PROVIDER} must not include "{included[1]}": it stands alone')
            elif included and included[1] and not (source / included[1]).is_file():
                findings.append(f'{where}:{number}: "{included[1]}" is not there: write the path from the checkout')
            elif included and included[2] and any(re.match(pattern, included[2]) for pattern in [*others, "fmt/"]):
                findings.append(f"{where}:{number}: {PROVIDER} must not include <{included[2]}>: it links libcrypto alone")
            space = re.match(r"\s*namespace\s+(tlstrata[\w:]*)", line)
            if space and space[1] != f"tlstrata::{PROVIDER}":
                findings.append(f"{where}:{number}: namespace {space[1]} in a folder of namespace tlstrata::{PROVIDER}")
    return findings


def check(source):
    table = read_table(source)
    findings = check_table(source, table) + check_provider(source)
    for layer in table:
        namespace = "tlstrata" if layer == "base" else f"tlstrata::{layer}"
        for path in lint.files(source, f"src/{layer}", suffixes=lint.CPP):
            where = path.relative_to(source)
            lines = lint.code_of(path.read_text())
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if match:
                    wrong = check_include(source, layer, table, (match[1] is not None, match[1] or match[2]))
                    if wrong:
                        findings.append(f"{where}:{number}: {wrong}")
            for number, line in enumerate(lines, 1):
                match = re.match(r"\s*namespace\s+(tlstrata[\w:]*)", line)
                if match and match[1] != namespace and not match[1].startswith(namespace + "::"):
                    findings.append(f"{where}:{number}: namespace {match[1]} in a folder of namespace {namespace}")
    return findings


if __name__ == "__main__":
    lint.main(check)
