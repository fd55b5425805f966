// ECharts, as this page uses it: drawn as SVG, sized by its place, in the page's colours, drawn again when any of them changes.
import { init, use } from "echarts/core";
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
import { h } from "./dom.js";

use([CustomChart, LineChart, ScatterChart, GridComponent, TooltipComponent, SVGRenderer]);

const charts = new Set();

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const cache = {};
  return (name) => (cache[name] ??= style.getPropertyValue(`--${name}`).trim());
}

// `make(width, colour)` gives ECharts' options and `height`; it is asked again on every drawing.
export function chart(label, make) {
  const host = h("div", { class: "chart", role: "img", "aria-label": label });
  const entry = { host, make, chart: null, width: 0 };
  charts.add(entry);
  return host;
}

function draw(entry, colour) {
  const width = entry.host.clientWidth;
  if (width === 0) {
    return;
  }
  entry.width = width;
  const { height, ...option } = entry.make(width, colour);
  entry.host.style.height = `${height}px`;
  if (!entry.chart) {
    entry.chart = init(entry.host, null, { renderer: "svg", width, height });
  } else {
    entry.chart.resize({ width, height });
  }
  // A tooltip that is shown is drawn again a moment after an option is set: by then the next one may have removed it.
  entry.chart.dispatchAction({ type: "hideTip" });
  entry.chart.setOption({ animation: false, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily }, ...option }, true);
}

// Those whose place is gone are let go.
function living() {
  for (const entry of charts) {
    if (!entry.host.isConnected) {
      entry.chart?.dispose();
      charts.delete(entry);
    }
  }
  return [...charts];
}

export function drawAll() {
  const colour = colours();
  for (const entry of living()) {
    draw(entry, colour);
  }
}

// First those in sight, the others when there is time.
let wanted = 0;
export function drawSoon() {
  const turn = ++wanted;
  const all = living();
  const top = (entry) => entry.host.getBoundingClientRect().top;
  const order = all.map((entry) => [top(entry), entry]).sort(([a], [b]) => Math.abs(a) - Math.abs(b));
  const colour = colours();
  const step = () => {
    if (turn !== wanted) {
      return;
    }
    const until = performance.now() + 12;
    while (order.length > 0 && performance.now() < until) {
      const [, entry] = order.shift();
      if (charts.has(entry) && entry.host.isConnected) {
        draw(entry, colour);
      }
    }
    if (order.length > 0) {
      setTimeout(step, 0);
    } else {
      document.documentElement.dataset.drawn = String(turn);
    }
  };
  setTimeout(step, 0);
}

let timer = 0;
window.addEventListener("resize", () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (living().some((entry) => entry.host.clientWidth !== entry.width)) {
      drawSoon();
    }
  }, 80);
});

// What every axis and tooltip looks like.
export function axisStyle(colour) {
  return {
    axisLine: { lineStyle: { color: colour("rule") } },
    axisTick: { lineStyle: { color: colour("rule") } },
    axisLabel: { color: colour("soft"), fontSize: 11.5, hideOverlap: true },
    splitLine: { lineStyle: { color: colour("grid") } },
    nameTextStyle: { color: colour("soft"), fontSize: 11.5 },
  };
}

export function tooltipStyle(colour) {
  return {
    confine: true,
    backgroundColor: colour("raised"),
    borderColor: colour("rule"),
    borderWidth: 1,
    padding: [8, 11],
    textStyle: { color: colour("ink") },
    extraCssText: "box-shadow:none;border-radius:8px;max-width:min(420px,86vw);white-space:normal;",
  };
}
