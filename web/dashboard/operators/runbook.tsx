import { createElement, type ReactNode } from 'react';
import { docsUrl } from '../api/places';
import css from '../design/design.module.css';
import { runbookPage, runbooks, type Piece } from '../generated/runbooks';
import type { Incident } from './data';
import { usePreferences } from '../texts/texts';
import { useOperatorTexts } from './texts/use';

const addressOf = (href: string): string => (/^https:/.test(href) ? href : docsUrl + href);

function shown(piece: Piece, key: number): ReactNode {
  if (typeof piece === 'string') return piece;
  const { tag, href, children } = piece;
  const link = href === undefined ? {} : { href: addressOf(href), target: '_blank', rel: 'noreferrer' };
  return createElement(tag, { key, ...link, ...(tag === 'code' ? { className: css.code } : {}) }, children.map(shown));
}

/** What the runbook says of incidents of a kind, and where it stands. */
export function RunbookText({ kind }: Readonly<{ kind: Incident['kind'] }>) {
  const t = useOperatorTexts().incidents;
  const { language } = usePreferences();
  return (
    <>
      <div className={`${css.stack} ${css.prose}`}>{runbooks[`${language}/${kind}`]?.map(shown)}</div>
      <p>
        <a href={`${docsUrl}${runbookPage}#${kind}`} target="_blank" rel="noreferrer">
          {t.runbookPage}
        </a>
      </p>
    </>
  );
}
