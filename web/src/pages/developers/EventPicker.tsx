import { IconSearch, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, useId, useState } from "react";
import { m } from "../../messages/messages.js";
import { ICON } from "../../parts/parts";
import { AREA_WORDS, areaOf, EVENT_NAMES, entryWords, eventWords } from "./events";
import { isOwnName } from "./ids";

/** Chooses events by name, by what they are about, or all of them, in words and with a search. */
export function EventPicker({ chosen, onChange }: { chosen: string[]; onChange: (chosen: string[]) => void }) {
  const [text, setText] = useState("");
  const [own, setOwn] = useState("");
  const [isWrong, setWrong] = useState(false);
  const wrongId = useId();
  const words = text.trim().toLowerCase();
  const matches = (name: string) => name.includes(words) || eventWords(name).toLowerCase().includes(words);
  const isAll = chosen.includes("*");
  const areas = Object.keys(AREA_WORDS)
    .filter((area) => area !== "custom")
    .map((area) => {
      const names = EVENT_NAMES.filter((name) => areaOf(name) === area);
      const isNamed = AREA_WORDS[area]?.().toLowerCase().includes(words) ?? false;
      return { area, names, shown: isNamed ? names : names.filter(matches) };
    })
    .filter((each) => each.shown.length > 0);
  const customs = chosen.filter((each) => each.startsWith("custom.") && each !== "custom.*");
  const toggle = (entry: string) =>
    onChange(chosen.includes(entry) ? chosen.filter((each) => each !== entry) : [...chosen, entry]);
  const toggleOne = (area: string, names: string[], name: string) => {
    if (!chosen.includes(`${area}.*`)) return toggle(name);
    const others = names.filter((each) => each !== name);
    onChange([...chosen.filter((each) => each !== `${area}.*` && !names.includes(each)), ...others]);
  };
  const toggleArea = (area: string, names: string[]) => {
    const rest = chosen.filter((each) => each !== `${area}.*` && !names.includes(each));
    onChange(chosen.includes(`${area}.*`) ? rest : [...rest, `${area}.*`]);
  };
  const addOwn = () => {
    const name = own.trim().replace(/^custom\./, "");
    if (!name) return;
    if (!isOwnName(name, Object.keys(AREA_WORDS))) return setWrong(true);
    if (!chosen.includes(`custom.${name}`)) onChange([...chosen, `custom.${name}`]);
    setOwn("");
  };
  return (
    <div className="picker">
      <label className="line">
        <input className="check" type="checkbox" checked={isAll} onChange={() => onChange(isAll ? [] : ["*"])} />
        {m.developers_all_events()}
        <span className="muted">{m.developers_all_events_hint()}</span>
      </label>
      {!isAll && (
        <>
          <div className="searchbox">
            <IconSearch {...ICON} />
            <input
              className="input"
              type="search"
              aria-label={m.developers_event_search()}
              placeholder={m.developers_event_search()}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
            />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys. */}
          <div className="areas" tabIndex={0} role="group" aria-label={m.developers_tab_events()}>
            {areas.map(({ area, names, shown }) => {
              const isWhole = chosen.includes(`${area}.*`);
              const some = names.filter((each) => chosen.includes(each)).length;
              return (
                <details key={area} open={words !== "" || isWhole || some > 0}>
                  <summary>
                    {AREA_WORDS[area]?.()}{" "}
                    <span className="muted">
                      {isWhole
                        ? m.developers_chosen_all()
                        : some
                          ? m.developers_chosen({ count: some, all: names.length })
                          : names.length}
                    </span>
                  </summary>
                  <label className="line">
                    <input
                      className="check"
                      type="checkbox"
                      checked={isWhole}
                      onChange={() => toggleArea(area, names)}
                    />
                    {entryWords(`${area}.*`)} <span className="muted">{m.developers_also_later()}</span>
                  </label>
                  {shown.map((name) => (
                    <label key={name} className="line one">
                      <input
                        className="check"
                        type="checkbox"
                        checked={isWhole || chosen.includes(name)}
                        onChange={() => toggleOne(area, names, name)}
                      />
                      <span className="grow">{eventWords(name)}</span>
                      <code className="muted">{name}</code>
                    </label>
                  ))}
                </details>
              );
            })}
            {areas.length === 0 && <p className="muted">{m.developers_event_none({ text: text.trim() })}</p>}
            <details open={customs.length > 0 || chosen.includes("custom.*")}>
              <summary>{AREA_WORDS.custom?.()}</summary>
              <label className="line">
                <input
                  className="check"
                  type="checkbox"
                  checked={chosen.includes("custom.*")}
                  onChange={() => toggle("custom.*")}
                />
                {entryWords("custom.*")}
              </label>
              {customs.map((each) => (
                <p key={each} className="line one">
                  <code className="grow">{each.slice("custom.".length)}</code>
                  <button
                    type="button"
                    className="iconbtn small"
                    aria-label={m.developers_remove({ name: each.slice("custom.".length) })}
                    onClick={() => toggle(each)}
                  >
                    <IconX {...ICON} />
                  </button>
                </p>
              ))}
              <input
                className="input"
                aria-label={m.developers_own_name()}
                placeholder={m.developers_own_name()}
                value={own}
                aria-invalid={isWrong || undefined}
                aria-describedby={isWrong ? wrongId : undefined}
                onChange={(event) => {
                  setOwn(event.target.value);
                  setWrong(false);
                }}
                onBlur={addOwn}
                onKeyDown={(event: KeyboardEvent) => {
                  if (event.key !== "Enter") return;
                  event.preventDefault();
                  addOwn();
                }}
              />
              {isWrong && (
                <p className="wrong" id={wrongId} role="alert">
                  <span>{m.developers_own_name_wrong()}</span>
                </p>
              )}
            </details>
          </div>
        </>
      )}
    </div>
  );
}
