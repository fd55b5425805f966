// One page of script, style and HTML, and its security policy; written as HTML and as the C++ that the program is built with.
//
// In:  FILE.cpp
// Out: FILE.cpp with `page_template()`, FILE.html beside it. The same sources give the same bytes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [target] = process.argv.slice(2);
if (!target || !target.endsWith(".cpp")) {
  console.error("usage: node build.mjs FILE.cpp");
  process.exit(2);
}

const bundled = await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.js", style: "src/style.css" },
  outdir: "out",
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  target: ["chrome100", "firefox102", "safari15.4"],
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning",
});
const text = (suffix) => bundled.outputFiles.find((file) => file.path.endsWith(suffix)).text.trim();
// "</script" would end the block; inside of strings and patterns, the only places for it, "<\/script" is the same.
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = text(".css");
const hash = (source) => `'sha256-${createHash("sha256").update(source, "utf8").digest("base64")}'`;

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "style-src-attr 'unsafe-inline'", // widths and colours of drawings; no name ever becomes markup
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

let page = readFileSync(`${here}/src/page.html`, "utf8");
for (const [place, filling] of [
  ["%policy%", policy],
  ["%style%", style],
  ["%script%", script],
]) {
  page = page.replace(place, () => filling);
}

const mark = "==page==";
const piece = 16_000; // compilers may refuse longer literals; those that follow each other are one
if (page.includes(`)${mark}`)) {
  throw new Error("the page contains the end of the literal that holds it");
}
const pieces = [];
for (let at = 0; at < page.length; at += piece) {
  pieces.push(`R"${mark}(${page.slice(at, at + piece)})${mark}"`);
}
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target.replace(/\.cpp$/, ".html"), page);
writeFileSync(
  target,
  `// Made by web/build.mjs from web/src.
#include "report/html_page.h"

namespace tlstrata::report {

std::string_view page_template() {
  static constexpr char page[] =
${pieces.join("\n")};
  return {page, sizeof page - 1};
}

}  // namespace tlstrata::report
`,
);
