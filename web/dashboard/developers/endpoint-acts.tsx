import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Notice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { Moment } from '../design/moment';
import { SecretOnce } from '../design/once';
import { useTexts } from '../texts/texts';
import { eventTypesQuery, renewEndpoints, type Endpoint } from './data';
import { useDeveloperTexts } from './texts/use';

type Props = Readonly<{ endpoint: Endpoint; onEnd: () => void }>;

/** Sends an event that is told as a test, with what an event of the chosen type had in it. */
export function TestEndpoint({ endpoint, onEnd }: Props) {
  const t = useDeveloperTexts();
  const toast = useToast();
  const types = useQuery(eventTypesQuery);
  const [type, setType] = useState('');
  const act = useAct(async () => {
    const params = { path: { endpointId: endpoint.id } };
    const body = type ? { type } : {};
    await payload(client.POST('/api/v1/webhook-endpoints/{endpointId}/test', { params, body }));
    await renewEndpoints();
    toast(t.webhooks.tested);
    onEnd();
  });
  const options = [
    ['', t.webhooks.plainTest] as const,
    ...(types.data ?? []).map((one) => [one.type, one.type] as const),
  ];
  return (
    <FormDialog title={t.webhooks.test} submit={t.webhooks.send} act={act} onEnd={onEnd}>
      <p>{t.webhooks.testWhy}</p>
      <Choice label={t.webhooks.example} value={type} options={options} onChange={setType} />
    </FormDialog>
  );
}

/** A new secret beside the old one, which signs too for a day. */
export function RotateSecret({ endpoint, onEnd }: Props) {
  const t = useDeveloperTexts();
  const [made, setMade] = useState<{ secret: string; previousValidUntil: string } | null>(null);
  const act = useAct(async () => {
    const params = { path: { endpointId: endpoint.id } };
    const rotated = await payload(client.POST('/api/v1/webhook-endpoints/{endpointId}/rotate-secret', { params }));
    await renewEndpoints();
    setMade(rotated);
  });
  if (made)
    return (
      <SecretOnce title={t.webhooks.fresh} label={t.webhooks.secret} secret={made.secret} onDone={onEnd}>
        <p>
          {t.webhooks.overlap} <Moment at={made.previousValidUntil} />
        </p>
      </SecretOnce>
    );
  return (
    <FormDialog title={t.webhooks.rotate} submit={t.webhooks.rotate} act={act} onEnd={onEnd}>
      <Notice tone="warn">{t.webhooks.rotateWhy}</Notice>
    </FormDialog>
  );
}

/** Sends everything of a span of time, again or for the first time. */
export function Replay({ endpoint, onEnd }: Props) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const act = useAct(async () => {
    const params = { path: { endpointId: endpoint.id } };
    const body = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    const { deliveries } = await payload(
      client.POST('/api/v1/webhook-endpoints/{endpointId}/replay', { params, body }),
    );
    await renewEndpoints();
    toast(t.webhooks.replayed(deliveries));
    onEnd();
  });
  const reason = !since || !until ? all.required : since >= until ? t.webhooks.orderWrong : undefined;
  return (
    <FormDialog title={t.webhooks.replay} submit={t.webhooks.send} act={act} onEnd={onEnd} reason={reason}>
      <p>{t.webhooks.replayWhy}</p>
      <Field
        label={t.webhooks.since}
        type="datetime-local"
        value={since}
        onChange={(event) => setSince(event.target.value)}
      />
      <Field
        label={t.webhooks.until}
        hint={t.webhooks.ownTime}
        type="datetime-local"
        value={until}
        onChange={(event) => setUntil(event.target.value)}
      />
    </FormDialog>
  );
}

export function DeleteEndpoint({ endpoint, onEnd }: Props) {
  const t = useDeveloperTexts();
  const toast = useToast();
  const navigate = useNavigate();
  const act = useAct(async () => {
    const params = { path: { endpointId: endpoint.id } };
    await payload(client.DELETE('/api/v1/webhook-endpoints/{endpointId}', { params }));
    toast(t.webhooks.removed);
    await navigate({ to: '/developers/webhooks' });
    await renewEndpoints();
  });
  return (
    <FormDialog title={t.webhooks.remove} submit={t.webhooks.remove} act={act} onEnd={onEnd} isDanger>
      <Notice tone="warn">{t.webhooks.removeSure}</Notice>
    </FormDialog>
  );
}
