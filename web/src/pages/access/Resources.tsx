import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type NewOAuthResource, type OAuthResource, type OAuthResourceChange } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { permissionsQuery } from "../../parts/accessQueries";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { CopyRequest } from "../../parts/CopyRequest";
import { Button, Copy, Empty, Field, ICON, LoadingFailed, Status } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isConflict } from "../customers/queries";
import { Choices, DIALOG, type Errors, LoadingRows, Row, Section, useMay } from "../settings/pieces";
import { placed } from "../settings/placed";
import { appsQuery, resourceQuery, resourcesQuery } from "./appQueries";
import type { Environment } from "./apps";
import { toggled } from "./apps";
import { environmentLook } from "./appWords";
import { Box } from "./Box";

const URL_CHARACTERS = 2_000;
const NAME_CHARACTERS = 200;
const PLACES = {
  name: ["/name"],
  identifier: ["/identifier", "oauth_resource_exists"],
  environment: ["/environment"],
  scopes: ["/scopes"],
  introspectionClientId: ["/introspectionClientId"],
};

/** The APIs for which apps can ask for tokens of their own (RFC 8707). */
export function Resources() {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMay("projects");
  const query = useQuery(resourcesQuery(projectId));
  const [opened, setOpened] = useState<OAuthResource | "new">();
  const [deleted, setDeleted] = useState<OAuthResource>();
  const add = (
    <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setOpened("new")}>
      {m.access_api_new()}
    </Button>
  );
  const { data: resources } = query;
  return (
    <Section title={m.access_apis()} lead={m.access_apis_lead()} actions={mayWrite && resources?.length ? add : null}>
      {query.isPending ? (
        <LoadingRows count={2} />
      ) : resources === undefined ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : resources.length === 0 ? (
        <Empty title={m.access_apis_none()} lead={m.access_apis_none_lead()}>
          {mayWrite && add}
        </Empty>
      ) : (
        <ul className="rows" aria-label={m.access_apis()}>
          {resources.map((each) => (
            <Row
              key={each.id}
              title={
                <>
                  {each.name} {each.environment === "TEST" && <Status shape="off">{environmentLook(each).word}</Status>}
                </>
              }
              action={
                mayWrite && (
                  <>
                    <Button
                      size="small"
                      aria-label={m.access_api_edit_of({ name: each.name })}
                      onClick={() => setOpened(each)}
                    >
                      {m.access_edit()}
                    </Button>
                    <Button
                      kind="danger"
                      size="small"
                      aria-label={m.access_api_delete_of({ name: each.name })}
                      onClick={() => setDeleted(each)}
                    >
                      {m.access_delete()}
                    </Button>
                  </>
                )
              }
            >
              <span className="breaks">
                <code>{each.identifier}</code>{" "}
                <Copy value={each.identifier} label={m.access_app_copy_value({ what: m.access_api_identifier() })} />
              </span>
              {each.scopes.length > 0 && <span className="breaks">{each.scopes.join(", ")}</span>}
            </Row>
          ))}
        </ul>
      )}
      {opened === "new" && <ResourceDialog resource={undefined} onClose={() => setOpened(undefined)} />}
      {opened && opened !== "new" && <EditDialog {...opened} onClose={() => setOpened(undefined)} />}
      {deleted && (
        <TypedConfirm
          title={m.access_api_delete_title({ name: deleted.name })}
          name={deleted.name}
          deed={m.access_delete()}
          onClose={() => setDeleted(undefined)}
          run={async () => {
            await api(projectId).oauthResources.delete(deleted.id);
            await client.invalidateQueries(resourcesQuery(projectId));
            notifications.show({ message: m.access_deleted({ name: deleted.name }) });
          }}
        >
          <p>{m.access_api_delete_lead()}</p>
        </TypedConfirm>
      )}
    </Section>
  );
}

interface ResourceDraft {
  name: string;
  identifier: string;
  environment: Environment;
  scopes: string[];
  introspectionClientId: string;
}

const NEW: ResourceDraft = { name: "", identifier: "", environment: "LIVE", scopes: [], introspectionClientId: "" };

function draftOf(resource: OAuthResource): ResourceDraft {
  return {
    name: resource.name,
    identifier: resource.identifier,
    environment: resource.environment === "TEST" ? "TEST" : "LIVE",
    scopes: resource.scopes,
    introspectionClientId: resource.introspectionClientId ?? "",
  };
}

/** Only what is new in a draft, so that nothing else is overwritten. */
function changeOf(base: ResourceDraft, draft: ResourceDraft): OAuthResourceChange {
  return {
    ...(base.name !== draft.name.trim() && { name: draft.name.trim() }),
    ...(base.scopes.join(" ") !== draft.scopes.join(" ") && { scopes: draft.scopes }),
    ...(base.introspectionClientId !== draft.introspectionClientId && {
      introspectionClientId: draft.introspectionClientId || null,
    }),
  };
}

function newOf(draft: ResourceDraft): NewOAuthResource {
  const { introspectionClientId, ...rest } = draft;
  return {
    ...rest,
    name: draft.name.trim(),
    identifier: draft.identifier.trim(),
    ...(introspectionClientId && { introspectionClientId }),
  };
}

/** The dialog for an API as it is stored now. */
function EditDialog({ id, name, onClose }: Pick<OAuthResource, "id" | "name"> & { onClose: () => void }) {
  const projectId = useProjectId();
  const { data, error, refetch } = useQuery(resourceQuery(projectId, id));
  // What is read again later is no reason to lose what is typed.
  const [first, setFirst] = useState(data);
  if (data && !first) setFirst(data);
  if (first) return <ResourceDialog resource={first} onClose={onClose} />;
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      title={m.access_api_edit({ name })}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      {error ? <LoadingFailed error={error} onRetry={() => void refetch()} /> : <LoadingRows count={3} />}
    </Modal>
  );
}

function ResourceDialog({ resource, onClose }: { resource: OAuthResource | undefined; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [base, setBase] = useState(resource);
  const [theirs, setTheirs] = useState<OAuthResource>();
  const [draft, setDraft] = useState(() => (resource ? draftOf(resource) : NEW));
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const permissions = useQuery(permissionsQuery(projectId));
  const apps = useQuery(appsQuery(projectId));
  const { oauthResources } = api(projectId);
  const path = `/projects/${projectId}/oauth-resources`;
  const set = (part: Partial<ResourceDraft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([field]) => field && !(field in part))));
  };
  const save = async (version: OAuthResource | undefined) => {
    const wrong: Errors = {};
    if (!draft.name.trim()) wrong.name = m.access_required();
    if (!draft.identifier.trim()) wrong.identifier = m.access_required();
    setErrors(wrong);
    if (Object.keys(wrong).length) return;
    setBusy(true);
    try {
      const saved = version
        ? await oauthResources.update(version.id, base ? changeOf(draftOf(base), draft) : {}, { ifMatch: version })
        : await oauthResources.create(newOf(draft));
      await client.invalidateQueries(resourcesQuery(projectId));
      notifications.show({ message: m.access_saved({ name: saved.name }) });
      return onClose();
    } catch (error) {
      if (version && isConflict(error))
        await oauthResources.get(version.id).then(setTheirs, (failed: unknown) => setErrors({ "": messageOf(failed) }));
      else {
        setTheirs(undefined);
        setErrors(error instanceof APIError ? placed(error, PLACES) : { "": messageOf(error) });
      }
    }
    setBusy(false);
  };
  const appName = (id: string) => apps.data?.find((each) => each.id === id)?.name ?? (id || m.access_api_no_client());
  if (theirs) {
    const parts = (each: ResourceDraft) => ({
      [m.access_app_label()]: each.name,
      [m.access_api_scopes()]: each.scopes.join(", "),
      [m.access_api_client()]: appName(each.introspectionClientId),
    });
    const [now, mine] = [parts(draftOf(theirs)), parts(draft)];
    return (
      <ConflictDialog
        lead={m.access_app_conflict_lead()}
        rows={Object.keys(mine)
          .filter((name) => now[name] !== mine[name])
          .map((name) => ({
            name,
            theirs: <span className="breaks">{now[name]}</span>,
            mine: <span className="breaks">{mine[name]}</span>,
          }))}
        hint={m.access_app_conflict_hint()}
        onClose={() => setTheirs(undefined)}
        onTheirs={() => {
          setDraft(draftOf(theirs));
          setBase(theirs);
          setTheirs(undefined);
        }}
        onMine={() => save(theirs)}
      />
    );
  }
  const declared = permissions.data?.map(({ key }) => key) ?? [];
  const meaningOf = (key: string) => permissions.data?.find((each) => each.key === key)?.description ?? "";
  const clients = apps.data?.filter((each) => each.type === "CONFIDENTIAL" && each.environment === draft.environment);
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      title={resource ? m.access_api_edit({ name: resource.name }) : m.access_api_new()}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form
        className="form accessform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          event.stopPropagation();
          if (!isBusy) void save(base);
        }}
      >
        <Field
          label={m.access_app_label()}
          hint={m.access_app_name_hint()}
          maxLength={NAME_CHARACTERS}
          autoComplete="off"
          error={errors.name}
          value={draft.name}
          onChange={(event) => set({ name: event.target.value })}
          data-autofocus
        />
        <Field
          label={m.access_api_identifier()}
          hint={resource ? m.access_api_identifier_fixed() : m.access_api_identifier_hint()}
          type="url"
          maxLength={URL_CHARACTERS}
          autoComplete="off"
          spellCheck={false}
          placeholder="https://notes.example.com/mcp"
          readOnly={resource !== undefined}
          error={errors.identifier}
          value={draft.identifier}
          onChange={(event) => set({ identifier: event.target.value })}
        />
        {!resource && (
          <Choices
            legend={m.access_app_environment()}
            isLegendShown
            name="environment"
            value={draft.environment}
            options={(["LIVE", "TEST"] as const).map((environment) => ({
              value: environment,
              label: environmentLook({ environment }).word,
            }))}
            onChange={(environment) => set({ environment, introspectionClientId: "" })}
          />
        )}
        <Wrong>{errors.environment}</Wrong>
        <fieldset className="boxes">
          <legend className="label">{m.access_api_scopes()}</legend>
          <p className="hint">{declared.length ? m.access_api_scopes_hint() : m.access_api_scopes_none()}</p>
          {declared.length > 0 && (
            <div className="manyboxes">
              {[...declared, ...draft.scopes.filter((each) => !declared.includes(each))].map((key) => (
                <Box
                  key={key}
                  label={meaningOf(key) || key}
                  code={meaningOf(key) ? key : ""}
                  checked={draft.scopes.includes(key)}
                  onChange={() => set({ scopes: toggled(draft.scopes, key, declared) })}
                />
              ))}
            </div>
          )}
          <Wrong>{errors.scopes}</Wrong>
        </fieldset>
        <Field label={m.access_api_client()} hint={m.access_api_client_hint()} error={errors.introspectionClientId}>
          {(attributes) => (
            <select
              className="input"
              value={draft.introspectionClientId}
              onChange={(event) => set({ introspectionClientId: event.target.value })}
              {...attributes}
            >
              <option value="">{m.access_api_no_client()}</option>
              {clients?.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <span className="grow">
            <CopyRequest
              request={
                base
                  ? { method: "PATCH", path: `${path}/${base.id}`, body: changeOf(draftOf(base), draft) }
                  : { method: "POST", path, body: newOf(draft) }
              }
            />
          </span>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {base ? m.settings_save() : m.access_api_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
