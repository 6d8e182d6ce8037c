import "./codetabs.css";
import { m } from "../messages/messages.js";
import { CodeBox } from "./CodeBox";
import { Copy } from "./parts";
import { chooseLanguage, LANGUAGES, type Language, language } from "./request";

const NAMES: Record<Language, string> = { curl: "curl", typescript: "TypeScript", python: "Python" };

/** The same code in several languages. What is chosen is the language in which requests are copied, too. */
export function CodeTabs({ label, codes }: { label: string; codes: Partial<Record<Language, string>> }) {
  const offered = LANGUAGES.filter((each) => codes[each]);
  const chosen = language.use();
  const current = offered.find((each) => each === chosen) ?? offered[0];
  const code = (current && codes[current]) ?? "";
  return (
    <div className="codetabs">
      <div className="sechead">
        <h3>{label}</h3>
        <div className="acts">
          <div className="seg" role="group" aria-label={m.code_language()}>
            {offered.map((each) => (
              <button key={each} type="button" aria-pressed={each === current} onClick={() => chooseLanguage(each)}>
                {NAMES[each]}
              </button>
            ))}
          </div>
          <Copy value={code} label={m.copy_code()} />
        </div>
      </div>
      <CodeBox label={label}>{code}</CodeBox>
    </div>
  );
}
