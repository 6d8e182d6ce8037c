// Shows new messages: requests the page again every few seconds, and replaces the list if it has changed.
const list = document.getElementById("messages");
const INTERVAL_MS = 3000;

async function refresh() {
  if (!document.hidden) {
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      const newList = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("messages");
      if (!newList) {
        location.reload(); // The session has ended.
        return;
      }
      if (newList.innerHTML !== list.innerHTML) list.replaceChildren(...newList.childNodes);
    } catch {
      // The server cannot be reached; try again after the interval.
    }
  }
  setTimeout(refresh, INTERVAL_MS);
}

if (list) setTimeout(refresh, INTERVAL_MS);
