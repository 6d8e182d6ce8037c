import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { Section } from "../settings/pieces";
import { LANGUAGES, type Language, languageName } from "./mailText";
import { PagePreview } from "./PagePreview";
import { defaultLanguageOf, usualText } from "./pageTexts";
import { type FormProps, SettingsForm } from "./SettingsForm";
import { Item, TextItem } from "./SignIn";
import {
  BRAND,
  COLORS,
  CORNERS,
  type ColorField,
  type ColorName,
  SCHEMES,
  type Scheme,
  TEXTS,
  type TextName,
} from "./signIn";
import { colorOf, FONTS, themeOf } from "./theme";
import { COLOR_WORDS, CORNER_WORDS, FONT_WORDS, fieldWord, SCHEME_WORDS, TEXT_WORDS } from "./words";

const page = getRouteApi("/session/projects/$projectId/access");
const ACCENT = "#0d6472";
/** The longest title or button, and the longest sentence, in characters. */
const TITLE_CHARACTERS = 80;
const SENTENCE_CHARACTERS = 300;

/** The hosted pages with the theme and the texts of the project, and the form for these. */
export function Pages() {
  const { lang } = page.useSearch();
  return (
    <SettingsForm label={m.access_tab_pages()} fields={BRAND}>
      {(form) => {
        const language = LANGUAGES.find((each) => each === lang) ?? defaultLanguageOf(form.stored);
        return (
          <div className="branding">
            <div>
              <Section title={m.access_brand()}>
                <TextItem
                  field="appName"
                  lead={m.access_app_name_lead()}
                  placeholder="Acme"
                  usual={m.access_app_name_default()}
                  form={form}
                />
                <TextItem
                  field="logoUrl"
                  lead={m.access_logo_lead()}
                  placeholder="https://example.com/logo.png"
                  form={form}
                />
                <Accent {...form} />
              </Section>
              <Colors {...form} />
              <Shapes {...form} />
              <Texts form={form} language={language} />
              <Links {...form} />
            </div>
            <PagePreview {...form} language={language} />
          </div>
        );
      }}
    </SettingsForm>
  );
}

function Accent(form: FormProps) {
  const { accentColor } = form.draft;
  return (
    <Item field="accentColor" lead={m.access_accent_lead()} usual={ACCENT} form={form}>
      <Field label={fieldWord("accentColor")} error={form.errors.accentColor}>
        {(attributes) => (
          <span className="color">
            <input
              type="color"
              aria-label={m.access_accent_pick()}
              value={colorOf(accentColor) ?? ACCENT}
              onChange={(event) => form.change({ accentColor: event.target.value })}
            />
            <input
              className="input"
              spellCheck={false}
              autoComplete="off"
              placeholder={ACCENT}
              value={accentColor}
              onChange={(event) => form.change({ accentColor: event.target.value })}
              {...attributes}
            />
          </span>
        )}
      </Field>
    </Item>
  );
}

/** The colours of the light and of the dark theme. An empty field follows from the others, and shows the result. */
function Colors(form: FormProps) {
  const theme = themeOf(form.draft);
  return (
    <Section title={m.access_colors()} lead={m.access_colors_lead()}>
      {SCHEMES.map((scheme) => (
        <fieldset key={scheme} className="colors">
          <legend>{SCHEME_WORDS[scheme]()}</legend>
          {COLORS.map((name) => (
            <Color key={name} scheme={scheme} name={name} usual={theme[scheme][name]} form={form} />
          ))}
        </fieldset>
      ))}
    </Section>
  );
}

function Color({ scheme, name, usual, form }: { scheme: Scheme; name: ColorName; usual: string; form: FormProps }) {
  const field: ColorField = `theme/${scheme}/${name}`;
  const value = form.draft[field];
  const error = form.errors[field];
  const { label, hint } = COLOR_WORDS[name];
  return (
    <div className="colorline" data-field={field}>
      <Field label={label()} hint={hint()} error={error}>
        {(attributes) => (
          <span className="color">
            <input
              type="color"
              aria-label={m.access_color_pick({ name: fieldWord(field) })}
              value={colorOf(value) ?? usual}
              onChange={(event) => form.change({ [field]: event.target.value })}
            />
            <input
              className="input mono"
              spellCheck={false}
              autoComplete="off"
              placeholder={usual}
              value={value}
              onChange={(event) => form.change({ [field]: event.target.value })}
              {...attributes}
            />
            {value && (
              <Button
                kind="bare"
                size="small"
                aria-label={m.access_use_default_of({ name: fieldWord(field) })}
                onClick={() => form.change({ [field]: "" })}
              >
                {m.access_use_default()}
              </Button>
            )}
          </span>
        )}
      </Field>
    </div>
  );
}

function Shapes(form: FormProps) {
  const { corners } = form.draft;
  return (
    <Section title={m.access_shapes()}>
      <Item field="corners" lead={m.access_corners_lead()} form={form}>
        <fieldset className="seg">
          <legend className="sr">{fieldWord("corners")}</legend>
          {CORNERS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === corners}
              onClick={() => form.change({ corners: each })}
            >
              {CORNER_WORDS[each]()}
            </button>
          ))}
        </fieldset>
        <Wrong>{form.errors.corners}</Wrong>
      </Item>
      {(["font", "headingFont"] as const).map((field) => (
        <Item
          key={field}
          field={field}
          lead={field === "font" ? m.access_font_lead() : m.access_heading_font_lead()}
          form={form}
        >
          <Select
            field={field}
            options={Object.keys(FONTS).map((each) => ({ value: each, label: FONT_WORDS[each]?.() ?? each }))}
            form={form}
          />
        </Item>
      ))}
      <TextItem
        field="pictureUrl"
        lead={m.access_picture_lead()}
        placeholder="https://example.com/harbour.jpg"
        form={form}
      />
    </Section>
  );
}

function Select({
  field,
  options,
  form,
}: {
  field: "font" | "headingFont" | "defaultLanguage";
  options: { value: string; label: string }[];
  form: FormProps;
}) {
  return (
    <Field label={fieldWord(field)} error={form.errors[field]}>
      {(attributes) => (
        <select
          className="input"
          value={form.draft[field]}
          onChange={(event) => form.change({ [field]: event.target.value })}
          {...attributes}
        >
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** What the pages say in one language. An empty field has the built-in text, which stands in it. */
function Texts({ form, language }: { form: FormProps; language: Language }) {
  const navigate = useNavigate();
  const isWritten = (each: Language) => TEXTS.some((name) => form.draft[`pageTexts/${each}/${name}`].trim());
  const restored = Object.fromEntries(TEXTS.map((name) => [`pageTexts/${language}/${name}`, ""]));
  return (
    <Section
      title={m.access_texts()}
      lead={m.access_texts_lead()}
      actions={
        isWritten(language) && (
          <Button size="small" onClick={() => form.change(restored)}>
            {m.access_texts_restore({ language: languageName(language) })}
          </Button>
        )
      }
    >
      <div className="form pagetexts">
        <Field label={m.access_texts_language()}>
          {(attributes) => (
            <select
              className="input"
              value={language}
              onChange={(event) =>
                void navigate({
                  to: ".",
                  search: ((before: object) => ({ ...before, lang: event.target.value })) as never,
                  replace: true,
                  resetScroll: false,
                })
              }
              {...attributes}
            >
              {LANGUAGES.map((each) => (
                <option key={each} value={each}>
                  {isWritten(each) ? m.access_texts_written({ language: languageName(each) }) : languageName(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {TEXTS.map((name) => (
          <PageText key={`${language} ${name}`} name={name} language={language} form={form} />
        ))}
      </div>
    </Section>
  );
}

function PageText({ name, language, form }: { name: TextName; language: Language; form: FormProps }) {
  const field = `pageTexts/${language}/${name}` as const;
  const isSentence = name === "signInLead" || name === "signUpLead" || name === "footer";
  const shared = {
    className: "input",
    lang: language,
    maxLength: isSentence ? SENTENCE_CHARACTERS : TITLE_CHARACTERS,
    autoComplete: "off",
    placeholder: usualText(form.draft, name, language) || m.access_text_none(),
    value: form.draft[field],
    onChange: (event: { target: { value: string } }) => form.change({ [field]: event.target.value }),
  };
  return (
    <div data-field={field}>
      <Field label={TEXT_WORDS[name]()} error={form.errors[field]}>
        {(attributes) =>
          isSentence ? <textarea rows={2} {...shared} {...attributes} /> : <input {...shared} {...attributes} />
        }
      </Field>
    </div>
  );
}

function Links(form: FormProps) {
  return (
    <Section title={m.access_links()}>
      <Item field="defaultLanguage" lead={m.access_default_language_lead()} usual={languageName("en")} form={form}>
        <Select
          field="defaultLanguage"
          options={LANGUAGES.map((each) => ({ value: each === "en" ? "" : each, label: languageName(each) }))}
          form={form}
        />
      </Item>
      <TextItem
        field="privacyUrl"
        lead={m.access_privacy_lead()}
        placeholder="https://example.com/privacy"
        form={form}
      />
      <TextItem field="termsUrl" lead={m.access_terms_lead()} placeholder="https://example.com/terms" form={form} />
      <TextItem field="helpUrl" lead={m.access_help_lead()} placeholder="https://example.com/help" form={form} />
    </Section>
  );
}
