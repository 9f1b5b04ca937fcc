import { useState, type ReactNode } from 'react';
import css from '../design/design.module.css';
import { Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { Table } from '../design/table';
import type { AuditFilter } from './audit-filter';
import { useTeamTexts } from './texts/use';

/** Acts of an audit log and what is looked for among them: a merchant's own, and the platform's for operators. */

type Act = Readonly<{
  id: string;
  at: string;
  actor: Readonly<{ kind: 'user' | 'key' | 'operator' | 'anonymous'; name: string }>;
  action: string;
  target: string | null;
  ip: string;
  before?: unknown;
  after?: unknown;
}>;

/** `children`: fields beside those of every log. */
export function ActFilters(
  props: Readonly<{
    filter: AuditFilter;
    isSet: boolean;
    onFind: (filter: AuditFilter) => void;
    onClear: () => void;
    children?: ReactNode;
  }>,
) {
  const { filter, isSet, onFind, onClear, children } = props;
  const t = useTeamTexts();
  const [typed, setTyped] = useState<AuditFilter>(filter);
  const field = (name: keyof AuditFilter) => ({
    value: typed[name] ?? '',
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value || undefined }),
  });
  return (
    <Filters
      isSet={isSet}
      onFind={() => {
        const [actor, action] = [typed.actor?.trim() || undefined, typed.action?.trim() || undefined];
        onFind({ ...typed, actor, action });
      }}
      onClear={onClear}
    >
      <Field label={t.audit.actor} hint={t.audit.actorHint} type="search" {...field('actor')} />
      <Field label={t.audit.action} hint={t.audit.actionHint} type="search" {...field('action')} />
      {children}
      <Field label={t.audit.from} hint={t.audit.dayHint} type="date" {...field('from')} />
      <Field label={t.audit.to} hint={t.audit.dayHint} type="date" {...field('to')} />
    </Filters>
  );
}

/** `about`: one more column, and what an act has there. */
export function ActRows<One extends Act>(
  props: Readonly<{
    acts: readonly One[];
    about?: Readonly<{ name: string; of: (act: One) => ReactNode }>;
  }>,
) {
  const { acts, about } = props;
  const t = useTeamTexts();
  const names = [t.audit.at, t.audit.actor, t.audit.action, t.audit.target, t.audit.ip];
  if (about) names.splice(3, 0, about.name);
  return (
    <Table label={t.audit.title} columns={names.map((name) => ({ name }))}>
      {acts.map((act) => (
        <tr key={act.id}>
          <td>
            <Moment at={act.at} />
          </td>
          <td>
            {act.actor.name}
            <div className={css.soft}>{t.audit.kinds[act.actor.kind]}</div>
          </td>
          <td>
            {t.audit.acts[act.action]}
            <div className={css.code}>{act.action}</div>
            <Changes act={act} />
          </td>
          {about && <td>{about.of(act)}</td>}
          <td className={css.code}>{act.target ?? '–'}</td>
          <td className={css.code}>{act.ip}</td>
        </tr>
      ))}
    </Table>
  );
}

function Changes({ act }: Readonly<{ act: Act }>) {
  const t = useTeamTexts();
  const parts = [
    [t.audit.before, act.before],
    [t.audit.after, act.after],
  ] as const;
  const shown = parts.filter(([, value]) => value !== null && value !== undefined);
  if (!shown.length) return null;
  return (
    <details>
      <summary>{t.audit.changes}</summary>
      {shown.map(([name, value]) => (
        <div key={name}>
          <span className={css.soft}>{name}</span>
          <pre className={css.pre} tabIndex={0} aria-label={name}>
            {JSON.stringify(value, null, 1)}
          </pre>
        </div>
      ))}
    </details>
  );
}
