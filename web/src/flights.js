// How each cell's handshakes crossed the network: round trips, stalls, segments, what was sent again and when.
import { h } from "./dom.js";
import { count, time } from "./format.js";
import { layerNames } from "./rows.js";

const number = (value) => (value === null ? "–" : Number.isInteger(value) ? count(value) : value.toFixed(1));
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)} %`);

export function flightsTable(model, namedCell) {
  const rows = model.shownFamilies().flatMap(({ family, cells }) =>
    cells
      .filter((cell) => model.cells[cell].flights)
      .map((cell) => {
        const flights = model.cells[cell].flights;
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, namedCell(model, cell), h("small", {}, ` ${family.title}`)),
          h("td", {}, number(flights.round_trips_p50)),
          h("td", {}, percent(flights.stalled_share)),
          h("td", {}, flights.stall_p50_ns === null ? "–" : time(flights.stall_p50_ns)),
          h("td", {}, number(flights.client_segments_p50)),
          h("td", {}, number(flights.server_segments_p50)),
          layerNames.map((layer) => h("td", {}, count(flights.retransmitted[layer]))),
        );
      }),
  );
  const heads = ["cell", "round trips", "stalled", "lost by a stall", "client's segments", "server's segments", ...layerNames.map((layer) => `again, ${layer}`)];
  return rows.length === 0
    ? null
    : h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Flights and stalls by cell" },
        h("table", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, rows)),
      );
}
