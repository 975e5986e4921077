export { FetchHttpHandler as HttpHandler } from "@smithy/fetch-http-handler";
