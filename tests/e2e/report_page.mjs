// report.html in a real browser: node report_page.mjs MODE FILE [SCREENSHOTS]
//
// In:  MODE real | bare | hostile | large; FILE the page; TLSTRATA_WEB the folder whose node_modules has playwright-core and
//      axe-core; TLSTRATA_CHROMIUM the browser.
// Out: what was measured, a line each; the first thing that is not as it should be ends it with a stack and exit code 1.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [mode, file, shots] = process.argv.slice(2);
const require = createRequire(join(process.env.TLSTRATA_WEB, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const url = pathToFileURL(file).href;

const browser = await chromium.launch({
  executablePath: process.env.TLSTRATA_CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// A page that is ready, and a list of what it must not do.
async function open({ fragment = "", width = 1280, height = 900, dark = false, phone = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", isMobile: phone, hasTouch: phone, deviceScaleFactor: phone ? 2 : 1 });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => request.url().split("#")[0] !== url && wrong.push(`request: ${request.url()}`));
  const began = performance.now();
  await page.goto(url + fragment);
  await settled(page);
  return { page, wrong, ms: performance.now() - began, close: () => context.close() };
}

// Everything is decoded and drawn.
async function settled(page) {
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes" && document.documentElement.dataset.drawn, null, { timeout: 60000 });
}
// What a choice changes is drawn in turns; the page counts those that are complete.
async function after(page, action) {
  const before = await page.evaluate(() => document.documentElement.dataset.drawn);
  await action();
  await page.waitForFunction((turn) => document.documentElement.dataset.drawn !== turn, before, { timeout: 60000 });
}
const fragment = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const facts = (page) => page.evaluate(() => JSON.parse(document.getElementById("facts").textContent));
const chip = (page, key) => page.locator(`button.chip[data-key="${key}"]`);

async function accessible(page, what) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 8).map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n  ")}`), [], what);
  console.log(`axe, ${what}: no serious fault; lesser: ${result.violations.map(({ id }) => id).join(", ") || "none"}`);
}

async function shoot(page, name, options = {}) {
  if (shots) {
    await page.screenshot({ path: join(shots, `${name}.png`), ...options });
  }
}

// ---- the real run

async function saysWhatTheSummarySays(page) {
  const all = await facts(page);
  assert.equal(await page.locator("h1").textContent(), all.answer.question);
  const summary = JSON.parse(readFileSync(join(dirname(file), "summary.json"), "utf8"));
  assert.deepEqual(all.cells, summary.cells, "the page's figures are summary.json's");
  const cells = await page.locator("#cost tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const total = cells.find(([name]) => name.startsWith("total"));
  for (const [i, cell] of all.cells.entries()) {
    const us = Number(total[i + 1].split("\u00a0")[0].split(" ")[0].replaceAll(",", ""));
    const expected = cell.layers.total.p50_ns / (total[0].includes("ms") ? 1e6 : 1e3);
    assert.ok(Math.abs(us - expected) <= 0.006 * expected + 0.5, `${cell.name}: ${total[i + 1]} against ${expected}`);
  }
  assert.equal(await page.locator("#cost .row").count(), all.cells.length);
  assert.equal(await page.locator("#layers .chart svg").count(), 2 * 6 * all.families.length, "two pictures a layer and family");
  assert.equal(await page.locator("#outcomes .balance").count(), all.cells.length, "all outcomes balance");
  for (const id of ["differences", "second-layer", "handshake", "bytes", "resources", "time", "transactions", "method", "run"]) {
    assert.ok(await page.locator(`#${id}`).isVisible(), id);
  }
  for (const text of [String(all.seed), all.manifest.openssl, all.manifest.machine.kernel, all.name]) {
    assert.ok((await page.locator("#run").textContent()).includes(text), text);
  }
}

async function controlsWork(page) {
  const all = await facts(page);
  const [first, second] = all.families[0].names;
  // baseline
  await after(page, () => page.selectOption("#base", { label: second }));
  assert.equal((await fragment(page)).base, second);
  const row = (await page.locator("#differences tbody tr").last().textContent()).replaceAll("\u00a0", " ");
  assert.match(row, /made for the run's own baseline only/u);
  assert.match(await page.locator("#cost").textContent(), /Intervals and tests exist only for the baseline that the run states/u);
  const { cells: family } = all.families.at(-1);
  const compared = family.filter((_, i) => i !== 1).at(-1);
  const difference = (all.cells[compared].layers.total.p50_ns - all.cells[family[1]].layers.total.p50_ns) / 1e3;
  const shown = Number(/([+\u2212][\d.]+) (µs|ms)/u.exec(row)[1].replace("\u2212", "-")) * (row.includes(" ms") ? 1e3 : 1);
  assert.ok(Math.abs(shown - difference) <= 0.006 * Math.abs(difference) + 0.006, `${row}: ${difference}`);
  await after(page, () => page.selectOption("#base", { label: first }));
  assert.equal((await fragment(page)).base, undefined);
  // cells, responses, layers
  await after(page, () => chip(page, "c1").click());
  assert.equal((await fragment(page)).hide, "c1");
  assert.equal(await page.locator("#cost .row").count(), all.cells.length - all.families.length);
  await after(page, () => chip(page, "c1").click());
  await after(page, () => chip(page, "f1").click());
  assert.equal(await page.locator("#cost .row").count(), all.families[0].cells.length);
  await after(page, () => chip(page, "f1").click());
  await after(page, () => chip(page, "l4").click());
  assert.equal(await page.locator("#layer-app_response").count(), 0);
  assert.equal(await page.locator("#cost .row").first().locator(".part").count(), 4);
  await after(page, () => chip(page, "l4").click());
  assert.deepEqual(await fragment(page), {});
  // linear or log
  const picture = () => page.locator("#layer-total .chart").first().innerHTML();
  const linear = await picture();
  await after(page, () => page.locator('[data-key="scale-log"]').click());
  assert.notEqual(await picture(), linear);
  assert.equal((await fragment(page)).scale, "log");
  await after(page, () => page.locator('[data-key="scale-linear"]').click());
  assert.equal((await picture()).replaceAll(/zr\d+/gu, ""), linear.replaceAll(/zr\d+/gu, ""));
  // light and dark
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await after(page, () => page.selectOption('[data-key="theme"]', "dark"));
  assert.notEqual(await background(), light);
  await after(page, () => page.selectOption('[data-key="theme"]', "auto"));
  assert.equal(await background(), light);
  // figures that are folded away
  await page.locator("#layer-total summary").click();
  assert.ok(await page.locator("#layer-total details table").first().isVisible());
}

async function keyboardWorks(page) {
  await chip(page, "c1").focus();
  await after(page, () => page.keyboard.press("Space"));
  assert.equal(await chip(page, "c1").getAttribute("aria-pressed"), "false");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "c1", "the focus stays where it was");
  await after(page, () => page.keyboard.press("Enter"));
  assert.equal(await chip(page, "c1").getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.dataset.key), "c1");
  await page.locator("body").press("Home");
}

async function transactionsWork(page) {
  const rows = await page.evaluate(() => JSON.parse(document.getElementById("rows").textContent).count);
  const told = () => page.locator(".filters output").textContent();
  const count = rows.toLocaleString("en-US");
  assert.equal(await told(), `${count} of ${count} transactions`);
  assert.ok((await page.locator(".rows tbody tr").count()) < 120, "only what is in sight is in the document");
  await page.locator(".rows").evaluate((view) => view.scrollTo(0, view.scrollHeight));
  await page.waitForFunction((last) => [...document.querySelectorAll(".rows tr")].some((row) => row.ariaRowIndex === String(last + 1)), rows);
  await page.selectOption(".filters label:has-text('Cell') select", "1");
  assert.match(await told(), /^\d[\d,]* of/u);
  const names = await page.locator(".rows td.cellname").allTextContents();
  assert.equal(new Set(names).size, 1, "one cell's rows only");
  await page.selectOption(".filters label:has-text('Cell') select", "");
  await page.locator(".filters input").fill("MLKEM1024");
  await page.waitForFunction((all) => !document.querySelector(".filters output").textContent.startsWith(`${all} `), count);
  assert.equal((await fragment(page)).q, "MLKEM1024");
  await page.locator(".filters input").fill("");
  await page.waitForFunction((all) => document.querySelector(".filters output").textContent.startsWith(`${all} `), count);
  await page.locator('[data-sort="total_ns"]').click();
  await page.locator('[data-sort="total_ns"]').click();
  const column = await page.locator(".rows thead th").evaluateAll((heads) => heads.findIndex((head) => head.ariaSort === "descending"));
  const totals = (await page.locator(".rows tbody tr:not(.spacer)").evaluateAll((lines, at) => lines.map((line) => line.cells[at].textContent), column)).map((text) => Number(text.replaceAll(",", "")));
  assert.deepEqual(totals, totals.toSorted?.((a, b) => b - a) ?? [...totals].sort((a, b) => b - a), "slowest first");
  await page.locator('[data-sort="total_ns"]').click();
}

async function laddersWork(page) {
  await page.locator("button.open", { hasText: "ladder" }).first().click();
  const dialog = page.locator("dialog");
  assert.ok(await dialog.isVisible());
  const text = await dialog.textContent();
  for (const part of ["SYN-ACK", "ClientHello, key shares", "ServerHello", "Finished", "tls_handshake", "tlstrata analyze captures/"]) {
    assert.ok(text.includes(part), part);
  }
  assert.equal(await dialog.locator(".layer-begins").count(), 5);
  assert.match((await fragment(page)).ladder, /^\d+\.\d+\.\d+$/u);
  await shoot(page, "ladder");
  const address = page.url();
  await page.keyboard.press("Escape");
  assert.ok(!(await dialog.isVisible()));
  assert.equal((await fragment(page)).ladder, undefined);
  return address.slice(address.indexOf("#"));
}

async function fragmentRestores(ladder) {
  const { page, wrong, close } = await open({ fragment: "#hide=c1,l4&scale=log&theme=dark&sort=-total_ns&q=4KiB" });
  assert.equal(await chip(page, "c1").getAttribute("aria-pressed"), "false");
  assert.equal(await chip(page, "l4").getAttribute("aria-pressed"), "false");
  assert.equal(await page.locator('[data-key="scale-log"]').getAttribute("aria-pressed"), "true");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.locator(".filters input").inputValue(), "4KiB");
  assert.equal(await page.locator('th[aria-sort="descending"]').count(), 1);
  assert.deepEqual(wrong, []);
  await close();
  const second = await open({ fragment: ladder });
  assert.ok(await second.page.locator("dialog").isVisible(), "a link to a connection opens it");
  await second.close();
}

async function real() {
  const { page, wrong, close } = await open();
  await saysWhatTheSummarySays(page);
  await accessible(page, "light");
  await shoot(page, "light");
  await controlsWork(page);
  await keyboardWorks(page);
  await transactionsWork(page);
  const ladder = await laddersWork(page);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.waitForTimeout(100);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light", "paper is white");
  assert.ok(!(await page.locator(".bar").isVisible()));
  await shoot(page, "print");
  assert.deepEqual(wrong, []);
  await close();
  await fragmentRestores(ladder);

  const dark = await open({ dark: true });
  await accessible(dark.page, "dark");
  await shoot(dark.page, "dark");
  assert.deepEqual(dark.wrong, []);
  await dark.close();

  const phone = await open({ width: 390, height: 844, phone: true });
  assert.ok((await phone.page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "nothing sticks out on a phone");
  await accessible(phone.page, "phone");
  await shoot(phone.page, "phone");
  assert.deepEqual(phone.wrong, []);
  await phone.close();
}

// ---- a folder without its captures

async function bare() {
  const { page, wrong, close } = await open();
  assert.match(await page.locator("#transactions").textContent(), /No connection is drawn: \d+ of \d+ captures are not in the folder/u);
  await page.locator("button.open", { hasText: "command" }).first().click();
  assert.match(await page.locator("dialog .command").textContent(), /^tlstrata analyze captures\/\S+\.pcapng --show \d+$/u);
  assert.deepEqual(wrong, []);
  await close();
}

// ---- names that attack

async function hostile() {
  const { page, wrong, close } = await open();
  await page.locator("button.open").first().click();
  const dialog = await page.locator("dialog").innerText();
  assert.ok(dialog.includes("<script>alert(1)</script>'\"\\u{202e}\\x1b[31m"), dialog);
  await page.locator("dialog button").click();
  const text = await page.evaluate(() => document.body.innerText);
  assert.ok(text.includes("<img src=x onerror=alert(2)>\"'\\u{202e}\\x1b[31m"), "the cell's name");
  const found = await page.evaluate(() => ({
    elements: document.querySelectorAll("body img, body iframe, body b[onclick], body a:not(.skip)").length,
    scripts: document.scripts.length,
    raw: /[\u202e\u001b]/u.test(document.body.innerText) || [...document.querySelectorAll("main *, dialog *")].some((element) => [...element.attributes].some(({ value }) => /[\u202e\u001b]/u.test(value))),
  }));
  assert.deepEqual(found, { elements: 0, scripts: 4, raw: false });
  // A hostile name as the baseline, hidden and shown again, as the search: text all the same.
  await after(page, () => page.selectOption("#base", { index: 1 }));
  assert.equal((await fragment(page)).base, (await facts(page)).families[0].names[1]);
  await after(page, () => chip(page, "c0").click());
  await page.locator(".filters input").fill('"><img src=x onerror=alert(3)>');
  await page.waitForFunction(() => document.querySelector(".filters output").textContent.startsWith("0 "));
  for (const chart of await page.locator(".chart").all()) {
    await chart.hover({ trial: false, force: true, position: { x: 150, y: 30 } }).catch(() => {});
  }
  assert.deepEqual(wrong, []);
  await close();
}

// ---- many transactions

async function large() {
  const megabytes = statSync(file).size / 1e6;
  const times = [];
  for (let turn = 0; turn < 3; ++turn) {
    const { page, wrong, ms, close } = await open();
    times.push(ms);
    if (turn === 0) {
      assert.equal(await page.locator(".filters output").textContent(), "100,000 of 100,000 transactions");
      await transactionsWork(page);
    }
    assert.deepEqual(wrong, []);
    await close();
  }
  console.log(`100,000 transactions: ${megabytes.toFixed(1)} MB; ready after ${times.map((ms) => Math.round(ms)).join(", ")} ms`);
  assert.ok(megabytes < 25);
  assert.ok(Math.min(...times) < 3000);
}

try {
  await { real, bare, hostile, large }[mode]();
} finally {
  await browser.close();
}
