import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Contact, type EmailLogEntry } from "@postern/sdk";
import { IconDots } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useNeighbours } from "../../lists/neighbours";
import { Panel, PanelTabs } from "../../lists/Panel";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { download } from "../../parts/download";
import { longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill, Status, Time } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useUndo } from "../../parts/undo";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { shapeOf, toneOf, wordOf } from "../emails/status";
import { ContactProfile } from "./ContactProfile";
import { ContactSubscription } from "./ContactSubscription";
import { contactQuery, suppressionOf, useContactChanged } from "./queries";

const page = getRouteApi("/session/projects/$projectId/contacts/$contactId");
/** E-mails that the panel shows; the log has all. */
const NEWEST_EMAILS = 20;
/** E-mails in the file with the data of a person. */
const SAVED_EMAILS = 100;

/** One contact beside the list. */
export function ContactPanel() {
  const projectId = useProjectId();
  const { contactId = "" } = useParams({ strict: false });
  const { tab } = page.useSearch();
  const { row, close, patch, below, above } = useNeighbours();
  const mayWrite = useMayWrite();
  const undo = useUndo();
  const changed = useContactChanged();
  const [dialog, setDialog] = useState<"unsubscribe" | "subscribe">();
  const query = useQuery({
    ...contactQuery(projectId, contactId),
    placeholderData: row as Contact | undefined,
  });
  const contact = query.data;
  usePageRequest({
    method: "GET",
    path:
      tab === "emails" && contact
        ? `/projects/${projectId}/emails/logs${queryString(emailsTo(contact))}`
        : `/projects/${projectId}/contacts/${contactId}`,
  });
  if (query.isError)
    return (
      <Panel label={m.contacts_one()} actions={null}>
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.contacts_gone()} lead={m.contacts_gone_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!contact)
    return (
      <Panel label={m.contacts_one()} actions={null} busy>
        {null}
      </Panel>
    );
  const show = (next: Contact) => {
    changed(next);
    patch(next.id, next);
  };
  const remove = () => {
    undo.start({
      id: contact.id,
      said: m.contacts_deleted({ email: contact.email }),
      run: async () => {
        await api(projectId).contacts.delete(contact.id);
        patch(contact.id, undefined);
      },
      failed: (error) => m.contacts_delete_failed({ email: contact.email, reason: messageOf(error) }),
    });
    (below ?? above ?? close)();
  };
  const setUnsubscribed = async (unsubscribed: boolean) => {
    show(await api(projectId).contacts.update(contact.id, { unsubscribed }));
    notifications.show({
      message: unsubscribed
        ? m.contacts_was_unsubscribed({ email: contact.email })
        : m.contacts_was_subscribed({ email: contact.email }),
    });
  };
  return (
    <Panel
      label={contact.email}
      actions={
        <>
          {mayWrite &&
            (contact.unsubscribed ? (
              <Button size="small" onClick={() => setDialog("subscribe")}>
                {m.contacts_subscribe()}
              </Button>
            ) : (
              <Button size="small" onClick={() => setDialog("unsubscribe")}>
                {m.contacts_unsubscribe()}
              </Button>
            ))}
          <Menu position="bottom-end" width={240}>
            <Menu.Target>
              <button className="iconbtn small" type="button" aria-label={m.contacts_more_actions()}>
                <IconDots {...ICON} />
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => void saveAsJson(projectId, contact)}>{m.contacts_save_json()}</Menu.Item>
              {mayWrite && (
                <Menu.Item className="contacts-danger" onClick={remove}>
                  {m.contacts_delete()}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </>
      }
    >
      <header className="subject">
        <Pill shape={contact.unsubscribed ? "no" : "yes"} tone={contact.unsubscribed ? "" : "good"}>
          {contact.unsubscribed ? m.contacts_unsubscribed() : m.contacts_subscribed()}
        </Pill>
        <h2 className="address">{contact.email}</h2>
        <dl className="facts">
          <dt>{m.contacts_added()}</dt>
          <dd>
            <Time at={contact.createdAt} format={longTime} />
          </dd>
          <dt>{m.contacts_last_opened()}</dt>
          <dd>{contact.lastOpenedAt ? <Time at={contact.lastOpenedAt} format={longTime} /> : m.contacts_never()}</dd>
          <dt>{m.contacts_last_clicked()}</dt>
          <dd>{contact.lastClickedAt ? <Time at={contact.lastClickedAt} format={longTime} /> : m.contacts_never()}</dd>
          <dt>{m.contacts_id()}</dt>
          <dd className="id">
            <code className="cut">{contact.id}</code>
            <Copy value={contact.id} />
          </dd>
        </dl>
      </header>
      <PanelTabs
        tabs={[
          [undefined, m.contacts_tab_profile()],
          ["subscription", m.contacts_tab_subscription()],
          ["emails", m.contacts_tab_emails()],
        ]}
      />
      {tab === "subscription" ? (
        <ContactSubscription contact={contact} />
      ) : tab === "emails" ? (
        <Emails contact={contact} />
      ) : (
        <ContactProfile key={contact.id} contact={contact} onChange={show} />
      )}
      {dialog === "unsubscribe" && (
        <ConfirmDialog
          title={m.contacts_unsubscribe_title({ email: contact.email })}
          deed={m.contacts_unsubscribe()}
          keep={m.contacts_keep_subscribed()}
          onClose={() => setDialog(undefined)}
          run={() => setUnsubscribed(true)}
        >
          <p>{m.contacts_unsubscribe_lead()}</p>
        </ConfirmDialog>
      )}
      {dialog === "subscribe" && (
        <ConfirmDialog
          title={m.contacts_subscribe_title({ email: contact.email })}
          deed={m.contacts_subscribe_deed()}
          onClose={() => setDialog(undefined)}
          run={() => setUnsubscribed(false)}
        >
          <p>{m.contacts_subscribe_lead()}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

/** Save what the API knows of the contact: its record, its audiences, its suppression and its newest e-mails. */
async function saveAsJson(projectId: string, contact: Contact): Promise<void> {
  const client = api(projectId);
  try {
    const [record, audienceIds, suppression, emails] = await Promise.all([
      client.contacts.get(contact.id),
      client.contacts.listAudiences(contact.id),
      suppressionOf(projectId, contact.email),
      client.emails.list({ recipient: contact.email, limit: SAVED_EMAILS }),
    ]);
    const content = { contact: record, audienceIds, suppression, emails: emails.data };
    download(JSON.stringify(content, null, 2), "contact.json", "application/json");
  } catch (error) {
    notifications.show({ message: m.contacts_export_failed({ reason: messageOf(error) }) });
  }
}

function emailsTo(contact: Contact) {
  return { recipient: contact.email, limit: NEWEST_EMAILS };
}

/** The newest e-mails to the contact. */
function Emails({ contact }: { contact: Contact }) {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["contact-emails", projectId, contact.id, contact.email],
    queryFn: ({ signal }) => api(projectId).emails.list(emailsTo(contact), { signal }),
  });
  if (query.isError) return <LoadingFailed error={query.error} onRetry={query.refetch} />;
  if (!query.data) return null;
  const sends = query.data.data;
  if (sends.length === 0) return <Empty title={m.contacts_no_emails()} lead={m.contacts_no_emails_lead()} />;
  return (
    <section className="part" aria-label={m.contacts_tab_emails()}>
      <ul className="list">
        {sends.map((send) => (
          <Email key={send.id} send={send} />
        ))}
      </ul>
      <p>
        <Link to="/projects/$projectId/emails" params={{ projectId }} search={{ recipient: contact.email }}>
          {m.contacts_all_emails()}
        </Link>
      </p>
    </section>
  );
}

function Email({ send }: { send: EmailLogEntry }) {
  const projectId = useProjectId();
  return (
    <li>
      <span className="grow cut">
        <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId: send.id }}>
          {send.subject || m.emails_no_subject()}
        </Link>
      </span>
      <Status shape={shapeOf(send)} tone={toneOf(send)}>
        {wordOf(send)}
      </Status>
      <span className="muted">
        <Time at={send.createdAt} />
      </span>
    </li>
  );
}
