// The transactions of the page: columns of src/report/html_rows.cpp, decoded when they are needed.
import { Columns } from "./packed.js";

const kinds = {
  cell: "plain",
  block: "or absent",
  connection: "delta",
  request: "plain",
  start_ns: "delta",
  outcome: "plain",
  boundary: "plain",
  flags: "plain",
  client: "plain",
  client_port: "plain",
  server: "plain",
  tls_version: "plain",
  cipher: "plain",
  group: "plain",
  key_shares: "plain",
  alpn: "plain",
  method: "plain",
};
export const layerNames = ["tcp_handshake", "tcp_to_tls", "tls_handshake", "tls_to_app", "app_response"];
export const measureNames = [...layerNames, "total"];

export class Rows {
  constructor(document) {
    this.total = document.total;
    this.count = document.count;
    this.origin = document.origin_ns;
    this.names = document.names;
    this.columns = new Columns(document.count, document.columns);
    this.made = new Map();
  }

  column(name) {
    if (name === "total_ns" || name === "last_byte_ns") {
      if (!this.made.has(name)) {
        this.made.set(name, name === "total_ns" ? this.totals() : this.lastBytes());
      }
      return this.made.get(name);
    }
    return this.columns.get(name, kinds[name] ?? "or absent");
  }

  // 1 says: the sum of the layers.
  totals() {
    const column = this.columns.get("total_ns", "plain").slice();
    const layers = layerNames.map((layer) => this.column(`${layer}_ns`));
    for (let i = 0; i < column.length; ++i) {
      if (column[i] === 1) {
        column[i] = layers.reduce((sum, layer) => sum + (Number.isNaN(layer[i]) ? 0 : layer[i]), 0);
      } else {
        column[i] = column[i] === 0 ? NaN : column[i] - 2;
      }
    }
    return column;
  }

  lastBytes() {
    const column = this.columns.get("last_byte_ns", "signed or absent").slice();
    const totals = this.column("total_ns");
    for (let i = 0; i < column.length; ++i) {
      column[i] += Number.isNaN(totals[i]) ? 0 : totals[i];
    }
    return column;
  }

  at(name, row) {
    const value = this.column(name)[row];
    return Number.isNaN(value) ? null : value;
  }

  cell(row) {
    return this.names.cells[this.at("cell", row)];
  }
  outcome(row) {
    return this.names.outcomes[this.at("outcome", row)];
  }
  boundary(row) {
    return this.names.boundaries[this.at("boundary", row)];
  }
  word(name, row) {
    return this.names.words[this.at(name, row)];
  }
  client(row) {
    const address = this.names.addresses[this.at("client", row)];
    return address.slice(0, address.lastIndexOf(":") + 1) + this.at("client_port", row);
  }
  server(row) {
    return this.names.addresses[this.at("server", row)];
  }
}
