import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Moment } from '../design/moment';
import { Copy, useNumbers } from '../design/show';
import { Table } from '../design/table';
import type { FoundRecord } from './data';
import { MerchantLink } from './merchant-link';
import { useOperatorTexts } from './texts/use';

/** The whole story of a payment, withdrawal, refund, conversion or mass payout. */
export function Record({ record }: Readonly<{ record: FoundRecord }>) {
  const t = useOperatorTexts().find;
  const numbers = useNumbers();
  const kind = t.kinds[record.kind] ?? record.kind;
  const { amount, currency } = record;
  return (
    <section className={css.card} aria-label={`${kind} ${record.id}`}>
      <h3 className={css.anywhere}>
        {kind} <span className={css.code}>{record.id}</span>
      </h3>
      <Facts
        facts={[
          [t.facts.status, record.status],
          [t.facts.merchant, <MerchantLink key="merchant" id={record.merchant.id} name={record.merchant.name} />],
          [t.facts.amount, amount !== null && currency !== null && numbers.crypto(amount, currency)],
          [t.facts.order, record.orderId],
          [t.facts.slug, record.slug],
          [t.facts.address, record.address && <Copy value={record.address} label={t.facts.address} />],
          [t.facts.created, <Moment key="created" at={record.createdAt} />],
          [t.facts.workflows, <Workflows key="workflows" workflows={record.workflows} />],
        ]}
      />
      <Deposits deposits={record.deposits} />
      <Part title={t.intents} isEmpty={record.intents.length === 0}>
        <Intents intents={record.intents} />
      </Part>
      <Journals journals={record.journals} />
      <Deliveries deliveries={record.deliveries} />
      <Incidents incidents={record.incidents} />
    </section>
  );
}

function Part(props: Readonly<{ title: string; isEmpty: boolean; children: ReactNode }>) {
  const t = useOperatorTexts().find;
  const { title, isEmpty, children } = props;
  return (
    <div className={css.stack}>
      <h4>{title}</h4>
      {isEmpty ? <p className={css.soft}>{t.noneOf}</p> : children}
    </div>
  );
}

type WorkflowLink = FoundRecord['workflows'][number];

export function Workflow({ workflow }: Readonly<{ workflow: WorkflowLink }>) {
  const t = useOperatorTexts().find;
  const name = <span className={css.code}>{workflow.id}</span>;
  if (workflow.url === null) return name;
  return (
    <a href={workflow.url} rel="noreferrer" target="_blank" title={t.inTemporal}>
      {name}
    </a>
  );
}

function Workflows({ workflows }: Readonly<{ workflows: readonly WorkflowLink[] }>) {
  return (
    <ul className={css.list}>
      {workflows.map((workflow) => (
        <li key={workflow.id}>
          <Workflow workflow={workflow} />
        </li>
      ))}
    </ul>
  );
}

function Deposits({ deposits }: Readonly<{ deposits: FoundRecord['deposits'] }>) {
  const t = useOperatorTexts().find;
  const numbers = useNumbers();
  const { tx, network, amount, status, at } = t.columns;
  return (
    <Part title={t.deposits} isEmpty={deposits.length === 0}>
      <Table
        label={t.deposits}
        columns={[{ name: tx }, { name: network }, { name: amount, isAmount: true }, { name: status }, { name: at }]}
      >
        {deposits.map((one) => (
          <tr key={one.id}>
            <td className={css.code}>{one.txId}</td>
            <td>{one.network}</td>
            <td className={css.end}>{numbers.crypto(one.amount, one.currency ?? '')}</td>
            <td>{one.status}</td>
            <td>
              <Moment at={one.firstSeenAt} />
            </td>
          </tr>
        ))}
      </Table>
    </Part>
  );
}

export function Intents({ intents }: Readonly<{ intents: FoundRecord['intents'] }>) {
  const t = useOperatorTexts().find;
  const c = t.columns;
  const names = [c.id, c.kind, c.status, c.workflow, c.attempt, c.tx, c.block];
  return (
    <Table label={t.intents} columns={names.map((name) => ({ name }))}>
      {intents.flatMap((intent) => {
        const head = (
          <>
            <td className={css.code}>{intent.id}</td>
            <td>{`${intent.kind} · ${intent.network}`}</td>
            <td>{intent.status}</td>
            <td>{intent.workflow ? <Workflow workflow={intent.workflow} /> : '–'}</td>
          </>
        );
        if (intent.attempts.length === 0)
          return [
            <tr key={intent.id}>
              {head}
              <td colSpan={3}>{t.noAttempt}</td>
            </tr>,
          ];
        return intent.attempts.map((attempt) => (
          <tr key={`${intent.id}/${attempt.n}`}>
            {head}
            <td>{`${attempt.n} · ${attempt.status}`}</td>
            <td className={css.code}>{attempt.txId}</td>
            <td>{attempt.height ?? '–'}</td>
          </tr>
        ));
      })}
    </Table>
  );
}

function Journals({ journals }: Readonly<{ journals: FoundRecord['journals'] }>) {
  const t = useOperatorTexts().find;
  const names = [t.columns.key, t.columns.postings, t.columns.at];
  return (
    <Part title={t.journals} isEmpty={journals.length === 0}>
      <Table label={t.journals} columns={names.map((name) => ({ name }))}>
        {journals.map((journal) => (
          <tr key={journal.id}>
            <td className={css.code}>{journal.key}</td>
            <td>
              {journal.postings.map(({ debit, credit, asset, amount }) => (
                <div key={`${debit}/${credit}/${asset}/${amount}`} className={css.code} dir="ltr">
                  {`${debit} → ${credit}  ${amount} ${asset}`}
                </div>
              ))}
            </td>
            <td>
              <Moment at={journal.createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </Part>
  );
}

function Deliveries({ deliveries }: Readonly<{ deliveries: FoundRecord['deliveries'] }>) {
  const t = useOperatorTexts().find;
  const c = t.columns;
  const names = [c.event, c.to, c.status, c.attempts, c.at];
  return (
    <Part title={t.deliveries} isEmpty={deliveries.length === 0}>
      <Table label={t.deliveries} columns={names.map((name) => ({ name }))}>
        {deliveries.map((one) => (
          <tr key={one.id}>
            <td>
              {one.type}
              <div className={css.code}>{one.id}</div>
            </td>
            <td>
              {one.host ?? '–'}
              <div className={css.code}>{one.endpointId}</div>
            </td>
            <td>{one.status}</td>
            <td>{one.attempts}</td>
            <td>
              <Moment at={one.createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </Part>
  );
}

function Incidents({ incidents }: Readonly<{ incidents: FoundRecord['incidents'] }>) {
  const words = useOperatorTexts();
  const t = words.find;
  const names = [t.columns.kind, t.columns.status, t.columns.at];
  return (
    <Part title={t.incidents} isEmpty={incidents.length === 0}>
      <Table label={t.incidents} columns={names.map((name) => ({ name }))}>
        {incidents.map((one) => (
          <tr key={one.id}>
            <td>
              <Link to="/operators/incidents/$incidentId" params={{ incidentId: one.id }}>
                {one.kind}
              </Link>
            </td>
            <td>{words.incidents.states[one.resolvedAt === null ? 'open' : 'resolved']}</td>
            <td>
              <Moment at={one.createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </Part>
  );
}
