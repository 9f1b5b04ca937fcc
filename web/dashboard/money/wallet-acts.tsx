import { isByLightning } from '../../../domain/lightning/currency';
import { useState, type ReactNode } from 'react';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { renewMoney, type Wallet } from './data';
import { useMoneyTexts } from './section';

/** Acts on wallets: each asks for a second factor, and says what happened. */

export type WalletDecision = 'approve' | 'reject' | 'deactivate';

function WalletForm(
  props: Readonly<{
    title: string;
    reason: string | undefined;
    done: string;
    act: () => Promise<object | null>;
    onEnd: () => void;
    children: ReactNode;
  }>,
) {
  const { title, reason, done, onEnd, children } = props;
  const t = useTexts();
  const toast = useToast();
  const act = useAct(async () => {
    const made = await props.act();
    if (!made) return;
    await renewMoney('wallets');
    toast(done);
    onEnd();
  });
  return (
    <Dialog title={title} onClose={() => !act.isBusy && onEnd()}>
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
    </Dialog>
  );
}

type Named = Readonly<{ currency: string; name: string; networkName: string }>;

export function AddWallet({ currencies, onEnd }: Readonly<{ currencies: readonly Named[]; onEnd: () => void }>) {
  const t = useTexts();
  const words = useMoneyTexts().wallets;
  const confirm = useStepUp();
  const [form, setForm] = useState({ currency: currencies[0]?.currency ?? '', address: '' });
  const byLightning = isByLightning(form.currency);
  const settlementAddress = byLightning ? '' : form.address.trim();
  const act = () =>
    confirm('wallet_change', (factor) =>
      payload(
        client.POST('/api/v1/merchant-wallets', {
          body: { currency: form.currency, ...(settlementAddress ? { settlementAddress } : {}), ...factor },
        }),
      ),
    );
  return (
    <WalletForm title={words.add} reason={undefined} done={words.added} act={act} onEnd={onEnd}>
      <Choice
        label={t.payments.currency}
        value={form.currency}
        options={currencies.map(({ currency, name, networkName }) => [currency, `${name} (${networkName})`] as const)}
        onChange={(currency) => setForm({ ...form, currency })}
      />
      {byLightning ? (
        <Notice tone="warn">{words.custodyWhy.lightning}</Notice>
      ) : (
        <Field
          label={words.ownAddress}
          hint={words.ownAddressHint}
          isCode
          maxLength={200}
          autoComplete="off"
          value={form.address}
          onChange={(event) => setForm({ ...form, address: event.target.value })}
        />
      )}
    </WalletForm>
  );
}

export function RepointWallet({ wallet, onEnd }: Readonly<{ wallet: Wallet; onEnd: () => void }>) {
  const words = useMoneyTexts().wallets;
  const confirm = useStepUp();
  const [address, setAddress] = useState('');
  const settlementAddress = address.trim();
  const params = { path: { walletId: wallet.id } };
  const act = () =>
    confirm('wallet_change', (factor) =>
      payload(
        client.PATCH('/api/v1/merchant-wallets/{walletId}/settlement', {
          params,
          body: { settlementAddress, ...factor },
        }),
      ),
    );
  return (
    <WalletForm
      title={words.repointOf(wallet.currency)}
      reason={settlementAddress ? undefined : words.addressMissing}
      done={words.asked}
      act={act}
      onEnd={onEnd}
    >
      <Notice tone="warn">{words.repointSure}</Notice>
      <Field
        label={words.ownAddress}
        isCode
        maxLength={200}
        autoComplete="off"
        value={address}
        onChange={(event) => setAddress(event.target.value)}
      />
    </WalletForm>
  );
}

export function DecideWallet(props: Readonly<{ wallet: Wallet; decision: WalletDecision; onEnd: () => void }>) {
  const { wallet, decision, onEnd } = props;
  const words = useMoneyTexts().wallets;
  const toast = useToast();
  const confirm = useStepUp();
  const { name, sure, done } = words.decisions[decision];
  const params = { path: { walletId: wallet.id } };
  const act = async (): Promise<boolean> => {
    const ended = await confirm<unknown>('wallet_change', (body) => {
      if (decision === 'deactivate')
        return payload(client.DELETE('/api/v1/merchant-wallets/{walletId}', { params, body }));
      return decision === 'approve'
        ? payload(client.POST('/api/v1/merchant-wallets/{walletId}/settlement/approve', { params, body }))
        : payload(client.POST('/api/v1/merchant-wallets/{walletId}/settlement/reject', { params, body }));
    });
    await renewMoney('wallets');
    if (ended) toast(done);
    return ended !== null;
  };
  const address = decision === 'deactivate' ? wallet.settlementAddress : wallet.pendingChange?.settlementAddress;
  return (
    <ConfirmDialog
      title={decision === 'deactivate' ? words.deactivateOf(wallet.currency) : name}
      sure={sure}
      submit={name}
      look={decision === 'approve' ? 'primary' : 'danger'}
      act={act}
      onEnd={onEnd}
    >
      <p className={css.code}>{address}</p>
    </ConfirmDialog>
  );
}
