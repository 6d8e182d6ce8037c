import { Menu } from "@mantine/core";
import { IconCheck, IconChevronDown, IconTerminal2 } from "@tabler/icons-react";
import { m } from "../messages/messages.js";
import { Button, ICON } from "./parts";
import { type ApiRequest, copyRequest, LANGUAGES, type Language, language } from "./request";

/** What a language's button says. */
export const COPY_AS: Record<Language, () => string> = {
  curl: m.copy_as_curl,
  typescript: m.copy_as_typescript,
  python: m.copy_as_python,
};

/** Copies a request in the language that was used last; the menu beside it has the others. */
export function CopyRequest({ request, icon = false }: { request: ApiRequest; icon?: boolean }) {
  const current = language.use();
  const label = COPY_AS[current]();
  const copy = () => void copyRequest(request);
  return (
    <span className={icon ? "copyas wide" : "copyas"}>
      {icon ? (
        <button className="iconbtn" type="button" aria-label={label} title={`${label} (C)`} onClick={copy}>
          <IconTerminal2 {...ICON} />
        </button>
      ) : (
        <Button size="small" icon={<IconTerminal2 {...ICON} />} onClick={copy}>
          {label}
        </Button>
      )}
      <Menu position="bottom-end" width={220} portalProps={{ target: "#menus" }} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <button className="iconbtn small" type="button" aria-label={m.copy_other()} title={m.copy_other()}>
            <IconChevronDown {...ICON} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {LANGUAGES.map((each) => (
            <Menu.Item
              key={each}
              aria-current={each === current || undefined}
              rightSection={each === current ? <IconCheck {...ICON} size={16} /> : undefined}
              onClick={() => void copyRequest(request, each)}
            >
              {COPY_AS[each]()}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </span>
  );
}
