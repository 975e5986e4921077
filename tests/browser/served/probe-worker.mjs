// The shim's worker, and a door for the tests beside it. Messages that are not the shim's are ignored by the shim.
import "/unspool/unspool.worker.js";

addEventListener("message", async ({ data }) => {
  if (data?.probe === undefined) return;
  try {
    postMessage({ probed: data.id, value: await (0, eval)(data.probe) });
  } catch (error) {
    postMessage({ probed: data.id, error: String(error) });
  }
});
