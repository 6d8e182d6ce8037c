import { notifications } from "@mantine/notifications";
import type { InboundRoute, MxRecord } from "@postern/sdk";
import { IconPlus, IconRefresh } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Copy, Empty, Field, ICON, LoadingFailed, Status } from "../../parts/parts";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { FormDialog, textOf } from "../settings/pieces";
import { Frame } from "./Frame";
import { routesQuery } from "./received";

const page = getRouteApi("/session/projects/$projectId/emails/received/addresses");

const NO_PANEL = { above: undefined, below: undefined, close: () => {}, row: undefined, patch: () => {} };

/** The addresses that receive mail for the project, with the MX record of each. */
export function InboundRoutes() {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const navigate = useNavigate();
  const { add } = page.useSearch();
  const query = useQuery(routesQuery(projectId));
  const setAdding = (isAdding: boolean) =>
    void navigate({ to: ".", search: (isAdding ? { add: "1" } : {}) as never, replace: true });
  return (
    <Frame
      tab="received"
      request={{ method: "GET", path: `/projects/${projectId}/inbound/routes` }}
      neighbours={NO_PANEL}
    >
      <section className="sec routes" aria-labelledby="addresses">
        <p className="crumb">
          <Link to="/projects/$projectId/emails/received" params={{ projectId }}>
            {m.received_tab()}
          </Link>{" "}
          / {m.received_addresses()}
        </p>
        <header>
          <h2 id="addresses">{m.received_addresses()}</h2>
          <p>{m.received_addresses_lead()}</p>
          {mayWrite && (
            <div className="acts">
              <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setAdding(true)}>
                {m.received_add_address()}
              </Button>
            </div>
          )}
        </header>
        {query.isError && !query.data ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : !query.data ? (
          <i className="skel" style={{ width: 260 }} />
        ) : query.data.length === 0 ? (
          <Empty title={m.received_no_address()} lead={m.received_no_address_lead()} />
        ) : (
          <ul className="list">
            {query.data.map((each) => (
              <Route key={each.id} route={each} />
            ))}
          </ul>
        )}
      </section>
      {add && mayWrite && <RouteDialog onClose={() => setAdding(false)} />}
    </Frame>
  );
}

/** One address: whether it receives, and the record that leads mail here. */
function Route({ route }: { route: InboundRoute }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [busy, setBusy] = useState("");
  const [dialog, setDialog] = useState<"" | "change" | "delete">("");
  const changed = () => client.invalidateQueries({ queryKey: routesQuery(projectId).queryKey });
  const run = async (name: string, deed: () => Promise<unknown>) => {
    setBusy(name);
    try {
      await deed();
      await changed();
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setBusy("");
    }
  };
  const { routes } = api(projectId).inbound;
  const { shape, tone, word } = mxLook(route.record);
  return (
    <li>
      <div className="grow">
        <p>
          <b>{route.address}</b> {route.name !== route.address && <span className="muted">{route.name}</span>}{" "}
          <Link
            to="/projects/$projectId/emails/received"
            params={{ projectId }}
            search={{ routeId: route.id }}
            aria-label={m.received_show_mail_of({ address: route.address })}
          >
            {m.received_show_mail()}
          </Link>
        </p>
        {!route.active && <p className="muted">{m.received_paused()}</p>}
        <p className="mx">
          <Status shape={shape} tone={tone}>
            {word()}
          </Status>
          <span className="tag key">MX</span>
          <code>{route.record.name}</code>
          <Copy value={route.record.name} label={m.received_copy_name({ address: route.address })} />
          <code>
            {route.record.priority} {route.record.value}
          </code>
          <Copy
            value={`${route.record.priority} ${route.record.value}`}
            label={m.received_copy_value({ address: route.address })}
          />
        </p>
        {route.record.reason && <p className="muted">{route.record.reason}</p>}
      </div>
      {mayWrite && (
        <div className="acts">
          <Button
            size="small"
            busy={busy === "look"}
            icon={<IconRefresh {...ICON} />}
            aria-label={m.received_look_of({ address: route.address })}
            onClick={() => void run("look", () => routes.verify(route.id))}
          >
            {m.domains_look()}
          </Button>
          <Button
            size="small"
            busy={busy === "active"}
            aria-label={
              route.active
                ? m.received_pause_of({ address: route.address })
                : m.received_resume_of({ address: route.address })
            }
            onClick={() => void run("active", () => routes.update(route.id, { active: !route.active }))}
          >
            {route.active ? m.received_pause() : m.received_resume()}
          </Button>
          <Button
            size="small"
            aria-label={m.received_rename_of({ address: route.address })}
            onClick={() => setDialog("change")}
          >
            {m.received_rename()}
          </Button>
          <Button
            size="small"
            kind="bare"
            aria-label={m.received_remove_of({ address: route.address })}
            onClick={() => setDialog("delete")}
          >
            {m.settings_remove()}
          </Button>
        </div>
      )}
      {dialog === "change" && <RouteDialog route={route} onClose={() => setDialog("")} />}
      {dialog === "delete" && (
        <TypedConfirm
          title={m.received_remove_title({ address: route.address })}
          name={route.address}
          deed={m.settings_remove()}
          onClose={() => setDialog("")}
          run={async () => {
            await routes.delete(route.id);
            notifications.show({ message: m.received_removed({ address: route.address }) });
            await changed();
          }}
        >
          <p>{m.received_remove_lead()}</p>
        </TypedConfirm>
      )}
    </li>
  );
}

function mxLook({ status }: MxRecord) {
  if (status === "VERIFIED") return { shape: "yes", tone: "", word: m.domains_record_right } as const;
  if (status === "WRONG") return { shape: "attention", tone: "bad", word: m.domains_record_wrong } as const;
  if (status === "UNKNOWN") return { shape: "no", tone: "", word: m.domains_record_unknown } as const;
  return { shape: "waiting", tone: "", word: m.domains_record_missing } as const;
}

/** Adds an address, or renames one: its address never changes. */
function RouteDialog({ route, onClose }: { route?: InboundRoute; onClose: () => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const [address, setAddress] = useState("");
  return (
    <FormDialog
      title={route ? m.received_rename_of({ address: route.address }) : m.received_add_address()}
      deed={route ? m.received_save() : m.received_add_address()}
      ready={route !== undefined || address.trim() !== ""}
      places={{ address: ["/address"], name: ["/name"] }}
      onClose={onClose}
      run={async (form) => {
        const { routes } = api(projectId).inbound;
        const name = textOf(form, "name");
        if (route) await routes.update(route.id, { name: name || route.address });
        else await routes.create({ address: address.trim(), ...(name && { name }) });
        await client.invalidateQueries({ queryKey: routesQuery(projectId).queryKey });
      }}
    >
      {(errors) => (
        <>
          {!route && (
            <Field
              label={m.received_address()}
              value={address}
              onChange={(event) => setAddress(event.target.value)}
              placeholder="support@reply.example.com"
              hint={m.received_address_hint()}
              error={errors.address}
              spellCheck={false}
              autoCapitalize="none"
              autoComplete="off"
              data-autofocus
            />
          )}
          <Field
            label={m.received_name()}
            name="name"
            defaultValue={route && route.name !== route.address ? route.name : ""}
            hint={m.received_name_hint()}
            error={errors.name}
            maxLength={200}
            data-autofocus={route ? true : undefined}
          />
        </>
      )}
    </FormDialog>
  );
}
