import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Checks } from '../design/checks';
import { useToast } from '../design/feedback';
import { Field } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { Loaded } from '../design/loaded';
import { useTexts } from '../texts/texts';
import { eventTypesQuery, renewEndpoints, type Endpoint } from './data';
import { useDeveloperTexts } from './texts/use';

type Form = Readonly<{ url: string; description: string; events: readonly string[] }>;

/** What an endpoint is told: everything, whole areas, or single types. */
function EndpointFields({ form, onChange }: Readonly<{ form: Form; onChange: (form: Form) => void }>) {
  const t = useDeveloperTexts();
  const types = useQuery(eventTypesQuery);
  const areas = [...new Set((types.data ?? []).map(({ type }) => `${type.split('.')[0]}.*`))];
  const isCovered = (name: string): boolean =>
    (name !== '*' && form.events.includes('*')) ||
    (!name.endsWith('*') && form.events.includes(`${name.split('.')[0]}.*`));
  const option = (value: string, hint?: string) => ({
    value,
    text: value === '*' ? t.webhooks.allEvents : value.endsWith('*') ? t.webhooks.area(value) : value,
    hint,
    reason: isCovered(value) ? t.webhooks.covered : undefined,
  });
  return (
    <>
      <Field
        label={t.webhooks.url}
        hint={t.webhooks.urlHint}
        type="url"
        inputMode="url"
        maxLength={2048}
        value={form.url}
        onChange={(event) => onChange({ ...form, url: event.target.value })}
      />
      <Field
        label={t.webhooks.description}
        hint={t.webhooks.descriptionHint}
        maxLength={200}
        value={form.description}
        onChange={(event) => onChange({ ...form, description: event.target.value })}
      />
      <Loaded query={types}>
        {(known) => (
          <Checks
            legend={t.webhooks.events}
            hint={t.webhooks.eventsHint}
            options={[
              option('*'),
              ...areas.flatMap((area) => [
                option(area),
                ...known
                  .filter(({ type }) => type.startsWith(area.slice(0, -1)))
                  .map(({ type, description }) => option(type, description)),
              ]),
            ]}
            chosen={form.events}
            onChange={(events) => onChange({ ...form, events })}
          />
        )}
      </Loaded>
    </>
  );
}

/** Why a form cannot be sent yet. */
function useMissing({ url, events }: Form): string | undefined {
  const t = useDeveloperTexts();
  const all = useTexts();
  if (!url.trim()) return `${t.webhooks.url}: ${all.required}`;
  return events.length ? undefined : t.webhooks.eventsNeeded;
}

const bodyOf = ({ url, description, events }: Form) => ({
  url: url.trim(),
  enabledEvents: [...events],
  description: description.trim() || null,
});

export function CreateEndpoint(props: Readonly<{ onMade: (secret: string) => void; onEnd: () => void }>) {
  const t = useDeveloperTexts();
  const toast = useToast();
  const [form, setForm] = useState<Form>({ url: '', description: '', events: ['*'] });
  const act = useAct(async () => {
    const made = await payload(client.POST('/api/v1/webhook-endpoints', { body: bodyOf(form) }));
    await renewEndpoints();
    toast(t.webhooks.created);
    props.onMade(made.secret);
  });
  return (
    <FormDialog
      title={t.webhooks.create}
      submit={t.webhooks.create}
      act={act}
      onEnd={props.onEnd}
      reason={useMissing(form)}
    >
      <EndpointFields form={form} onChange={setForm} />
    </FormDialog>
  );
}

export function EditEndpoint({ endpoint, onEnd }: Readonly<{ endpoint: Endpoint; onEnd: () => void }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const { url, description, enabledEvents } = endpoint;
  const [form, setForm] = useState<Form>({ url, description: description ?? '', events: enabledEvents });
  const act = useAct(async () => {
    const params = { path: { endpointId: endpoint.id } };
    await payload(client.PATCH('/api/v1/webhook-endpoints/{endpointId}', { params, body: bodyOf(form) }));
    await renewEndpoints();
    toast(all.saved);
    onEnd();
  });
  return (
    <FormDialog title={t.webhooks.edit} submit={all.save} act={act} onEnd={onEnd} reason={useMissing(form)}>
      <EndpointFields form={form} onChange={setForm} />
    </FormDialog>
  );
}
