// The facts of the page, and what the reader chose of them: which cells, which layers, against which baseline.
import { listed, state } from "./state.js";
import { layerNames, measureNames } from "./rows.js";

export class Model {
  constructor(facts) {
    this.facts = facts;
    this.cells = facts.cells;
    this.configurations = []; // names in order; the same colour everywhere
    this.place = []; // of each cell: {family, configuration, name}
    this.families = facts.families.map((family) => ({ ...family }));
    this.families.forEach((family, f) => {
      family.cells.forEach((cell, i) => {
        const name = family.names[i];
        let configuration = this.configurations.indexOf(name);
        if (configuration < 0) {
          configuration = this.configurations.push(name) - 1;
        }
        this.place[cell] = { family: f, configuration, name };
      });
    });
    this.nameFamilies();
  }

  // Titles tell only the response's size: where several families have the same, their baseline's cell tells more.
  nameFamilies() {
    const titles = this.families.map((family) => family.title);
    this.families.forEach((family, f) => {
      const alone = titles.filter((title) => title === titles[f]).length === 1;
      const baseline = family.baseline === null ? null : this.cells[family.baseline].name;
      if (!alone && baseline !== null) {
        family.title = family.title ? `${family.title}, as ${baseline}` : `as ${baseline}`;
      } else if (!family.title) {
        family.title = baseline === null ? "Not compared" : "All cells";
      }
    });
  }

  // Pages with very many cells begin with a few.
  defaultHide() {
    let shown = 0;
    const hidden = [];
    this.families.forEach((family, f) => {
      shown += family.cells.length;
      if (shown > 16 && f > 0) {
        hidden.push(`f${f}`);
      }
    });
    return hidden.join(",");
  }

  hidden() {
    return listed(state.hide);
  }
  configurationShown(configuration) {
    return !this.hidden().has(`c${configuration}`);
  }
  familyShown(family) {
    return !this.hidden().has(`f${family}`);
  }
  layerShown(layer) {
    return !this.hidden().has(`l${layer}`);
  }
  cellShown(cell) {
    return this.configurationShown(this.place[cell].configuration) && this.familyShown(this.place[cell].family);
  }
  layers() {
    return layerNames.map((_, layer) => layer).filter((layer) => this.layerShown(layer));
  }
  // Families with a cell to show, and those cells.
  shownFamilies() {
    return this.families
      .map((family, f) => ({ family, f, cells: family.cells.filter((cell) => this.cellShown(cell)) }))
      .filter(({ cells }) => cells.length > 0);
  }

  colour(cell) {
    return `c${this.place[cell].configuration % 8}`;
  }
  name(cell) {
    return this.place[cell].name;
  }

  // The cell that this one is held against: the chosen configuration's, or the one that the run states.
  base(cell) {
    const family = this.families[this.place[cell].family];
    if (state.base) {
      const chosen = family.cells.find((other) => this.name(other) === state.base);
      if (chosen !== undefined) {
        return chosen;
      }
    }
    return family.baseline;
  }

  figures(cell, measure) {
    const figures = this.cells[cell].layers[measureNames[measure]];
    return figures && figures.n > 0 ? figures : null;
  }

  // Null: this is the baseline, or there is nothing to compare. Intervals and tests only where the program made them.
  compare(cell, measure) {
    const base = this.base(cell);
    if (base === null || base === undefined || base === cell) {
      return null;
    }
    const stated = base === this.families[this.place[cell].family].baseline;
    if (stated) {
      const versus = this.cells[cell].versus_baseline?.[measureNames[measure]];
      return versus ? { stated, base, ...versus } : null;
    }
    const own = this.figures(cell, measure);
    const other = this.figures(base, measure);
    if (!own || !other) {
      return null;
    }
    return {
      stated,
      base,
      difference_ns: own.p50_ns - other.p50_ns,
      ci_low_ns: null,
      ci_high_ns: null,
      overhead_factor: other.p50_ns > 0 ? own.p50_ns / other.p50_ns : null,
      glass_delta: other.sd_ns > 0 ? (own.mean_ns - other.mean_ns) / other.sd_ns : null,
      p_holm: null,
      flagged: false,
    };
  }

  statedBaseline() {
    return !state.base || this.families.every((family) => family.baseline === null || this.name(family.baseline) === state.base);
  }
}
