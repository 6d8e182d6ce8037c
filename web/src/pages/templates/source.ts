interface Content {
  name: string;
  subject: string | null;
  builderJson: Record<string, unknown> | null;
  html: string | null;
  text: string | null;
  engine: string;
}

/** The fields of the document and its blocks that are not content. */
const LEFT_OUT = new Set(["id", "type", "blocks", "columns", "version"]);

/** What someone wrote in a template, as lines of text that can be compared. */
export function sourceOf({ name, subject, builderJson, html, text, engine }: Content): string {
  const lines = [`Name: ${name}`, `Subject: ${subject ?? ""}`];
  if (engine !== "minijinja") lines.push(`Engine: ${engine}`);
  lines.push("");
  if (typeof builderJson?.mjml === "string") lines.push(builderJson.mjml);
  else if (Array.isArray(builderJson?.blocks))
    lines.push(...fieldsOf(builderJson, ""), ...blocksOf(builderJson.blocks, ""));
  else if (html !== null) lines.push(html);
  if (text !== null) lines.push("", "Text:", text);
  return lines.join("\n");
}

function blocksOf(blocks: unknown[], indent: string): string[] {
  return blocks.flatMap((block) => {
    if (typeof block !== "object" || block === null) return [`${indent}${JSON.stringify(block)}`];
    const { type, columns } = block as Record<string, unknown>;
    const lines = ["", `${indent}${String(type)}`, ...fieldsOf(block as Record<string, unknown>, `${indent}  `)];
    if (!Array.isArray(columns)) return lines;
    const inner = columns.flatMap((column, index) => {
      const inside: unknown = Array.isArray(column) ? column : (column as { blocks?: unknown } | null)?.blocks;
      return [`${indent}  column ${index + 1}`, ...blocksOf(Array.isArray(inside) ? inside : [], `${indent}    `)];
    });
    return [...lines, ...inner];
  });
}

function fieldsOf(values: Record<string, unknown>, indent: string): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (LEFT_OUT.has(name)) return [];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.split("\n").map((line, index) => `${indent}${index ? "  " : `${name}: `}${line}`);
  });
}
