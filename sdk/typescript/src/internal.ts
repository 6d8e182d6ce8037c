/** What several modules use. Not a part of the package's interface. */

/** A variable of the client, where there is an environment that may be read; undefined if it is unset or empty. */
export function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.[name] || undefined;
  } catch {
    return undefined; // Deno without the permission to read it.
  }
}

/** Whether a host name, as `URL.hostname` gives it, is this machine's. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(host);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a response. Throws if it has more bytes than `limit`. */
export async function readText(response: { body: ReadableStream<Uint8Array> | null }, limit: number): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      throw new Error(`the text is longer than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
