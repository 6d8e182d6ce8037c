export { Postern } from "./client.js";
export * from "./errors.js";
export type * from "./generated/client.js";
export * from "./generated/problems.js";
export type * from "./generated/types.js";
export type { ClientOptions, Key, RawBody, RequestOptions } from "./options.js";
export { Page, type PagePromise } from "./pages.js";
export { headersOf } from "./transport.js";
export { VERSION } from "./version.js";
export {
  verify as verifyWebhook,
  type WebhookHeaders,
  type WebhookOptions,
  WebhookVerificationError,
} from "./webhooks.js";
