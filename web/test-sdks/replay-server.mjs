/** Recorded response bodies on loopback: any request below the name of a file gets that file, in small slices. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

const TYPES = { sse: "text/event-stream", eventstream: "application/vnd.amazon.eventstream" };
/** Out of step with every frame. */
const SLICE_BYTES = 61;

/** Serve the files of a folder as `/<folder>/<file>/…`. Gives the base URL and a way to stop. */
export async function serveRecordings(folder) {
  const server = createServer(async (request, response) => {
    try {
      for await (const _ of request); // the whole request, before the answer
      const [, dialect, file] = decodeURIComponent(request.url).split("/");
      const body = await readFile(join(folder, dialect, file));
      const extra = dialect === "vercel-ui" ? { "x-vercel-ai-ui-message-stream": "v1" } : {};
      response.writeHead(200, { "content-type": TYPES[file.split(".").at(-1)], ...extra });
      for (let at = 0; at < body.length; at += SLICE_BYTES) response.write(body.subarray(at, at + SLICE_BYTES));
      response.end();
    } catch (thrown) {
      response.writeHead(404).end(String(thrown));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
