// What adds up: the five layers, the parts of the handshake, of layer 2, of each side, CPU; and the bytes of the handshake.
import { bars, legend } from "./bars.js";
import { h } from "./dom.js";
import { bytes, change, count, ratio, time, unitFor } from "./format.js";
import { layerNames } from "./rows.js";

const own = (layer) => `var(--l${layer})`;
const on = (layer) => `var(--on-l${layer})`;
// Steps of one colour, from full to light; text stays readable on each.
const mixed = (base, percent) => `color-mix(in oklab, var(--${base}) calc(${Math.round(percent)}% * var(--strength)), var(--page))`;
export const step = (base, i, n) => mixed(base, n <= 1 ? 62 : 62 - (42 * i) / (n - 1));

export function layerBars(model) {
  if (!model.cells.some((_, cell) => model.cellShown(cell) && model.figures(cell, 5))) {
    return h("p", { class: "soft" }, "No complete transaction is among what is shown.");
  }
  return bars(
    model.shownFamilies().map(({ family, cells }) => ({
      title: family.title,
      rows: cells
        .filter((cell) => model.figures(cell, 5))
        .map((cell) => {
          const versus = model.compare(cell, 5);
          const median = time(model.figures(cell, 5).p50_ns);
          return {
            name: model.name(cell),
            swatch: model.colour(cell),
            parts: model.layers().map((layer) => ({ label: layerNames[layer], value: model.figures(cell, layer)?.mean_ns, own: own(layer), on: on(layer) })),
            sum: time(model.figures(cell, 5).mean_ns),
            note: `median ${median}${versus && versus.overhead_factor !== null ? `, ${ratio(versus.overhead_factor)}${versus.flagged ? "*" : ""}` : ""}`,
          };
        }),
    })),
  );
}

// Parts of one thing a cell: `read(cell)` gives [{part, value}] or null.
function parted(model, base, read, options = {}) {
  const names = [];
  const groups = model.shownFamilies().map(({ family, cells }) => ({
    title: family.title,
    rows: cells
      .map((cell) => ({ cell, parts: read(cell) }))
      .filter(({ parts }) => parts && parts.some(({ value }) => value !== null && value !== undefined))
      .map(({ cell, parts }) => {
        for (const { part } of parts) {
          names.includes(part) || names.push(part);
        }
        return { cell, parts };
      }),
  }));
  const rows = groups.flatMap((group) => group.rows);
  if (rows.length === 0) {
    return null;
  }
  const shade = options.colours ?? ((part) => step(base, names.indexOf(part), names.length));
  const legendName = options.legendName ?? ((part) => part);
  const entries = new Map(names.map((part) => [legendName(part), shade(part)]));
  const write = options.write ?? time;
  const drawn = groups
    .filter((group) => group.rows.length > 0)
    .map((group) => ({
      title: group.title,
      rows: group.rows.map(({ cell, parts }) => ({
        name: model.name(cell),
        swatch: model.colour(cell),
        parts: parts.map(({ part, value }) => ({ label: part, value, own: shade(part), on: options.on?.(part) })),
        sum: options.addsUp === false ? null : write(parts.reduce((sum, { value }) => sum + (value ?? 0), 0)),
        note: options.note?.(cell),
      })),
    }));
  return h("div", { class: "figure" }, legend([...entries].map(([label, own]) => ({ label, own }))), bars(drawn, { thin: true, ...options }));
}

export function handshakeParts(model) {
  return parted(model, "l2", (cell) => Object.entries(model.cells[cell].handshake_parts).filter(([, figures]) => figures.n > 0).map(([part, figures]) => ({ part, value: figures.mean_ns })));
}

// What the cryptography library did stands out; the rest of the layer is grey.
const works = { key_generation: 0, key_agreement: 0, chain: 1, signature: 2, signing: 3 };
const workOf = (part) => part.split(" ")[0];

export function clientSplit(model, which, base) {
  const split = (cell) => model.cells[cell].client_split?.[which] ?? null;
  const others = new Map();
  for (const cell of model.cells.keys()) {
    for (const { part } of split(cell) ?? []) {
      workOf(part) in works || others.has(part) || others.set(part, others.size);
    }
  }
  const colours = (part) =>
    workOf(part) in works
      ? works[workOf(part)] === 0
        ? `var(--${base})`
        : mixed(base, 84 - 22 * works[workOf(part)])
      : mixed("soft", 40 - (24 * others.get(part)) / Math.max(1, others.size - 1));
  const on = (part) => (works[workOf(part)] === 0 ? `var(--on-${base})` : undefined);
  return parted(model, base, (cell) => split(cell)?.map(({ part, mean_ns }) => ({ part, value: mean_ns })), {
    colours,
    on,
    legendName: workOf,
    note: (cell) => `n ${count(model.cells[cell].client_split.rows)}`,
  });
}

// How much of what a cell adds to the layer its key pairs make.
export function keyGenerationWords(model) {
  const made = (cell) => model.cells[cell].client_split?.tcp_to_tls?.filter(({ part }) => workOf(part) === "key_generation").reduce((sum, { mean_ns }) => sum + mean_ns, 0);
  return model.shownFamilies().flatMap(({ family, cells }) =>
    cells.flatMap((cell) => {
      const base = model.base(cell);
      if (base === null || base === cell || made(cell) === undefined || made(base) === undefined) {
        return [];
      }
      const layer = model.figures(cell, 1).mean_ns - model.figures(base, 1).mean_ns;
      return [`${model.name(cell)}${model.families.length > 1 ? ` (${family.title})` : ""}: ${change(layer)} in the mean, of which making key pairs ${change(made(cell) - made(base))}`];
    }),
  );
}

export function sides(model) {
  const colours = { client: mixed("accent", 60), path: "var(--l4)", server: mixed("c2", 56) };
  return parted(
    model,
    "l0",
    (cell) => {
      const split = model.cells[cell].sides;
      return split ? ["client", "path", "server"].map((side) => ({ part: side, value: split[`${side}_ns`] })) : null;
    },
    { colours: (side) => colours[side], addsUp: false, note: (cell) => `n ${count(model.cells[cell].sides.n)}` },
  );
}

export function processors(model, component, base) {
  return parted(
    model,
    base,
    (cell) => {
      const use = model.cells[cell].resources?.[component];
      return use ? [{ part: "user", value: use.cpu_user_ns_per_transaction }, { part: "system", value: use.cpu_system_ns_per_transaction }] : null;
    },
    {
      note: (cell) => {
        const use = model.cells[cell].resources[component];
        return `${use.cpu_percent_of_one_core === null ? "" : `${use.cpu_percent_of_one_core.toFixed(1)} % of a core`}${use.cpu_ratio_to_baseline === null ? "" : `, ${ratio(use.cpu_ratio_to_baseline)}`}`;
      },
    },
  );
}

const segment = 1448;
const flights = [
  ["From the client", "client_hello_bytes", "ClientHello", "client_handshake_bytes", "the rest to its Finished"],
  ["From the server", "server_flight_bytes", "ServerHello to Finished", "server_handshake_bytes", "the rest (HelloRetryRequest, ChangeCipherSpec)"],
];

export function byteBars(model) {
  // The handshake does not depend on the response's size: one family tells it.
  const cells = model.shownFamilies().slice(0, 1).flatMap((family) => family.cells);
  const groups = flights
    .map(([title, first, firstLabel, all, restLabel]) => ({
      title,
      rows: cells
        .filter((cell) => model.cells[cell][first] !== null)
        .map((cell) => {
          const sum = model.cells[cell][all] ?? model.cells[cell][first];
          const base = model.base(cell);
          const baseSum = base === null || base === cell ? null : model.cells[base][all];
          const more = baseSum === null ? null : sum - baseSum;
          const own = model.colour(cell);
          return {
            name: model.name(cell),
            swatch: own,
            parts: [
              { label: firstLabel, value: model.cells[cell][first], own: step(own, 0, 3) },
              { label: restLabel, value: Math.max(0, sum - model.cells[cell][first]), own: step(own, 2, 3) },
            ],
            sum: bytes(sum),
            note: more === null ? "" : more === 0 ? "as the baseline" : `${more > 0 ? "+" : "\u2212"}${count(Math.abs(more))}`,
          };
        }),
    }))
    .filter((group) => group.rows.length > 0);
  if (groups.length === 0) {
    return null;
  }
  const most = Math.max(...groups.flatMap((group) => group.rows.flatMap((row) => row.parts[0].value + row.parts[1].value)));
  const marks = [];
  for (let i = 1; i * segment < most && marks.length < 12; ++i) {
    marks.push({ value: i * segment, label: `${i} full segment${i > 1 ? "s" : ""}, ${count(i * segment)} B` });
  }
  return bars(groups, { thin: true, write: bytes, unit: { ns: 1, name: "B" }, tick: (value) => count(value), marks });
}

const traffic = [
  ["bytes_sent_per_transaction", "bytes sent"],
  ["bytes_received_per_transaction", "bytes received"],
  ["packets_sent_per_transaction", "packets sent"],
  ["packets_received_per_transaction", "packets received"],
];

export function trafficTable(model, namedCell) {
  const rows = model.shownFamilies().flatMap(({ family, cells }) =>
    cells.flatMap((cell) =>
      Object.entries(model.cells[cell].resources ?? {}).map(([component, use], i) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, i === 0 ? [namedCell(model, cell), h("small", {}, ` ${family.title}`)] : h("span", { class: "visually-hidden" }, model.cells[cell].name)),
          h("td", { class: "text" }, component),
          h("td", {}, time(use.cpu_ns_per_transaction, unitFor(1e3)), use.cpu_ns_per_transaction_sd_of_blocks !== null && h("small", {}, ` ± ${time(use.cpu_ns_per_transaction_sd_of_blocks, unitFor(1e3))}`)),
          traffic.map(([key]) => h("td", {}, use[key] === null ? "–" : key.startsWith("packets") ? use[key].toFixed(1) : count(Math.round(use[key])))),
          h("td", {}, count(use.retransmissions)),
        ),
      ),
    ),
  );
  return rows.length === 0
    ? null
    : h(
        "details",
        {},
        h("summary", {}, "CPU and traffic by transaction, as figures"),
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "CPU and traffic by transaction" },
          h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "cell"), h("th", { scope: "col", class: "text" }, "component"), h("th", { scope: "col" }, "CPU ", h("small", {}, "± SD of blocks")), traffic.map(([, label]) => h("th", { scope: "col" }, label)), h("th", { scope: "col" }, "sent again"))), h("tbody", {}, rows)),
        ),
      );
}
