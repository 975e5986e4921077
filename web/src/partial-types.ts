/** The types of what has come of a value that is still being written. */

type Whole = number | boolean | bigint | symbol | null | undefined | Date | ((...given: never[]) => unknown);

/**
 * `T` while it is being written: members may be missing, and any text may be the beginning of one, so that literal types of
 * text are `string`. Numbers, booleans and null come whole.
 */
export type DeepPartial<T> = T extends string
  ? string
  : T extends Whole
    ? T
    : T extends readonly (infer E)[]
      ? DeepPartial<E>[]
      : T extends object
        ? { [K in keyof T]?: DeepPartial<T[K]> }
        : T;

/** Where a list is: steps, or the same with dots. */
export type ListPath = string | readonly (string | number)[];

type Steps<P> = P extends "" ? [] : P extends `${infer First}.${infer Rest}` ? [First, ...Steps<Rest>] : [P];

type Member<T, K> = T extends readonly (infer E)[]
  ? K extends number | `${number}`
    ? E
    : never
  : K extends keyof T
    ? T[K]
    : never;

type Within<T, S> = unknown extends T
  ? unknown
  : S extends readonly [infer K, ...infer Rest]
    ? Within<Member<NonNullable<T>, K>, Rest>
    : T;

type ElementOf<L> = unknown extends L ? unknown : L extends readonly (infer E)[] ? E : never;

/** The type of the elements of the list at a path of `T`: unknown where the path is not known, never when there is none. */
export type ElementAt<T, P extends ListPath> = [P] extends [never]
  ? never
  : string extends P
    ? unknown
    : P extends readonly unknown[]
      ? number extends P["length"]
        ? unknown
        : ElementOf<Within<T, P>>
      : ElementOf<Within<T, Steps<P>>>;
