import { useId } from "react";
import { m } from "../../messages/messages.js";
import { Button } from "../../parts/parts";
import { guess, typedOf, wordsOf } from "./sample";

/** The variables of the content, each with the value that previews and tests show. */
export function SampleData({
  names,
  typed,
  onType,
}: {
  names: string[];
  typed: Record<string, string>;
  onType: (typed: Record<string, string>) => void;
}) {
  const id = useId();
  if (!names.length) return <p className="muted">{m.templates_no_variables()}</p>;
  const isChanged = names.some((name) => typed[name] !== undefined);
  return (
    <div className="sampledata">
      {names.map((name) => {
        const value = typed[name] ?? typedOf(guess(name));
        const isLong = value.length > 40;
        const set = ({ target }: { target: { value: string } }) => onType({ ...typed, [name]: target.value });
        return (
          <div key={name}>
            <label htmlFor={id + name}>
              <span className="var">{wordsOf(name)}</span> <code className="muted">{name}</code>
            </label>
            {isLong ? (
              <textarea
                id={id + name}
                className="input mono"
                rows={4}
                spellCheck={false}
                value={value}
                onChange={set}
              />
            ) : (
              <input id={id + name} className="input" value={value} onChange={set} autoComplete="off" />
            )}
          </div>
        );
      })}
      {isChanged && (
        <Button size="small" kind="bare" onClick={() => onType({})}>
          {m.templates_sample_reset()}
        </Button>
      )}
    </div>
  );
}
