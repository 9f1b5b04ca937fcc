import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isFeeBps } from '../../../domain/pricing/quote';
import { client, payload } from '../api/client';
import { byCursor } from '../api/queries';
import { Badge, type Tone } from '../design/badge';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Field } from '../design/field';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { SecretOnce } from '../design/once';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { readInviteCodes, type InviteCode } from './data';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

/** Codes by which merchants register: who made each, what it opens, how often it was used. */
export function InviteCodes({ onShow }: Readonly<{ onShow: (codeId: string) => void }>) {
  const t = useOperatorTexts().codes;
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const query = useInfiniteQuery({
    queryKey: ['platform', 'invite-codes'],
    queryFn: ({ pageParam }) => readInviteCodes(pageParam),
    ...byCursor,
  });
  return (
    <section className={css.card} aria-label={t.title}>
      <div className={`${css.row} ${css.between}`}>
        <h2>{t.title}</h2>
        <Button onClick={() => setMaking(true)}>{t.make}</Button>
      </div>
      <p className={css.hint}>{t.why}</p>
      <More query={query} none={<p className={css.empty}>{t.none}</p>}>
        {(codes) => <Rows codes={codes} onShow={onShow} />}
      </More>
      {isMaking && <Make onMade={setMade} onEnd={() => setMaking(false)} />}
      {made && <SecretOnce title={t.made} label={t.code} secret={made} why={t.once} onDone={() => setMade(null)} />}
    </section>
  );
}

const toneOf: Readonly<Record<InviteCode['state'], Tone>> = {
  open: 'good',
  used: 'plain',
  expired: 'warn',
  revoked: 'bad',
};

function Rows({ codes, onShow }: Readonly<{ codes: readonly InviteCode[]; onShow: (codeId: string) => void }>) {
  const t = useOperatorTexts().codes;
  const numbers = useNumbers();
  const [asked, setAsked] = useState<InviteCode | null>(null);
  const names = [t.label, t.opens, t.uses, t.state, t.by, t.until];
  return (
    <>
      <Table label={t.title} columns={[...names.map((name) => ({ name })), { name: t.acts, isHidden: true }]}>
        {codes.map((one) => (
          <tr key={one.id}>
            <td>
              {one.label}
              <div className={css.code}>{`…${one.last4}`}</div>
            </td>
            <td>
              {t.opensRegistration}
              {one.skipsApproval && <div>{t.skips}</div>}
              {one.feeBps !== null && <div>{t.feeOf(numbers.percent(one.feeBps / 10_000))}</div>}
            </td>
            <td>{t.of(numbers.count(one.uses), numbers.count(one.mostUses))}</td>
            <td>
              <Badge tone={toneOf[one.state]} text={t.states[one.state]} />
              {one.revokedBy !== null && <div className={css.soft}>{one.revokedBy}</div>}
            </td>
            <td>
              {one.createdBy}
              <div>
                <Moment at={one.createdAt} />
              </div>
            </td>
            <td>
              <Moment at={one.expiresAt} />
            </td>
            <td>
              <div className={css.row}>
                {one.uses > 0 && (
                  <Button look="link" label={t.showOf(one.label)} onClick={() => onShow(one.id)}>
                    {t.show}
                  </Button>
                )}
                {one.state === 'open' && (
                  <Button look="link" label={t.revokeOf(one.label)} onClick={() => setAsked(one)}>
                    {t.revoke}
                  </Button>
                )}
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {asked && <Revoke code={asked} onEnd={() => setAsked(null)} />}
    </>
  );
}

const wholeOf = (text: string, most: number): number | null => {
  const number = /^\d{1,4}$/.test(text.trim()) ? Number.parseInt(text, 10) : 0;
  return number >= 1 && number <= most ? number : null;
};

function Make({ onMade, onEnd }: Readonly<{ onMade: (code: string) => void; onEnd: () => void }>) {
  const t = useOperatorTexts().codes;
  const all = useTexts();
  const [typed, setTyped] = useState({ label: '', mostUses: '1', validDays: '30', feeBps: '' });
  const [skipsApproval, setSkips] = useState(false);
  const label = typed.label.trim();
  const [mostUses, validDays] = [wholeOf(typed.mostUses, 1000), wholeOf(typed.validDays, 365)];
  const fee = typed.feeBps.trim() === '' ? null : wholeOf(typed.feeBps, 5000);
  const isFeeWrong = typed.feeBps.trim() !== '' && !(fee !== null && isFeeBps(fee));
  const isWrong = mostUses === null || validDays === null || isFeeWrong;
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value }),
  });
  return (
    <ReasonDialog
      title={t.make}
      sure={t.makeSure}
      submit={t.make}
      withoutReason
      missing={label === '' ? all.required : isWrong ? t.wrong : undefined}
      act={async (_reason, factor) => {
        const body = {
          label,
          skipsApproval,
          feeBps: fee,
          mostUses: mostUses ?? 1,
          validDays: validDays ?? 1,
          ...factor,
        };
        const { code } = await payload(client.POST('/api/v1/platform/invite-codes', { body }));
        onMade(code);
        return t.made;
      }}
      onEnd={onEnd}
    >
      <Field label={t.label} hint={t.labelHint} maxLength={100} {...field('label')} />
      <Field
        label={t.mostUses}
        inputMode="numeric"
        error={mostUses === null ? t.upTo('1000') : undefined}
        {...field('mostUses')}
      />
      <Field
        label={t.validDays}
        inputMode="numeric"
        error={validDays === null ? t.upTo('365') : undefined}
        {...field('validDays')}
      />
      <Field
        label={t.feeBps}
        hint={t.feeHint}
        inputMode="numeric"
        error={isFeeWrong ? t.upTo('5000') : undefined}
        {...field('feeBps')}
      />
      <label className={css.check}>
        <input type="checkbox" checked={skipsApproval} onChange={(event) => setSkips(event.target.checked)} />
        {t.skips}
      </label>
    </ReasonDialog>
  );
}

function Revoke({ code, onEnd }: Readonly<{ code: InviteCode; onEnd: () => void }>) {
  const t = useOperatorTexts().codes;
  return (
    <ReasonDialog
      title={t.revokeOf(code.label)}
      sure={t.revokeSure}
      submit={t.revoke}
      isDanger
      act={async (reason, factor) => {
        const params = { path: { codeId: code.id } };
        const body = { reason, ...factor };
        await payload(client.POST('/api/v1/platform/invite-codes/{codeId}/revoke', { params, body }));
        return t.revoked;
      }}
      onEnd={onEnd}
    />
  );
}
