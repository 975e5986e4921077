/** Python in the page itself: the same host and the same messages, without a worker between. */
import type { Boot } from "./boot.js";
import { fromWire } from "./errors.js";
import { tagged, type Host, type HostEvents } from "./wire.js";
import { PythonHost } from "./worker-host.js";

/** Make the host; it starts Python on the `boot` message. `boot` replaces Pyodide's start in tests. */
export function inlineHost(events: HostEvents, boot?: Boot): Host {
  let over = false;
  const host = new PythonHost({
    post: (message) =>
      queueMicrotask(() => {
        if (over) return;
        if (message.type !== "fatal") return events.message(message);
        over = true;
        events.died(fromWire(message.error));
      }),
    ...(boot !== undefined && { boot }),
  });
  return {
    post: (message) => queueMicrotask(() => host.receive(tagged(message))),
    terminate() {
      over = true;
      void host.stop();
    },
  };
}
