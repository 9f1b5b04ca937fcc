import type { ReactNode } from 'react';
import css from './design.module.css';

/** Names and what is so; a fact that is not there takes no line. */
export function Facts({ facts }: Readonly<{ facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }>) {
  return (
    <dl className={css.facts}>
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== undefined &&
          value !== false &&
          value !== '' && (
            <div key={name} className={css.pair}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
