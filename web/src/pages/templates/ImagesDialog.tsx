import { Modal } from "@mantine/core";
import type { Asset, Page } from "@postern/sdk";
import { IconUpload } from "@tabler/icons-react";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { type DragEvent, useId, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { bytes } from "../../parts/format";
import { Button, ICON, LoadingFailed } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isLoadable } from "./Canvas";

/** Images of one page of the list. */
const PAGE_IMAGES = 24;
/** Bytes that the server takes. */
const MOST_BYTES = 2_000_000;
const TYPES = "image/png,image/jpeg,image/gif,image/webp";

/** The images of the project: one is chosen or uploaded. */
export function ImagesDialog({ onChoose, onClose }: { onChoose: (image: Asset) => void; onClose: () => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const id = useId();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const queryKey = ["assets", projectId];
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => (pageParam ? pageParam.next() : api(projectId).assets.list({ limit: PAGE_IMAGES })),
    initialPageParam: undefined as Page<Asset> | undefined,
    getNextPageParam: (last) => (last?.hasNext ? last : undefined),
    // The pages are objects with methods.
    structuralSharing: false,
  });
  const images = query.data?.pages.flatMap((page) => page?.data ?? []) ?? [];
  const upload = async (file: File | undefined) => {
    if (!file || isBusy) return;
    setError("");
    if (file.size > MOST_BYTES) return setError(m.templates_image_too_large({ size: bytes(file.size) }));
    setBusy(true);
    try {
      const image = await api(projectId).assets.create(file, { name: file.name.slice(0, 200) });
      void client.invalidateQueries({ queryKey });
      onChoose(image);
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void upload(event.dataTransfer.files[0]);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      className="template-images"
      title={m.templates_images()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <div className="form">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same. */}
        <div className="upload" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
          <input
            id={id}
            className="sr"
            type="file"
            accept={TYPES}
            disabled={isBusy}
            aria-describedby={`${id}hint`}
            onChange={({ target }) => void upload(target.files?.[0])}
          />
          <label htmlFor={id} className={`btn ${isBusy ? "busy" : ""}`}>
            {isBusy ? <i aria-hidden="true" /> : <IconUpload {...ICON} />}
            {isBusy ? m.templates_uploading() : m.templates_upload()}
          </label>
          <span className="muted" id={`${id}hint`}>
            {m.templates_upload_hint()}
          </span>
        </div>
        {error && (
          <p className="wrong" role="alert">
            <Glyph shape="failed" />
            <span>{error}</span>
          </p>
        )}
        {query.isError && !images.length ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <p className="muted">{m.loading()}</p>
        ) : images.length ? (
          <ul className="images">
            {images.map((image) => (
              <li key={image.id}>
                <button type="button" onClick={() => onChoose(image)}>
                  {isLoadable(image.url) ? (
                    <img src={image.url} alt="" loading="lazy" referrerPolicy="no-referrer" />
                  ) : (
                    <span className="nothumb" />
                  )}
                  <span className="cut">{image.name || m.templates_image_unnamed()}</span>
                  <small className="muted">
                    {image.width} × {image.height}, {bytes(image.size)}
                  </small>
                </button>
              </li>
            ))}
          </ul>
        ) : (
          <p className="muted">{m.templates_images_none()}</p>
        )}
        {query.hasNextPage && (
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {m.templates_images_more()}
          </Button>
        )}
      </div>
    </Modal>
  );
}
