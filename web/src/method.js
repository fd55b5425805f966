// What the figures rest on: outcomes of every transaction, definitions, the run, the machine.
import { h, prose } from "./dom.js";
import { count } from "./format.js";
import { definitions } from "./text.js";

export function outcomes(model, named) {
  const kinds = Object.keys(model.facts.outcomes).filter((kind) => model.facts.outcomes[kind] > 0 || kind === "complete");
  kinds.sort((a, b) => (b === "complete") - (a === "complete"));
  const several = model.families.length > 1;
  const sum = (outcome) => Object.values(outcome).reduce((total, one) => total + one, 0);
  const rows = model.cells.map((cell, c) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, named(model, c), several && h("small", {}, ` ${model.families[model.place[c].family].title}`)),
      h("td", {}, count(cell.scheduled)),
      kinds.map((kind) => h("td", {}, count(cell.outcomes[kind]))),
      h("td", {}, count(cell.blocks)),
      h("td", { class: "text" }, cell.scheduled === null ? "not planned" : cell.balanced ? h("span", { class: "balance" }, "balances") : h("span", { class: "imbalance" }, `does not balance: ${count(sum(cell.outcomes))} outcomes`)),
    ),
  );
  const scheduled = model.cells.reduce((total, cell) => total + (cell.scheduled ?? 0), 0);
  const all = model.cells.every((cell) => cell.scheduled !== null);
  rows.push(
    h(
      "tr",
      { class: "total" },
      h("th", { scope: "row" }, "all"),
      h("td", {}, all ? count(scheduled) : "–"),
      kinds.map((kind) => h("td", {}, count(model.facts.outcomes[kind]))),
      h("td", {}, count(model.cells.reduce((total, cell) => total + cell.blocks, 0))),
      h("td", { class: "text" }),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Outcomes by cell" },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "cell"), h("th", { scope: "col" }, "scheduled"), kinds.map((kind) => h("th", { scope: "col" }, kind)), h("th", { scope: "col" }, "blocks"), h("th", { scope: "col", class: "text" }, "sum"))), h("tbody", {}, rows)),
  );
}

export function keptApart(model) {
  const rows = model.cells.flatMap((cell) =>
    (cell.kept_apart ?? []).map((rows) => {
      const what = [rows.group ?? "no group", rows.hrr && "HelloRetryRequest", rows.resumed && "resumed", rows.early_data && "early data", rows.later_request && "later request", rows.boundary].filter(Boolean);
      return h("li", {}, `${cell.name}: ${count(rows.n)} complete, ${what.join(", ")}`);
    }),
  );
  return rows.length === 0 ? null : h("div", {}, h("h3", {}, "Kept apart"), h("p", { class: "soft small" }, "Complete transactions of another kind than most of their cell's; they are not averaged with them."), h("ul", { class: "small" }, rows));
}

export function definitionTexts(model) {
  return h("div", { class: "columns" }, [...definitions, ["COS.", `${model.facts.cos_definition[0].toUpperCase()}${model.facts.cos_definition.slice(1)}`]].map(([title, text]) => h("p", {}, h("b", {}, title), " ", prose(text))));
}

// Long fractions and bytes as people read them; all else as the manifest has it.
function readable(key, value) {
  if (key.endsWith("_bytes") && /^\d+$/u.test(value)) {
    return `${(Number(value) / 2 ** 30).toFixed(1)} GiB`;
  }
  return /^\d+\.\d{5,}$/u.test(value) ? Number(value).toPrecision(3) : value;
}

const list = (entries) =>
  h("dl", {}, entries.filter(([, value]) => value !== null && value !== undefined && value !== "").flatMap(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]));

export function run(model) {
  const { facts } = model;
  const { manifest } = facts;
  const shares = model.cells.map((cell) => cell.key_shares).filter(Boolean);
  const made = list([
    ["tlstrata", `${manifest.version}${manifest.version === facts.version ? "" : `; this page by ${facts.version}`}`],
    ["OpenSSL", manifest.openssl],
    ["proxy", [manifest.proxy.name, manifest.proxy.version].filter(Boolean).join(" ")],
    ["experiment", manifest.spec_name],
    ["result", facts.name],
    ["began", manifest.started_utc],
    ["ended", manifest.ended_utc],
    ["blocks", `${count(facts.blocks.length)}${manifest.planned_blocks ? ` of ${count(manifest.planned_blocks)} planned` : ""}`],
    ["offers", [...new Set(model.cells.map((cell) => cell.offer).filter(Boolean))].join(", ")],
    ["key shares", shares.length > 0 ? [...new Set(shares)].join(", ") : "of each offer's first group"],
    ["warm-up", manifest.warmup.transactions === null ? null : `${count(manifest.warmup.transactions)} transactions, ${manifest.warmup.note}`],
    ["seed", String(facts.seed)],
    ["bootstrap", `${count(facts.resamples)} resamples; ${count(facts.comparisons)} comparisons in Holm's family`],
    ["clock", [manifest.clock.source, manifest.clock.capture].filter(Boolean).join("; ")],
  ]);
  const machine = list(Object.entries(manifest.machine).map(([key, value]) => [key.replaceAll("_", " "), readable(key, value)]));
  return h("div", { class: "columns" }, made, machine);
}

// That other programs ran too: before the run, and during its blocks.
function busy(facts) {
  const { machine } = facts.manifest;
  const notes = [];
  const cores = Number(machine.usable_cores ?? machine.cores);
  const load = Number(machine.load_average_before);
  const share = Number(machine.busy_share_before);
  if ((cores > 0 && load > cores / 2) || share > 0.1) {
    const told = [load >= 0 && cores > 0 && `load average ${load.toFixed(2)} on ${cores} cores`, share >= 0 && `${Math.round(100 * share)} % of the CPU in use`].filter(Boolean);
    notes.push(`The machine was busy before the run began: ${told.join(", ")}. Other programs' CPU is in the tails, and may be in every figure.`);
  }
  const own = new Map();
  for (const use of facts.resources) {
    const key = `${use.block} ${use.cell}`;
    own.set(key, (own.get(key) ?? 0) + (use.wall_ns ? (use.cpu_user_ns + use.cpu_system_ns) / use.wall_ns : 0));
  }
  const known = facts.blocks.filter((block) => block.busy_cores > 0);
  const disturbed = known.filter((block) => block.busy_cores - (own.get(`${block.block} ${block.cell}`) ?? 0) > 0.5);
  if (disturbed.length > 0) {
    notes.push(`In ${disturbed.length} of ${known.length} blocks other programs used more than half a core.`);
  }
  return notes;
}

// What a reader must know before the figures.
export function warnings(model) {
  const { facts } = model;
  const notes = [];
  if (facts.partial) {
    notes.push("The run is partial: it ended before all of its blocks had.");
  }
  notes.push(...busy(facts));
  notes.push(...facts.notes);
  for (const cell of facts.cells) {
    notes.push(...cell.notes.map((note) => `${cell.name || "rows without a cell"}: ${note}`));
  }
  return notes.length === 0 ? null : h("aside", { class: "notes", "aria-label": "To be known first" }, h("h2", {}, "To be known first"), h("ul", {}, notes.map((note) => h("li", {}, prose(note)))));
}
