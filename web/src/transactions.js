// Every transaction, filtered and sorted; only the rows in sight are in the document.
import { h, replace } from "./dom.js";
import { bare, bytes, clock, count, unitFor } from "./format.js";
import { layerNames } from "./rows.js";
import { set, state } from "./state.js";

const rowHeight = 30;
const us = unitFor(1e3);

export class TransactionsTable {
  constructor(rows, ladders) {
    this.rows = rows;
    this.ladders = ladders;
    this.columns = this.makeColumns();
    this.order = null; // row numbers that pass the filter, in order
    this.element = this.build();
  }

  makeColumns() {
    const { rows } = this;
    const duration = (name, title) => ({ key: name, title, sort: (row) => rows.column(name)[row], text: (row) => (rows.at(name, row) === null ? "" : bare(rows.at(name, row), us)) });
    return [
      { key: "cell", title: "cell", text: (row) => rows.cell(row), class: "text cellname", sort: (row) => rows.column("cell")[row] },
      { key: "block", title: "block", text: (row) => rows.at("block", row) ?? "", sort: (row) => rows.column("block")[row] },
      { key: "connection", title: "connection", text: (row) => `${rows.at("connection", row)}${rows.at("request", row) > 1 ? `.${rows.at("request", row)}` : ""}`, sort: (row) => rows.column("connection")[row] },
      { key: "start_ns", title: "start, UTC", text: (row) => clock(rows.origin, rows.at("start_ns", row)), sort: (row) => rows.column("start_ns")[row] },
      { key: "outcome", title: "outcome", class: "text", text: (row) => rows.outcome(row), sort: (row) => rows.column("outcome")[row] },
      duration("total_ns", "total, µs"),
      ...layerNames.map((layer) => duration(`${layer}_ns`, `${layer}, µs`)),
      { key: "client_hello_bytes", title: "hello, B", text: (row) => (rows.at("client_hello_bytes", row) === null ? "" : bytes(rows.at("client_hello_bytes", row)).replace(/\u00a0B$/u, "")), sort: (row) => rows.column("client_hello_bytes")[row] },
      { key: "group", title: "group", class: "text", text: (row) => rows.word("group", row) },
      { key: "client", title: "client", class: "text", text: (row) => rows.client(row) },
      { key: "status", title: "status", text: (row) => rows.at("status", row) ?? "", sort: (row) => rows.column("status")[row] },
    ];
  }

  build() {
    const { rows } = this;
    const choose = (key, label, names) => {
      const select = h("select", { onchange: (event) => set({ [key]: event.target.value }) }, h("option", { value: "" }, "all"));
      names.forEach((name, i) => select.append(h("option", { value: String(i) }, name === "" ? "(no name)" : name)));
      this[`${key}Select`] = select;
      return h("label", {}, label, select);
    };
    let timer = 0;
    this.search = h("input", {
      type: "search",
      placeholder: "address, group, cipher, method …",
      oninput: (event) => {
        clearTimeout(timer);
        const { value } = event.target;
        timer = setTimeout(() => set({ q: value }), 120);
      },
    });
    this.told = h("output", { "aria-live": "polite" });
    this.body = h("tbody");
    this.head = h("tr", {}, h("th", { scope: "col", class: "text" }, h("span", {}, "drawn")), this.columns.map((column) => h("th", { scope: "col", class: column.class }, column.sort ? this.sorter(column) : h("span", {}, column.title))));
    this.view = h("div", { class: "rows", tabindex: "0", role: "region", "aria-label": "List of transactions", onscroll: () => this.draw() }, h("table", {}, h("thead", {}, this.head), this.body));
    this.table = this.view.firstChild;
    return h(
      "div",
      {},
      h("div", { class: "filters" }, rows.names.cells.length > 1 && choose("cell", "Cell", rows.names.cells), choose("outcome", "Outcome", rows.names.outcomes.map((name, i) => (rows.column("outcome").includes(i) ? name : null)).map((name) => name ?? "")), h("label", {}, "Search", this.search), this.told),
      this.view,
      rows.count < rows.total && h("p", { class: "soft small" }, `${count(rows.count)} of ${count(rows.total)} transactions are in this page: those that failed, and others by the run's seed. transactions.csv has all.`),
    );
  }

  sorter(column) {
    return h(
      "button",
      {
        type: "button",
        "data-sort": column.key,
        onclick: () => set({ sort: state.sort === column.key ? `-${column.key}` : state.sort === `-${column.key}` ? "" : column.key }),
      },
      column.title,
    );
  }

  // Filters and sorts as the fragment says.
  update() {
    const { rows } = this;
    for (const key of ["cell", "outcome"]) {
      if (this[`${key}Select`]) {
        this[`${key}Select`].value = state[key];
      }
    }
    if (document.activeElement !== this.search) {
      this.search.value = state.q;
    }
    const keep = new Uint32Array(rows.count);
    let kept = 0;
    const cell = state.cell === "" ? null : Number(state.cell);
    const outcome = state.outcome === "" ? null : Number(state.outcome);
    const cells = rows.column("cell");
    const outcomes = rows.column("outcome");
    const wanted = state.q.trim().toLowerCase();
    for (let row = 0; row < rows.count; ++row) {
      if ((cell === null || cells[row] === cell) && (outcome === null || outcomes[row] === outcome) && (wanted === "" || this.matches(row, wanted))) {
        keep[kept++] = row;
      }
    }
    this.order = keep.subarray(0, kept);
    const down = state.sort.startsWith("-");
    const column = this.columns.find(({ key, sort }) => sort && key === state.sort.slice(down ? 1 : 0));
    if (column) {
      const values = new Float64Array(rows.count);
      for (let row = 0; row < rows.count; ++row) {
        values[row] = column.sort(row);
      }
      // What is absent comes last either way.
      this.order.sort((a, b) => {
        const [x, y] = [values[a], values[b]];
        return Number.isNaN(x) || Number.isNaN(y) ? Number.isNaN(x) - Number.isNaN(y) || a - b : (down ? y - x : x - y) || a - b;
      });
    }
    for (const button of this.head.querySelectorAll("button")) {
      const own = button.dataset.sort === column?.key;
      button.parentElement.setAttribute("aria-sort", own ? (down ? "descending" : "ascending") : "none");
      button.textContent = this.columns.find(({ key }) => key === button.dataset.sort).title + (own ? (down ? " ↓" : " ↑") : "");
    }
    this.told.textContent = `${count(kept)} of ${count(rows.total)} transactions`;
    this.table.setAttribute("aria-rowcount", String(kept + 1));
    this.view.scrollTop = 0;
    this.drawn = null;
    this.draw();
  }

  matches(row, wanted) {
    const { rows } = this;
    return (
      rows.client(row).includes(wanted) ||
      rows.server(row).includes(wanted) ||
      rows.cell(row).toLowerCase().includes(wanted) ||
      ["group", "cipher", "key_shares", "alpn", "method", "tls_version"].some((name) => rows.word(name, row).toLowerCase().includes(wanted)) ||
      String(rows.at("status", row) ?? "").includes(wanted)
    );
  }

  draw() {
    const margin = 12;
    const first = Math.max(0, Math.floor(this.view.scrollTop / rowHeight) - margin);
    const last = Math.min(this.order.length, first + Math.ceil((this.view.clientHeight || 470) / rowHeight) + 2 * margin);
    if (this.drawn === `${first} ${last}`) {
      return;
    }
    this.drawn = `${first} ${last}`;
    const spacer = (rows) => rows > 0 && h("tr", { class: "spacer", "aria-hidden": "true" }, h("td", { colspan: this.columns.length + 1, style: { height: `${rows * rowHeight}px` } }));
    const lines = [];
    for (let i = first; i < last; ++i) {
      lines.push(this.line(this.order[i], i));
    }
    replace(this.body, spacer(first), lines, spacer(this.order.length - last), this.order.length === 0 && h("tr", {}, h("td", { class: "text", colspan: this.columns.length + 1 }, "No transaction is like that.")));
  }

  line(row, place) {
    const { rows } = this;
    const cell = rows.cell(row);
    const block = rows.at("block", row);
    const connection = rows.at("connection", row);
    const isDrawn = this.ladders.has(cell, block, connection);
    return h(
      "tr",
      { "aria-rowindex": String(place + 2), class: rows.outcome(row) === "complete" ? null : "failed" },
      h(
        "td",
        { class: "text" },
        h("button", { type: "button", class: "open", "aria-label": `${isDrawn ? "Ladder" : "Command"} of connection ${connection}, block ${block ?? ""}, ${cell}`, onclick: () => set({ ladder: `${rows.at("cell", row)}.${block ?? ""}.${connection}` }) }, isDrawn ? "ladder" : "command"),
      ),
      this.columns.map((column) => {
        const text = column.text(row);
        return h("td", { class: column.class, title: column.class?.includes("cellname") ? text : null }, text);
      }),
    );
  }
}
