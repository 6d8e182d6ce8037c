import { createContext, useContext } from "react";
import type { EditedBlock, EditedDocument, Place } from "./document";

/** What the parts of the block editor share. */
export interface Editing {
  document: EditedDocument;
  /** Id of the block whose settings are shown. */
  selected: string | undefined;
  select: (id: string | undefined) => void;
  /** Change fields of a block; undefined removes one. `mark` as in the history. */
  set: (id: string, fields: Record<string, unknown>, mark?: string) => void;
  insert: (block: EditedBlock, place: Place) => void;
  move: (id: string, place: Place) => void;
  step: (id: string, step: -1 | 1) => void;
  duplicate: (id: string) => void;
  remove: (id: string) => void;
  /** What is dragged: a block of the document, or a new one. */
  dragged: EditedBlock | undefined;
  drag: (block: EditedBlock | undefined) => void;
  /** Names of the variables that are used. */
  names: string[];
  /** Opens the images of the project for an image block. */
  chooseImage: (id: string) => void;
}

const EditingContext = createContext<Editing | undefined>(undefined);
export const EditingProvider = EditingContext.Provider;

export function useEditing(): Editing {
  const editing = useContext(EditingContext);
  if (!editing) throw new Error("There is no block editor around this.");
  return editing;
}
