// The raw stream and the list of events, as they come. Both keep to their end while the reader is there.

const MOST_ROWS = 400;

export class Trace {
  #raw;
  #rawCount;
  #list;
  #listCount;
  #chars = 0;
  #events = 0;

  constructor({ raw, rawCount, list, listCount }) {
    this.#raw = raw;
    this.#rawCount = rawCount;
    this.#list = list;
    this.#listCount = listCount;
  }

  reset() {
    this.#chars = this.#events = 0;
    this.#raw.textContent = this.#rawCount.textContent = this.#listCount.textContent = "";
    this.#list.replaceChildren();
  }

  add(event) {
    if (event.type === "textDelta") {
      this.#chars += [...event.delta].length;
      keepingToTheEnd(this.#raw, () => this.#raw.append(event.delta));
      this.#rawCount.textContent = counted(this.#chars, "character");
    }
    this.#events += 1;
    keepingToTheEnd(this.#list, () => {
      this.#list.append(rowOf(event));
      if (this.#list.childElementCount > MOST_ROWS) this.#list.firstElementChild.remove();
    });
    this.#listCount.textContent = counted(this.#events, "event");
  }
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function keepingToTheEnd(box, change) {
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
  change();
  if (atEnd) box.scrollTop = box.scrollHeight;
}

function rowOf(event) {
  const row = document.createElement("li");
  row.dataset.type = event.type;
  for (const [name, text] of [["t", event.type], ["p", pathText(event.path)], ["c", content(event)]]) {
    const cell = document.createElement("span");
    cell.className = name;
    cell.textContent = text;
    row.append(cell);
  }
  return row;
}

const pathText = (path = []) => path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("").replace(/^\./, "");

function content({ type, delta, value, kind, result, error }) {
  switch (type) {
    case "objectStart":
      return kind;
    case "textDelta":
    case "stringFieldDelta":
      return JSON.stringify(delta);
    case "fieldEnd":
    case "objectEnd":
      return JSON.stringify(value);
    case "generationComplete":
      return JSON.stringify(result);
    default:
      return error?.code ?? "";
  }
}
