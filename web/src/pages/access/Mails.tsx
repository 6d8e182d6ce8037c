import { notifications } from "@mantine/notifications";
import { APIError, type CustomerMail, type MailBlock, type MailText, type MailTextContent } from "@postern/sdk";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { LeaveGuard } from "../../parts/LeaveGuard";
import { Button, Field, LoadingFailed, Time } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { LoadingRows, ReadOnly, useMay } from "../settings/pieces";
import { MailPreview } from "./MailPreview";
import { addBlock, faultsOf, isSame, LANGUAGES, type Language, languageName, moveBlock, removeBlock } from "./mailText";

const page = getRouteApi("/session/projects/$projectId/access");
const PRECONDITION_FAILED = 412;

const WORDS: Record<string, () => string> = {
  SIGN_UP: m.access_mailtext_sign_up,
  SIGN_UP_KNOWN: m.access_mailtext_sign_up_known,
  CODE: m.access_mailtext_code,
  LINK: m.access_mailtext_link,
  VERIFY: m.access_mailtext_verify,
  RESET: m.access_mailtext_reset,
  INVITATION: m.access_mailtext_invitation,
  SETUP_LINK: m.access_mailtext_setup_link,
  NEW_DEVICE: m.access_mailtext_new_device,
  PASSWORD_CHANGED: m.access_mailtext_password_changed,
  EMAIL_CHANGED: m.access_mailtext_email_changed,
  MFA_CHANGED: m.access_mailtext_mfa_changed,
  IDENTITY_CHANGED: m.access_mailtext_identity_changed,
  IMPERSONATED: m.access_mailtext_impersonated,
};

const BLOCK_WORDS: Record<MailBlock["type"], () => string> = {
  text: m.access_mailtext_block_text,
  button: m.access_mailtext_block_button,
  code: m.access_mailtext_block_code,
};

function mailsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "mails"],
    queryFn: ({ signal }) => api(projectId).customerMails.list({ signal }),
  });
}

function mailQuery(projectId: string, mail: string, language: string) {
  return queryOptions({
    queryKey: ["access", projectId, "mails", mail, language],
    queryFn: ({ signal }) => api(projectId).customerMails.get(mail, language, { signal }),
    // The client knows the ETag of the record that it returned, not of a merged copy.
    structuralSharing: false,
  });
}

/** The mails to customers: what each of them says, in each language. */
export function Mails() {
  const projectId = useProjectId();
  const { mail: name = "CODE", lang = "en" } = page.useSearch();
  const mails = useQuery(mailsQuery(projectId));
  const text = useQuery(mailQuery(projectId, name, lang));
  const error = mails.error ?? text.error;
  if (error && !(mails.data && text.data))
    return <LoadingFailed error={error} onRetry={() => void Promise.all([mails.refetch(), text.refetch()])} />;
  const mail = mails.data?.find((each) => each.mail === name);
  return (
    <>
      <ReadOnly what="projects" />
      <div className="mails">
        <nav aria-label={m.access_mailtexts()}>
          <ul>
            {mails.data?.map((each) => (
              <li key={each.mail}>
                <Link
                  to="."
                  search={(before: object) => ({ ...before, mail: each.mail }) as never}
                  replace
                  resetScroll={false}
                  aria-current={each.mail === name ? "true" : undefined}
                >
                  {WORDS[each.mail]?.() ?? each.mail}
                  {each.editedLanguages.length > 0 && (
                    <small className="muted">{each.editedLanguages.map(languageName).join(", ")}</small>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        {mail && text.data ? (
          <Editor key={`${name} ${lang} ${text.data.version}`} mail={mail} text={text.data} />
        ) : (
          <LoadingRows count={4} />
        )}
      </div>
    </>
  );
}

function Editor({ mail, text }: { mail: CustomerMail; text: MailText }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const { email } = useProfile();
  const mayWrite = useMay("projects");
  const [content, setContent] = useState<MailTextContent>(text.content);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState("");
  const [isHistory, setHistory] = useState(false);
  const isChanged = !isSame(content, text.content);
  const change = (part: Partial<MailTextContent>) => {
    setContent((before) => ({ ...before, ...part }));
    setFaults({});
  };
  const changeBlocks = (blocks: MailBlock[]) => change({ blocks });
  const act = async (what: string, done: string, run: () => Promise<unknown>) => {
    setBusy(what);
    setFaults({});
    try {
      await run();
      notifications.show({ message: done });
      if (what !== "test") await client.invalidateQueries({ queryKey: mailsQuery(projectId).queryKey });
    } catch (error) {
      if (error instanceof APIError && error.status === PRECONDITION_FAILED)
        setFaults({ "": m.access_mailtext_changed() });
      else setFaults(error instanceof APIError ? faultsOf(error) : { "": messageOf(error) });
    } finally {
      setBusy("");
    }
  };
  const calls = api(projectId).customerMails;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!isChanged || busy) return;
    void act("save", m.settings_saved(), () => calls.set(text.mail, text.language, content, { ifMatch: text }));
  };
  const needed = mail.requiredBlock;
  const [headline, ...others] = [faults[""], ...Object.values(faults)].filter(Boolean);
  return (
    <div className="maileditor">
      <div className="pagebar">
        <fieldset className="seg">
          <legend className="sr">{m.access_mailtext_language()}</legend>
          {LANGUAGES.map((each: Language) => (
            <Link
              key={each}
              to="."
              search={(before: object) => ({ ...before, lang: each === "en" ? undefined : each }) as never}
              replace
              resetScroll={false}
              aria-current={each === text.language ? "true" : undefined}
            >
              {languageName(each)}
            </Link>
          ))}
        </fieldset>
        <p className="muted small">
          {text.isBuiltIn ? (
            m.access_mailtext_built_in()
          ) : (
            <>
              {m.access_mailtext_own({ who: text.updatedBy ?? "" })} <Time at={text.updatedAt} format={longTime} />
            </>
          )}
        </p>
      </div>
      <div className="branding">
        <form className="form" onSubmit={save} noValidate aria-label={WORDS[mail.mail]?.() ?? mail.mail}>
          <fieldset disabled={!mayWrite}>
            <Field
              label={m.access_mailtext_subject()}
              error={faults["/subject"]}
              value={content.subject}
              onChange={(event) => change({ subject: event.target.value })}
            />
            <Field
              label={m.access_mailtext_preheader()}
              error={faults["/preheader"]}
              value={content.preheader ?? ""}
              onChange={(event) => change({ preheader: event.target.value })}
            />
            {content.blocks.map((block, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no id, and are typed in place.
              <div className="mailblock" key={index}>
                <Field label={BLOCK_WORDS[block.type]?.() ?? block.type} error={faults[`/blocks/${index}/text`]}>
                  {(attributes) => (
                    <textarea
                      className="input"
                      rows={block.type === "text" ? 3 : 1}
                      value={block.text}
                      onChange={(event) =>
                        changeBlocks(
                          content.blocks.map((each, at) =>
                            at === index ? { ...each, text: event.target.value } : each,
                          ),
                        )
                      }
                      {...attributes}
                    />
                  )}
                </Field>
                <div className="acts">
                  {index > 0 && (
                    <Button size="small" kind="bare" onClick={() => changeBlocks(moveBlock(content.blocks, index))}>
                      {m.access_mailtext_up()}
                    </Button>
                  )}
                  {block.type !== needed && content.blocks.length > 1 && (
                    <Button size="small" kind="bare" onClick={() => changeBlocks(removeBlock(content.blocks, index))}>
                      {m.access_mailtext_remove()}
                    </Button>
                  )}
                </div>
              </div>
            ))}
            <Button size="small" onClick={() => changeBlocks(addBlock(content.blocks))}>
              {m.access_mailtext_add()}
            </Button>
            <Field label={m.access_mailtext_footer()} error={faults["/footer"]}>
              {(attributes) => (
                <textarea
                  className="input"
                  rows={2}
                  value={content.footer ?? ""}
                  onChange={(event) => change({ footer: event.target.value })}
                  {...attributes}
                />
              )}
            </Field>
            <p className="muted small">
              {m.access_mailtext_variables()}{" "}
              {mail.variables.map(({ name, sample }) => (
                <code key={name} title={sample}>{`{{ ${name} }} `}</code>
              ))}
            </p>
            <Wrong>{headline ?? others[0]}</Wrong>
            <div className="acts">
              <Button kind="primary" type="submit" disabled={!isChanged} busy={busy === "save"}>
                {m.settings_save()}
              </Button>
              {isChanged && (
                <Button kind="bare" onClick={() => change(text.content)}>
                  {m.settings_discard()}
                </Button>
              )}
              <Button
                busy={busy === "test"}
                onClick={() =>
                  void act("test", m.access_mailtext_tested({ to: email }), () =>
                    calls.test(text.mail, text.language, { to: email, content }),
                  )
                }
              >
                {m.access_mailtext_test()}
              </Button>
              {!text.isBuiltIn && (
                <Button
                  busy={busy === "reset"}
                  onClick={() =>
                    void act("reset", m.access_mailtext_was_reset(), () =>
                      calls.reset(text.mail, text.language, { ifMatch: text }),
                    )
                  }
                >
                  {m.access_mailtext_reset_to()}
                </Button>
              )}
              {text.version > 0 && (
                <Button kind="bare" aria-expanded={isHistory} onClick={() => setHistory(!isHistory)}>
                  {m.access_mailtext_history()}
                </Button>
              )}
            </div>
          </fieldset>
          {isHistory && (
            <History
              text={text}
              onRestore={(version) =>
                void act("restore", m.access_mailtext_restored({ number: version }), () =>
                  calls.restore(text.mail, text.language, { version }, { ifMatch: text }),
                )
              }
            />
          )}
        </form>
        <MailPreview mail={text.mail} language={text.language} content={content} title={WORDS[mail.mail]?.() ?? ""} />
      </div>
      <LeaveGuard
        active={isChanged && mayWrite}
        leaves={(from, to) =>
          from.pathname !== to.pathname || JSON.stringify(from.search) !== JSON.stringify(to.search)
        }
      />
    </div>
  );
}

/** The versions of a text, with the way back to each of them. */
function History({ text, onRestore }: { text: MailText; onRestore: (version: number) => void }) {
  const projectId = useProjectId();
  const mayWrite = useMay("projects");
  const query = useQuery({
    queryKey: ["access", projectId, "mails", text.mail, text.language, "versions", text.version],
    queryFn: ({ signal }) => api(projectId).customerMails.listVersions(text.mail, text.language, { signal }),
  });
  if (query.error) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingRows count={2} />;
  return (
    <ol className="mailversions" aria-label={m.access_mailtext_history()}>
      {query.data.map(({ version, content, createdAt, createdBy }) => (
        <li key={version}>
          <span>
            <b>{m.access_mailtext_version({ number: version })}</b> {content?.subject ?? m.access_mailtext_built_in()}
            <small className="muted">
              <Time at={createdAt} format={longTime} /> {createdBy}
            </small>
          </span>
          {mayWrite && version !== text.version && (
            <Button size="small" onClick={() => onRestore(version)}>
              {m.access_mailtext_restore({ number: version })}
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}
