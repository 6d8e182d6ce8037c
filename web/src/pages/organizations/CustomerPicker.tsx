import type { Customer } from "@postern/sdk";
import { m } from "../../messages/messages.js";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { Picker } from "../customers/Picker";
import { nameOf } from "../customers/words";

const FOUND = 8;

/** A choice among the customers of the project. */
export function CustomerPicker({
  label,
  error,
  chosen,
  onChoose,
}: {
  label: string;
  error?: string | undefined;
  chosen: Customer | undefined;
  onChoose: (customer: Customer) => void;
}) {
  const projectId = useProjectId();
  return (
    <Picker
      label={label}
      hint={m.customers_search()}
      error={error}
      queryKey={["organizations", projectId, "find-customers"]}
      find={async (q, signal) =>
        (await api(projectId).customers.list({ ...(q && { q }), limit: FOUND }, { signal })).data
      }
      words={(each) => ({ name: nameOf(each), detail: each.email && each.email !== nameOf(each) ? each.email : "" })}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
