/** The value as far as it has arrived, kept up to date from the events of a query. Unvalidated. */
import type { Path, ProgressEvent } from "./events.js";
import { LiveValue, type Patch, type Snapshots } from "./live-value.js";

/** How far a part has come: not yet there, being written, or closed (valid or not). */
export type PartState = "absent" | "growing" | "complete";

export class PartialValue {
  readonly #live: LiveValue;
  /** Where the part is that has begun and shows nothing yet. */
  #begun: Path | undefined;
  /** Whether the value that ends next has come in parts already. */
  #inParts: "text" | "container" | undefined;

  /** With "live" the value grows in place; with "immutable" each `apply` gives a frozen one, which shares what is as it was. */
  constructor(snapshots: Snapshots = "live") {
    this.#live = new LiveValue(snapshots);
  }

  /** The value so far; undefined before it begins. */
  get value(): unknown {
    return this.#live.value;
  }

  /** Take the next events of the query, in order. */
  apply(...events: readonly ProgressEvent[]): void {
    this.#live.apply(events.flatMap((event) => this.#patches(event)));
  }

  /** The value at a path; undefined when there is none. */
  at(path: Path): unknown {
    return this.#live.at(path);
  }

  /** Tell how far the part at a path has come. */
  state(path: Path = []): PartState {
    if (this.at(path) !== undefined) return this.#live.fieldState(path) === "complete" ? "complete" : "growing";
    const begun = this.#begun;
    return begun?.length === path.length && path.every((step, n) => step === begun[n]) ? "growing" : "absent";
  }

  #patches(event: ProgressEvent): Patch[] {
    if (event.type === "textDelta" || event.type === "fieldInvalid") return [];
    const { path } = event;
    const inParts = this.#inParts;
    this.#inParts = event.type === "stringFieldDelta" ? "text" : event.type === "objectEnd" ? "container" : undefined;
    this.#begun = event.type === "fieldStart" ? path : undefined;
    switch (event.type) {
      case "fieldStart":
        return [];
      case "objectStart":
        return [{ op: "set", path, value: event.kind === "array" ? [] : {} }];
      case "stringFieldDelta":
        return [{ op: inParts === "text" ? "append" : "set", path, value: event.delta }];
      case "fieldEnd":
        return [...(inParts === undefined ? whole(path, event.value) : []), { op: "complete", path }];
      case "objectEnd":
        return [{ op: "complete", path }];
      default:
        return event satisfies never;
    }
  }
}

/** The patches that put a value there; an object is one that has come in one piece, such as a name of Python's. */
function whole(path: Path, value: unknown): Patch[] {
  if (typeof value !== "object" || value === null) {
    return value === undefined ? [] : [{ op: "set", path, value: value as string | number | boolean | null }];
  }
  const members = Object.entries(value).flatMap(([name, member]) => whole([...path, name], member));
  return [{ op: "set", path, value: {} }, ...members];
}
