import { useQuery } from "@tanstack/react-query";
import { api } from "../../session/server";

export const MEMBERS = ["account", "members"];

/** The members of the account, those first who have been here longest. */
export function useMembers() {
  return useQuery({
    queryKey: MEMBERS,
    queryFn: async ({ signal }) => {
      const { data } = await api().account.members.list({}, { signal });
      return data.toSorted((first, second) => first.joinedAt.localeCompare(second.joinedAt));
    },
  });
}
