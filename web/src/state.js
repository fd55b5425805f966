// What the reader chose, kept in the URL's fragment so that a link shows the same.

export const defaults = { base: "", hide: "", scale: "linear", theme: "auto", q: "", outcome: "", cell: "", sort: "", ladder: "" };
export const state = { ...defaults };
const listeners = [];

export function onChange(listener) {
  listeners.push(listener);
}

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(defaults)) {
    state[key] = given.get(key) ?? defaults[key];
  }
  if (state.scale !== "log") {
    state.scale = "linear";
  }
  if (!["light", "dark"].includes(state.theme)) {
    state.theme = "auto";
  }
}

function write() {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value !== defaults[key]) {
      given.set(key, value);
    }
  }
  const fragment = given.toString();
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

export function set(changes) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  if (changed.length === 0) {
    return;
  }
  Object.assign(state, changes);
  write();
  for (const listener of listeners) {
    listener(changed);
  }
}

export function start() {
  read();
  window.addEventListener("hashchange", () => {
    const before = { ...state };
    read();
    const changed = Object.keys(state).filter((key) => state[key] !== before[key]);
    if (changed.length > 0) {
      for (const listener of listeners) {
        listener(changed);
      }
    }
  });
}

// Lists in the fragment: "0,3,4".
export const listed = (text) => new Set(text.split(",").filter((part) => part !== ""));
export function toggled(text, item) {
  const list = listed(text);
  list.delete(String(item)) || list.add(String(item));
  return [...list].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).join(",");
}
