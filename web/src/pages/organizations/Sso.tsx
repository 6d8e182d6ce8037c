import { Menu, Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Organization, type OrganizationDomain, type SsoConnection } from "@postern/sdk";
import { IconDots, IconDownload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { download } from "../../parts/download";
import { longTime } from "../../parts/format";
import { Button, Copy, Empty, Field, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { Wrong } from "../../parts/Wrong";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { messagesByField } from "../customers/queries";
import { OidcForm } from "./OidcForm";
import { ProviderForm } from "./ProviderForm";
import {
  connectionQuery,
  connectionsQuery,
  domainsQuery,
  keyOf,
  tracesQuery,
  useEditing,
  useReadAgain,
  useShowConnection,
  useShowOrganization,
} from "./queries";
import { RulesForm } from "./RulesForm";
import { SetupLinks } from "./SetupLinks";
import { LastTest, Traces } from "./Traces";
import { endsSoon, missingParts } from "./values";
import { Waiting } from "./Waiting";
import { connectionLook, heldWords, mainConnection } from "./words";

const page = getRouteApi("/session/projects/$projectId/organizations/$organizationId");

/** How the people of an organization sign in with the account of their company. */
export function Sso({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const { connection: wanted } = page.useSearch();
  const query = useQuery(connectionsQuery(projectId, organization.id));
  const [isAdding, setAdding] = useState(false);
  const connections = query.data ?? [];
  const current = connections.find((each) => each.id === wanted) ?? mainConnection(connections);
  return (
    <>
      <section className="sec" aria-labelledby="sso">
        <header>
          <h2 id="sso">{m.organizations_sso_title()}</h2>
          {mayWrite && connections.length > 0 && (
            <div className="acts">
              <Button kind="bare" size="small" onClick={() => setAdding(true)}>
                {m.organizations_sso_another()}
              </Button>
            </div>
          )}
        </header>
        {query.isError && !query.data ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <Waiting />
        ) : connections.length === 0 ? (
          <Empty title={m.organizations_sso_empty()} lead={m.organizations_sso_empty_lead()}>
            {mayWrite && <Button onClick={() => setAdding(true)}>{m.organizations_sso_new()}</Button>}
            <a className="btn" href="/guide/sso" target="_blank" rel="noreferrer">
              {m.organizations_sso_guide()}
            </a>
            <Button
              kind="bare"
              onClick={() =>
                void copyCurl({
                  method: "POST",
                  path: `/projects/${projectId}/b2b/organizations/${organization.id}/sso-connections`,
                  body: { name: "Acme Okta", domain: "acme.example" },
                })
              }
            >
              {m.copy_as_curl()}
            </Button>
          </Empty>
        ) : (
          <Required organization={organization} />
        )}
        {connections.length > 1 && (
          <nav className="seg fit scrollx" aria-label={m.organizations_sso_connections()}>
            {connections.map((each) => (
              <Link
                key={each.id}
                to="."
                search={{ tab: "sso", connection: each.id } as never}
                replace
                resetScroll={false}
                aria-current={each.id === current?.id ? "page" : undefined}
              >
                <Glyph shape={connectionLook(each).shape} />
                {each.name}
              </Link>
            ))}
          </nav>
        )}
      </section>
      {current && <Connection key={current.id} organization={organization} id={current.id} />}
      <SetupLinks organization={organization} />
      {isAdding && <NewDialog organization={organization} onClose={() => setAdding(false)} />}
    </>
  );
}

/** Whether single sign-on is the only way in. */
function Required({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const show = useShowOrganization(projectId);
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { id, name, requireSso } = organization;
  const set = async (required: boolean) => {
    show(await api(projectId).organizations.update(id, { requireSso: required }));
    notifications.show({ message: required ? m.organizations_sso_required_on() : m.organizations_sso_required_off() });
  };
  const change = async (required: boolean) => {
    if (required) return setAsking(true);
    setBusy(true);
    await set(false).catch((error: unknown) => notifications.show({ message: messageOf(error) }));
    setBusy(false);
  };
  return (
    <>
      <label className="switchline ruled">
        <input
          type="checkbox"
          className="switch"
          checked={requireSso}
          disabled={!mayWrite || isBusy}
          onChange={(event) => void change(event.target.checked)}
        />
        <span>
          {m.organizations_sso_required()}
          <span className="muted">{m.organizations_sso_required_hint()}</span>
        </span>
      </label>
      {isAsking && (
        <TypedConfirm
          title={m.organizations_sso_required_title({ name })}
          name={name}
          deed={m.organizations_sso_required_deed()}
          kind="primary"
          onClose={() => setAsking(false)}
          explain={(error) =>
            error instanceof APIError && error.code === "sso_not_ready"
              ? m.organizations_sso_not_ready()
              : messageOf(error)
          }
          run={() => set(true)}
        >
          <p>{m.organizations_sso_required_lead()}</p>
          <p>{m.organizations_sso_required_others()}</p>
        </TypedConfirm>
      )}
    </>
  );
}

const KIND_WORDS = {
  SAML: { label: m.organizations_kind_saml, hint: m.organizations_kind_saml_hint },
  OIDC: { label: m.organizations_kind_oidc, hint: m.organizations_kind_oidc_hint },
};

function NewDialog({ organization, onClose }: { organization: Organization; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const show = useShowConnection(projectId);
  const domains = useQuery(domainsQuery(projectId, organization.id));
  const [name, setName] = useState("");
  const [kind, setKind] = useState<"SAML" | "OIDC">("SAML");
  const [typed, setTyped] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const path = `/projects/${projectId}/b2b/organizations/${organization.id}/sso-connections`;
  const known = domains.data ?? [];
  const domain = typed ?? (known.find((each) => each.status === "VERIFIED") ?? known[0])?.domain ?? "";
  const body = { ...(kind === "OIDC" && { kind }), name: name.trim(), domain };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (!body.name) return setErrors({ name: m.organizations_name_needed() });
    if (!body.domain) return setErrors({ domain: m.organizations_sso_domain_needed() });
    setBusy(true);
    setErrors({});
    try {
      const created = await api(projectId).sso.create(organization.id, body);
      show(created);
      onClose();
      await navigate({ to: ".", search: { tab: "sso", connection: created.id } as never, resetScroll: false });
    } catch (error) {
      setErrors(messagesByField(error, { name: "name", domain: "domain" }, messageOf(error)));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.organizations_sso_new()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form customerform" onSubmit={submit} noValidate>
        <p>{m.organizations_sso_new_lead()}</p>
        <Field
          label={m.organizations_name()}
          hint={m.organizations_sso_name_hint()}
          placeholder="Acme Okta"
          maxLength={200}
          autoComplete="off"
          error={errors.name}
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            setErrors({});
          }}
          data-autofocus
        />
        <fieldset className="roleboxes">
          <legend className="label">{m.organizations_sso_kind()}</legend>
          {(["SAML", "OIDC"] as const).map((each) => (
            <label key={each} className="boxed">
              <input
                type="radio"
                className="radio"
                name="kind"
                checked={kind === each}
                onChange={() => setKind(each)}
              />
              <span>
                {KIND_WORDS[each].label()}
                <span className="muted">{KIND_WORDS[each].hint()}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <DomainField
          known={known}
          domain={domain}
          error={errors.domain}
          onChange={(next) => {
            setTyped(next);
            setErrors({});
          }}
        />
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body })}>
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_next()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** The domain whose addresses use a connection: one of the organization, or the first one. */
function DomainField({
  known,
  domain,
  error,
  onChange,
}: {
  known: OrganizationDomain[];
  domain: string;
  error: string | undefined;
  onChange: (domain: string) => void;
}) {
  return (
    <Field label={m.organizations_sso_domain()} hint={m.organizations_sso_domain_hint()} error={error}>
      {(attributes) =>
        known.length > 0 ? (
          <select {...attributes} className="input" value={domain} onChange={(event) => onChange(event.target.value)}>
            {known.map((each) => (
              <option key={each.id} value={each.domain}>
                {each.status === "VERIFIED"
                  ? each.domain
                  : m.organizations_sso_domain_unverified({ domain: each.domain })}
              </option>
            ))}
            {!known.some((each) => each.domain === domain) && (
              <option value={domain}>{m.organizations_sso_domain_unverified({ domain })}</option>
            )}
          </select>
        ) : (
          <input
            {...attributes}
            className="input"
            placeholder="acme.example"
            autoComplete="off"
            spellCheck={false}
            value={domain}
            onChange={(event) => onChange(event.target.value.trim())}
          />
        )
      }
    </Field>
  );
}

/** Changes the name of a connection, and whose addresses use it. */
function RenameDialog({
  organization,
  connection,
  onClose,
}: {
  organization: Organization;
  connection: SsoConnection;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const show = useShowConnection(projectId);
  const readAgain = useReadAgain(projectId, organization.id);
  const domains = useQuery(domainsQuery(projectId, organization.id));
  const { sso } = api(projectId);
  const { base, theirs, isBusy, save, takeTheirs, settle } = useEditing(
    connection,
    () => sso.get(organization.id, connection.id),
    (saved) => {
      show(saved);
      readAgain("sso");
    },
  );
  const [name, setName] = useState(connection.name);
  const [domain, setDomain] = useState(connection.domain);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const store = async (against?: SsoConnection) => {
    if (!name.trim()) {
      settle();
      return setErrors({ name: m.organizations_name_needed() });
    }
    setErrors({});
    const change = {
      ...(name.trim() !== base.name && { name: name.trim() }),
      ...(domain !== base.domain && { domain }),
    };
    if (Object.keys(change).length === 0) return onClose();
    const saved = await save((ifMatch) => sso.update(organization.id, connection.id, change, { ifMatch }), against);
    if (saved.kind === "refused") {
      settle();
      setErrors(messagesByField(saved.error, { name: "name", domain: "domain" }, messageOf(saved.error)));
    }
    if (saved.kind === "saved") {
      notifications.show({ message: m.organizations_sso_renamed({ name: name.trim() }) });
      onClose();
    }
  };
  if (theirs) {
    const rows = [
      { name: m.organizations_name(), theirs: theirs.name, mine: name },
      { name: m.organizations_sso_domain(), theirs: theirs.domain, mine: domain },
    ];
    return (
      <ConflictDialog
        lead={m.organizations_conflict_lead()}
        rows={rows.filter((each) => each.theirs !== each.mine)}
        hint={m.organizations_conflict_hint()}
        onClose={settle}
        onTheirs={() => {
          setName(theirs.name);
          setDomain(theirs.domain);
          show(theirs);
          takeTheirs();
        }}
        onMine={() => store(theirs)}
      />
    );
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.organizations_sso_rename_title({ name: connection.name })}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form
        className="form customerform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!isBusy) void store();
        }}
      >
        <Field
          label={m.organizations_name()}
          hint={m.organizations_sso_name_hint()}
          maxLength={200}
          autoComplete="off"
          error={errors.name}
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            setErrors({});
          }}
          data-autofocus
        />
        <DomainField
          known={domains.data ?? []}
          domain={domain}
          error={errors.domain}
          onChange={(next) => {
            setDomain(next);
            setErrors({});
          }}
        />
        {domain !== connection.domain && <p className="muted">{m.organizations_sso_domain_retest()}</p>}
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.organizations_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** One connection, read with its version. */
function Connection({ organization, id }: { organization: Organization; id: string }) {
  const projectId = useProjectId();
  const query = useQuery(connectionQuery(projectId, organization.id, id));
  if (query.isError && !query.data) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Waiting rows={5} />;
  return <Loaded organization={organization} connection={query.data} />;
}

function Loaded({ organization, connection }: { organization: Organization; connection: SsoConnection }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const navigate = useNavigate();
  const show = useShowConnection(projectId);
  const readAgain = useReadAgain(projectId, organization.id);
  const [dialog, setDialog] = useState<"" | "rename" | "rotate" | "delete" | "deactivate">("");
  const [isBusy, setBusy] = useState(false);
  const [missing, setMissing] = useState<string[]>([]);
  const domains = useQuery(domainsQuery(projectId, organization.id));
  const { id, name, domain, status, held } = connection;
  const look = connectionLook(connection);
  const domainRecord = domains.data?.find((each) => each.domain === domain);
  const isDomainVerified = domainRecord?.status === "VERIFIED";
  const lacks = missingParts(connection);
  const isActive = status === "ACTIVE";
  const isOidc = connection.kind === "OIDC";
  const close = () => setDialog("");
  const { sso } = api(projectId);
  const activate = async () => {
    setBusy(true);
    setMissing([]);
    try {
      show(await sso.activate(organization.id, id));
      readAgain("sso");
      notifications.show({ message: m.organizations_sso_activated({ domain }) });
    } catch (error) {
      setMissing(
        error instanceof APIError && error.errors.length
          ? error.errors.map((each) => each.message)
          : [messageOf(error)],
      );
    }
    setBusy(false);
  };
  return (
    <>
      <section className="sec connection" aria-labelledby="connection">
        <header>
          <h2 id="connection" className="breaks">
            {name}
          </h2>
          <Status shape={look.shape} tone={look.tone}>
            {look.word()}
          </Status>
          <div className="acts">
            {mayWrite &&
              (isActive ? (
                <Button size="small" onClick={() => setDialog("deactivate")}>
                  {m.organizations_sso_deactivate()}
                </Button>
              ) : null)}
            <Menu
              position="bottom-end"
              width={260}
              portalProps={{ target: "#menus" }}
              withInitialFocusPlaceholder={false}
            >
              <Menu.Target>
                <button className="btn small more" type="button" aria-label={m.organizations_sso_more()}>
                  <IconDots {...ICON} />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  onClick={() =>
                    void copyCurl({
                      method: "GET",
                      path: `/projects/${projectId}/b2b/organizations/${organization.id}/sso-connections/${id}`,
                    })
                  }
                >
                  {m.copy_as_curl()}
                </Menu.Item>
                {mayWrite && (
                  <>
                    <Menu.Item onClick={() => setDialog("rename")}>{m.organizations_sso_rename()}</Menu.Item>
                    <Menu.Item className="danger" onClick={() => setDialog("delete")}>
                      {m.organizations_sso_delete()}
                    </Menu.Item>
                  </>
                )}
              </Menu.Dropdown>
            </Menu>
          </div>
        </header>
        {isActive && held && (
          <div className="note bad trouble">
            <Glyph shape="attention" />
            <p>
              <b>{m.organizations_sso_held_lead()}</b> {heldWords(connection)}
            </p>
          </div>
        )}
        <ol className="steps">
          <Step
            number={1}
            title={m.organizations_step1()}
            lead={m.organizations_step1_lead()}
            isDone={isDomainVerified}
          >
            <p>
              <b className="breaks">{domain}</b>{" "}
              {domains.data &&
                (isDomainVerified ? (
                  <span className="muted">{m.organizations_sso_domain_ok()}</span>
                ) : (
                  <>
                    <span className="muted">
                      {domainRecord ? m.organizations_sso_domain_open() : m.organizations_sso_domain_absent()}
                    </span>{" "}
                    <Link to="." search={{ tab: "domains" } as never} resetScroll={false}>
                      {m.organizations_sso_to_domains()}
                    </Link>
                  </>
                ))}
            </p>
          </Step>
          <Step
            number={2}
            title={m.organizations_step2()}
            lead={isOidc ? m.organizations_step2_lead_oidc() : m.organizations_step2_lead()}
          >
            <ServiceValues organization={organization} connection={connection} />
          </Step>
          <Step
            number={3}
            title={m.organizations_step3()}
            lead={isOidc ? m.organizations_step3_lead_oidc() : m.organizations_step3_lead()}
            isDone={lacks.length === 0}
          >
            {isOidc ? (
              <OidcForm organization={organization} connection={connection} />
            ) : (
              <ProviderForm organization={organization} connection={connection} />
            )}
          </Step>
          <Step number={4} title={m.organizations_step4()} lead={m.organizations_step4_lead()}>
            <RulesForm organization={organization} connection={connection} />
          </Step>
          <Step
            number={5}
            title={m.organizations_step5()}
            lead={m.organizations_step5_lead()}
            isDone={connection.testedAt !== null}
          >
            <Test organization={organization} connection={connection} isReady={lacks.length === 0} />
          </Step>
          <Step
            number={6}
            title={m.organizations_step6()}
            lead={m.organizations_step6_lead()}
            isDone={isActive && !held}
          >
            {isActive ? (
              <p className="muted">{m.organizations_sso_is_active({ domain })}</p>
            ) : (
              mayWrite && (
                <p className="line">
                  <Button kind={connection.testedAt ? "primary" : ""} busy={isBusy} onClick={() => void activate()}>
                    {m.organizations_sso_activate()}
                  </Button>
                  {!connection.testedAt && <span className="muted">{m.organizations_sso_untested()}</span>}
                </p>
              )
            )}
            {missing.length > 0 && !isActive && (
              <div role="alert" className="note bad trouble">
                <Glyph shape="attention" />
                <div>
                  <p>
                    <b>{m.organizations_sso_incomplete()}</b>
                  </p>
                  <ul className="bulleted">
                    {missing.map((each) => (
                      <li key={each} className="breaks">
                        {each}
                      </li>
                    ))}
                  </ul>
                </div>
              </div>
            )}
          </Step>
        </ol>
      </section>
      {!isOidc && <Certificates connection={connection} onRotate={mayWrite ? () => setDialog("rotate") : undefined} />}
      <Traces organization={organization} connection={connection} />
      {dialog === "rename" && <RenameDialog organization={organization} connection={connection} onClose={close} />}
      {dialog === "deactivate" && (
        <ConfirmDialog
          title={m.organizations_sso_deactivate_title({ name })}
          deed={m.organizations_sso_deactivate()}
          onClose={close}
          run={async () => {
            show(await sso.deactivate(organization.id, id));
            readAgain("sso");
            notifications.show({ message: m.organizations_sso_deactivated({ name }) });
          }}
        >
          <p>{m.organizations_sso_deactivate_lead({ domain })}</p>
        </ConfirmDialog>
      )}
      {dialog === "rotate" && (
        <ConfirmDialog
          title={m.organizations_rotate_title()}
          deed={m.organizations_rotate()}
          onClose={close}
          run={async () => {
            show(await sso.rotateCertificate(organization.id, id, { ifMatch: connection }));
            notifications.show({ message: m.organizations_rotated() });
          }}
        >
          <p>{m.organizations_rotate_lead()}</p>
        </ConfirmDialog>
      )}
      {dialog === "delete" && (
        <TypedConfirm
          title={m.organizations_sso_delete_title({ name })}
          name={name}
          deed={m.organizations_sso_delete_deed()}
          onClose={close}
          run={async () => {
            await sso.delete(organization.id, id);
            await client.cancelQueries({ queryKey: keyOf(projectId, "sso", organization.id) });
            client.setQueryData<SsoConnection[]>(connectionsQuery(projectId, organization.id).queryKey, (before) =>
              before?.filter((each) => each.id !== id),
            );
            await navigate({ to: ".", search: { tab: "sso" } as never, replace: true, resetScroll: false });
            client.removeQueries({ queryKey: connectionQuery(projectId, organization.id, id).queryKey });
            client.removeQueries({ queryKey: tracesQuery(projectId, organization.id, id).queryKey });
            readAgain("sso");
            notifications.show({ message: m.organizations_sso_deleted({ name }) });
          }}
        >
          <p>{m.organizations_sso_delete_lead()}</p>
        </TypedConfirm>
      )}
    </>
  );
}

/** One step of the set-up, with what it is for. */
function Step({
  number,
  title,
  lead,
  isDone = false,
  children,
}: {
  number: number;
  title: string;
  lead: string;
  isDone?: boolean;
  children: ReactNode;
}) {
  return (
    <li className="step">
      <span className="mark">
        {isDone ? (
          <>
            <Glyph shape="yes" />
            <span className="sr">{m.organizations_done()}</span>
          </>
        ) : (
          <span aria-hidden="true">{number}</span>
        )}
      </span>
      <div>
        <h3>{title}</h3>
        <p className="muted">{lead}</p>
        <div className="body">{children}</div>
      </div>
    </li>
  );
}

/** What the administrator of the identity provider enters there. */
function ServiceValues({ organization, connection }: { organization: Organization; connection: SsoConnection }) {
  const projectId = useProjectId();
  const isOidc = connection.kind === "OIDC";
  const values: [string, string][] = isOidc
    ? [
        [m.organizations_oidc_redirect(), connection.oidcRedirectUrl ?? ""],
        [m.organizations_oidc_post_logout(), connection.oidcPostLogoutRedirectUrl ?? ""],
        [m.organizations_oidc_backchannel(), connection.oidcBackchannelLogoutUrl ?? ""],
      ]
    : [
        [m.organizations_sp_metadata(), connection.spMetadataUrl],
        [m.organizations_sp_entity(), connection.spEntityId],
        [m.organizations_sp_acs(), connection.spAcsUrl],
        [m.organizations_sp_slo(), connection.spSloUrl],
      ];
  const save = async () => {
    try {
      const xml = await api(projectId).sso.getMetadata(organization.id, connection.id);
      download(xml, "postern-metadata.xml", "application/samlmetadata+xml");
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
  };
  return (
    <>
      <dl className="values">
        {values.map(([label, value]) => (
          <div key={label} className="pair">
            <dt>{label}</dt>
            <dd>
              <code>{value}</code>
              <Copy value={value} label={m.organizations_copy_value({ what: label })} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="line">
        {!isOidc && (
          <Button size="small" icon={<IconDownload {...ICON} />} onClick={() => void save()}>
            {m.organizations_sp_download()}
          </Button>
        )}
        <Button
          size="small"
          onClick={async () => {
            await navigator.clipboard.writeText(values.map((each) => each.join(": ")).join("\n"));
            notifications.show({ message: m.organizations_sp_copied() });
          }}
        >
          {m.organizations_sp_copy_all()}
        </Button>
      </p>
    </>
  );
}

/** Starts a test in another tab, and shows its result here. */
function Test({
  organization,
  connection,
  isReady,
}: {
  organization: Organization;
  connection: SsoConnection;
  isReady: boolean;
}) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const readAgain = useReadAgain(projectId, organization.id);
  const [link, setLink] = useState<string>();
  const [startedAt, setStartedAt] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    // Opened in the click itself: afterwards, browsers refuse new tabs.
    const tab = window.open("about:blank", "_blank");
    try {
      const { url } = await api(projectId).sso.createTestLink(organization.id, connection.id);
      setLink(url);
      setStartedAt(new Date().toISOString());
      if (tab) {
        tab.opener = null;
        tab.location.replace(url);
      }
    } catch (error) {
      tab?.close();
      notifications.show({ message: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <>
      {mayWrite && (
        <p className="line">
          <Button
            kind={isReady && connection.status !== "ACTIVE" && !connection.testedAt ? "primary" : ""}
            busy={isBusy}
            disabled={!isReady}
            onClick={() => void start()}
          >
            {m.organizations_test()}
          </Button>
          {!isReady && <span className="muted">{m.organizations_test_not_ready()}</span>}
        </p>
      )}
      {link && (
        <p className="muted testlink">
          {m.organizations_test_link()} <Copy value={link} label={m.organizations_test_copy()} />
        </p>
      )}
      <LastTest
        organization={organization}
        connection={connection}
        startedAt={startedAt}
        onResult={() => readAgain("sso")}
      />
      {connection.testedAt && (
        <p className="muted">
          {m.organizations_tested()} <Time at={connection.testedAt} format={longTime} />
        </p>
      )}
    </>
  );
}

/** The certificates of both sides with their ends, and the change to the next one. */
function Certificates({ connection, onRotate }: { connection: SsoConnection; onRotate: (() => void) | undefined }) {
  const now = Date.now();
  const places: Record<string, () => string> = {
    CURRENT: m.organizations_cert_current,
    NEXT: m.organizations_cert_next,
    PREVIOUS: m.organizations_cert_previous,
  };
  const rows = [
    ...connection.idpCertificates.map((each) => ({
      key: `idp ${each.fingerprint}`,
      owner: m.organizations_cert_idp(),
      what: each.subject,
      fingerprint: each.fingerprint,
      expiresAt: each.expiresAt,
    })),
    ...connection.spCertificates.map((each) => ({
      key: `sp ${each.place}`,
      owner: m.organizations_cert_sp(),
      what: places[each.place]?.() ?? each.place,
      fingerprint: each.fingerprint,
      expiresAt: each.expiresAt,
    })),
  ];
  return (
    <section className="sec" aria-labelledby="certificates">
      <header>
        <h2 id="certificates">{m.organizations_certificates()}</h2>
        {onRotate && (
          <div className="acts">
            <Button size="small" onClick={onRotate}>
              {m.organizations_rotate()}
            </Button>
          </div>
        )}
      </header>
      <ul className="list ruled">
        {rows.map(({ key, owner, what, fingerprint, expiresAt }) => {
          const ends = endsSoon(expiresAt, now);
          return (
            <li key={key}>
              <div className="grow">
                <b className="breaks">{what}</b> <span className="muted">{owner}</span>
                <p className="muted breaks">
                  SHA-256 <code>{fingerprint}</code>
                </p>
              </div>
              <Status
                shape={ends === "ended" ? "failed" : ends ? "attention" : "yes"}
                tone={ends === "ended" ? "fail" : ends ? "bad" : ""}
              >
                {ends === "ended" ? m.organizations_cert_ended() : m.organizations_cert_until()} <Time at={expiresAt} />
              </Status>
            </li>
          );
        })}
      </ul>
      {connection.idpMetadataUrl && (
        <p className="muted hint">
          {m.organizations_metadata_daily()}{" "}
          {connection.idpMetadataReadAt && (
            <>
              {m.organizations_metadata_read()} <Time at={connection.idpMetadataReadAt} format={longTime} />
            </>
          )}
        </p>
      )}
      <Wrong>
        {connection.idpMetadataProblem
          ? m.organizations_metadata_problem({ reason: connection.idpMetadataProblem })
          : undefined}
      </Wrong>
    </section>
  );
}
