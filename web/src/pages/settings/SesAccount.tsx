import type { ProjectSes } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Copy, Field, ICON } from "../../parts/parts";
import { FormDialog, Row, textOf, useMay } from "./pieces";
import { addressesOf } from "./project";

/** The account of Amazon SES through which the project's mail can leave. It is saved with the other settings. */
export function SesAccount({
  projectId,
  ses,
  onChange,
}: {
  projectId: string;
  ses: ProjectSes | null;
  onChange: (ses: ProjectSes | null) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const mayWrite = useMay("projects");
  const endpoint = `${location.origin}/projects/${projectId}/ses/notifications`;
  return (
    <div className="relays">
      {ses ? (
        <>
          <ul className="rows">
            <Row
              title={ses.region}
              action={
                mayWrite && (
                  <>
                    <Button size="small" aria-label={m.settings_ses_change()} onClick={() => setOpen(true)}>
                      {m.settings_change()}
                    </Button>
                    <Button
                      size="small"
                      kind="bare"
                      aria-label={m.settings_ses_remove()}
                      onClick={() => onChange(null)}
                    >
                      {m.settings_remove()}
                    </Button>
                  </>
                )
              }
            >
              {[
                m.settings_ses_key_is({ key: ses.accessKeyId }),
                ses.configurationSet && m.settings_ses_set_is({ name: ses.configurationSet }),
                ses.topics?.length
                  ? ses.topics.length === 1
                    ? m.settings_ses_topics_one()
                    : m.settings_ses_topics_count({ count: ses.topics.length })
                  : m.settings_ses_topics_none(),
              ]
                .filter(Boolean)
                .join(" · ")}
            </Row>
          </ul>
          <p className="muted">{m.settings_ses_endpoint()}</p>
          <p className="idline">
            <code>{endpoint}</code>
            <Copy value={endpoint} label={m.settings_ses_endpoint_copy()} />
          </p>
        </>
      ) : (
        <p className="muted">{m.settings_ses_none()}</p>
      )}
      {mayWrite && !ses && (
        <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setOpen(true)}>
          {m.settings_ses_add()}
        </Button>
      )}
      {isOpen && <SesDialog ses={ses} onClose={() => setOpen(false)} onDone={onChange} />}
    </div>
  );
}

function SesDialog({
  ses,
  onClose,
  onDone,
}: {
  ses: ProjectSes | null;
  onClose: () => void;
  onDone: (ses: ProjectSes) => void;
}) {
  const [region, setRegion] = useState(ses?.region ?? "");
  const [accessKeyId, setAccessKeyId] = useState(ses?.accessKeyId ?? "");
  const [secret, setSecret] = useState("");
  // The API returns a mask for the stored secret, and takes the mask to keep it for the same access key.
  const kept = ses && accessKeyId.trim() === ses.accessKeyId ? ses.secretAccessKey : "";
  return (
    <FormDialog
      title={ses ? m.settings_ses_change() : m.settings_ses_add()}
      deed={ses ? m.settings_relay_apply() : m.settings_ses_add()}
      ready={region.trim() !== "" && accessKeyId.trim() !== "" && (secret !== "" || kept !== "")}
      onClose={onClose}
      run={async (form) =>
        onDone({
          region: region.trim(),
          accessKeyId: accessKeyId.trim(),
          secretAccessKey: secret || kept,
          configurationSet: textOf(form, "configurationSet") || null,
          topics: addressesOf(textOf(form, "topics")),
          forwardFeedback: form.get("forwardFeedback") !== null,
        })
      }
    >
      {() => (
        <>
          <Field
            label={m.settings_ses_region()}
            value={region}
            onChange={(event) => setRegion(event.target.value)}
            placeholder="eu-central-1"
            spellCheck={false}
            autoComplete="off"
            data-autofocus
          />
          <Field
            label={m.settings_ses_key()}
            value={accessKeyId}
            onChange={(event) => setAccessKeyId(event.target.value)}
            spellCheck={false}
            autoComplete="off"
          />
          <Field
            label={m.settings_ses_secret()}
            type="password"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
            autoComplete="new-password"
            hint={kept ? m.settings_relay_password_kept() : ses ? m.settings_ses_secret_again() : undefined}
          />
          <Field
            label={m.settings_ses_set()}
            name="configurationSet"
            defaultValue={ses?.configurationSet ?? ""}
            spellCheck={false}
            autoComplete="off"
            hint={m.settings_ses_set_hint()}
          />
          <Field label={m.settings_ses_topics()} hint={m.settings_ses_topics_hint()}>
            {(attributes) => (
              <textarea
                className="input"
                name="topics"
                rows={2}
                spellCheck={false}
                placeholder="arn:aws:sns:eu-central-1:123456789012:postern"
                defaultValue={(ses?.topics ?? []).join("\n")}
                {...attributes}
              />
            )}
          </Field>
          <label className="line">
            <input
              className="switch"
              type="checkbox"
              name="forwardFeedback"
              defaultChecked={ses?.forwardFeedback ?? false}
            />
            {m.settings_ses_forward()}
          </label>
        </>
      )}
    </FormDialog>
  );
}
