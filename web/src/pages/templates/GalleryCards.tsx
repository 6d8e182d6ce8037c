import { IconFile, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { getLocale } from "../../messages/runtime.js";
import { ICON } from "../../parts/parts";
import { found, leadOf, nameOf, PURPOSES, type Purpose, type Starter } from "./gallery";
import { thumbnailOf } from "./galleryFiles";

const PURPOSE_LABELS: Record<Purpose, () => string> = {
  transactional: m.templates_purpose_transactional,
  product: m.templates_purpose_product,
  marketing: m.templates_purpose_marketing,
};

/** The templates to begin with, of which one is chosen; undefined is the empty one. */
export function GalleryCards({
  chosen,
  onChoose,
}: {
  chosen: Starter | undefined;
  onChoose: (starter: Starter | undefined) => void;
}) {
  const [search, setSearch] = useState("");
  const [purpose, setPurpose] = useState<Purpose | undefined>();
  const matching = found(search, purpose);
  const isFiltered = search.trim() !== "" || purpose !== undefined;
  // What is chosen stays in sight.
  const others: (Starter | undefined)[] = isFiltered ? matching : [undefined, ...matching];
  const shown = others.includes(chosen) ? others : [chosen, ...others];
  return (
    <div className="gallery">
      <div className="galleryfilters">
        <div className="searchbox">
          <IconSearch {...ICON} />
          <input
            type="search"
            className="input"
            aria-label={m.templates_gallery_search()}
            placeholder={m.templates_gallery_search()}
            autoComplete="off"
            spellCheck={false}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
            // Enter would create the template.
            onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
          />
        </div>
        <div className="seg" role="group" aria-label={m.templates_purpose()}>
          {[undefined, ...PURPOSES].map((each) => (
            <button key={each ?? "all"} type="button" aria-pressed={purpose === each} onClick={() => setPurpose(each)}>
              {each ? PURPOSE_LABELS[each]() : m.templates_purpose_all()}
            </button>
          ))}
        </div>
      </div>
      <fieldset className="starters">
        <legend className="sr">{m.templates_begin_with()}</legend>
        {shown.map((each) => (
          <Card key={each?.key ?? "blank"} starter={each} isChosen={each === chosen} onChoose={() => onChoose(each)} />
        ))}
        {isFiltered && matching.every((each) => each === chosen) && (
          <p className="muted nothing">{m.templates_gallery_none()}</p>
        )}
      </fieldset>
    </div>
  );
}

function Card({
  starter,
  isChosen,
  onChoose,
}: {
  starter: Starter | undefined;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const language = getLocale();
  const picture = starter && thumbnailOf(starter, language);
  return (
    <label>
      <span className="thumb">
        {picture ? <img src={picture} alt="" loading="lazy" width={400} height={480} /> : <IconFile {...ICON} />}
      </span>
      <span className="what">
        <input type="radio" name="starter" checked={isChosen} onChange={onChoose} />
        <b>{starter ? nameOf(starter, language) : m.templates_blank()}</b>
        <small className="muted">{starter ? leadOf(starter, language) : m.templates_blank_lead()}</small>
      </span>
    </label>
  );
}
