import { Modal } from "@mantine/core";
import { APIError, type NewTemplate as Content } from "@postern/sdk";
import { IconCode, IconFile } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { getLocale } from "../../messages/runtime.js";
import { Button, Field, ICON } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { GalleryCards } from "./GalleryCards";
import { type BlockDocument, beginningOf, blank, nameOf, STARTERS, type Starter } from "./gallery";
import { picturesOf, withoutPictures } from "./gallery/pictures";
import { withUploadedPictures } from "./galleryFiles";

type Kind = "gallery" | "html";
type Errors = { name?: string; subject?: string; html?: string; "": string };

/** The field of the form that a refused path belongs to. */
const FIELDS: Record<string, "name" | "subject" | "html"> = {
  name: "name",
  subject: "subject",
  html: "html",
  builderJson: "html",
};

/** Creates a template: empty, from the gallery, or from HTML that exists. */
export function NewTemplate({ first, onClose }: { first?: Kind | undefined; onClose: () => void }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [kind, setKind] = useState<Kind>(first ?? "gallery");
  const [starter, setStarter] = useState<Starter | undefined>();
  const [hasPictures, setPictures] = useState(false);
  const [values, setValues] = useState({ name: "", subject: "", html: "" });
  const [errors, setErrors] = useState<Errors>({ "": "" });
  const [isBusy, setBusy] = useState(false);
  const set = (field: keyof typeof values) => (event: { target: { value: string } }) =>
    setValues({ ...values, [field]: event.target.value });

  const language = getLocale();
  const choose = (next: Starter | undefined) => {
    setStarter(next);
    setPictures(false);
    if (next)
      void beginningOf(next, language).then(({ builderJson }) => setPictures(picturesOf(builderJson).length > 0));
    // What someone typed stays; what came from another starter does not.
    const came = STARTERS.map((each) => nameOf(each, language));
    const name = !values.name || came.includes(values.name) ? (next ? nameOf(next, language) : "") : values.name;
    setValues({ ...values, name });
  };
  const content = async (
    placed: (document: BlockDocument) => BlockDocument | Promise<BlockDocument>,
  ): Promise<Content> => {
    const name = values.name.trim();
    if (kind === "html") return { name, subject: values.subject.trim() || null, html: values.html };
    const beginning = starter && (await beginningOf(starter, language));
    const document = await placed(beginning?.builderJson ?? blank(language));
    const builderJson = document as unknown as Record<string, unknown>;
    return { name, subject: beginning?.subject ?? null, builderJson };
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!values.name.trim()) return setErrors({ name: m.templates_name_missing(), "": "" });
    if (kind === "html" && !values.html.trim()) return setErrors({ html: m.templates_html_missing(), "": "" });
    setBusy(true);
    setErrors({ "": "" });
    try {
      const created = await api(projectId).templates.create(
        await content((document) => withUploadedPictures(document, projectId)),
      );
      void client.invalidateQueries({ queryKey: ["templates", projectId] });
      await navigate({
        to: "/projects/$projectId/templates/$templateId/edit",
        params: { projectId, templateId: created.id },
      });
    } catch (error) {
      setErrors(errorsOf(error, kind));
      setBusy(false);
    }
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={m.templates_new()}
      size={kind === "gallery" ? 960 : 640}
      closeButtonProps={{ "aria-label": m.close() }}
      className="templates-new"
    >
      <form className="form" onSubmit={submit} noValidate>
        <div className="seg" role="group" aria-label={m.templates_begin_with()}>
          <button type="button" aria-pressed={kind === "gallery"} onClick={() => setKind("gallery")}>
            <IconFile {...ICON} />
            {m.templates_begin_blocks()}
          </button>
          <button type="button" aria-pressed={kind === "html"} onClick={() => setKind("html")}>
            <IconCode {...ICON} />
            {m.templates_begin_html()}
          </button>
        </div>
        {kind === "gallery" && <GalleryCards chosen={starter} onChoose={choose} />}
        <Field
          label={m.templates_name()}
          hint={kind === "gallery" && hasPictures ? m.templates_gallery_pictures() : m.templates_name_hint()}
          error={errors.name}
          value={values.name}
          onChange={set("name")}
          maxLength={200}
          autoComplete="off"
          data-autofocus
        />
        {kind === "html" && (
          <>
            <Field
              label={m.templates_subject()}
              error={errors.subject}
              value={values.subject}
              onChange={set("subject")}
              autoComplete="off"
            />
            <Field label={m.templates_html()} hint={m.templates_html_hint({ example: "{{name}}" })} error={errors.html}>
              {(attributes) => (
                <textarea
                  className="input mono"
                  rows={10}
                  spellCheck={false}
                  value={values.html}
                  onChange={set("html")}
                  {...attributes}
                />
              )}
            </Field>
          </>
        )}
        {errors[""] && (
          <p className="wrong" role="alert">
            <span>{errors[""]}</span>
          </p>
        )}
        <div className="dialog-actions">
          <Button
            kind="bare"
            className="start"
            onClick={() =>
              // A command cannot upload the pictures.
              void content(withoutPictures).then((body) =>
                copyCurl({ method: "POST", path: `/projects/${projectId}/templates`, body }),
              )
            }
          >
            {m.copy_as_curl()}
          </Button>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.templates_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** What was refused, by field; under an empty name what is about none of the fields that are shown. */
function errorsOf(error: unknown, kind: Kind): Errors {
  if (!(error instanceof APIError)) return { "": messageOf(error) };
  const found: Errors = { "": "" };
  for (const { path, message } of error.errors) {
    const named = FIELDS[path.split("/")[1] ?? ""];
    const field = named === "name" || kind === "html" ? (named ?? "") : "";
    found[field] = found[field] ? `${found[field]} ${message}` : message;
  }
  return error.errors.length ? found : { "": messageOf(error) };
}
