// Shows messages as they arrive: the list is asked for again every few seconds, and replaced where it has changed.
const list = document.getElementById("messages");
const PAUSE = 3000;

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("messages");
      if (!fresh) {
        location.reload(); // The session has ended.
        return;
      }
      if (fresh.innerHTML !== list.innerHTML) list.replaceChildren(...fresh.childNodes);
    } catch {
      // The server is away; the next look may find it.
    }
  }
  setTimeout(look, PAUSE);
}

if (list) setTimeout(look, PAUSE);
