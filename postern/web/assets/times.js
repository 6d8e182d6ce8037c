// Times on the hosted pages: in the time zone of the browser, with what is left of it. Without this script they are in
// UTC, with the zone, and a new code can be sent at once.
"use strict";
(() => {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
  const opened = Date.now();
  const inMinutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const secondsUntil = (time) => Math.max(0, Math.ceil((time - Date.now()) / 1000));
  const counting = [];
  for (const element of document.querySelectorAll("time[datetime]")) {
    const end = new Date(element.dateTime);
    const time = format.format(end);
    element.textContent = time;
    if (!element.dataset.left) continue;
    counting.push(() => {
      const seconds = secondsUntil(end);
      if (seconds) element.textContent = `${time} (${element.dataset.left.replace("|", inMinutes(seconds))})`;
      else element.parentElement.textContent = element.dataset.over;
      return seconds > 0;
    });
  }
  // Mail takes a moment: who asks again at once gets several codes.
  for (const button of document.querySelectorAll("button[data-wait]")) {
    const label = button.textContent;
    counting.push(() => {
      const seconds = secondsUntil(opened + Number(button.dataset.wait) * 1000);
      button.disabled = seconds > 0;
      button.textContent = seconds ? `${label} (${inMinutes(seconds)})` : label;
      return seconds > 0;
    });
  }
  const count = () => {
    for (const step of [...counting]) if (!step()) counting.splice(counting.indexOf(step), 1);
    if (counting.length) setTimeout(count, 1000);
  };
  count();
})();
