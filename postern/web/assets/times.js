// Times on the hosted pages: in the time zone of the browser. Without this script they are in UTC, with the zone.
"use strict";
(() => {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
  for (const element of document.querySelectorAll("time[datetime]"))
    element.textContent = format.format(new Date(element.dateTime));
})();
