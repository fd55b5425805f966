// Tables of figures: medians on the first screen, everything of a layer below its pictures, differences as a plot in a table.
import { h, s } from "./dom.js";
import { bare, change, columnUnit, count, percent, probability, range, ratio, signed, tickText, ticks, time, unitFor } from "./format.js";
import { measureNames } from "./rows.js";

export const named = (model, cell) =>
  h("span", { class: "named" }, h("span", { class: "swatch dot", style: { "--own": `var(--${model.colour(cell)})` } }), h("span", { title: model.name(cell) }, model.name(cell)));

const scrolled = (label, table) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);

// Medians: a row a layer, a column a cell; families beside each other while they fit.
export function medians(model) {
  const families = model.shownFamilies();
  const together = families.reduce((sum, { cells }) => sum + cells.length, 0) <= 7;
  return (together ? [families] : families.map((family) => [family])).map((some) => mediansOf(model, some, families.length > 1));
}

function mediansOf(model, families, titled) {
  const columns = families.flatMap(({ cells }) => cells.map((cell, i) => ({ cell, first: i === 0 && cell !== families[0].cells[0] })));
  const edge = (first) => (first ? "first-of-group" : null);
  const rows = [...model.layers(), 5].map((measure) => {
    const unit = columnUnit(Math.max(...columns.map(({ cell }) => model.figures(cell, measure)?.p50_ns ?? 0), 1));
    return h(
      "tr",
      { class: measure === 5 ? "total" : null },
      h("th", { scope: "row" }, h("code", {}, measureNames[measure]), h("small", {}, ` ${unit.name}`)),
      columns.map(({ cell, first }) => {
        const figures = model.figures(cell, measure);
        const versus = model.compare(cell, measure);
        return h(
          "td",
          { class: [versus?.flagged && "flag", edge(first)].filter(Boolean).join(" ") || null },
          figures ? bare(figures.p50_ns, unit) : "–",
          versus && versus.overhead_factor !== null && h("small", {}, ` ${ratio(versus.overhead_factor)}${versus.flagged ? "*" : ""}`),
        );
      }),
    );
  });
  return scrolled(
    "Medians",
    h(
      "table",
      {},
      h(
        "thead",
        {},
        titled && h("tr", { class: "groups" }, h("td", {}), families.map(({ family, cells }) => h("th", { scope: "colgroup", colspan: cells.length }, family.title))),
        h("tr", {}, h("th", { scope: "col" }, "median"), columns.map(({ cell, first }) => h("th", { scope: "col", class: edge(first) }, named(model, cell)))),
      ),
      h("tbody", {}, rows, h("tr", {}, h("th", { scope: "row" }, "n"), columns.map(({ cell, first }) => h("td", { class: edge(first) }, count(model.cells[cell].n))))),
    ),
  );
}

// Everything that is known of a layer.
export function allFigures(model, measure) {
  const cells = model.shownFamilies().flatMap((entry) => entry.cells);
  const unit = columnUnit(Math.max(...cells.map((cell) => model.figures(cell, measure)?.p50_ns ?? 0), 1));
  const several = model.families.length > 1;
  const label = (cell) => h("th", { scope: "row" }, named(model, cell), several && h("small", {}, ` ${model.families[model.place[cell].family].title}`));
  const interval = (low, high) => (low === null || low === undefined ? null : h("small", {}, ` ${bare(low, unit)} to ${bare(high, unit)}`));
  const head = ["n", "min", "p50", "p90", "p95", "p99", "p99.9", "max", "mean", "SD"];
  const spread = cells.map((cell) => {
    const f = model.figures(cell, measure);
    if (!f) {
      return h("tr", {}, label(cell), h("td", { colspan: head.length, class: "text" }, "no complete transaction has it"));
    }
    const one = (name) => h("td", {}, bare(f[`${name}_ns`], unit), interval(f[`${name}_ci_low_ns`], f[`${name}_ci_high_ns`]));
    return h(
      "tr",
      {},
      label(cell),
      h("td", {}, count(f.n)),
      ["min", "p50", "p90", "p95", "p99"].map(one),
      h("td", {}, f.p999_ns === null ? "–" : bare(f.p999_ns, unit)),
      ["max", "mean"].map(one),
      h("td", {}, f.sd_ns === null ? "–" : bare(f.sd_ns, unit)),
    );
  });
  const versusHead = [`difference of medians, ${unit.name}`, `Hodges-Lehmann, ${unit.name}`, "overhead factor", "Glass's delta", "Cliff's delta", "p (Holm)", `would have seen, ${unit.name}`];
  const versus = cells.map((cell) => {
    const v = model.compare(cell, measure);
    if (!v) {
      return h("tr", {}, label(cell), h("td", { colspan: versusHead.length, class: "text" }, h("small", {}, model.base(cell) === cell ? "baseline" : "not compared")));
    }
    const factor = (low, high) => (low === null || low === undefined ? null : h("small", {}, ` ${low.toFixed(2)} to ${high.toFixed(2)}`));
    return h(
      "tr",
      {},
      label(cell),
      h("td", {}, bare(v.difference_ns, unit), interval(v.ci_low_ns, v.ci_high_ns)),
      h("td", {}, v.hodges_lehmann_ns === undefined || v.hodges_lehmann_ns === null ? "–" : bare(v.hodges_lehmann_ns, unit)),
      h("td", {}, ratio(v.overhead_factor), factor(v.overhead_factor_ci_low, v.overhead_factor_ci_high)),
      h("td", {}, signed(v.glass_delta), v.glass_word && h("small", {}, ` ${v.glass_word}`)),
      h("td", {}, signed(v.cliff_delta)),
      h("td", { class: v.flagged ? "flag" : "" }, probability(v.p_holm), v.flagged && "*"),
      h("td", {}, v.minimum_detectable_ns === undefined || v.minimum_detectable_ns === null ? "–" : bare(v.minimum_detectable_ns, unit)),
    );
  });
  const table = (title, columns, rows) =>
    scrolled(`${measureNames[measure]}: ${title}`, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, title), columns.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)));
  return h(
    "details",
    {},
    h("summary", {}, "All figures"),
    h("div", {}, table(`spread, ${unit.name}`, head, spread), versus.length > 0 && table("against the baseline", versusHead, versus)),
  );
}

// The share of the total that is put down to the key exchange, as the program states it.
export function cryptographicShare(model) {
  const rows = model.shownFamilies().flatMap(({ family, cells }) =>
    cells
      .filter((cell) => model.cells[cell].cos !== null && model.cells[cell].cos !== undefined)
      .map((cell) => {
        const { cos, cos_ci_low, cos_ci_high, cos_of_means, cos_of_means_ci_low, cos_of_means_ci_high } = model.cells[cell];
        const one = (value, low, high) => h("td", {}, percent(value), low !== null && h("small", {}, ` ${percent(low)} to ${percent(high)}`));
        return h("tr", {}, h("th", { scope: "row" }, named(model, cell), h("small", {}, ` ${family.title}`)), one(cos, cos_ci_low, cos_ci_high), one(cos_of_means, cos_of_means_ci_low, cos_of_means_ci_high));
      }),
  );
  return rows.length === 0
    ? null
    : h(
        "div",
        {},
        h("h3", {}, "Cryptographic overhead share"),
        h("p", { class: "soft small" }, `${model.facts.cos_definition[0].toUpperCase()}${model.facts.cos_definition.slice(1)}`),
        scrolled("Cryptographic overhead share", h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "cell"), h("th", { scope: "col" }, "COS of medians"), h("th", { scope: "col" }, "COS of means"))), h("tbody", {}, rows))),
      );
}

// What is said of a difference, in words.
export function verdict(versus) {
  if (!versus) {
    return "";
  }
  if (!versus.stated) {
    return "difference of medians; intervals are made for the run's own baseline only";
  }
  if (versus.p_holm === null || versus.p_holm === undefined) {
    return "not tested: too few blocks";
  }
  if (versus.flagged) {
    return versus.difference_ns < 0 ? "shorter" : "longer";
  }
  const seen = versus.minimum_detectable_ns;
  return `no difference seen${seen ? `, would have seen ${time(seen)}` : ""}`;
}

// Differences with their intervals, one axis a family.
export function forest(model) {
  return model.shownFamilies().map(({ family, cells }) => {
    const measures = [...model.layers(), 5];
    const rows = measures.map((measure) => ({ measure, cells: cells.map((cell) => ({ cell, versus: model.compare(cell, measure) })).filter(({ versus }) => versus) }));
    const all = rows.flatMap((row) => row.cells.map(({ versus }) => versus));
    if (all.length === 0) {
      return null;
    }
    const low = Math.min(0, ...all.map((v) => v.ci_low_ns ?? v.difference_ns));
    const high = Math.max(0, ...all.map((v) => v.ci_high_ns ?? v.difference_ns));
    const pad = (high - low) * 0.04 || 1;
    const axis = { low: low - pad, high: high + pad, unit: unitFor(Math.max(-low, high)) };
    const base = model.base(cells[0]);
    return h(
      "div",
      { class: "figure" },
      h("p", { class: "group" }, `${family.title}: difference of medians from ${model.name(base)}`),
      h(
        "table",
        { class: "forest" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "layer"), h("th", { scope: "col", class: "text" }, "cell"), h("td", { class: "plot" }, forestAxis(axis)), h("th", { scope: "col" }, "difference"), h("th", { scope: "col" }, "ratio"), h("th", { scope: "col", class: "text" }, "Glass's delta"), h("th", { scope: "col", class: "text" }, "in words"))),
        h(
          "tbody",
          {},
          rows.map(({ measure, cells: compared }) =>
            compared.map(({ cell, versus }, i) =>
              h(
                "tr",
                { class: i === 0 ? "first" : "" },
                h("th", { scope: "row" }, i === 0 ? h("code", {}, measureNames[measure]) : h("span", { class: "visually-hidden" }, measureNames[measure])),
                h("td", { class: "text" }, named(model, cell)),
                h("td", { class: "plot" }, forestRow(axis, versus, model.colour(cell), `${model.name(cell)}, ${measureNames[measure]}`)),
                h("td", { class: versus.flagged ? "flag figure-cell" : "figure-cell" }, ...differenceText(versus)),
                h("td", { class: "figure-cell" }, ratio(versus.overhead_factor)),
                h("td", { class: "text figure-cell", "data-label": "Glass's delta" }, signed(versus.glass_delta), versus.glass_word && h("small", {}, ` ${versus.glass_word}`)),
                h("td", { class: "verdict" }, verdict(versus)),
              ),
            ),
          ),
        ),
      ),
    );
  });
}

function differenceText(versus) {
  if (versus.ci_low_ns === null || versus.ci_low_ns === undefined) {
    return [change(versus.difference_ns)];
  }
  const unit = unitFor(Math.max(...[versus.difference_ns, versus.ci_low_ns, versus.ci_high_ns].map(Math.abs)));
  return [change(versus.difference_ns, unit), h("small", {}, ` ${range(versus.ci_low_ns, versus.ci_high_ns, unit)}`)];
}

const share = (axis, value) => `${(100 * (value - axis.low)) / (axis.high - axis.low)}%`;

function forestAxis(axis) {
  const at = ticks(axis.low, axis.high, 4);
  return s(
    "svg",
    { "aria-hidden": "true" },
    at.map((value, i) => s("text", { x: share(axis, value), y: 14, "text-anchor": "middle", "font-size": 11.5, style: { fill: "var(--soft)" } }, i === at.length - 1 ? `${tickText(value, axis.unit)} ${axis.unit.name}` : tickText(value, axis.unit))),
    at.map((value) => s("line", { x1: share(axis, value), x2: share(axis, value), y1: 20, y2: 26, style: { stroke: "var(--soft)" } })),
  );
}

function forestRow(axis, versus, own, label) {
  const colour = `var(--${own})`;
  const [low, high] = [versus.ci_low_ns, versus.ci_high_ns];
  const hasInterval = low !== null && low !== undefined;
  return s(
    "svg",
    { role: "img", "aria-label": `${label}: ${change(versus.difference_ns)}${hasInterval ? `, ${range(low, high)}` : ""}` },
    ticks(axis.low, axis.high, 4).map((value) => s("line", { x1: share(axis, value), x2: share(axis, value), y1: -6, y2: 34, style: { stroke: "var(--grid)" } })),
    s("line", { x1: share(axis, 0), x2: share(axis, 0), y1: -6, y2: 34, style: { stroke: "var(--soft)" } }),
    hasInterval && s("line", { x1: share(axis, low), x2: share(axis, high), y1: 14, y2: 14, "stroke-linecap": "round", style: { stroke: colour, "stroke-width": "3px" } }),
    s("circle", { cx: share(axis, versus.difference_ns), cy: 14, r: 5.5, style: { fill: versus.flagged ? colour : "var(--page)", stroke: colour, "stroke-width": "2px" } }),
  );
}
