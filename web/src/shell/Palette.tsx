import { Modal } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconBuilding, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { Glyph } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { shapeOf } from "../pages/emails/status";
import { COPY_AS } from "../parts/CopyRequest";
import { shortTime } from "../parts/format";
import { ICON } from "../parts/parts";
import { copyRequest, LANGUAGES, pageRequest } from "../parts/request";
import { useProfile, useProjectId } from "../session/profile";
import { api } from "../session/server";
import { ENTRIES } from "./navigation";

const FOUND_EMAILS = 5;
const FOUND_ORGANIZATIONS = 4;
const TYPING_MS = 200;

interface Item {
  key: string;
  group: string;
  icon: ReactNode;
  label: ReactNode;
  run: () => void;
}

/** Search and jump: pages, projects, organizations and e-mails of this project, and things to do. */
export default function Palette({
  text,
  onText,
  onClose,
  onKeys,
}: {
  text: string;
  onText: (text: string) => void;
  onClose: () => void;
  onKeys: () => void;
}) {
  const [at, setAt] = useState(0);
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS);
  const items = useItems(text.trim(), typed, onKeys);
  const list = useId();
  const current = Math.min(at, items.length - 1);
  const run = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    item.run();
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === "Enter") return run(items[current]);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    setAt((current + step + items.length) % Math.max(items.length, 1));
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      centered={false}
      title={m.search_or_jump()}
      classNames={{ header: "sr", body: "palette-modal" }}
    >
      <div className="palette-box">
        <div className="searchbox">
          <IconSearch {...ICON} />
          <input
            className="input"
            role="combobox"
            aria-expanded="true"
            aria-controls={list}
            aria-activedescendant={items[current] && `${list}-${current}`}
            aria-label={m.search_or_jump()}
            placeholder={m.search_or_jump()}
            value={text}
            onChange={(event) => {
              onText(event.target.value);
              setAt(0);
            }}
            onKeyDown={move}
            data-autofocus
          />
        </div>
        <div role="listbox" id={list} aria-label={m.search_or_jump()} className="palette-list">
          {items.map((item, number) => (
            <div key={item.key} role="presentation">
              {item.group !== items[number - 1]?.group && (
                <p className="grp" role="presentation">
                  {item.group}
                </p>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys and names the option. */}
              {/* biome-ignore lint/a11y/useFocusableInteractive: as above. */}
              <div
                role="option"
                id={`${list}-${number}`}
                aria-selected={number === current}
                className={number === current ? "option on" : "option"}
                onClick={() => run(item)}
                onMouseMove={() => setAt(number)}
              >
                {item.icon}
                <span className="grow cut">{item.label}</span>
                {number === current && <kbd>Enter</kbd>}
              </div>
            </div>
          ))}
        </div>
        {items.length === 0 && (
          <p className="muted nothing" role="status">
            {m.nothing_found({ text })}
          </p>
        )}
      </div>
    </Modal>
  );
}

/** What the palette offers for a text; `typed` is the text once the person pauses. */
function useItems(text: string, typed: string, onKeys: () => void): Item[] {
  const navigate = useNavigate();
  const projectId = useProjectId();
  const { projects } = useProfile();
  const request = pageRequest.use();
  const emails = useQuery({
    queryKey: ["palette", projectId, typed],
    queryFn: ({ signal }) => api(projectId).emails.list({ q: typed, limit: FOUND_EMAILS }, { signal }),
    enabled: typed.length > 1,
  });
  const organizations = useQuery({
    queryKey: ["palette", projectId, "organizations", typed],
    queryFn: ({ signal }) => api(projectId).organizations.list({ q: typed, limit: FOUND_ORGANIZATIONS }, { signal }),
    enabled: typed.length > 1,
  });
  const matches = (label: string) => label.toLowerCase().includes(text.toLowerCase());
  const pages = ENTRIES.filter((each) => matches(each.label())).map(
    ({ to, label, icon: Icon }): Item => ({
      key: to,
      group: m.group_go(),
      icon: <Icon {...ICON} />,
      label: label(),
      run: () => void navigate({ to, params: { projectId } }),
    }),
  );
  const sends = (typed.length > 1 && text === typed ? (emails.data?.data ?? []) : []).map(
    (send): Item => ({
      key: send.id,
      group: m.group_emails(),
      icon: <Glyph shape={shapeOf(send)} />,
      label: (
        <>
          {send.subject}{" "}
          <span className="muted">
            {send.to[0]}, {shortTime(send.createdAt)}
          </span>
        </>
      ),
      run: () => void navigate({ to: "/projects/$projectId/emails/$sendId", params: { projectId, sendId: send.id } }),
    }),
  );
  const companies = (typed.length > 1 && text === typed ? (organizations.data?.data ?? []) : []).map(
    ({ id, name, slug }): Item => ({
      key: id,
      group: m.organizations(),
      icon: <IconBuilding {...ICON} />,
      label: (
        <>
          {name} <span className="muted">{slug}</span>
        </>
      ),
      run: () =>
        void navigate({
          to: "/projects/$projectId/organizations/$organizationId",
          params: { projectId, organizationId: id },
        }),
    }),
  );
  const others = projects
    .filter((each) => each.id !== projectId && matches(each.name))
    .slice(0, 8)
    .map(
      (each): Item => ({
        key: each.id,
        group: m.group_projects(),
        icon: <span className="face">{each.name[0]?.toUpperCase()}</span>,
        label: each.name,
        run: () => void navigate({ to: "/projects/$projectId", params: { projectId: each.id } }),
      }),
    );
  const deeds: Item[] = [
    ...(request
      ? LANGUAGES.map((each) => ({ label: COPY_AS[each](), run: () => void copyRequest(request, each) }))
      : []),
    { label: m.keyboard_shortcuts(), run: onKeys },
    { label: m.api_reference(), run: () => void window.open("/docs", "_blank") },
  ]
    .filter((each) => matches(each.label))
    .map((each) => ({ key: each.label, group: m.group_do(), icon: <span className="mark" />, ...each }));
  return [...pages, ...companies, ...sends, ...others, ...deeds];
}
