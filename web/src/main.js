// The page: reads its data, draws what is chosen, and draws again what a choice changes.
import { fitLabels } from "./bars.js";
import { drawAll, drawSoon } from "./chart.js";
import { drawControls, layerChips } from "./controls.js";
import { distributions } from "./distributions.js";
import { add, h, prose, replace } from "./dom.js";
import { flightsTable } from "./flights.js";
import { allFigures, cryptographicShare, forest, medians, named } from "./figures.js";
import { count } from "./format.js";
import { LadderView, Ladders } from "./ladder.js";
import { definitionTexts, keptApart, outcomes, run, warnings } from "./method.js";
import { Model } from "./model.js";
import { measureNames, Rows } from "./rows.js";
import { byteBars, clientSplit, handshakeParts, keyGenerationWords, layerBars, processors, sides, trafficTable } from "./shares.js";
import { defaults, onChange, start, state } from "./state.js";
import { layerTexts, partTexts } from "./text.js";
import { timeline } from "./timeline.js";
import { TransactionsTable } from "./transactions.js";

const block = (id) => JSON.parse(document.getElementById(id).textContent);
const facts = block("facts");
const model = new Model(facts);
defaults.hide = model.defaultHide();

// ---- light and dark

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
function applyTheme() {
  const dark = !printing.matches && (state.theme === "dark" || (state.theme === "auto" && prefersDark.matches));
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

// ---- sections: each is made of a title, a sentence and what `draw` gives; drawn again when a choice changes it

const sections = [];
function section(id, title, text, draw, redrawOn = ["hide", "base", "scale"]) {
  const content = h("div");
  const element = h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), text && h("p", {}, prose(text)), content);
  sections.push({ element, content, draw, redrawOn });
  return element;
}

// One part that fails takes no other with it.
function attempt({ element, draw: make }) {
  try {
    return make();
  } catch (error) {
    console.error(element.id, error);
    return h("p", { class: "notes small" }, `This part could not be drawn: ${error.message}. The figures are in summary.json.`);
  }
}

function draw(changed) {
  for (const one of sections) {
    if (!changed || one.redrawOn.some((key) => changed.includes(key))) {
      const made = [attempt(one)].flat(Infinity).filter(Boolean);
      replace(one.content, made);
      one.element.hidden = made.length === 0;
    }
  }
}

function baselineNote() {
  return model.statedBaseline() ? null : h("p", { class: "notes small" }, `Against ${state.base}: differences and ratios of medians are computed here. Intervals and tests exist only for the baseline that the run states.`);
}

const differencesText =
  "Filled: told apart from chance (p < 0.05, adjusted by Holm for all comparisons); hollow: not. Lines are 95 % intervals, unadjusted.";

const layerSections = () =>
  [...model.layers(), 5].map((measure) =>
    h(
      "div",
      { class: "layer", id: `layer-${measureNames[measure]}` },
      h("h3", {}, measure < 5 && h("span", { class: "swatch", style: { "--own": `var(--l${measure})` } }), h("code", {}, measureNames[measure])),
      h("p", { class: "soft small" }, layerTexts[measureNames[measure]]),
      distributions(model, measure),
      allFigures(model, measure),
    ),
  );

const titled = (title, text, what) => what && h("div", {}, h("h3", {}, title), text && h("p", { class: "soft small" }, prose(text)), what);

function secondLayer() {
  const words = keyGenerationWords(model);
  const told = "Means over transactions by the client's own clocks: coloured, what the cryptography library did; grey, the rest of the layer.";
  return [
    titled("Between SYN-ACK and ClientHello", told, clientSplit(model, "tcp_to_tls", "l1")),
    words.length > 0 && h("ul", { class: "small findings" }, words.map((text) => h("li", {}, text))),
    titled("From ClientHello to the client's Finished", told, clientSplit(model, "tls_handshake", "l2")),
    titled("Client, path and server", "Medians of what each took of a whole transaction, from two captures with one clock.", sides(model)),
  ];
}

function makeSections() {
  return [
    section("cost", "Where the time goes", null, () => [
      layerChips(model),
      layerBars(model),
      h("p", { class: "caption" }, `Bars are means: they add up to the mean total, medians don't.${facts.families.some(({ baseline, cells }) => baseline !== null && cells.length > 1) ? " Ratios are of medians to the baseline's; * is told apart from chance." : ""}`),
      medians(model),
      baselineNote(),
    ]),
    section("differences", "What changes", differencesText, () => [forest(model), model.statedBaseline() && cryptographicShare(model)]),
    section("second-layer", "Where layer 2 comes from", "Between SYN-ACK and ClientHello the client is woken, makes its key pairs and writes its hello; what of that the network or the kernel took, and what the key exchange.", secondLayer),
    section(
      "layers",
      "Layer by layer",
      "Left: how the times are spread; below each ridge a box of the middle half with its median, lines to 5 and 95 % and to 1 and 99 %, and the median's 95 % interval as a bar. Right: the share that took no longer. Shaded: the baseline's middle half.",
      layerSections,
    ),
    section("handshake", "Inside the TLS handshake", `Means. ${Object.entries(partTexts).map(([part, text]) => `\`${part}\`: ${text}`).join("; ")}.`, () => handshakeParts(model)),
    section("bytes", "Bytes of the handshake", "Medians of TLS record bytes with their headers: the ClientHello, or ServerHello to Finished, then what else a side sent up to its Finished. Dashed: what fills one TCP segment of 1,448 bytes, two, and so on.", () => byteBars(model)),
    section("flights", "Flights and stalls", "Of the handshake, TCP's round trip counted: medians. A stall: the server had sent all that its window let it, and its next bytes waited for an ACK. Again: segments of both sides that were sent again, in all transactions.", () => flightsTable(model, named)),
    section("resources", "CPU and traffic", "CPU time by transaction, in user and kernel mode.", () => [
      ...["client", "proxy", "origin"].map((component, i) => titled(component[0].toUpperCase() + component.slice(1), null, processors(model, component, ["accent", "c2", "c3"][i]))),
      trafficTable(model, named),
    ]),
    section("time", "The run as it went", null, () => timeline(model)),
    section("transactions", "Transactions", null, () => [transactionsHost], []),
    section("outcomes", "What became of every transaction", "Every scheduled transaction has exactly one outcome.", () => [outcomes(model, named), keptApart(model)], []),
    section("method", "Method and definitions", null, () => definitionTexts(model), []),
    section("run", "The run and the machine", null, () => run(model), []),
  ];
}

// ---- the transactions' data is decoded once the rest stands

const transactionsHost = h("div", {}, h("p", { class: "soft" }, "Reading the transactions …"));
let table = null;
let ladderView = null;
function openTransactions() {
  const rows = new Rows(block("rows"));
  const ladders = new Ladders(block("ladders"));
  table = new TransactionsTable(rows, ladders);
  ladderView = new LadderView(model, rows, ladders);
  replace(
    transactionsHost,
    h("p", { class: "soft" }, ladders.size > 0 ? `${count(ladders.size)} connections are drawn packet by packet: of each cell up to 200, those that failed, the slowest, and others by the run's seed.` : `No connection is drawn${ladders.missing ? `: ${ladders.missing}` : ""}.`, ladders.size > 0 && ladders.missing && ` Some are missing: ${ladders.missing}.`),
    table.element,
  );
  table.update();
  state.ladder && ladderView.show(state.ladder);
  document.documentElement.dataset.ready = "yes";
}

function kicker() {
  const rows = facts.cells.reduce((sum, cell) => sum + cell.rows, 0);
  const parts = [facts.manifest.started_utc, `${count(rows)} transactions, ${count(facts.cells.length)} cells`, facts.manifest.openssl.replace(/ \d+ \w+ \d{4}$/u, ""), [facts.manifest.proxy.name, facts.manifest.proxy.version].filter(Boolean).join(" ")];
  return h("p", { class: "kicker" }, h("span", {}, h("b", {}, "tlstrata"), ` ${facts.name}`), parts.filter(Boolean).map((part) => h("span", {}, part)));
}

function build() {
  const bar = h("div", { class: "bar" });
  const page = document.getElementById("page");
  replace(
    page,
    h("a", { class: "skip", href: "#transactions", onclick: (event) => { event.preventDefault(); document.querySelector(".rows")?.focus(); } }, "To the transactions"),
    kicker(),
    h("header", {}, h("h1", {}, facts.answer.question), h("div", { class: "answer" }, facts.answer.sentences.map((sentence) => h("p", {}, sentence)))),
    warnings(model),
    bar,
  );
  add(page, makeSections());
  page.append(h("footer", {}, `Made by tlstrata ${facts.version}. This page holds all of its data and asks no other machine for anything.`));
  return bar;
}

start();
applyTheme();
const bar = build();
drawControls(bar, model);
draw(null);
fitLabels();
drawSoon();
setTimeout(openTransactions, 30);

onChange((changed) => {
  applyTheme();
  drawControls(bar, model);
  draw(changed);
  fitLabels();
  drawSoon();
  if (table && ["q", "outcome", "cell", "sort"].some((key) => changed.includes(key))) {
    table.update();
  }
  if (ladderView && changed.includes("ladder") && state.ladder) {
    ladderView.show(state.ladder);
  }
});
const restyle = () => {
  applyTheme();
  fitLabels();
  drawAll();
};
prefersDark.addEventListener("change", restyle);
printing.addEventListener("change", restyle);
let timer = 0;
window.addEventListener("resize", () => {
  clearTimeout(timer);
  timer = setTimeout(() => fitLabels(), 80);
});
