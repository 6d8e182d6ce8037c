const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is an id as the API makes them. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** The id just before another: what comes after it begins with that one. Undefined if the text is no id. */
export function idBefore(id: string): string | undefined {
  if (!isId(id)) return undefined;
  const number = BigInt(`0x${id.replaceAll("-", "")}`);
  if (number === 0n) return undefined;
  const digits = (number - 1n).toString(16).padStart(32, "0");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const OWN_NAME = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,4}$/;
const OWN_NAME_CHARACTERS = 100;

/** Whether a project may give its own events this name, which begins with none of the `reserved` words. */
export function isOwnName(name: string, reserved: string[]): boolean {
  const [first = ""] = name.split(".", 1);
  return name.length <= OWN_NAME_CHARACTERS && OWN_NAME.test(name) && !reserved.includes(first);
}

/** The entries of a subscription that an event matches: its name, its group, all. */
export function matchesEvent(entries: string[], name: string, isCustom: boolean): boolean {
  const area = name.split(".", 1)[0] ?? "";
  const matching = isCustom ? ["*", "custom.*", `custom.${name}`] : ["*", `${area}.*`, name];
  return entries.some((each) => matching.includes(each));
}
