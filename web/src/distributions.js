// Per layer: how the times are spread (a ridge over a box, a row a cell) and their cumulative share, on one axis each.
import { axisStyle, chart, tooltipStyle } from "./chart.js";
import { h, shown } from "./dom.js";
import { count, tickText, ticks, time, unitFor } from "./format.js";
import { measureNames } from "./rows.js";
import { state } from "./state.js";

// The value of which `probability` of the transactions take no longer, from the curve that the program drew.
export function quantile(curve, probabilities, probability) {
  let low = 0;
  let high = probabilities.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (probabilities[middle] <= probability) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const share = (probability - probabilities[low]) / (probabilities[high] - probabilities[low]);
  return curve[low] + (curve[high] - curve[low]) * share;
}

// Decimal logarithms on an ordinary axis, whose ticks are at 1, 2 and 5 of each decade, or closer where there are few.
function logAxis(low, high) {
  const [min, max] = [low / 1.08, Math.max(high, low * 1.5) * 1.08];
  const at = (steps) => {
    const found = [];
    for (let decade = 10 ** Math.floor(Math.log10(min)); decade <= max; decade *= 10) {
      found.push(...steps.map((step) => step * decade).filter((ns) => ns >= min && ns <= max));
    }
    return found;
  };
  const marks = [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]].map(at).find((found) => found.length >= 4) ?? at([1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]);
  const project = (ns) => Math.log10(Math.max(1, ns));
  return { project, min: project(min), max: project(max), marks: marks.map(project), unit: unitFor(high) };
}

// Where the axis begins and ends, and its ticks.
function axisOf(curves, probabilities, tail) {
  const lows = curves.map((curve) => quantile(curve, probabilities, tail));
  const highs = curves.map((curve) => quantile(curve, probabilities, 1 - tail));
  const low = Math.min(...lows);
  const high = Math.max(...highs);
  if (state.scale === "log") {
    return logAxis(Math.max(1, low), Math.max(high, 2));
  }
  const at = ticks(Math.max(0, low - (high - low) * 0.06), high + (high - low) * 0.04, 5);
  const step = at.length > 1 ? at[1] - at[0] : Math.max(1, high / 4);
  const min = Math.max(0, Math.floor((low - (high - low) * 0.04) / step) * step);
  return { project: (ns) => ns, min, max: Math.max(min + step, Math.ceil(high / step) * step), interval: step, unit: unitFor(high) };
}

function timeAxis(axis, colour, width) {
  const { axisLabel, axisTick, ...style } = axisStyle(colour);
  const text = (value) => {
    const ns = axis.marks ? 10 ** value : value;
    const unit = axis.marks ? unitFor(ns * 1.0001) : axis.unit;
    return `${tickText(Number(ns.toPrecision(3)), unit)} ${unit.name}`;
  };
  return {
    ...style,
    type: "value",
    min: axis.min,
    max: axis.max,
    ...(axis.marks ? {} : { interval: axis.interval, splitNumber: width < 480 ? 3 : 5 }),
    axisTick: { ...axisTick, customValues: axis.marks },
    axisLabel: { ...axisLabel, customValues: axis.marks, alignMaxLabel: axis.marks ? "center" : "right", formatter: text },
  };
}

// The middle half of the baseline, and its median, behind everything.
function band(curve, probabilities, axis, colour) {
  return {
    type: "custom",
    silent: true,
    z: 0,
    data: [[0.25, 0.5, 0.75].map((probability) => axis.project(quantile(curve, probabilities, probability)))],
    encode: { x: [0] },
    renderItem(params, api) {
      const { x, y, width, height } = params.coordSys;
      const at = (index) => Math.min(x + width, Math.max(x, api.coord([api.value(index), 0])[0]));
      return {
        type: "group",
        children: [
          { type: "rect", shape: { x: at(0), y, width: at(2) - at(0), height }, style: { fill: colour("band") } },
          { type: "line", shape: { x1: at(1), x2: at(1), y1: y, y2: y + height }, style: { stroke: colour("soft"), lineDash: [3, 3], lineWidth: 1 } },
        ],
      };
    },
  };
}

// Density along the axis, from a hundred evenly likely points of the curve.
function ridge(curve, probabilities, axis, steps = 96) {
  const points = Array.from({ length: 100 }, (_, i) => axis.project(quantile(curve, probabilities, (i + 0.5) / 100)));
  const mean = points.reduce((sum, point) => sum + point, 0) / points.length;
  const sd = Math.sqrt(points.reduce((sum, point) => sum + (point - mean) ** 2, 0) / points.length);
  const spread = Math.min(sd, (points[74] - points[25]) / 1.35) || sd;
  const [least, most] = [curve[0], curve[curve.length - 1]].map(axis.project);
  const { min: low, max: high } = axis;
  const width = Math.max(0.7 * spread * points.length ** -0.2, (high - low) / 250);
  const heights = [];
  for (let i = 0; i <= steps; ++i) {
    const at = low + ((high - low) * i) / steps;
    let sum = 0;
    for (const point of points) {
      sum += Math.exp(-0.5 * ((at - point) / width) ** 2);
    }
    heights.push([at, at < least || at > most ? 0 : sum]); // no smoothing makes times that never were
  }
  return heights;
}

function tip(model, cell, measure) {
  const figures = model.figures(cell, measure);
  const versus = model.compare(cell, measure);
  const interval = (name) => (figures[`${name}_ci_low_ns`] === null ? "" : ` (${time(figures[`${name}_ci_low_ns`])} to ${time(figures[`${name}_ci_high_ns`])})`);
  const line = (label, text) => h("tr", {}, h("td", {}, label), h("td", {}, text));
  return h(
    "div",
    { class: "tip" },
    h("b", {}, `${model.name(cell)}`),
    h(
      "table",
      {},
      line("p50", time(figures.p50_ns) + interval("p50")),
      line("p95", time(figures.p95_ns) + interval("p95")),
      line("p99", time(figures.p99_ns) + interval("p99")),
      line("mean", time(figures.mean_ns) + interval("mean")),
      line("n", count(figures.n)),
      versus && versus.overhead_factor !== null && line("ratio of medians", `×${versus.overhead_factor.toFixed(2)} to ${shown(model.name(versus.base))}`),
    ),
  );
}

function rainclouds(model, cells, measure, axis) {
  const { probabilities, cells: curves } = model.facts.curves;
  const row = 58;
  return chart(
    `${measureNames[measure]}: spread of ${cells.map((cell) => model.name(cell)).join(", ")}`,
    (width, colour) => {
      const narrow = width < 480;
      const heights = cells.map((cell) => ridge(curves[cell][measure], probabilities, axis));
      const highest = Math.max(...heights.flat().map(([, height]) => height));
      const base = model.base(cells[0]);
      return {
        height: cells.length * row + 34,
        grid: { left: 6, right: narrow ? 10 : 16, top: 4, bottom: 26 },
        tooltip: { ...tooltipStyle(colour), trigger: "item", formatter: ({ dataIndex }) => tip(model, cells[dataIndex], measure) },
        xAxis: timeAxis(axis, colour, width),
        yAxis: { type: "value", min: 0, max: cells.length, inverse: true, show: false },
        series: [
          ...(base !== null && curves[base]?.[measure] ? [band(curves[base][measure], probabilities, axis, colour)] : []),
          {
            type: "custom",
            clip: true,
            data: cells.map((cell, i) => [axis.project(quantile(curves[cell][measure], probabilities, 0.5)), i]),
            renderItem: (params, api) => cloud(model, cells[params.dataIndex], measure, heights[params.dataIndex], highest, axis, params, api, colour),
          },
        ],
      };
    },
  );
}

function cloud(model, cell, measure, heights, highest, axis, params, api, colour) {
  const { probabilities, cells: curves } = model.facts.curves;
  const { x, width } = params.coordSys;
  const own = colour(model.colour(cell));
  const i = params.dataIndex;
  const top = api.coord([1, i])[1];
  const bottom = api.coord([1, i + 1])[1];
  const ground = bottom - 17;
  const middle = bottom - 9;
  const place = (projected) => Math.min(x + width, Math.max(x, api.coord([projected, 0])[0]));
  const at = (ns) => place(axis.project(ns));
  const q = (probability) => at(quantile(curves[cell][measure], probabilities, probability));
  const figures = model.figures(cell, measure);
  const points = heights.map(([value, height]) => [place(value), ground - (height / highest) * (ground - top - 7)]);
  const median = at(figures.p50_ns);
  const children = [
    { type: "rect", shape: { x, y: top, width, height: bottom - top }, style: { fill: "transparent" } },
    { type: "polygon", shape: { points: [[points[0][0], ground], ...points, [points.at(-1)[0], ground]] }, style: { fill: own, opacity: 0.2 } },
    { type: "polyline", shape: { points }, style: { stroke: own, lineWidth: 1.4, fill: "none", opacity: 0.85 } },
    { type: "line", shape: { x1: q(0.01), x2: q(0.99), y1: middle, y2: middle }, style: { stroke: own, lineWidth: 1 } },
    { type: "line", shape: { x1: q(0.05), x2: q(0.95), y1: middle, y2: middle }, style: { stroke: own, lineWidth: 2.4 } },
    { type: "rect", shape: { x: q(0.25), y: middle - 5, width: Math.max(1, q(0.75) - q(0.25)), height: 10, r: 2 }, style: { fill: own } },
    { type: "line", shape: { x1: median, x2: median, y1: middle - 6, y2: middle + 6 }, style: { stroke: colour("page"), lineWidth: 2 } },
  ];
  if (figures.p50_ci_low_ns !== null) {
    children.push({
      type: "line",
      shape: { x1: at(figures.p50_ci_low_ns), x2: at(figures.p50_ci_high_ns), y1: middle + 8.5, y2: middle + 8.5 },
      style: { stroke: own, lineWidth: 2 },
    });
  }
  // The name stands where the ridge is low.
  const peak = points.reduce((best, point) => (point[1] < best[1] ? point : best), points[0])[0];
  const left = peak - x > width / 2;
  children.push({
    type: "text",
    style: {
      text: `${shown(model.name(cell))}  ${time(figures.p50_ns)}`,
      x: left ? x + 4 : x + width - 4,
      y: top + 7,
      align: left ? "left" : "right",
      fill: own,
      fontWeight: 600,
      fontSize: 12,
      width: width * 0.66,
      overflow: "truncate",
    },
  });
  return { type: "group", children };
}

function cumulative(model, cells, measure, axis) {
  const { probabilities, cells: curves } = model.facts.curves;
  return chart(`${measureNames[measure]}: share of the transactions that took no longer, of ${cells.map((cell) => model.name(cell)).join(", ")}`, (width, colour) => {
    const base = model.base(cells[0]);
    return {
      height: Math.max(150, Math.min(260, cells.length * 58 + 34)),
      grid: { left: 42, right: 16, top: 8, bottom: 26 },
      tooltip: {
        ...tooltipStyle(colour),
        trigger: "item",
        formatter: ({ seriesIndex, data }) =>
          h("div", { class: "tip" }, h("b", {}, model.name(cells[seriesIndex])), h("div", {}, `${(100 * data[1]).toFixed(1)} % took no longer than ${time(data[2])}`)),
      },
      xAxis: timeAxis(axis, colour, width),
      yAxis: { ...axisStyle(colour), type: "value", min: 0, max: 1, interval: 0.25, axisLabel: { ...axisStyle(colour).axisLabel, formatter: (share) => `${share * 100} %` } },
      series: [
        ...cells.map((cell) => {
          const curve = curves[cell][measure];
          const points = probabilities.map((p, i) => [axis.project(curve[i]), p, curve[i]]).filter(([value]) => value >= axis.min && value <= axis.max);
          return {
            type: "line",
            data: points,
            showSymbol: false,
            symbolSize: 7,
            triggerLineEvent: true,
            clip: true,
            lineStyle: { color: colour(model.colour(cell)), width: 2, type: cell === base ? [5, 3] : "solid" },
            itemStyle: { color: colour(model.colour(cell)) },
          };
        }),
        ...(base !== null && curves[base]?.[measure] ? [band(curves[base][measure], probabilities, axis, colour)] : []),
      ],
    };
  });
}

// The two pictures of each family that is shown.
export function distributions(model, measure) {
  const { probabilities, cells: curves } = model.facts.curves;
  const families = model.shownFamilies();
  return families.map(({ family, cells }) => {
    const drawn = cells.filter((cell) => curves[cell]?.[measure] && model.figures(cell, measure));
    if (drawn.length === 0) {
      return h("p", { class: "soft" }, "No complete transaction has this layer.");
    }
    const base = model.base(drawn[0]);
    const framed = base !== null && curves[base]?.[measure] ? [...drawn, base] : drawn;
    const axis = axisOf(
      framed.map((cell) => curves[cell][measure]),
      probabilities,
      state.scale === "log" ? 0.002 : 0.01,
    );
    return h("div", { class: "panels" }, families.length > 1 && h("p", { class: "group" }, family.title), rainclouds(model, drawn, measure, axis), cumulative(model, drawn, measure, axis));
  });
}
