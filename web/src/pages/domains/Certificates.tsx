import type { Domain, DomainCertificate } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { LoadingFailed, Status, Time } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { certificatesQuery } from "./queries";
import { certificateLook } from "./words";

/** The TLS certificates of the domain's tracking names. Nothing if this server does not obtain any. */
export function Certificates({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const query = useQuery(certificatesQuery(projectId, domain.id));
  if (query.isError && !query.data) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data?.length) return null;
  return (
    <section className="sec" aria-labelledby="certificates">
      <header>
        <h2 id="certificates">{m.certificates()}</h2>
        <p>{m.certificates_lead()}</p>
      </header>
      <table className="table plain certificates">
        <thead>
          <tr>
            <th scope="col">{m.domains_name()}</th>
            <th scope="col">{m.domains_state()}</th>
            <th scope="col">{m.certificates_valid()}</th>
          </tr>
        </thead>
        <tbody>
          {query.data.map((each) => (
            <Certificate key={each.name} certificate={each} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Certificate({ certificate }: { certificate: DomainCertificate }) {
  const { name, status, problem, expiresAt, nextAttemptAt } = certificate;
  const { shape, tone, word } = certificateLook(status);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td>
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
        {problem && <small>{problem}</small>}
      </td>
      <td>
        {expiresAt ? <Time at={expiresAt} format={longTime} /> : <span className="muted">{m.certificates_none()}</span>}
        {nextAttemptAt && (
          <small className="muted">
            {m.certificates_next()} <Time at={nextAttemptAt} />
          </small>
        )}
      </td>
    </tr>
  );
}
