import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { DnsRecord, Domain } from "@postern/sdk";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { Button } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { inOrder, nameIn, toPublish, zoneFile } from "./records";
import { nameOf } from "./words";

/** The records as a mail to whoever runs the DNS: to copy, to send, or as a zone file. */
export function HandOver({ domain, zone, onClose }: { domain: Domain; zone: string | undefined; onClose: () => void }) {
  useReturnFocus();
  const open = domain.records.filter((each) => each.status !== "VERIFIED");
  const hasBoth = open.length > 0 && open.length < domain.records.length;
  const [isAll, setAll] = useState(!hasBoth);
  const records = inOrder(isAll ? domain.records : open);
  const text = letter(domain.domain, records, zone);
  const subject = m.domains_letter_subject({ domain: domain.domain });
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.domains_hand_over()}
      size={640}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <p>{m.domains_hand_over_lead()}</p>
      {hasBoth && (
        <div className="seg" role="group" aria-label={m.domains_which_records()}>
          <button type="button" aria-pressed={!isAll} onClick={() => setAll(false)}>
            {m.domains_only_open({ count: open.length })}
          </button>
          <button type="button" aria-pressed={isAll} onClick={() => setAll(true)}>
            {m.domains_all_records({ count: domain.records.length })}
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the box is read by scrolling it. */}
      <pre className="code letter" role="group" tabIndex={0} aria-label={m.domains_letter()}>
        {text}
      </pre>
      <div className="dialog-actions">
        <Button onClick={() => download(zoneFile(records), `${domain.domain}.zone`, "text/dns")}>
          {m.domains_zone_file()}
        </Button>
        <a className="btn" href={`mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}`}>
          {m.domains_open_mail()}
        </a>
        <Button
          kind="primary"
          data-autofocus
          onClick={async () => {
            await navigator.clipboard.writeText(text);
            notifications.show({ message: m.domains_letter_copied() });
          }}
        >
          {m.domains_copy_text()}
        </Button>
      </div>
    </Modal>
  );
}

function letter(domain: string, records: DnsRecord[], zone: string | undefined): string {
  const lines = records.map((record, number) =>
    [
      `${number + 1}. ${nameOf(record)}`,
      `   ${m.domains_type()}: ${record.type}`,
      `   ${m.domains_name()}: ${nameIn(record.name, zone)}`,
      `   ${m.domains_value()}: ${toPublish(record)}`,
      ...(record.status === "WRONG" ? [`   ${m.domains_letter_replace()}`] : []),
    ].join("\n"),
  );
  const names = zone ? m.domains_letter_names({ zone }) : m.domains_letter_full_names();
  return [m.domains_letter_lead({ domain }), names, ...lines, m.domains_letter_end()].join("\n\n");
}
