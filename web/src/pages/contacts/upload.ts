import { Postern } from "@postern/sdk";
import { API } from "../../session/server";

/** Milliseconds for an upload: the largest file over a slow line. */
const UPLOAD_MS = 12 * 3_600_000;

/** The client for one project whose requests say how much of their body has been sent. */
export function uploader(projectId: string, onProgress: (share: number) => void): Postern {
  return new Postern({
    url: location.origin + API,
    key: "cookie",
    insecure: true,
    project: projectId,
    timeout: UPLOAD_MS,
    retries: 0,
    fetch: (url, init) => sendWithProgress(url, init, onProgress),
  });
}

/** Like `fetch`, which cannot report the progress of an upload. */
function sendWithProgress(url: string, init: RequestInit, onProgress: (share: number) => void): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? "GET", url);
    new Headers(init.headers).forEach((value, name) => {
      if (name !== "authorization") request.setRequestHeader(name, value);
    });
    request.setRequestHeader("x-postern-dashboard", "1");
    request.responseType = "arraybuffer";
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0);
    request.onload = () => {
      const headers = new Headers();
      for (const line of request
        .getAllResponseHeaders()
        .trim()
        .split(/[\r\n]+/)) {
        const colon = line.indexOf(":");
        if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
      }
      resolve(new Response(request.response as ArrayBuffer, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError("The connection was interrupted."));
    request.onabort = () => reject(init.signal?.reason ?? new DOMException("Aborted", "AbortError"));
    init.signal?.addEventListener("abort", () => request.abort());
    request.send(init.body as XMLHttpRequestBodyInit);
  });
}
