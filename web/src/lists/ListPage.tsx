import "./lists.css";
import { IconDownload } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { m } from "../messages/messages.js";
import { CopyRequest } from "../parts/CopyRequest";
import { ICON } from "../parts/parts";
import { type ApiRequest, usePageRequest } from "../parts/request";
import { type Neighbours, NeighboursContext } from "./neighbours";

/** A page with a list: title, actions, tabs, the list, and the panel of what is open beside it. */
export function ListPage({
  title,
  crumb,
  state,
  name,
  request,
  onExport,
  exportTitle = m.export(),
  actions,
  tabs,
  neighbours,
  panel,
  children,
}: {
  title: string;
  /** The way back to what the page is a part of. */
  crumb?: ReactNode;
  /** The state of what the page is about, beside the title. */
  state?: ReactNode;
  /** A class of the page, for the widths of its columns. */
  name: string;
  /** What the list shows, for "Copy as curl". */
  request: ApiRequest;
  onExport?: (() => Promise<void>) | undefined;
  exportTitle?: string;
  /** The main action of the page. */
  actions?: ReactNode;
  tabs?: ReactNode;
  neighbours: Neighbours;
  /** What is open beside the list. */
  panel?: ReactNode;
  children: ReactNode;
}) {
  const [isExporting, setExporting] = useState(false);
  const runExport = async () => {
    setExporting(true);
    await onExport?.().finally(() => setExporting(false));
  };
  return (
    <NeighboursContext value={neighbours}>
      <main id="main" className={`page listpage ${name}`} data-panel={panel ? "open" : "closed"}>
        <div className="listing">
          {crumb && <p className="crumb">{crumb}</p>}
          <div className="head">
            <h1>{title}</h1>
            {state}
            <div className="acts">
              <CopyRequest request={request} icon />
              {onExport && (
                <button
                  className="iconbtn wide"
                  type="button"
                  aria-label={m.export()}
                  title={exportTitle}
                  aria-busy={isExporting || undefined}
                  disabled={isExporting}
                  onClick={() => void runExport()}
                >
                  <IconDownload {...ICON} />
                </button>
              )}
              {actions}
            </div>
          </div>
          {tabs}
          {children}
        </div>
        {panel || <PageRequest request={request} />}
      </main>
    </NeighboursContext>
  );
}

/** While a panel is open, the page's request is that of the panel. */
function PageRequest({ request }: { request: ApiRequest }) {
  usePageRequest(request);
  return null;
}
