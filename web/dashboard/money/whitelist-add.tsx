import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { client, payload } from '../api/client';
import { isByLightning } from '../../../domain/lightning/currency';
import { currenciesQuery } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { renewMoney } from './data';
import { useMoneyTexts } from './section';
import { Moment } from '../design/moment';

type Added = Readonly<{ activeAt: string; warnings?: readonly string[] }>;

/** The frame of both forms: after the act it says from when on the entry counts. */
function AddEntry(
  props: Readonly<{
    title: string;
    reason: string | undefined;
    add: () => Promise<Added | null>;
    onEnd: () => void;
    children: ReactNode;
  }>,
) {
  const { title, reason, add, onEnd, children } = props;
  const t = useTexts();
  const words = useMoneyTexts().whitelist;
  const toast = useToast();
  const [added, setAdded] = useState<Added | null>(null);
  const act = useAct(async () => {
    const made = await add();
    if (!made) return;
    await renewMoney('whitelist');
    const isPlain = Date.parse(made.activeAt) <= Date.now() && !made.warnings?.length;
    toast(words.added);
    if (isPlain) onEnd();
    else setAdded(made);
  });
  return (
    <Dialog title={title} onClose={() => !act.isBusy && onEnd()}>
      {added ? (
        <>
          {Date.parse(added.activeAt) > Date.now() && (
            <Notice tone="good">
              {words.countsFrom} <Moment at={added.activeAt} />
            </Notice>
          )}
          {added.warnings?.includes('CALLER_IP_NOT_LISTED') && <Notice tone="warn">{words.shutOut}</Notice>}
          <div>
            <Button look="primary" onClick={onEnd}>
              {words.understood}
            </Button>
          </div>
        </>
      ) : (
        <form
          className={css.stack}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (reason === undefined) void act.run();
          }}
        >
          <ErrorNotice error={act.error} />
          {children}
          <div className={css.row}>
            <Button type="submit" look="primary" busy={act.isBusy} reason={reason}>
              {title}
            </Button>
            <Button onClick={() => !act.isBusy && onEnd()}>{t.cancel}</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

const named = (label: string) => (label.trim() ? { label: label.trim() } : {});

export function AddAddress({ onEnd }: Readonly<{ onEnd: () => void }>) {
  const t = useTexts();
  const words = useMoneyTexts().whitelist;
  const confirm = useStepUp();
  // By Lightning something can be sent where that is offered.
  const currencies = (useQuery(currenciesQuery).data ?? []).filter(
    ({ currency, payout }) => payout || !isByLightning(currency),
  );
  const [form, setForm] = useState({ currency: '', address: '', destinationTag: '', label: '' });
  const currency = form.currency || (currencies[0]?.currency ?? '');
  const chosen = currencies.find((one) => one.currency === currency);
  const [address, tag] = [form.address.trim(), form.destinationTag.trim()];
  const add = async (): Promise<Added | null> => {
    const body = { currency, address, ...(tag ? { destinationTag: tag } : {}), ...named(form.label) };
    const made = await confirm('whitelist_change', (factor) =>
      payload(client.POST('/api/v1/whitelist/wallet', { body: { ...body, ...factor } })),
    );
    return made && made.value;
  };
  return (
    <AddEntry
      title={words.kinds.wallet.add}
      reason={address ? undefined : words.addressMissing}
      add={add}
      onEnd={onEnd}
    >
      <Notice tone="warn">{words.addressWarning(chosen?.networkName ?? '')}</Notice>
      <Choice
        label={t.payments.currency}
        value={currency}
        options={currencies.map((one) => [one.currency, `${one.name} (${one.networkName})`] as const)}
        onChange={(next) => setForm({ ...form, currency: next })}
      />
      <Field
        label={isByLightning(currency) ? words.node : words.address}
        hint={isByLightning(currency) && words.nodeHint}
        isCode
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        value={form.address}
        onChange={(event) => setForm({ ...form, address: event.target.value })}
      />
      {chosen?.requiresDestinationTag && (
        <Field
          label={words.tag}
          maxLength={40}
          value={form.destinationTag}
          onChange={(event) => setForm({ ...form, destinationTag: event.target.value })}
        />
      )}
      <Field
        label={words.label}
        hint={words.labelHint}
        maxLength={100}
        value={form.label}
        onChange={(event) => setForm({ ...form, label: event.target.value })}
      />
    </AddEntry>
  );
}

export function AddIp({ onEnd }: Readonly<{ onEnd: () => void }>) {
  const words = useMoneyTexts().whitelist;
  const confirm = useStepUp();
  const [form, setForm] = useState({ ip: '', label: '' });
  const ip = form.ip.trim();
  const add = async (): Promise<Added | null> => {
    const made = await confirm('whitelist_change', (factor) =>
      payload(client.POST('/api/v1/whitelist/ip', { body: { ip, ...named(form.label), ...factor } })),
    );
    return made && made.value;
  };
  return (
    <AddEntry title={words.kinds.ip.add} reason={ip ? undefined : words.ipMissing} add={add} onEnd={onEnd}>
      <Notice tone="warn">{words.ipWarning}</Notice>
      <Field
        label={words.ip}
        hint={words.ipHint}
        isCode
        maxLength={60}
        autoComplete="off"
        value={form.ip}
        onChange={(event) => setForm({ ...form, ip: event.target.value })}
      />
      <Field
        label={words.label}
        hint={words.labelHint}
        maxLength={100}
        value={form.label}
        onChange={(event) => setForm({ ...form, label: event.target.value })}
      />
    </AddEntry>
  );
}
