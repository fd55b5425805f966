// The bar of controls: every choice goes to the URL's fragment, and from there to the page.
import { add, h, replace } from "./dom.js";
import { set, state, toggled } from "./state.js";
import { layerNames } from "./rows.js";

function chip(label, own, dot, key, pressed) {
  return h(
    "button",
    { type: "button", class: "chip", "aria-pressed": String(pressed), "data-key": key, title: label, onclick: () => set({ hide: toggled(state.hide, key) }) },
    own && h("span", { class: dot ? "swatch dot" : "swatch", style: { "--own": `var(--${own})` } }),
    h("span", {}, label),
  );
}

function segmented(label, key, choices) {
  return h(
    "fieldset",
    { class: "control" },
    h("legend", {}, label),
    h(
      "span",
      { class: "segmented" },
      choices.map(([value, text]) =>
        h("button", { type: "button", "data-key": `${key}-${value}`, "aria-pressed": String(state[key] === value), onclick: () => set({ [key]: value }) }, text),
      ),
    ),
  );
}

// The legend of the layers, which chooses among them too.
export function layerChips(model) {
  return h("div", { class: "chips", role: "group", "aria-label": "Layers" }, layerNames.map((name, l) => chip(name, `l${l}`, false, `l${l}`, model.layerShown(l))));
}

export function drawControls(bar, model) {
  const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const scrolled = bar.firstChild?.scrollLeft ?? 0;
  const bases = model.configurations.filter((name) => model.families.some((family) => family.names.includes(name) && family.cells.length > 1));
  const statedName = model.families.find((family) => family.baseline !== null);
  const stated = statedName ? model.name(statedName.baseline) : null;
  const select = h(
    "select",
    { id: "base", "data-key": "base", onchange: (event) => set({ base: bases[event.target.value] === stated ? "" : bases[event.target.value] }) },
    bases.map((name, i) => h("option", { value: i, selected: name === (state.base || stated) }, name)),
  );
  const themes = h(
    "select",
    { "aria-label": "Colours", "data-key": "theme", onchange: (event) => set({ theme: event.target.value }) },
    [["auto", "colours: auto"], ["light", "colours: light"], ["dark", "colours: dark"]].map(([value, text]) => h("option", { value, selected: state.theme === value }, text)),
  );
  const form = h("form", { "aria-label": "What is shown", onsubmit: (event) => event.preventDefault() });
  if (bases.length > 1) {
    form.append(h("div", { class: "control" }, h("label", { for: "base" }, "Baseline"), select));
  }
  add(form, [
    model.configurations.length > 1 &&
      h("fieldset", { class: "control" }, h("legend", { class: "visually-hidden" }, "Cells"), model.configurations.map((name, c) => chip(name, `c${c % 8}`, true, `c${c}`, model.configurationShown(c)))),
    model.families.length > 1 &&
      h("fieldset", { class: "control" }, h("legend", { class: "visually-hidden" }, "Responses"), model.families.map((family, f) => chip(family.title.replace(/ responses$/u, ""), null, false, `f${f}`, model.familyShown(f)))),
    segmented("Scale", "scale", [["linear", "linear"], ["log", "log"]]),
    h("div", { class: "control push" }, themes),
  ]);
  replace(bar, form);
  form.scrollLeft = scrolled;
  if (focused) {
    [...bar.querySelectorAll("[data-key]")].find((element) => element.dataset.key === focused)?.focus();
  }
}
