import { Modal } from "@mantine/core";
import type { OAuthRegistrationToken } from "@postern/sdk";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Button, Copy } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Choices, DIALOG, Section } from "../settings/pieces";
import { type FormProps, SettingsForm } from "./SettingsForm";
import { Item, Switch } from "./SignIn";
import { REGISTRATION } from "./signIn";
import { fieldWord } from "./words";

/** Whether apps can register themselves (RFC 7591), and the tokens with which they do. */
export function Registration() {
  return (
    <SettingsForm label={m.access_registration()} fields={REGISTRATION} isPart>
      {(form) => (
        <Section title={m.access_registration()}>
          <Item field="clientRegistration" lead={m.access_registration_lead()} form={form}>
            <Choices
              legend={fieldWord("clientRegistration")}
              name="clientRegistration"
              value={form.draft.clientRegistration}
              onChange={(clientRegistration) => form.change({ clientRegistration })}
              options={[
                { value: "OFF", label: m.access_registration_off(), hint: m.access_registration_off_hint() },
                { value: "TOKEN", label: m.access_registration_token(), hint: m.access_registration_token_hint() },
                { value: "OPEN", label: m.access_registration_open(), hint: m.access_registration_open_hint() },
              ]}
            />
            <Wrong>{form.errors.clientRegistration}</Wrong>
            {form.stored.clientRegistration === "TOKEN" && <NewToken {...form} />}
          </Item>
          <Item field="clientMetadataDocuments" lead={m.access_documents_lead()} form={form}>
            <Switch field="clientMetadataDocuments" label={m.access_documents_label()} form={form} />
          </Item>
        </Section>
      )}
    </SettingsForm>
  );
}

function NewToken({ draft }: FormProps) {
  const projectId = useProjectId();
  const [token, setToken] = useState<OAuthRegistrationToken>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const create = async () => {
    setBusy(true);
    setError("");
    try {
      setToken(await api(projectId).oauthClients.createRegistrationToken());
    } catch (caught) {
      setError(messageOf(caught));
    }
    setBusy(false);
  };
  return (
    <>
      <Button busy={isBusy} disabled={draft.clientRegistration !== "TOKEN"} onClick={() => void create()}>
        {m.access_registration_new_token()}
      </Button>
      <Wrong>{error}</Wrong>
      {token && <TokenModal token={token} onClose={() => setToken(undefined)} />}
    </>
  );
}

/** A token, this once. */
function TokenModal({ token, onClose }: { token: OAuthRegistrationToken; onClose: () => void }) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.access_registration_token_title()}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      classNames={{ body: DIALOG }}
    >
      <div className="form accessform">
        <p>{m.access_registration_token_lead({ when: longTime(token.expiresAt) })}</p>
        <div className="onesecret">
          <code>{token.token}</code>
          <Copy value={token.token} label={m.access_registration_token_copy()} />
        </div>
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {m.access_app_secret_saved()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
