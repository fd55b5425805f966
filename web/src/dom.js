// Elements made of text: nothing that comes from a capture, a server or a manifest is ever parsed as markup.

// Control characters and the marks that reorder or hide text, as the program's own for_terminal() has them.
const dangerous =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

export function shown(text) {
  return String(text).replace(dangerous, (character) => {
    const code = character.codePointAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code.padStart(4, "0")}}`;
  });
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (name === "style") {
      for (const [property, to] of Object.entries(value)) {
        element.style.setProperty(property, to);
      }
    } else {
      element.setAttribute(name, value === true ? "" : shown(value));
    }
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === undefined || child === null || child === false) {
      continue;
    }
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return element;
}

// h("p", {class: "soft"}, "text", h("b", {}, "more")): an element of HTML.
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// The same of SVG.
export function s(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

export function replace(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

// Text with `code` in backquotes, as our own sentences have it.
export function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}
