import { Link } from "@tanstack/react-router";
import { m } from "../messages/messages.js";
import { Button, Empty } from "../parts/parts";
import { messageOf } from "../session/server";

/** The page for an address that leads nowhere. */
export function NotFound() {
  return (
    <main id="main" className="page">
      <div className="empty">
        <h1>{m.not_found_title()}</h1>
        <p className="muted">{m.not_found_lead()}</p>
        <p className="line">
          <Link className="btn" to="/">
            {m.to_overview()}
          </Link>
        </p>
      </div>
    </main>
  );
}

/** What stands in place of a page or a part whose code failed. */
export function PageFailed({ error }: { error: unknown }) {
  return (
    <main id="main" className="page" role="alert">
      <Empty title={m.something_failed()} lead={m.something_failed_lead()} shape="failed">
        <Button onClick={() => location.reload()}>{m.reload()}</Button>
      </Empty>
      <pre className="code">{messageOf(error)}</pre>
    </main>
  );
}
