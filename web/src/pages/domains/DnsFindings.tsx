import type { Domain } from "@postern/sdk";
import { m } from "../../messages/messages.js";
import { Findings, findingsInWords } from "../../parts/Findings";
import { newFindings } from "./records";

/** The mistakes in the DNS records that the last check found, and advice. */
export function DnsFindings({ domain }: { domain: Domain }) {
  const findings = newFindings(domain);
  if (domain.lastCheckedAt === null) return null;
  return (
    <section className="sec" aria-labelledby="findings">
      <header>
        <h2 id="findings">{m.domains_findings()}</h2>
        <p>{findingsInWords(findings) || m.domains_findings_none()}</p>
        <div className="acts">
          <a className="btn small bare" href="/guide/findings" target="_blank" rel="noreferrer">
            {m.domains_findings_guide()}
          </a>
        </div>
      </header>
      {findings.length > 0 && <Findings findings={findings} label={m.domains_findings()} />}
    </section>
  );
}
