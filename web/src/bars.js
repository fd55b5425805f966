// Bars whose parts add up, one below the other on one scale, with their figures in and beside them.
import { h } from "./dom.js";
import { tickText, ticks, time, unitFor } from "./format.js";

// groups: [{title, rows: [{name, swatch, parts: [{label, value, own, on}], sum, note}]}]; values of one unit, nanoseconds
// unless `write` and `tick` say otherwise. `marks` are lines across all bars: [{value, label}].
export function bars(groups, { thin = false, write = time, tick = tickText, unit = null, marks = [], largest = 0 } = {}) {
  const sums = groups.flatMap(({ rows }) => rows.map(({ parts }) => parts.reduce((sum, part) => sum + Math.max(0, part.value ?? 0), 0)));
  const most = Math.max(largest, ...sums, 1e-9) * 1.02;
  const scale = unit ?? unitFor(most);
  const grid = h("div", { class: thin ? "bars thin" : "bars" });
  for (const { title, rows } of groups) {
    title && grid.append(h("p", { class: "group" }, title));
    for (const row of rows) {
      grid.append(h("div", { class: "row" }, drawRow(row, most, write, marks)));
    }
  }
  const at = ticks(0, most, 6).filter((value) => value <= most);
  grid.append(
    h(
      "div",
      { class: "axis", "aria-hidden": "true" },
      at.map((value) => h("i", { style: { left: `${(100 * value) / most}%` } })),
      at.map((value, i) =>
        h("span", { style: { left: `${(100 * value) / most}%` } }, i === at.length - 1 ? `${tick(value, scale)} ${scale.name}` : tick(value, scale)),
      ),
    ),
  );
  return grid;
}

function drawRow({ name, swatch, parts, sum, note }, most, write, marks) {
  const there = parts.filter(({ value }) => value !== null && value !== undefined);
  const label = `${name}: ${there.map((part) => `${part.label} ${write(part.value)}`).join(", ")}${sum ? `; ${sum}` : ""}`;
  return [
    h("div", { class: "name" }, h("span", { class: "named" }, swatch && h("span", { class: "swatch dot", style: { "--own": `var(--${swatch})` } }), h("span", {}, name))),
    h(
      "div",
      { class: "track", role: "img", "aria-label": label },
      there.map((part) => {
        const share = (100 * Math.max(0, part.value)) / most;
        const text = write(part.value);
        return h(
          "div",
          { class: "part", title: `${part.label}: ${text}`, style: { width: `${share}%`, "--own": part.own, "--on": part.on ?? "var(--ink)" } },
          h("span", { "data-needs": String(text.length * 6.6 + 12) }, text),
        );
      }),
      marks.map(({ value, label: text }) => value < most && h("div", { class: "mark", title: text, style: { left: `${(100 * value) / most}%` } })),
    ),
    h("div", { class: "sum" }, sum && h("b", {}, sum), note && h("small", {}, note)),
  ];
}

// Figures stand inside their parts where there is room.
export function fitLabels(root = document) {
  for (const label of root.querySelectorAll(".part > span")) {
    label.hidden = false;
  }
  const widths = [...root.querySelectorAll(".part > span")].map((label) => [label, label.parentElement.clientWidth]);
  for (const [label, width] of widths) {
    label.hidden = width < Number(label.dataset.needs);
    label.style.display = label.hidden ? "none" : "";
  }
}

export function legend(entries) {
  return h("ul", { class: "legend" }, entries.map(({ label, own }) => h("li", {}, h("span", { class: "swatch", style: { "--own": own } }), label)));
}
