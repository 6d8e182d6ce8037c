import { m } from "../../messages/messages.js";
import { SkeletonRows } from "../../parts/parts";

/** Rows of still bars while a list loads. */
export function Waiting({ rows = 3 }: { rows?: number }) {
  return (
    <div aria-busy="true">
      <span className="sr">{m.loading()}</span>
      <table className="table plain" aria-hidden="true">
        <SkeletonRows rows={rows} widths={[180, 80]} />
      </table>
    </div>
  );
}
