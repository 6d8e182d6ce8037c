/** Bytes of a file that are sent to preview it. */
export const START_BYTES = 2_097_152;

const NEWLINE = 10;

/** The whole lines at the beginning of a file, so that no line and no character is cut in two. */
export function wholeLines(bytes: Uint8Array, isWhole: boolean): Uint8Array {
  if (isWhole) return bytes;
  const isLittleEndian = bytes[0] === 0xff && bytes[1] === 0xfe;
  const isBigEndian = bytes[0] === 0xfe && bytes[1] === 0xff;
  for (let at = bytes.length - 1; at > 0; at--) {
    if (bytes[at] !== NEWLINE) continue;
    if (isLittleEndian && at % 2 === 0 && bytes[at + 1] === 0) return bytes.subarray(0, at + 2);
    if (isBigEndian && at % 2 === 1 && bytes[at - 1] === 0) return bytes.subarray(0, at + 1);
    if (!isLittleEndian && !isBigEndian) return bytes.subarray(0, at + 1);
  }
  return bytes;
}

/** What a column becomes, as the person chooses it. `attribute` goes with a name. */
export type Target = "email" | "unsubscribed" | "subscribed" | "attributes" | "attribute" | "none";

export interface Choice {
  target: Target;
  /** For an attribute: its name. */
  name: string;
  /** For an attribute: its type; empty for the one that it has, or that its values have. */
  type: string;
}

const ATTRIBUTE = "attributes.";

/** The choice that a column of a preview stands for. */
export function choiceOf({ name, target }: { name: string; target: string | null }): Choice {
  if (target === null) return { target: "none", name, type: "" };
  if (target.startsWith(ATTRIBUTE)) return { target: "attribute", name: target.slice(ATTRIBUTE.length), type: "" };
  return { target: target as Target, name, type: "" };
}

/** The parameters of an import for what the person chose, by the name of the column. */
export function parametersOf(choices: ReadonlyMap<string, Choice>): { columns?: string; attributeTypes?: string } {
  const columns: Record<string, string | null> = {};
  const types: Record<string, string> = {};
  for (const [column, { target, name, type }] of choices) {
    columns[column] = target === "none" ? null : target === "attribute" ? ATTRIBUTE + name.trim() : target;
    if (target === "attribute" && type) types[name.trim()] = type;
  }
  return {
    ...(choices.size > 0 && { columns: JSON.stringify(columns) }),
    ...(Object.keys(types).length > 0 && { attributeTypes: JSON.stringify(types) }),
  };
}
