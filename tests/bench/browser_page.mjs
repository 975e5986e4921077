// What a visitor waits for, and whether the page stays free: times are milliseconds since the navigation began.
import { connect } from "/unspool/index.js";

const ITEMS = {
  type: "object",
  properties: { items: { type: "array", items: { type: "string" } } },
  required: ["items"],
};
let us;

const query = (baseURL) => ({
  prompt: "List.",
  schema: ITEMS,
  maxChars: 4_000_000,
  lm: { provider: "openai-chat", model: "m", apiKey: "sk-bench-0000", baseURL },
});

/** Start Python and read the first event of an answer. */
export async function start(baseURL) {
  us = await connect({ indexURL: "/pyodide/" });
  const ready = performance.now();
  const stream = us.queryStream(query(baseURL));
  await stream.next();
  const firstEvent = performance.now();
  await stream.return();
  return { ready, firstEvent };
}

/** Read a long answer in full, and watch the page's own thread meanwhile. */
export async function long(baseURL) {
  let longest = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longest = Math.max(longest, entry.duration);
  });
  observer.observe({ type: "longtask" });
  // The observer sees only tasks over 50 ms; where there were none, the widest gap between two ticks bounds the rest.
  let last = performance.now();
  let gap = 0;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    channel.port2.postMessage(0);
  };
  channel.port2.postMessage(0);
  const begin = performance.now();
  let events = 0;
  let end;
  for await (const event of us.queryStream(query(baseURL))) {
    events += 1;
    end = event;
  }
  const took = performance.now() - begin;
  await new Promise((resolve) => setTimeout(resolve, 200));
  channel.port1.close();
  observer.disconnect();
  const chars = end.type === "generationComplete" ? JSON.stringify(end.result).length : 0;
  return { took, events, chars, type: end.type, error: end.error?.toWire(), longest: longest || Math.min(gap, 50) };
}
