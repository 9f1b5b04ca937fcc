import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { queryClient, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Notice, useToast } from '../design/feedback';
import { FormDialog } from '../design/form-dialog';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { useDeveloperTexts } from './texts/use';

/** The key of the merchant's pages, and a new one in its place. */
export function PublishableKey({ me }: Readonly<{ me: Me }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [isAsking, setAsking] = useState(false);
  const [until, setUntil] = useState<string | null>(null);
  const key = useQuery({
    queryKey: ['publishable-key'],
    queryFn: () => payload(client.GET('/api/v1/api-keys/publishable')),
  });
  const act = useAct(async () => {
    const rotated = await confirm('publishable_key', (factor) =>
      payload(client.POST('/api/v1/api-keys/publishable/rotate', { body: factor })),
    );
    if (!rotated) return;
    await queryClient.invalidateQueries({ queryKey: ['publishable-key'] });
    await queryClient.invalidateQueries({ queryKey: ['widgets'] });
    setUntil(rotated.value.previousValidUntil);
    toast(t.publishable.rotated);
    setAsking(false);
  });
  return (
    <section className={css.card} aria-labelledby="publishable">
      <h2 id="publishable">{t.publishable.title}</h2>
      <p className={css.soft}>{t.publishable.why}</p>
      <Loaded query={key} lines={1}>
        {({ publishableKey }) => <Copy value={publishableKey} label={t.publishable.label} />}
      </Loaded>
      {until && (
        <Notice tone="good">
          {t.publishable.until} <Moment at={until} />
        </Notice>
      )}
      <div>
        <Button
          reason={mayCall(me, access.rotatePublishableKey.may) ? undefined : all.needs('widgets:manage')}
          onClick={() => setAsking(true)}
        >
          {t.publishable.rotate}
        </Button>
      </div>
      {isAsking && (
        <FormDialog title={t.publishable.title} submit={t.publishable.rotate} act={act} onEnd={() => setAsking(false)}>
          <Notice tone="warn">{t.publishable.sure}</Notice>
        </FormDialog>
      )}
    </section>
  );
}
