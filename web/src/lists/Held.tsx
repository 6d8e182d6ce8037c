import { m } from "../messages/messages.js";
import { Button } from "../parts/parts";
import { PAGE_ROWS, type RowList } from "./rows";

/** The button that shows new rows while the list does not move by itself. */
export function Held<T>({ list }: { list: RowList<T> }) {
  return (
    <div className="held" aria-live="polite">
      {list.held > 0 && (
        <Button size="small" onClick={list.showHeld}>
          {list.held === 1
            ? m.list_new_one()
            : m.list_new({ count: list.held >= PAGE_ROWS ? `${PAGE_ROWS}+` : list.held })}
        </Button>
      )}
    </div>
  );
}
