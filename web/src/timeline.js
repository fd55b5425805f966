// The run from its first block to its last: what each block's median was, when it ran, what was lost, how busy the CPUs were.
import { legend } from "./bars.js";
import { axisStyle, chart, tooltipStyle } from "./chart.js";
import { h, shown } from "./dom.js";
import { count, tickText, time, unitFor } from "./format.js";

const symbols = ["circle", "diamond", "triangle", "rect", "roundRect", "pin", "arrow", "circle"];
const components = { client: "accent", proxy: "c2", origin: "c3" };

function lossesOf(block, uses) {
  const lost = [];
  const say = (number, what) => number > 0 && lost.push(`${count(number)} ${what}`);
  say(block.capture_dropped, "packets not captured");
  say(block.not_started, "transactions not started");
  for (const use of uses) {
    say(use.interface_dropped, `packets dropped at the ${use.component}`);
    say(use.listen_overflows, `connections that the ${use.component} turned away`);
    say(use.retransmissions, `segments that the ${use.component} sent again`);
  }
  return lost;
}

export function timeline(model) {
  const byBlock = new Map();
  for (const use of model.facts.resources) {
    const key = `${use.block} ${use.cell}`;
    byBlock.set(key, [...(byBlock.get(key) ?? []), use]);
  }
  const sampled = new Map();
  for (const [cell, block, component, at, cpu] of model.facts.samples) {
    const key = `${block} ${cell}`;
    sampled.has(key) || sampled.set(key, new Map());
    sampled.get(key).set(component, [...(sampled.get(key).get(component) ?? []), [at, cpu]]);
  }
  const indexOf = new Map(model.cells.map((cell, c) => [cell.name, c]));
  const blocks = model.facts.blocks
    .filter((block) => block.start_ns !== null && block.end_ns !== null && indexOf.has(block.cell))
    .map((block) => {
      const uses = byBlock.get(`${block.block} ${block.cell}`) ?? [];
      return { ...block, index: indexOf.get(block.cell), uses, samples: sampled.get(`${block.block} ${block.cell}`) ?? new Map(), lost: lossesOf(block, uses), middle: (block.start_ns + block.end_ns) / 2 };
    });
  const cells = model.shownFamilies().flatMap((entry) => entry.cells);
  const shownBlocks = blocks.filter((block) => cells.includes(block.index));
  if (shownBlocks.length === 0) {
    return null;
  }
  const losing = blocks.filter((block) => block.lost.length > 0);
  return h(
    "figure",
    {},
    chart(`Blocks by time: medians of the total, lanes of cells, CPU. ${losing.length} blocks lost or repeated something.`, (width, colour) => option(model, cells, blocks, shownBlocks, width, colour)),
    legend([...Object.entries(components), ["whole machine", "soft"]].map(([label, own]) => ({ label: `CPU: ${label}`, own: `var(--${own})` }))),
    h("figcaption", {}, "Above: a block's median total. Middle: when each cell's blocks ran; a triangle marks a block that lost or repeated something. Below: CPU of client, proxy and origin, and of the whole machine, as a share of one core."),
    losing.length > 0 &&
      h("details", {}, h("summary", {}, `${losing.length} of ${blocks.length} blocks lost or repeated something`), h("ul", { class: "small" }, losing.map((block) => h("li", {}, `${block.cell}, block ${block.block}: ${block.lost.join(", ")}`)))),
  );
}

// Shares of one core through a block: between its samples where it has some, else of the whole block.
function cpuOf(block, component) {
  const samples = block.samples.get(component) ?? [];
  if (samples.length > 1) {
    return samples.map(([at, cpu], i) => {
      const [before, had] = i === 0 ? [block.start_ns, 0] : samples[i - 1];
      return [(before + at) / 2, (cpu - had) / Math.max(1, at - before)];
    });
  }
  const use = block.uses.find((one) => one.component === component);
  return use?.wall_ns ? [[block.middle, (use.cpu_user_ns + use.cpu_system_ns) / use.wall_ns]] : [];
}

function blockTip(model, block) {
  const line = (label, text) => h("tr", {}, h("td", {}, label), h("td", {}, text));
  return h(
    "div",
    { class: "tip" },
    h("b", {}, `${block.cell}, block ${block.block}`),
    h(
      "table",
      {},
      line("median total", time(block.medians_ns[5])),
      line("transactions", count(block.scheduled)),
      block.uses.map((use) => use.wall_ns && line(`CPU of ${use.component}`, `${((100 * (use.cpu_user_ns + use.cpu_system_ns)) / use.wall_ns).toFixed(1)} %`)),
      block.busy_cores > 0 && line("machine", `${(100 * block.busy_cores).toFixed(0)} % of one core`),
      block.lost.map((what) => line("lost", what)),
    ),
  );
}

function option(model, cells, blocks, shownBlocks, width, colour) {
  const narrow = width < 560;
  const left = 58;
  const right = narrow ? 8 : 150;
  const lane = Math.max(7, Math.min(16, 130 / cells.length));
  const top = 150;
  const lanes = cells.length * lane + 6;
  const medians = shownBlocks.map((block) => block.medians_ns[5]).filter((value) => value !== null);
  const unit = unitFor(Math.max(...medians, 1));
  const end = Math.max(...blocks.map((block) => block.end_ns));
  const x = (index, label) => ({
    ...axisStyle(colour),
    gridIndex: index,
    type: "value",
    min: 0,
    max: end,
    splitLine: { show: false },
    axisLabel: { ...axisStyle(colour).axisLabel, show: label, showMaxLabel: false, formatter: (ns) => `${tickText(ns, { ns: 1e9 })} s` },
    axisTick: { show: label },
  });
  const cpu = (component) => blocks.flatMap((block) => cpuOf(block, component));
  const machine = blocks.filter((block) => block.busy_cores > 0).map((block) => [block.middle, block.busy_cores]);
  const line = (name, data, own, dash) => ({
    type: "line",
    name,
    xAxisIndex: 2,
    yAxisIndex: 2,
    data,
    showSymbol: false,
    silent: true,
    lineStyle: { color: colour(own), width: 1.6, type: dash },
    itemStyle: { color: colour(own) },
  });
  return {
    height: top + lanes + 18 + 100 + 26,
    grid: [
      { left, right, top: 12, height: top - 24 },
      { left, right, top, height: lanes },
      { left, right, top: top + lanes + 18, height: 100 },
    ],
    tooltip: { ...tooltipStyle(colour), trigger: "item", formatter: ({ data }) => (data?.block ? blockTip(model, data.block) : "") },
    xAxis: [x(0, false), x(1, false), x(2, true)],
    yAxis: [
      { ...axisStyle(colour), gridIndex: 0, type: "value", scale: true, splitNumber: 4, axisLabel: { ...axisStyle(colour).axisLabel, formatter: (ns) => `${tickText(ns, unit)} ${unit.name}` } },
      { gridIndex: 1, type: "value", min: 0, max: cells.length, inverse: true, show: false },
      { ...axisStyle(colour), gridIndex: 2, type: "value", min: 0, splitNumber: 3, axisLabel: { ...axisStyle(colour).axisLabel, formatter: (share) => `${Math.round(share * 100)} %` } },
    ],
    series: [
      ...cells.map((cell) => ({
        type: "scatter",
        symbol: symbols[model.place[cell].configuration % symbols.length],
        symbolSize: 8,
        data: shownBlocks.filter((block) => block.index === cell && block.medians_ns[5] !== null).map((block) => ({ value: [block.middle, block.medians_ns[5]], block })),
        itemStyle: { color: colour(model.colour(cell)), opacity: model.place[cell].family % 2 ? 0.6 : 1, borderColor: colour("page"), borderWidth: 0.5 },
      })),
      {
        type: "custom",
        xAxisIndex: 1,
        yAxisIndex: 1,
        data: shownBlocks.map((block) => ({ value: [block.start_ns, cells.indexOf(block.index), block.end_ns], block })),
        renderItem: (params, api) => {
          const block = shownBlocks[params.dataIndex];
          const [x1, y1] = api.coord([api.value(0), api.value(1)]);
          const [x2] = api.coord([api.value(2), api.value(1)]);
          const children = [{ type: "rect", shape: { x: x1, y: y1 + 1, width: Math.max(1.5, x2 - x1 - 1), height: lane - 2, r: 1.5 }, style: { fill: colour(model.colour(block.index)), opacity: model.place[block.index].family % 2 ? 0.6 : 1 } }];
          if (block.lost.length > 0) {
            const middle = (x1 + x2) / 2;
            children.push({ type: "polygon", shape: { points: [[middle, y1 - 1], [middle - 5, y1 + 8], [middle + 5, y1 + 8]] }, style: { fill: colour("warn"), stroke: colour("page"), lineWidth: 1 } });
          }
          return { type: "group", children };
        },
      },
      ...(narrow
        ? []
        : [
            {
              type: "custom",
              silent: true,
              clip: false,
              xAxisIndex: 1,
              yAxisIndex: 1,
              data: cells.map((cell, i) => [end, i]),
              renderItem: (params, api) => {
                const cell = cells[params.dataIndex];
                const y = api.coord([end, params.dataIndex])[1];
                return { type: "text", style: { text: shown(model.cells[cell].name), x: width - right + 6, y: y + lane / 2, verticalAlign: "middle", fontSize: Math.min(11, lane), fill: colour(model.colour(cell)), width: right - 8, overflow: "truncate" } };
              },
            },
          ]),
      ...Object.entries(components).map(([name, own]) => line(name, cpu(name), own, "solid")),
      line("machine", machine, "soft", [3, 3]),
    ],
  };
}
