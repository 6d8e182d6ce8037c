import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Organization, OrganizationDomain } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Copy, Empty, Field, LoadingFailed, Status } from "../../parts/parts";
import { relative, useNow } from "../../parts/relative";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useUndo } from "../../parts/undo";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { domainsQuery, useReadAgain } from "./queries";
import { Waiting } from "./Waiting";
import { domainFinding, domainLook } from "./words";

/** The domains that an organization owns: what to publish, what was found, and who joins because of them. */
export function Domains({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { id } = organization;
  const query = useQuery(domainsQuery(projectId, id));
  const { hidden } = useUndo();
  const [isAdding, setAdding] = useState(false);
  const domains = (query.data ?? []).filter((each) => !hidden.has(each.id));
  return (
    <section className="sec" aria-labelledby="domains">
      <header>
        <h2 id="domains">{m.organizations_domains()}</h2>
        <p>{m.organizations_domains_lead()}</p>
        {mayWrite && domains.length > 0 && (
          <div className="acts">
            <Button size="small" onClick={() => setAdding(true)}>
              {m.organizations_dom_add()}
            </Button>
          </div>
        )}
      </header>
      {query.isError && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Waiting />
      ) : domains.length === 0 ? (
        <Empty title={m.organizations_dom_empty()} lead={m.organizations_dom_empty_lead()}>
          {mayWrite && <Button onClick={() => setAdding(true)}>{m.organizations_dom_add()}</Button>}
          <Button
            kind="bare"
            onClick={() =>
              void copyCurl({
                method: "POST",
                path: `/projects/${projectId}/b2b/organizations/${id}/domains`,
                body: { domain: "acme.example" },
              })
            }
          >
            {m.copy_as_curl()}
          </Button>
        </Empty>
      ) : (
        <ul className="list ruled domainlist">
          {domains.map((domain) => (
            <DomainItem key={domain.id} organization={organization} domain={domain} />
          ))}
        </ul>
      )}
      {isAdding && <AddDialog organization={organization} onClose={() => setAdding(false)} />}
    </section>
  );
}

function DomainItem({ organization, domain }: { organization: Organization; domain: OrganizationDomain }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const now = useNow();
  const readAgain = useReadAgain(projectId, organization.id);
  const { start } = useUndo();
  const [busy, setBusy] = useState<"" | "verify" | "join">("");
  const [isRemoving, setRemoving] = useState(false);
  const { shape, tone, word } = domainLook(domain);
  const { domains } = api(projectId).organizations;
  const isVerified = domain.status === "VERIFIED";
  const verify = async () => {
    setBusy("verify");
    try {
      const looked = await domains.verify(organization.id, domain.id);
      notifications.show({ message: `${looked.domain}: ${domainFinding(looked)}` });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    readAgain("domains", "sso");
    setBusy("");
  };
  const setJoining = async (autoJoinEnabled: boolean) => {
    setBusy("join");
    try {
      await domains.update(organization.id, domain.id, { autoJoinEnabled });
      notifications.show({
        message: autoJoinEnabled
          ? m.organizations_join_on({ domain: domain.domain })
          : m.organizations_join_off({ domain: domain.domain }),
      });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    readAgain("domains");
    setBusy("");
  };
  const removeNow = async () => {
    await domains.remove(organization.id, domain.id);
    readAgain("domains", "sso");
  };
  const remove = () => {
    // A verified domain is what people join and sign in by: that is asked first.
    if (isVerified) return setRemoving(true);
    start({
      id: domain.id,
      said: m.organizations_dom_removed({ domain: domain.domain }),
      run: removeNow,
      failed: messageOf,
    });
  };
  return (
    <li className="domainitem">
      <div className="line">
        <h3 className="breaks">{domain.domain}</h3>
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
        {mayWrite && (
          <span className="acts">
            <Button
              size="small"
              busy={busy === "verify"}
              aria-label={m.organizations_dom_verify_of({ domain: domain.domain })}
              onClick={() => void verify()}
            >
              {m.organizations_dom_verify()}
            </Button>
            <Button
              kind="bare"
              size="small"
              aria-label={m.organizations_remove_of({ name: domain.domain })}
              onClick={remove}
            >
              {m.organizations_remove()}
            </Button>
          </span>
        )}
      </div>
      <p className="muted">
        {domainFinding(domain)}{" "}
        {domain.lastCheckedAt && m.organizations_dom_looked({ when: relative(domain.lastCheckedAt, now) })}{" "}
        {domain.nextCheckAt &&
          !isVerified &&
          Date.parse(domain.nextCheckAt) > now &&
          m.organizations_dom_next({ when: relative(domain.nextCheckAt, now) })}
      </p>
      {(!isVerified || domain.reason) && (
        <dl className="values">
          <dt>{m.organizations_dom_type()}</dt>
          <dd>
            <code>TXT</code>
          </dd>
          <dt>{m.organizations_dom_name()}</dt>
          <dd>
            <code>{domain.recordName}</code>
            <Copy value={domain.recordName} label={m.organizations_copy_record_name()} />
          </dd>
          <dt>{m.organizations_dom_value()}</dt>
          <dd>
            <code>{domain.record}</code>
            <Copy value={domain.record} label={m.organizations_copy_record()} />
          </dd>
        </dl>
      )}
      <label className="switchline">
        <input
          type="checkbox"
          className="switch"
          checked={domain.autoJoinEnabled}
          disabled={!mayWrite || busy === "join" || (!isVerified && !domain.autoJoinEnabled)}
          onChange={(event) => void setJoining(event.target.checked)}
        />
        <span>
          {m.organizations_join()}
          <span className="muted">
            {isVerified
              ? m.organizations_join_hint({ domain: domain.domain })
              : m.organizations_join_needs({ domain: domain.domain })}
          </span>
        </span>
      </label>
      {isRemoving && (
        <TypedConfirm
          title={m.organizations_dom_remove_title({ domain: domain.domain })}
          name={domain.domain}
          deed={m.organizations_dom_remove_deed()}
          onClose={() => setRemoving(false)}
          run={async () => {
            await removeNow();
            notifications.show({ message: m.organizations_dom_removed({ domain: domain.domain }) });
          }}
        >
          <p>{m.organizations_dom_remove_lead()}</p>
        </TypedConfirm>
      )}
    </li>
  );
}

const FIELDS = {
  domain: "domain",
  domain_listed: "domain",
  domain_taken: "domain",
  domain_public: "domain",
  invalid: "domain",
};

function AddDialog({ organization: { id, name }, onClose }: { organization: Organization; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const readAgain = useReadAgain(projectId, id);
  const [domain, setDomain] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const path = `/projects/${projectId}/b2b/organizations/${id}/domains`;
  const body = { domain: domain.trim() };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!body.domain) return setErrors({ domain: m.organizations_dom_needed() });
    setBusy(true);
    setErrors({});
    try {
      await api(projectId).organizations.domains.add(id, body);
      readAgain("domains");
      onClose();
    } catch (error) {
      setErrors(messagesByField(error, FIELDS, messageOf(error)));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_dom_add_title({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_dom_add_lead()}</p>
        <Field
          label={m.organizations_domain()}
          hint={m.organizations_dom_hint()}
          placeholder="acme.example"
          autoComplete="off"
          spellCheck={false}
          maxLength={253}
          error={errors.domain}
          value={domain}
          onChange={(event) => {
            setDomain(event.target.value);
            setErrors({});
          }}
          data-autofocus
        />
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_dom_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
