import { useState } from 'react';
import { save } from '../api/download';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { useTexts } from '../texts/texts';

/** Ten codes, shown once: they are kept by the person, who says so before going on. */
export function BackupCodes({ codes, onDone }: Readonly<{ codes: readonly string[]; onDone: () => void }>) {
  const t = useTexts();
  const [isKept, setKept] = useState(false);
  const download = (): void => save(new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }), 'backup-codes.txt');
  return (
    <div className={css.stack}>
      <h2>{t.backupCodes.title}</h2>
      <Notice tone="warn">{t.backupCodes.once}</Notice>
      <ul className={css.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className={css.row}>
        <Button onClick={download}>{t.backupCodes.download}</Button>
      </div>
      <label className={css.check}>
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.target.checked)} />
        {t.backupCodes.kept}
      </label>
      <Button look="primary" reason={isKept ? undefined : t.backupCodes.keepFirst} onClick={onDone}>
        {t.goOn}
      </Button>
    </div>
  );
}
