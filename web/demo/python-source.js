// The classes of a Python module: their source, and the names of their fields.

const KEYWORDS = /("(?:[^"\\]|\\.)*")|\b(class|int|str|bool|float|list|None|True|False)\b|\b(BaseModel|Literal|Field)\b/g;

/** Split a module into its classes. */
export function classesOf(source) {
  const classes = new Map();
  for (const block of source.split(/^(?=class )/m).slice(1)) {
    const name = /^class (\w+)/.exec(block)[1];
    const fields = [...block.matchAll(/^ {4}(\w+):/gm)].map((match) => match[1]);
    classes.set(name, { name, source: block.trimEnd(), fields });
  }
  return classes;
}

/** Source of a class, after the classes it names. */
export function sourceOf(classes, name) {
  const { source } = classes.get(name);
  const named = [...classes.values()].filter((other) => other.name !== name && new RegExp(`\\b${other.name}\\b`).test(source));
  return [...named.map((other) => other.source), source].join("\n\n");
}

/** Show source in an element, keywords and texts set apart. */
export function showSource(element, source) {
  element.replaceChildren();
  let end = 0;
  for (const match of source.matchAll(KEYWORDS)) {
    element.append(source.slice(end, match.index));
    const part = document.createElement("span");
    part.className = match[1] ? "s" : match[2] ? "k" : "f";
    part.textContent = match[0];
    element.append(part);
    end = match.index + match[0].length;
  }
  element.append(source.slice(end));
}
