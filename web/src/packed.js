// Reads what src/report/packed.h wrote: base64 of variable-length numbers.

export function decodeBytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

export class Numbers {
  constructor(text) {
    this.bytes = decodeBytes(text);
    this.at = 0;
  }

  // Exact up to 2^53, far above any interval in nanoseconds.
  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    let value = byte & 0x7f;
    let scale = 128;
    while (byte >= 0x80) {
      byte = bytes[this.at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    return value;
  }

  nextSigned() {
    return unfold(this.next());
  }
}

const unfold = (value) => (value % 2 ? -(value + 1) / 2 : value / 2);

// Columns, decoded when they are first asked for. Absent is NaN.
export class Columns {
  constructor(count, texts) {
    this.count = count;
    this.texts = texts;
    this.decoded = new Map();
  }

  get(name, kind) {
    let column = this.decoded.get(name);
    if (!column) {
      column = this.decode(this.texts[name], kind);
      this.decoded.set(name, column);
    }
    return column;
  }

  decode(text, kind) {
    const numbers = new Numbers(text);
    const column = new Float64Array(this.count);
    let last = 0;
    for (let i = 0; i < this.count; ++i) {
      const value = numbers.next();
      if (kind === "plain") {
        column[i] = value;
      } else if (kind === "delta") {
        last += unfold(value);
        column[i] = last;
      } else if (kind === "signed or absent") {
        column[i] = value === 0 ? NaN : unfold(value - 1);
      } else {
        column[i] = value === 0 ? NaN : value - 1;
      }
    }
    return column;
  }
}
