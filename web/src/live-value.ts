/** A value that grows by patches: one that changes in place, or frozen snapshots that share what has not changed. */
import type { Path } from "./events.js";

/**
 * One change. Applying the patches of all updates in order to nothing gives the value: `set` puts a scalar, an empty
 * string or an empty container there, `append` extends a string, `complete` says that a value will not change any more.
 */
export type Patch =
  | {
      readonly op: "set";
      readonly path: Path;
      readonly value: string | number | boolean | null | Readonly<Record<string, never>> | readonly never[];
    }
  | { readonly op: "append"; readonly path: Path; readonly value: string }
  | { readonly op: "complete"; readonly path: Path };

export type Snapshots = "live" | "immutable";
export type FieldState = "partial" | "complete";

type Container = Record<string | number, unknown> | unknown[];

export class LiveValue {
  readonly #immutable: boolean;
  #value: unknown;
  /** The innermost open value is at the first `#openDepth` steps of this path; all that is not on the way is complete. */
  #openPath: Path = [];
  #openDepth = -1;
  #complete = false;

  constructor(snapshots: Snapshots) {
    this.#immutable = snapshots === "immutable";
  }

  /** The value so far; undefined before it begins. */
  get value(): unknown {
    return this.#value;
  }

  /** Take the patches of one operation. */
  apply(patches: readonly Patch[]): void {
    const fresh = this.#immutable ? new Set<unknown>() : undefined;
    for (const patch of patches) {
      const { path } = patch;
      this.#openPath = path;
      this.#openDepth = path.length;
      this.#complete = false;
      if (patch.op === "complete") {
        this.#openDepth -= 1;
        this.#complete = path.length === 0;
      } else if (path.length === 0) {
        this.#value = patch.op === "append" ? (this.#value as string) + patch.value : made(patch.value, fresh);
      } else {
        const parent = this.#parent(path, fresh);
        const key = path[path.length - 1]!;
        put(parent, key, patch.op === "append" ? (at(parent, key) as string) + patch.value : made(patch.value, fresh));
      }
    }
    if (fresh !== undefined) for (const container of fresh) Object.freeze(container);
  }

  /** The value at a path; undefined where there is none. */
  at(path: Path): unknown {
    let value = this.#value;
    for (const step of path) {
      if (!holds(value, String(step))) return undefined;
      value = at(value as Container, step);
    }
    return value;
  }

  /** Tell whether the value at a path, which may lead nowhere, can still change. Steps compare by their text. */
  fieldState(path: Path): FieldState {
    if (this.#complete) return "complete";
    let value = this.#value;
    for (const [depth, step] of path.entries()) {
      const open = depth < this.#openDepth ? this.#openPath[depth]! : undefined;
      if (open === undefined || String(step) !== String(open))
        return holds(value, String(step)) ? "complete" : "partial";
      value = at(value as Container, open);
    }
    return "partial";
  }

  /** The container of the value at a path; in immutable mode a copy of it that this operation may change. */
  #parent(path: Path, fresh: Set<unknown> | undefined): Container {
    if (fresh !== undefined) this.#value = thawed(this.#value as Container, fresh);
    let parent = this.#value as Container;
    for (let depth = 0; depth < path.length - 1; depth += 1) {
      const key = path[depth]!;
      let child = at(parent, key) as Container;
      if (fresh !== undefined && !fresh.has(child)) {
        child = thawed(child, fresh);
        put(parent, key, child);
      }
      parent = child;
    }
    return parent;
  }
}

/** The container of a patch stays empty for ever; the value gets one of its own. */
function made(value: unknown, fresh: Set<unknown> | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  const container = Array.isArray(value) ? [] : {};
  fresh?.add(container);
  return container;
}

function thawed(container: Container, fresh: Set<unknown>): Container {
  if (fresh.has(container)) return container;
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  fresh.add(copy);
  return copy;
}

function at(container: Container, key: string | number): unknown {
  return (container as Record<string | number, unknown>)[key];
}

function put(container: Container, key: string | number, value: unknown): void {
  // Not plain assignment: a member called __proto__ is data like any other.
  if (key === "__proto__")
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  else (container as Record<string | number, unknown>)[key] = value;
}

function holds(value: unknown, key: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, key) && !(Array.isArray(value) && key === "length");
}
