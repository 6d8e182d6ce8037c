import { useCallback, useState } from "react";
import { m } from "../../messages/messages.js";
import { queries } from "../../session/queries";
import { api, messageOf } from "../../session/server";
import { keysQuery } from "./queries";

/** A secret TEST key for the first steps. Only this page has it, until the page is left. */
export function useTestKey(projectId: string) {
  const [key, setKey] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const create = useCallback(async (): Promise<string | undefined> => {
    setBusy(true);
    setError("");
    try {
      const created = await api(projectId).apiKeys.create({
        name: m.overview_key_name(),
        type: "SECRET",
        environment: "TEST",
      });
      setKey(created.key);
      void queries.invalidateQueries(keysQuery(projectId));
      return created.key;
    } catch (caught) {
      setError(messageOf(caught));
      return undefined;
    } finally {
      setBusy(false);
    }
  }, [projectId]);
  return { key, busy, error, create };
}
