// The value as a form: one row a field, filled in by the events of a query, with a mark on what is being written.

const label = (name) => name.replaceAll("_", " ");

export class ValueView {
  #root;
  #fields = [];
  #places = new Map();
  #writing;

  constructor(root) {
    this.#root = root;
  }

  /** Show a type with nothing in it. */
  reset(fields) {
    this.#fields = fields;
    this.#places.clear();
    this.#writing = undefined;
    this.#root.replaceChildren(this.#form([], fields));
  }

  /** Take the next event. */
  apply({ type, path, kind, delta, value }) {
    switch (type) {
      case "objectStart":
        return this.#open(path, kind);
      case "fieldStart":
        return this.#mark(this.#leaf(path));
      case "stringFieldDelta": {
        const leaf = this.#leaf(path);
        this.#mark(leaf);
        leaf.append(delta);
        return;
      }
      case "fieldEnd":
        return this.#close(path, value);
    }
  }

  /** Nothing more comes: take the mark away. */
  end() {
    this.#mark(undefined);
  }

  #open(path, kind) {
    if (path.length === 0) return;
    const place = this.#place(path);
    this.#mark(undefined);
    if (kind === "array") {
      place.replaceChildren(Object.assign(document.createElement("ol"), { className: "items" }));
    } else {
      place.replaceChildren(this.#form(path, []));
    }
  }

  #close(path, value) {
    if (typeof value === "object" && value !== null) {
      if (Array.isArray(value) && value.length === 0) this.#place(path).replaceChildren(leafOf("none", "word"));
      return this.#mark(undefined);
    }
    const leaf = this.#leaf(path);
    if (typeof value === "number") leaf.className = "leaf number";
    if (typeof value !== "string" && typeof value !== "number") leaf.className = "leaf word";
    leaf.textContent = value === null ? "none" : String(value);
    this.#mark(undefined);
  }

  #mark(leaf) {
    if (leaf === this.#writing) return;
    this.#writing?.classList.remove("writing");
    leaf?.classList.add("writing");
    this.#writing = leaf;
  }

  #leaf(path) {
    const place = this.#place(path);
    let leaf = place.firstElementChild;
    if (!leaf?.classList.contains("leaf")) {
      leaf = leafOf("", "");
      place.replaceChildren(leaf);
    }
    return leaf;
  }

  /** The element that holds the value at a path; made when the answer has a place that the type does not name. */
  #place(path) {
    const key = JSON.stringify(path);
    let place = this.#places.get(key);
    if (place === undefined) {
      const parent = path.length === 1 ? this.#root.firstElementChild : this.#place(path.slice(0, -1)).firstElementChild;
      const name = path.at(-1);
      if (typeof name === "number") {
        place = parent.appendChild(document.createElement("li"));
      } else {
        place = row(parent, name);
      }
      this.#places.set(key, place);
    }
    return place;
  }

  #form(path, fields) {
    const form = Object.assign(document.createElement("dl"), { className: "fields" });
    for (const name of fields) this.#places.set(JSON.stringify([...path, name]), row(form, name));
    return form;
  }
}

function row(form, name) {
  const term = document.createElement("dt");
  term.textContent = label(name);
  const place = document.createElement("dd");
  form.append(term, place);
  return place;
}

function leafOf(text, kind) {
  const leaf = document.createElement("span");
  leaf.className = `leaf ${kind}`.trim();
  leaf.textContent = text;
  return leaf;
}
