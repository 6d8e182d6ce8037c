import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { PageText } from "@postern/sdk";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { Button, Empty, Field, LoadingFailed, Status } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { DIALOG, type Errors, errorsOf, LoadingRows, ReadOnly, Row, useMay } from "../settings/pieces";
import { LANGUAGES, type Language, languageName } from "./mailText";
import { isMatch, PAGE_GROUPS, type PageGroup, type TextFilter } from "./pageTextList";
import type { AccessSearch } from "./routes";

const page = getRouteApi("/session/projects/$projectId/access");
/** The longest text, in characters. */
const TEXT_CHARACTERS = 1_000;
/** How many texts are shown at once, so that typing in the search field stays fast. */
const STEP = 50;

const GROUP_WORDS: Record<PageGroup, () => string> = {
  ALL: m.access_pagetexts_all_pages,
  SIGN_IN: m.access_pagetexts_sign_in,
  SIGN_UP: m.access_pagetexts_sign_up,
  SECOND_FACTOR: m.access_pagetexts_second_factor,
  PASSKEY: m.access_pagetexts_passkey,
  PASSWORD: m.access_pagetexts_password,
  TERMS: m.access_pagetexts_terms,
  INVITATION: m.access_pagetexts_invitation,
  ACCOUNT: m.access_pagetexts_account,
  ORGANIZATION: m.access_pagetexts_organization,
  APPS: m.access_pagetexts_apps,
  SINGLE_SIGN_ON: m.access_pagetexts_single_sign_on,
  SETUP: m.access_pagetexts_setup,
  SUPPORT: m.access_pagetexts_support,
  PROBLEMS: m.access_pagetexts_problems,
};

function textsQuery(projectId: string, language: Language) {
  return queryOptions({
    queryKey: ["access", projectId, "texts", language],
    queryFn: ({ signal }) => api(projectId).pageTexts.list(language, {}, { signal }),
  });
}

/** What the hosted pages say, text by text, in each language. */
export function Texts() {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { lang, q = "", show } = page.useSearch();
  const language = LANGUAGES.find((each) => each === lang) ?? "en";
  const filter = (["CHANGED", ...PAGE_GROUPS] as TextFilter[]).find((each) => each === show);
  const query = useQuery(textsQuery(projectId, language));
  const [opened, setOpened] = useState<PageText>();
  const set = (change: Partial<AccessSearch>) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  const changed = query.data?.filter((each) => each.text !== null).length ?? 0;
  const found = query.data?.filter((each) => isMatch(each, q, filter)) ?? [];
  return (
    <>
      <ReadOnly what="projects" />
      <div className="textfilters">
        <Field label={m.access_texts_language()}>
          {(attributes) => (
            <select
              className="input"
              value={language}
              onChange={({ target }) => set({ lang: target.value })}
              {...attributes}
            >
              {LANGUAGES.map((each) => (
                <option key={each} value={each}>
                  {languageName(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={m.access_pagetexts_shown()}>
          {(attributes) => (
            <select
              className="input"
              value={filter ?? ""}
              onChange={({ target }) => set({ show: target.value || undefined } as Partial<AccessSearch>)}
              {...attributes}
            >
              <option value="">{m.access_pagetexts_everything()}</option>
              <option value="CHANGED">{m.access_pagetexts_changed({ count: changed })}</option>
              {PAGE_GROUPS.map((each) => (
                <option key={each} value={each}>
                  {GROUP_WORDS[each]()}
                </option>
              ))}
            </select>
          )}
        </Field>
        <SearchBox
          value={q}
          label={m.access_pagetexts_search()}
          onChange={(typed) => set({ q: typed || undefined } as Partial<AccessSearch>)}
        />
      </div>
      {query.isPending ? (
        <LoadingRows count={6} />
      ) : query.data === undefined ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : found.length === 0 ? (
        <Empty title={m.access_pagetexts_none()} lead={m.access_pagetexts_none_lead()} />
      ) : (
        <Found key={`${language} ${filter} ${q}`} texts={found} language={language} onOpen={setOpened} />
      )}
      {opened && <TextDialog key={opened.id} text={opened} language={language} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function Found({
  texts,
  language,
  onOpen,
}: {
  texts: PageText[];
  language: Language;
  onOpen: (text: PageText) => void;
}) {
  const mayWrite = useMay("projects");
  const [count, setCount] = useState(STEP);
  return (
    <section className="block" aria-label={m.access_pagetexts()}>
      <p className="muted small" aria-live="polite">
        {m.access_pagetexts_count({ count: texts.length })}
      </p>
      <ul className="rows" aria-label={m.access_pagetexts()}>
        {texts.slice(0, count).map((each) => (
          <Row
            key={each.id}
            title={
              <>
                <bdi lang={language}>{each.text ?? each.builtIn}</bdi>{" "}
                {each.text !== null && <Status shape="yes">{m.access_changed()}</Status>}
              </>
            }
            action={
              mayWrite && (
                <Button
                  size="small"
                  aria-label={m.access_pagetexts_edit_of({ text: each.text ?? each.builtIn })}
                  onClick={() => onOpen(each)}
                >
                  {m.access_edit()}
                </Button>
              )
            }
          >
            {each.text !== null && each.builtIn && (
              <span className="breaks" lang={language}>
                {m.access_pagetexts_built_in({ text: each.builtIn })}
              </span>
            )}
            {language !== "en" && (
              <span className="breaks" lang="en">
                {each.english}
              </span>
            )}
            <span>
              {each.pages.length
                ? m.access_pagetexts_on({
                    pages: each.pages.map((group) => GROUP_WORDS[group as PageGroup]?.() ?? group).join(", "),
                  })
                : m.access_pagetexts_removed()}
            </span>
          </Row>
        ))}
      </ul>
      {texts.length > count && (
        <Button size="small" onClick={() => setCount(count + STEP)}>
          {m.access_pagetexts_more({ count: Math.min(STEP, texts.length - count) })}
        </Button>
      )}
    </section>
  );
}

function TextDialog({ text, language, onClose }: { text: PageText; language: Language; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [typed, setTyped] = useState(text.text ?? text.builtIn);
  const [errors, setErrors] = useState<Errors>({});
  const [busy, setBusy] = useState("");
  const { pageTexts } = api(projectId);
  const run = async (deed: string, act: () => Promise<unknown>, message: string) => {
    setBusy(deed);
    setErrors({});
    try {
      await act();
      await client.invalidateQueries(textsQuery(projectId, language));
      notifications.show({ message });
      return onClose();
    } catch (error) {
      setErrors(errorsOf(error, { text: ["/text"] }));
    }
    setBusy("");
  };
  const reset = () => run("reset", () => pageTexts.reset(language, text.id), m.access_pagetexts_is_reset());
  const save = () => {
    const words = typed.trim();
    if (!words) return setErrors({ text: m.access_required() });
    if (words === text.builtIn) return void (text.text === null ? onClose() : reset());
    void run("save", () => pageTexts.set(language, text.id, { text: words }), m.access_pagetexts_saved());
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      title={m.access_pagetexts_edit()}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form
        className="form"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!busy) save();
        }}
      >
        <dl className="facts">
          {text.builtIn && (
            <>
              <dt>{m.access_pagetexts_label_built_in()}</dt>
              <dd lang={language}>{text.builtIn}</dd>
            </>
          )}
          {language !== "en" && (
            <>
              <dt>{languageName("en")}</dt>
              <dd lang="en">{text.english}</dd>
            </>
          )}
        </dl>
        {text.builtIn ? (
          <Field
            label={m.access_pagetexts_own({ language: languageName(language) })}
            hint={
              text.placeholders.length
                ? m.access_pagetexts_values({ values: text.placeholders.map((name) => `{${name}}`).join(", ") })
                : m.access_pagetexts_plain()
            }
            error={errors.text}
          >
            {(attributes) => (
              <textarea
                className="input"
                rows={3}
                lang={language}
                maxLength={TEXT_CHARACTERS}
                autoComplete="off"
                value={typed}
                // A text is one line, but long ones are wrapped.
                onChange={({ target }) => setTyped(target.value.replace(/\s*\n\s*/g, " "))}
                data-autofocus
                {...attributes}
              />
            )}
          </Field>
        ) : (
          <p>{m.access_pagetexts_removed_lead()}</p>
        )}
        <Wrong>{errors[""]}</Wrong>
        <div className="acts">
          {text.text !== null && (
            <Button busy={busy === "reset"} disabled={busy !== ""} onClick={() => void reset()}>
              {text.builtIn ? m.access_pagetexts_reset() : m.access_delete()}
            </Button>
          )}
          {text.builtIn && (
            <Button kind="primary" type="submit" busy={busy === "save"} disabled={busy !== ""}>
              {m.settings_save()}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  );
}
