/** Save a text or bytes as a file of this name, as if the server had sent it. */
export function download(content: string | Uint8Array | Blob, filename: string, mediaType: string): void {
  const url = URL.createObjectURL(new Blob([content as BlobPart], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  // Browsers read it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
