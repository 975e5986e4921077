/** The value as far as it has arrived, kept up to date from the events of a query. Unvalidated. */
import type { Path, ProgressEvent } from "./events.js";

type Container = Record<string, unknown> | unknown[];

export class PartialValue {
  #root: { value?: unknown } = {};

  /** The value so far; undefined before it begins. It grows in place: copy it to keep a state. */
  get value(): unknown {
    return this.#root.value;
  }

  /** Take the next event of the query, in order. */
  apply(event: ProgressEvent): void {
    switch (event.type) {
      case "objectStart":
        return this.#set(event.path, event.kind === "array" ? [] : {});
      case "stringFieldDelta": {
        const before = this.at(event.path);
        return this.#set(event.path, (typeof before === "string" ? before : "") + event.delta);
      }
      case "fieldEnd":
        // A container that grew in place is equal already; replacing it would take away what a page holds on to.
        if (event.value !== undefined && !isContainer(event.value)) this.#set(event.path, event.value);
        return;
      case "textDelta":
      case "fieldStart":
      case "objectEnd":
        return;
      default:
        return event satisfies never;
    }
  }

  #parent(path: Path): Container {
    let at = this.#root as Container;
    let key: string | number = "value";
    for (const next of path) {
      at = ownValue(at, key) as Container;
      key = next;
    }
    return at;
  }

  /** The value at a path; undefined when there is none. */
  at(path: Path): unknown {
    return ownValue(this.#parent(path), lastKey(path));
  }

  #set(path: Path, value: unknown): void {
    // Not plain assignment: a member called __proto__ is data like any other.
    Object.defineProperty(this.#parent(path), lastKey(path), {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function lastKey(path: Path): string | number {
  return path.at(-1) ?? "value";
}

function ownValue(container: Container, key: string | number): unknown {
  return Object.getOwnPropertyDescriptor(container, key)?.value;
}
