import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { rolesQuery } from "../../parts/accessQueries";
import { Button } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isConflict } from "./queries";
import { RoleBoxes } from "./RoleBoxes";

/** Changes the roles of a customer in one organization. */
export function MemberRolesDialog({
  organization: { id, name },
  customerId,
  title,
  onSaved,
  onClose,
}: {
  organization: { id: string; name: string };
  customerId: string;
  title: string;
  onSaved: () => void;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const roles = useQuery(rolesQuery(projectId));
  const [typed, setTyped] = useState<string[]>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const { members } = api(projectId).organizations;
  const memberKey = ["organizations", projectId, "member", id, customerId];
  const current = useQuery({
    queryKey: memberKey,
    queryFn: ({ signal }) => members.get(id, customerId, { signal }),
    // The version is that of when the dialog was opened.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  });
  // Not those of the list, which can be older than the version that is saved over.
  const chosen = typed ?? current.data?.roles ?? [];
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (chosen.length === 0) return setError(m.organizations_roles_needed());
    setBusy(true);
    setError("");
    try {
      await members.update(id, customerId, { roles: chosen }, { ifMatch: current.data });
      onSaved();
      notifications.show({ message: m.customers_roles_saved() });
      onClose();
    } catch (caught) {
      setBusy(false);
      if (!isConflict(caught)) {
        const isLast = caught instanceof APIError && caught.code === "last_owner";
        return setError(isLast ? m.organizations_last_owner({ name }) : messageOf(caught));
      }
      const now = await members.get(id, customerId).catch(() => undefined);
      if (now) client.setQueryData(memberKey, now);
      setError(m.customers_roles_conflict({ roles: now?.roles.join(", ") || m.customers_no_roles() }));
    }
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form customerform" onSubmit={submit} noValidate>
        <RoleBoxes
          roles={roles.data}
          scope="ORGANIZATION"
          legend={m.organizations_roles_in({ name })}
          chosen={chosen}
          disabled={!current.data}
          onChange={setTyped}
        />
        <Wrong>{error || (current.isError ? messageOf(current.error) : "")}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={!current.data}>
            {m.customers_roles_save()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
