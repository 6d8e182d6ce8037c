import { Menu, useMantineColorScheme } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { m } from "../messages/messages.js";
import { getLocale, locales, setLocale } from "../messages/runtime.js";
import { ICON } from "../parts/parts";

export const LANGUAGES: Record<string, string> = { en: "English", de: "Deutsch" };

/** The entries of a menu that choose light or dark, and the language. This browser keeps both. */
export function PreferenceItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = { auto: m.as_the_system(), light: m.light(), dark: m.dark() };
  return (
    <>
      <Menu.Label>{m.appearance()}</Menu.Label>
      {Object.entries(schemes).map(([scheme, label]) => (
        <Choice
          key={scheme}
          label={label}
          chosen={scheme === colorScheme}
          onChoose={() => setColorScheme(scheme as keyof typeof schemes)}
        />
      ))}
      <Menu.Label>{m.language()}</Menu.Label>
      {locales.map((locale: string) => (
        <Choice
          key={locale}
          label={LANGUAGES[locale] ?? locale}
          chosen={locale === getLocale()}
          onChoose={() => void setLocale(locale as "en" | "de")}
        />
      ))}
    </>
  );
}

function Choice({ label, chosen, onChoose }: { label: string; chosen: boolean; onChoose: () => void }) {
  return (
    <Menu.Item
      aria-current={chosen || undefined}
      closeMenuOnClick={false}
      onClick={onChoose}
      rightSection={chosen ? <IconCheck {...ICON} size={16} /> : undefined}
    >
      {label}
    </Menu.Item>
  );
}
