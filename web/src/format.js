// Figures as people read them: one unit for what is compared, three significant digits.
const units = [
  { name: "ns", ns: 1 },
  { name: "µs", ns: 1e3 },
  { name: "ms", ns: 1e6 },
  { name: "s", ns: 1e9 },
];
const space = "\u00a0";
const minus = (text) => text.replace("-", "\u2212");

const grouping = new Intl.NumberFormat("en-US");
export const count = (value) => (value === null || value === undefined ? "–" : grouping.format(value));

export function unitFor(largest) {
  const size = Math.abs(largest);
  return size < 1e3 ? units[0] : size < 1e6 ? units[1] : size < 1e9 ? units[2] : units[3];
}

// For columns of figures: microseconds as long as they have four digits.
export const columnUnit = (largest) => (largest >= 1e3 && largest < 1e7 ? units[1] : unitFor(largest));

// Decimals that leave three significant digits, none below zero.
function decimalsFor(value) {
  const size = Math.abs(value);
  return size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2;
}

function fixed(value, decimals) {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return minus(/^-[0.,]*$/.test(text) ? text.slice(1) : text);
}

// "1.72 ms"
export function time(ns, unit = unitFor(ns)) {
  if (ns === null || ns === undefined) {
    return "–";
  }
  return bare(ns, unit) + space + unit.name;
}

// "1.72"
export function bare(ns, unit) {
  const value = ns / unit.ns;
  return fixed(value, unit.ns === 1 ? 0 : decimalsFor(value));
}

// "+41.2 µs"
export function change(ns, unit = unitFor(ns)) {
  const text = time(ns, unit);
  return ns > 0 && !/^[0.]+\s/u.test(text) ? `+${text}` : text;
}

// "38 to 45 µs"
export function range(low, high, unit = unitFor(Math.max(Math.abs(low), Math.abs(high)))) {
  return `${bare(low, unit)} to ${bare(high, unit)}${space}${unit.name}`;
}

export const ratio = (value) => (value === null || value === undefined ? "–" : `×${fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)}`);
export const signed = (value) => (value === null || value === undefined ? "–" : minus((value > 0 ? "+" : "") + value.toFixed(2)));
export const percent = (share) => (share === null || share === undefined ? "–" : `${minus((share * 100).toFixed(1))}${space}%`);
export const probability = (p) => (p === null || p === undefined ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));

// Ticks of an axis from 0 (or from low) that reach `high`: about `about` of them at round figures.
export function ticks(low, high, about = 5) {
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high * 1.0001 + step * 1e-6; at += step) {
    found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  }
  return found;
}

export const tickText = (ns, unit) => minus(String(Number((ns / unit.ns).toPrecision(6))));

// "2026-12-01 02:03:04.123456" of nanoseconds behind an origin that no number holds exactly.
export function clock(originText, offset) {
  const ns = BigInt(originText) + BigInt(offset);
  const seconds = new Date(Number(ns / 1000000n)).toISOString().slice(11, 19);
  return `${seconds}.${String((ns % 1000000000n) / 1000n).padStart(6, "0")}`;
}

export function bytes(value) {
  return value === null || value === undefined ? "–" : `${count(Math.round(value))}${space}B`;
}
