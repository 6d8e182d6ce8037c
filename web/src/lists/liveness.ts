const KEY = "postern.live";

/** Whether new rows move into lists by themselves, as this browser keeps it. */
export function startsLive(): boolean {
  return localStorage.getItem(KEY) !== "off";
}

export function keepLive(live: boolean): void {
  localStorage.setItem(KEY, live ? "on" : "off");
}
