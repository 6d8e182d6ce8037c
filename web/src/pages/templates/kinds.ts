import type { Template } from "@postern/sdk";
import { edited } from "./document";
import type { Kind } from "./drafts";
import type { Content, SourceContent } from "./merge";

/** Whether a template is a document of blocks; the others are edited as source. */
export function hasBlocks({ builderJson }: Template): boolean {
  return Array.isArray(builderJson?.blocks);
}

export function isMjml({ builderJson }: Template): boolean {
  return typeof builderJson?.mjml === "string";
}

function hasFields(value: unknown, names: string[]): boolean {
  return typeof value === "object" && value !== null && names.every((name) => Object.hasOwn(value, name));
}

export const BLOCKS: Kind<Content> = {
  read: ({ name, subject, builderJson }) => ({ name, subject: subject ?? "", document: edited(builderJson) }),
  write: ({ name, subject, document }) => ({
    name: name.trim(),
    subject: subject.trim() || null,
    builderJson: document as unknown as Record<string, unknown>,
    html: null,
  }),
  isContent: (value) => hasFields(value, ["name", "subject", "document"]),
};

function sourceKind(isMjmlSource: boolean): Kind<SourceContent> {
  return {
    read: ({ name, subject, builderJson, html, text }) => ({
      name,
      subject: subject ?? "",
      source: typeof builderJson?.mjml === "string" ? builderJson.mjml : (html ?? ""),
      text: text ?? "",
    }),
    write: ({ name, subject, source, text }) => ({
      name: name.trim(),
      subject: subject.trim() || null,
      ...(isMjmlSource ? { builderJson: { mjml: source }, html: null } : { html: source.trim() ? source : null }),
      text: text.trim() ? text : null,
    }),
    isContent: (value) => hasFields(value, ["name", "subject", "source", "text"]),
  };
}

export const HTML = sourceKind(false);
export const MJML = sourceKind(true);
