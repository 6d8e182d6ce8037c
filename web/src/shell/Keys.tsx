import { Modal } from "@mantine/core";
import { m } from "../messages/messages.js";
import { Button } from "../parts/parts";
import { useMayWrite } from "../session/profile";
import { useTour } from "../tour/state";
import { ENTRIES } from "./navigation";

/** The list of all keys. */
export default function Keys({ onClose }: { onClose: () => void }) {
  const { start } = useTour();
  const mayWrite = useMayWrite();
  const keys: [string[], string][] = [
    [["Ctrl K"], m.key_search()],
    ...ENTRIES.map(({ key, label }): [string[], string] => [["G", key.toUpperCase()], m.key_go({ page: label() })]),
    [["J", "K"], m.key_rows()],
    [["Enter"], m.key_open()],
    [["Esc"], m.key_close()],
    [["/"], m.key_filter()],
    [["C"], m.key_curl()],
    [["?"], m.key_all()],
  ];
  return (
    <Modal opened onClose={onClose} title={m.keyboard_shortcuts()} closeButtonProps={{ "aria-label": m.close() }}>
      <dl className="keylist">
        {keys.map(([names, what]) => (
          <div key={what}>
            <dt>
              {names.map((name, number) => (
                <span key={name}>
                  {number > 0 && names[0] === "G" ? ` ${m.key_then()} ` : " "}
                  <kbd>{name}</kbd>
                </span>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      {mayWrite && (
        <div className="dialog-actions">
          <Button
            onClick={() => {
              onClose();
              start();
            }}
          >
            {m.tour_again()}
          </Button>
        </div>
      )}
    </Modal>
  );
}
