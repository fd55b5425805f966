// One connection, packet by packet: arrows between client and server, messages above them, layers along the side.
import { h, replace } from "./dom.js";
import { bytes, clock, columnUnit, count, time } from "./format.js";
import { Numbers } from "./packed.js";
import { layerNames } from "./rows.js";
import { set } from "./state.js";

const packet = 0;
const message = 1;
const stall = 3;

export class Ladders {
  constructor(document) {
    this.missing = document.missing;
    this.names = document.names;
    this.byKey = new Map(document.drawn.map(([cell, block, connection, lines, leftOut, packed]) => [`${block ?? ""} ${connection} ${cell}`, { lines, leftOut, packed }]));
  }

  get size() {
    return this.byKey.size;
  }

  has(cell, block, connection) {
    return this.byKey.has(`${block ?? ""} ${connection} ${cell}`);
  }

  // Null: not drawn.
  lines(cell, block, connection) {
    const found = this.byKey.get(`${block ?? ""} ${connection} ${cell}`);
    if (!found) {
      return null;
    }
    const numbers = new Numbers(found.packed);
    const lines = [];
    let at = 0;
    let number = 0;
    for (let i = 0; i < found.lines; ++i) {
      const kind = numbers.next();
      at += numbers.nextSigned();
      number += numbers.nextSigned();
      lines.push({ kind: kind >> 1, fromClient: kind % 2 === 1, at, packet: number, what: this.names[numbers.next()], bytes: numbers.next() });
    }
    return { lines, leftOut: found.leftOut };
  }
}

// The number of a shell word that may hold anything.
const quoted = (word) => (/^[\w./:=@%+-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function commandFor(facts, cell, block, connection) {
  const found = facts.blocks.find((one) => one.cell === cell && one.block === block);
  return found?.capture ? `tlstrata analyze ${quoted(found.capture)} --show ${connection}` : null;
}

function drawn({ lines, leftOut }) {
  const unit = columnUnit(Math.max(...lines.map((line) => line.at), 1));
  const grid = h(
    "div",
    { class: "ladder" },
    h("div", { class: "head" }),
    h("div", { class: "head" }),
    h("div", { class: "head ends" }, h("span", {}, "client"), h("span", {}, "server")),
    h("div", { class: "head" }),
  );
  let layer = null;
  for (let i = 0; i < lines.length; ++i) {
    const line = lines[i];
    if (line.kind === message) {
      continue; // stands with its packet
    }
    if (line.kind === stall) {
      grid.append(
        h("div", { class: "at" }, time(line.at, unit)),
        h("div", { class: "stratum", style: { "--own": layer === null ? "transparent" : `var(--l${layer})` } }),
        h("div", { class: "step stall" }, h("b", {}, `window full: waits ${time(line.bytes)} for an ACK`)),
        h("div", { class: "bytes" }),
      );
      continue;
    }
    if (line.kind !== packet) {
      layer = layerNames.indexOf(line.what);
      grid.append(h("div", { class: "layer-begins" }, h("span", { class: "swatch", style: { "--own": `var(--l${layer})` } }), h("b", {}, line.what), time(line.bytes)));
      continue;
    }
    const messages = [];
    for (let k = i + 1; k < lines.length && lines[k].kind === message; ++k) {
      messages.push(lines[k]);
    }
    grid.append(
      h("div", { class: "at" }, time(line.at, unit)),
      h("div", { class: "stratum", style: { "--own": layer === null ? "transparent" : `var(--l${layer})` } }),
      h(
        "div",
        { class: `step ${line.fromClient ? "from-client" : "from-server"}${line.bytes === 0 ? " bare" : ""}` },
        messages.map((one) => h("span", { class: "message" }, one.what, one.bytes > 0 && h("span", { class: "soft small" }, ` ${bytes(one.bytes)}`))),
        h("span", { class: "soft" }, `${line.what}, packet ${count(line.packet)}`),
        h("span", { class: "line" }),
      ),
      h("div", { class: "bytes" }, line.bytes > 0 ? bytes(line.bytes) : ""),
    );
  }
  return [grid, leftOut > 0 && h("p", { class: "soft small" }, `${count(leftOut)} more lines are left out here; the command below prints all.`)];
}

// The dialog that shows a row's connection.
export class LadderView {
  constructor(model, rows, ladders) {
    Object.assign(this, { model, rows, ladders });
    this.dialog = h("dialog", { "aria-labelledby": "ladder-title" });
    this.dialog.addEventListener("close", () => set({ ladder: "" }));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
  }

  // `key`: "cell index.block.connection", of the fragment.
  show(key) {
    const [c, block, connection] = key.split(".");
    const cell = this.rows.names.cells[Number(c)];
    const row = cell === undefined ? -1 : this.find(Number(c), block === "" ? null : Number(block), Number(connection));
    if (row < 0) {
      this.dialog.open && this.dialog.close();
      return;
    }
    const { rows } = this;
    const numberOfBlock = rows.at("block", row);
    const number = rows.at("connection", row);
    const ladder = this.ladders.lines(cell, numberOfBlock, number);
    const command = commandFor(this.model.facts, cell, numberOfBlock, number);
    const facts = [
      `block ${numberOfBlock ?? "–"}, connection ${number}`,
      rows.outcome(row),
      rows.at("total_ns", row) !== null && `total ${time(rows.at("total_ns", row))}`,
      rows.word("group", row),
      `${rows.client(row)} to ${rows.server(row)}`,
      `began ${clock(rows.origin, rows.at("start_ns", row))} UTC`,
    ].filter(Boolean);
    replace(
      this.dialog,
      h("div", { class: "dialog-head" }, h("div", {}, h("h2", { id: "ladder-title" }, cell || "Connection"), h("p", { class: "soft" }, facts.join(" · "))), h("button", { type: "button", autofocus: true, onclick: () => this.dialog.close() }, "Close")),
      h(
        "div",
        { class: "dialog-body", tabindex: "0" },
        ladder ? drawn(ladder) : h("p", {}, this.ladders.size === 0 && this.ladders.missing ? `No connection is drawn here: ${this.ladders.missing}.` : "This connection is not among those drawn in this page (up to 200 a cell: failed, slowest, random by the run's seed)."),
        command && [h("p", { class: "soft small" }, ladder ? "The same in a terminal, in the result folder:" : "To draw it in a terminal, in the result folder:"), h("code", { class: "command" }, command)],
      ),
    );
    this.dialog.open || this.dialog.showModal();
  }

  find(cell, block, connection) {
    const cells = this.rows.column("cell");
    const blocks = this.rows.column("block");
    const numbers = this.rows.column("connection");
    for (let i = 0; i < this.rows.count; ++i) {
      if (numbers[i] === connection && cells[i] === cell && (block === null ? Number.isNaN(blocks[i]) : blocks[i] === block)) {
        return i;
      }
    }
    return -1;
  }
}
