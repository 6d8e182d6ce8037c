/** Read a response to its end, and tell how many bytes have come. Throws the sentence of a problem document. */
export async function received(
  response: Response,
  progress: (bytes: number) => void,
): Promise<{ content: Blob; filename: string | undefined }> {
  if (!response.ok || !response.body) {
    const problem = (await response.json().catch(() => ({}))) as { detail?: string };
    throw new Error(problem.detail ?? `${response.status} ${response.statusText}`);
  }
  let size = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length;
        progress(size);
        controller.enqueue(chunk);
      },
    }),
  );
  // Browsers keep a large blob on the disk.
  const content = await new Response(counted, { headers: response.headers }).blob();
  const filename = /filename="([^"/\\]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return { content, filename };
}
