import { useState } from 'react';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice } from '../design/feedback';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { BackupCodes } from './backup-codes';

export function NewBackupCodes() {
  const t = useTexts();
  const confirm = useStepUp();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const act = useAct(async () => {
    const made = await confirm('backup_codes', (factor) =>
      payload(client.POST('/api/v1/auth/backup-codes/regenerate', { body: factor })),
    );
    if (made) setCodes(made.value.backupCodes);
  });
  return (
    <section className={css.card} aria-labelledby="backup-codes">
      <h2 id="backup-codes">{t.backupCodes.title}</h2>
      <p className={css.soft}>{t.backupCodes.why}</p>
      <ErrorNotice error={act.error} />
      <div>
        <Button busy={act.isBusy} onClick={() => void act.run()}>
          {t.backupCodes.renew}
        </Button>
      </div>
      {codes && (
        <Dialog title={t.backupCodes.fresh} onClose={() => undefined}>
          <BackupCodes codes={codes} onDone={() => setCodes(null)} />
        </Dialog>
      )}
    </section>
  );
}
