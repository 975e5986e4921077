/** In Node the AWS SDK would speak HTTP/2 with Bedrock, which no plain server on loopback does. */
export { NodeHttpHandler as HttpHandler } from "@smithy/node-http-handler";
