import css from '../design/design.module.css';
import { Copy } from '../design/show';
import { useTexts } from '../texts/texts';

/** A transaction hash, with a link to an explorer where the network has one. */
export function Transaction({ txId, explorer }: Readonly<{ txId: string; explorer: string | null | undefined }>) {
  const t = useTexts();
  const url = explorer?.replace('{txId}', encodeURIComponent(txId));
  return (
    <span className={css.row}>
      <Copy value={txId} label={t.payment.transaction} />
      {url?.startsWith('https://') && (
        <a href={url} target="_blank" rel="noreferrer noopener">
          {t.payment.explorer}
        </a>
      )}
    </span>
  );
}
