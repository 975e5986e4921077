/** The module worker that Python lives in. */
import { serveWorker } from "./worker-host.js";

serveWorker(self);
