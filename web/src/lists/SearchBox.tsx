import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { ICON } from "../parts/parts";

/** Milliseconds after the last key until the list is searched. */
const TYPING_MS = 250;
/** As long as an address can be. */
export const SEARCH_CHARACTERS = 320;

/** A search field whose text arrives when the person pauses. */
export function SearchBox({
  value,
  label,
  invalid = false,
  onChange,
}: {
  value: string;
  label: string;
  invalid?: boolean;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const reported = useRef(value);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  // The URL changed by something else: a link, Back, "Clear filters".
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    const next = typed.trim();
    if (next === reported.current) return;
    const timer = setTimeout(() => {
      reported.current = next;
      latest.current(next);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div className="searchbox grow">
      <IconSearch {...ICON} />
      <input
        className="input"
        type="search"
        aria-label={label}
        placeholder={label}
        aria-invalid={invalid || undefined}
        maxLength={SEARCH_CHARACTERS}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
  );
}
