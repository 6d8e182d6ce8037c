import { useQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { count, percent } from "../../parts/format";
import { LoadingFailed, SkeletonRows } from "../../parts/parts";
import { Rates } from "../../parts/Rates";
import { BOUNCE_LIMIT, COMPLAINT_LIMIT, JUDGED_FROM } from "../../parts/rateLimits";
import { type Range, ratesOf, shareOf, sumOf } from "./period";
import { customersQuery, mailQuery, totalsQuery } from "./queries";

/** The rates for which mailbox providers restrict a sender, against their limits. */
export function Reputation({ projectId, range }: { projectId: string; range: Range }) {
  const mail = useQuery(mailQuery(projectId, range));
  const totals = useQuery(totalsQuery(projectId, range));
  const counts = mail.data && sumOf(mail.data.days);
  const rates = counts && ratesOf(counts);
  const contacts = totals.data?.contacts;
  const domains = (mail.data?.domains ?? []).filter((each) => each.total > 0);
  const few = counts && counts.sent + counts.bounced < JUDGED_FROM;
  return (
    <section className="sec limits" aria-labelledby="limits">
      <header>
        <h2 id="limits">{m.overview_reputation()}</h2>
        <p>{m.overview_reputation_lead({ days: range })}</p>
      </header>
      {mail.isError && !mail.data ? (
        <LoadingFailed error={mail.error} onRetry={() => void mail.refetch()} />
      ) : (
        <Rates shares={rates}>
          {contacts && contacts.total > 0 && (
            <tr>
              <th scope="row">{m.overview_unsubscribed()}</th>
              <td className="num">
                <b>{percent(contacts.unsubscribeRate, 2)}</b>
              </td>
              <td className="num muted">{m.overview_no_limit()}</td>
              <td className="muted">
                {m.overview_of_contacts({ count: count(contacts.unsubscribed), total: count(contacts.total) })}
              </td>
            </tr>
          )}
        </Rates>
      )}
      {domains.length > 1 && (
        <table className="table plain domains">
          <thead>
            <tr>
              <th scope="col">{m.overview_domain()}</th>
              <th scope="col" className="num">
                {m.emails()}
              </th>
              <th scope="col" className="num">
                {m.rates_bounces()}
              </th>
              <th scope="col" className="num">
                {m.rates_complaints()}
              </th>
            </tr>
          </thead>
          <tbody>
            {domains
              .toSorted((first, second) => second.total - first.total)
              .slice(0, SHOWN_DOMAINS)
              .map((each) => (
                <tr key={each.domainId}>
                  <th scope="row" className="cut" title={each.domain}>
                    {each.domain}
                  </th>
                  <td className="num">{count(each.total)}</td>
                  <td className={overLimit(each.bounceRate, BOUNCE_LIMIT, each.total)}>
                    {percent(each.bounceRate, 2)}
                  </td>
                  <td className={overLimit(each.complaintRate, COMPLAINT_LIMIT, each.total)}>
                    {percent(each.complaintRate, 2)}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      )}
      <p className="pairfoot muted">
        {few && `${m.overview_few({ count: JUDGED_FROM })} `}
        {m.overview_complaints_foot()}
      </p>
    </section>
  );
}

const SHOWN_DOMAINS = 5;

function overLimit(share: number, limit: number, total: number): string {
  return share > limit && total >= JUDGED_FROM ? "num over" : "num";
}

/** How many customers there are, and in which state. The API has no numbers over time. */
export function Customers({ projectId, range }: { projectId: string; range: Range }) {
  const stats = useQuery(customersQuery(projectId));
  const contacts = useQuery(totalsQuery(projectId, range)).data?.contacts;
  const total = stats.data?.total ?? 0;
  const states = stats.data && [
    { name: m.overview_verified(), number: stats.data.verified },
    { name: m.overview_second_factor(), number: stats.data.mfaEnabled },
    { name: m.overview_banned(), number: stats.data.banned },
  ];
  return (
    <section className="sec people" aria-labelledby="people">
      <header>
        <h2 id="people">{m.overview_customers()}</h2>
        {stats.data && total > 0 && <p>{m.overview_in_all({ count: count(total) })}</p>}
      </header>
      {stats.isError && !stats.data ? (
        <LoadingFailed error={stats.error} onRetry={() => void stats.refetch()} />
      ) : stats.data && total === 0 ? (
        <div className="rule nobody">
          <p>{m.overview_no_customers()}</p>
          <p className="muted">
            {m.overview_no_customers_lead()}{" "}
            <a href="/guide/customers" target="_blank" rel="noreferrer">
              {m.overview_guide_customers()}
            </a>
          </p>
        </div>
      ) : (
        <table className="table plain">
          <thead>
            <tr>
              <th scope="col">{m.overview_state()}</th>
              <th scope="col" className="num">
                {m.overview_customers()}
              </th>
              <th scope="col" className="num">
                {m.overview_share()}
              </th>
              <th scope="col" className="wide-col">
                <span className="sr">{m.overview_share()}</span>
              </th>
            </tr>
          </thead>
          {states ? (
            <tbody>
              {states.map(({ name, number }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td className="num">
                    <b>{count(number)}</b>
                  </td>
                  <td className="num">{percent(shareOf(number, total) ?? 0, 1)}</td>
                  <td>
                    <div className="meter" aria-hidden="true">
                      <i style={{ width: `${(number / total) * 100}%` }} />
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          ) : (
            <SkeletonRows rows={3} widths={[110, 48, 48, 160]} />
          )}
        </table>
      )}
      {contacts && contacts.total > 0 && (
        <p className="pairfoot muted">
          {m.overview_contacts({ total: count(contacts.total), recent: count(contacts.newLast30Days) })}
        </p>
      )}
    </section>
  );
}
