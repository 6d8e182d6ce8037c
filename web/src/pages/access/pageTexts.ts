import type { Language } from "./mailText.ts";
import { PAGE_WORDS } from "./pageWords.ts";
import type { Draft, TextName } from "./signIn.ts";

/** The built-in text of a hosted page; empty for what pages show only if a project has written it. */
export function builtInText(draft: Draft, name: TextName, language: Language): string {
  const words = PAGE_WORDS[language];
  switch (name) {
    case "signInTitle":
      return words.signIn;
    case "signInButton": {
      const { methods } = draft;
      return methods.includes("EMAIL_CODE") && !methods.includes("PASSWORD") ? words.mailCode : words.continue;
    }
    case "signUpTitle":
    case "signUpButton":
      return words.signUp;
    default:
      return "";
  }
}

/** The language of pages for people who ask for none that there is. */
export function defaultLanguageOf({ defaultLanguage }: Draft): Language {
  return (defaultLanguage || "en") as Language;
}

/** What a page in a language says if nothing is written for it: like `texts_in` of postern/web/page_texts.py. */
export function usualText(draft: Draft, name: TextName, language: Language): string {
  const usual = builtInText(draft, name, language);
  return usual || draft[`pageTexts/${defaultLanguageOf(draft)}/${name}`].trim();
}

/** The text of a hosted page as it is typed. */
export function textOfPage(draft: Draft, name: TextName, language: Language): string {
  return draft[`pageTexts/${language}/${name}`].trim() || usualText(draft, name, language);
}
