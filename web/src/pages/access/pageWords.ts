import type { Language } from "./mailText.ts";

/** Built-in texts of the hosted pages, as postern/web/translations has them: what a page says without an own text. */
export const PAGE_WORDS: Record<Language, Record<PageWord, string>> = {
  en: {
    signIn: "Sign in",
    continue: "Continue",
    mailCode: "Mail me a code",
    signUp: "Sign up",
    privacy: "Privacy",
    terms: "Terms",
    help: "Help",
  },
  de: {
    signIn: "Anmelden",
    continue: "Weiter",
    mailCode: "Code per E-Mail senden",
    signUp: "Registrieren",
    privacy: "Datenschutz",
    terms: "Nutzungsbedingungen",
    help: "Hilfe",
  },
  es: {
    signIn: "Iniciar sesión",
    continue: "Continuar",
    mailCode: "Enviarme un código por correo",
    signUp: "Registrarse",
    privacy: "Privacidad",
    terms: "Condiciones",
    help: "Ayuda",
  },
  fr: {
    signIn: "Se connecter",
    continue: "Continuer",
    mailCode: "M’envoyer un code par e-mail",
    signUp: "S’inscrire",
    privacy: "Confidentialité",
    terms: "Conditions",
    help: "Aide",
  },
  pt: {
    signIn: "Entrar",
    continue: "Continuar",
    mailCode: "Enviar um código por e-mail",
    signUp: "Criar conta",
    privacy: "Privacidade",
    terms: "Termos",
    help: "Ajuda",
  },
  ja: {
    signIn: "サインイン",
    continue: "続ける",
    mailCode: "コードをメールで受け取る",
    signUp: "新規登録",
    privacy: "プライバシー",
    terms: "利用規約",
    help: "ヘルプ",
  },
};

export type PageWord = "signIn" | "continue" | "mailCode" | "signUp" | "privacy" | "terms" | "help";
