import { api } from "../../session/server";

/** Who changed a record last, by the events of the project; undefined if they do not tell. */
export async function lastChangedBy(projectId: string, type: string, id: string): Promise<string | undefined> {
  try {
    const { data } = await api(projectId).events.list({ type, subjectId: id, limit: 1 });
    return data[0]?.actorLabel ?? undefined;
  } catch {
    return undefined;
  }
}
