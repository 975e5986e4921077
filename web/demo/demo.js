// The demo: asks for a type through the public interface of unspool, and shows all that comes.
//
// What happens is also told as events of the document, `unspool:state` and `unspool:event`, for whoever drives the page.
import { connect } from "./unspool/index.js";
import { EXAMPLES, conversation } from "./examples.js";
import { classesOf, showSource, sourceOf } from "./python-source.js";
import { Trace } from "./trace.js";
import { ValueView } from "./value-view.js";

const MODULE = "demo_models";
const MOST_TOKENS = 220;
const MB = 1e6;

const at = (id) => document.getElementById(id);
const [form, prompt, run, stop] = ["ask", "prompt", "run", "stop"].map(at);
const view = new ValueView(at("value"));
const trace = new Trace({ raw: at("raw"), rawCount: at("raw-count"), list: at("events"), listCount: at("event-count") });

let classes;
let config;
let unspool;
let example = EXAMPLES[0];
let running;

try {
  const [source, settings] = await Promise.all([text("./models.py"), json("./config.json")]);
  classes = classesOf(source);
  config = settings;
  const { hash } = location;
  example = EXAMPLES.find(({ type }) => `#${type.toLowerCase()}` === hash) ?? EXAMPLES[0];
  showEngine(config);
  offerExamples();
  choose(example);
  unspool = await connect({
    indexURL: new URL("./pyodide/", document.baseURI),
    modules: { [MODULE]: source },
    onProgress: showProgress,
  });
  say("ready", "Ready.");
  run.disabled = false;
} catch (error) {
  fail(error);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void ask();
});
prompt.addEventListener("invalid", () => {
  if (unspool !== undefined && running === undefined) say("idle", "Write a prompt first.");
});
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  form.requestSubmit();
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});
stop.addEventListener("click", () => running?.abort());

async function ask() {
  if (running !== undefined || unspool === undefined) return;
  running = new AbortController();
  const times = { start: performance.now(), first: undefined };
  clear();
  showRunning(true);
  say("asking", "Asking the model …", { busy: true });
  badge("writing", "waiting");
  try {
    const stream = unspool.queryStream({
      prompt: conversation(example, prompt.value),
      schema: `${MODULE}:${example.type}`,
      protocol: "native",
      lm: config.lm,
      options: { temperature: 0, maxOutputTokens: MOST_TOKENS, ...(example.extra && { extra: example.extra }) },
      signal: running.signal,
    });
    for await (const event of stream) {
      if (times.first === undefined && event.type === "textDelta") {
        times.first = performance.now();
        say("writing", "Writing …", { busy: true });
        badge("writing", "being written");
      }
      trace.add(event);
      view.apply(event);
      tell("event", plain(event));
      end(event, times);
    }
  } catch (error) {
    badge("failed", "failed");
    fail(error);
  } finally {
    view.end();
    running = undefined;
    showRunning(false);
  }
}

/** Run stays where the keyboard is: were it disabled or left, a held Enter would go on to press something else. */
function showRunning(is) {
  if (!is && document.activeElement === stop) run.focus({ preventScroll: true });
  run.setAttribute("aria-disabled", String(is));
  at("choices").disabled = is;
  stop.disabled = !is;
}

/** Show how an answer ended. */
function end(event, times) {
  const seconds = ((performance.now() - times.start) / 1000).toFixed(1);
  switch (event.type) {
    case "generationComplete":
      badge("valid", `valid ${example.type}`);
      showFigures(times, event.usage);
      return say("done", `Done in ${seconds} s. The value has been validated.`);
    case "cancelled":
      badge("stopped", "stopped");
      return say("stopped", `Stopped after ${seconds} s. What had arrived stays.`);
    case "parsingFailed":
    case "generationFailed":
      badge("failed", event.type === "parsingFailed" ? "not valid" : "failed");
      return fail(event.error);
  }
}

function showFigures(times, usage) {
  const now = performance.now();
  const figures = [["first token", `${(((times.first ?? now) - times.start) / 1000).toFixed(1)} s`]];
  if (usage?.outputTokens !== undefined) {
    const perSecond = usage.outputTokens / Math.max(0.001, (now - (times.first ?? times.start)) / 1000);
    figures.push(["tokens read", usage.inputTokens], ["tokens written", usage.outputTokens], ["a second", perSecond.toFixed(0)]);
  }
  at("figures").replaceChildren(
    ...figures.map(([name, value]) => {
      const figure = document.createElement("span");
      const number = document.createElement("b");
      number.textContent = value;
      figure.append(number, ` ${name}`);
      return figure;
    }),
  );
  at("figures").hidden = false;
}

function showProgress({ stage, loadedBytes, totalBytes }) {
  const loaded = (loadedBytes / MB).toFixed(loadedBytes < 10 * MB ? 1 : 0);
  if (stage === "model") {
    if (running === undefined) return;
    if (totalBytes !== undefined && loadedBytes >= totalBytes) return say("model", "Starting the model …", { busy: true });
    const share = totalBytes && loadedBytes / totalBytes;
    const size = totalBytes ? ` of ${(totalBytes / MB).toFixed(0)}` : "";
    return say("model", `Fetching the model: ${loaded}${size} MB`, { busy: true, share });
  }
  const what = { runtime: "Starting Python", packages: "Loading pydantic", import: "Importing unspool" }[stage];
  if (what !== undefined) say(stage, loadedBytes > 0 ? `${what} … ${loaded} MB` : `${what} …`, { busy: true });
}

function offerExamples() {
  for (const one of EXAMPLES) {
    const choice = document.createElement("label");
    const button = Object.assign(document.createElement("input"), { type: "radio", name: "type", value: one.type });
    button.checked = one === example;
    button.addEventListener("change", () => choose(one));
    const name = document.createElement("span");
    name.textContent = one.type;
    choice.append(button, name);
    at("choices").append(choice);
  }
}

function choose(one) {
  example = one;
  prompt.value = one.prompt;
  showSource(at("source"), sourceOf(classes, one.type));
  clear();
}

/** Start with an empty value of the type that is chosen. */
function clear() {
  at("answer-title").textContent = example.type;
  at("failure").hidden = true;
  at("figures").hidden = true;
  view.reset(classes.get(example.type).fields);
  trace.reset();
  badge("empty", "empty");
}

function showEngine({ label, where, lm }) {
  at("pyscript").hidden = lm.baseURL === undefined; // its pages ask a server
  at("engine").textContent = label;
  at("engine").hidden = false;
  at("where").textContent = where ? `, ${where}` : "";
}

function badge(state, words) {
  at("badge").dataset.state = state;
  at("badge").textContent = words;
}

/** Say what is going on; `share` from 0 to 1 when it is known how far it is. */
function say(state, words, { busy = false, share, error } = {}) {
  const progress = at("progress");
  at("status").textContent = words;
  progress.hidden = !busy;
  if (share === undefined) progress.removeAttribute("value");
  else progress.value = share;
  tell("state", { state, words, error });
}

function fail(error) {
  const { code = "ERROR", message = String(error) } = error ?? {};
  const name = document.createElement("b");
  name.textContent = code;
  at("failure").replaceChildren(name, message);
  at("failure").hidden = false;
  say("failed", unspool === undefined ? "The demo did not start." : "It did not work out.", { error: `${code}: ${message}` });
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(`unspool:${name}`, { detail }));
}

function plain(event) {
  return "error" in event ? { ...event, error: event.error.toWire() } : event;
}

async function text(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be had (status ${response.status}). Start the demo with \`unspool serve\`.`);
  return await response.text();
}

async function json(url) {
  return JSON.parse(await text(url));
}
