import { APIError, type Project } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../messages/messages.js";
import { Button, Field } from "../parts/parts";
import { profileQuery } from "../session/profile";
import { queries } from "../session/queries";
import { api, messageOf } from "../session/server";

/** Names a new project and creates it. */
export function NewProjectForm({ onCreated }: { onCreated: (project: Project) => void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name"));
    setBusy(true);
    try {
      const project = await api().projects.create({ name });
      await queries.refetchQueries(profileQuery);
      onCreated(project);
    } catch (caught) {
      setError(caught instanceof APIError ? messageOf(caught) : String(caught));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={submit}>
      <Field label={m.project_name()} name="name" required maxLength={200} error={error} data-autofocus />
      <Button className="full" kind="primary" type="submit" busy={busy}>
        {m.create()}
      </Button>
    </form>
  );
}
