import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { m } from "../../messages/messages.js";
import { Field } from "../../parts/parts";
import { messageOf } from "../../session/server";

/** Milliseconds after the last key until what was typed is searched. */
const TYPING_MS = 250;

/** A choice among many records: a search, and what it finds as buttons of a radio group. */
export function Picker<T extends { id: string }>({
  label,
  hint,
  error,
  queryKey,
  find,
  words,
  chosen,
  onChoose,
}: {
  label: string;
  hint: string;
  error?: string | undefined;
  queryKey: readonly unknown[];
  find: (q: string, signal: AbortSignal) => Promise<T[]>;
  words: (item: T) => { name: string; detail: ReactNode };
  chosen: { id: string } | undefined;
  onChoose: (item: T) => void;
}) {
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const name = useId();
  const query = useQuery({
    queryKey: [...queryKey, q],
    queryFn: ({ signal }) => find(q, signal),
    placeholderData: (before) => before,
  });
  return (
    <div className="picker">
      <Field
        label={label}
        hint={hint}
        error={error}
        type="search"
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        data-autofocus
      />
      {query.isError && (
        <p className="wrong" role="alert">
          {messageOf(query.error)}
        </p>
      )}
      {query.data?.length === 0 && (
        <p className="muted" role="status">
          {q ? m.nothing_found({ text: q }) : m.customers_pick_none()}
        </p>
      )}
      {query.data && query.data.length > 0 && (
        <fieldset className="choices">
          <legend className="sr">{label}</legend>
          {query.data.map((item) => {
            const { name: word, detail } = words(item);
            return (
              <label key={item.id} className="boxed">
                <input type="radio" name={name} checked={chosen?.id === item.id} onChange={() => onChoose(item)} />
                <span>
                  {word}
                  <span className="muted">{detail}</span>
                </span>
              </label>
            );
          })}
        </fieldset>
      )}
    </div>
  );
}
