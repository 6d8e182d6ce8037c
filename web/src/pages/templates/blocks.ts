import {
  type Icon,
  IconAlignLeft,
  IconArrowsVertical,
  IconCode,
  IconColumns2,
  IconHeading,
  IconLayoutBottombar,
  IconPhoto,
  IconSeparator,
  IconShare,
  IconSquareRounded,
} from "@tabler/icons-react";
import { m } from "../../messages/messages.js";
import { type EditedBlock, newId } from "./document";
import { wordsIn } from "./merge";
import { wordsOf } from "./sample";

/** A kind of block that can be added; social links and the footer are texts with links. */
export interface Addable {
  key: string;
  label: () => string;
  icon: Icon;
  make: () => Omit<EditedBlock, "id">;
}

const ACCENT = "#0d6472";

export const ADDABLE: Addable[] = [
  {
    key: "heading",
    label: m.templates_block_heading,
    icon: IconHeading,
    make: () => ({ type: "heading", text: m.templates_new_heading(), level: 2 }),
  },
  {
    key: "text",
    label: m.templates_block_text,
    icon: IconAlignLeft,
    make: () => ({ type: "text", text: m.templates_new_text() }),
  },
  {
    key: "image",
    label: m.templates_block_image,
    icon: IconPhoto,
    make: () => ({ type: "image", url: "", alt: "" }),
  },
  {
    key: "button",
    label: m.templates_block_button,
    icon: IconSquareRounded,
    make: () => ({
      type: "button",
      text: m.templates_new_button(),
      url: "https://",
      align: "left",
      background: ACCENT,
      color: "#ffffff",
      size: 16,
    }),
  },
  {
    key: "columns",
    label: m.templates_block_columns,
    icon: IconColumns2,
    make: () => ({ type: "columns", columns: [{ blocks: [] }, { blocks: [] }] }),
  },
  {
    key: "divider",
    label: m.templates_block_divider,
    icon: IconSeparator,
    make: () => ({ type: "divider", color: "#e0e6e7", width: 1 }),
  },
  {
    key: "spacer",
    label: m.templates_block_spacer,
    icon: IconArrowsVertical,
    make: () => ({ type: "spacer", height: 20 }),
  },
  {
    key: "social",
    label: m.templates_block_social,
    icon: IconShare,
    make: () => ({
      type: "text",
      html: ["Website", "Instagram", "LinkedIn"]
        .map((name) => `<a href="https://www.example.com/${name.toLowerCase()}">${name}</a>`)
        .join(" · "),
      align: "center",
      size: 14,
    }),
  },
  {
    key: "footer",
    label: m.templates_block_footer,
    icon: IconLayoutBottombar,
    make: () => ({
      type: "text",
      html: `{{ company }}<br>${m.templates_new_footer()} <a href="{{ unsubscribe_url }}">${m.templates_new_unsubscribe()}</a>`,
      color: "#5a6567",
      size: 13,
    }),
  },
  {
    key: "html",
    label: m.templates_block_html,
    icon: IconCode,
    make: () => ({ type: "html", html: `<p>${m.templates_new_text()}</p>` }),
  },
];

export function newBlock({ make }: Addable): EditedBlock {
  return { ...make(), id: newId() } as EditedBlock;
}

const UNKNOWN = ADDABLE.find((each) => each.key === "html");

/** The name of a kind of block; of one that this editor does not know, its own. */
export function nameOfBlock(type: string): string {
  return ADDABLE.find((each) => each.key === type)?.label() ?? type;
}

export function iconOfBlock(type: string): Icon {
  return (ADDABLE.find((each) => each.key === type) ?? UNKNOWN)?.icon ?? IconCode;
}

/** What a block is called in a list: its words, otherwise its kind. */
export function titleOfBlock(block: EditedBlock): string {
  const { type, text, html, alt } = block;
  if (type === "columns" || type === "html") return nameOfBlock(type);
  const words = wordsIn({ ...block, url: undefined, height: undefined } as EditedBlock)
    .replace(/\{\{-?\s*([\w.]+)[^}]*\}\}/g, (_, name: string) => wordsOf(name))
    .replace(/\{%[^%]*%\}/g, "")
    .trim();
  return (text || html || alt) && words ? words : nameOfBlock(type);
}
