import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { byCursor } from '../api/queries';
import { Badge, type Tone } from '../design/badge';
import { Button, ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { Table } from '../design/table';
import { readRegistrations, registrationStates, type Registration, type RegistrationState } from './data';
import { registrationFilterOf, type RegistrationFilter } from './filter';
import { OperatorsFrame } from './frame';
import { InviteCodes } from './invite-codes';
import { MerchantLink } from './merchant-link';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

/** Who has registered, who may, and the codes that open the registration. */
export function RegistrationsPage() {
  const words = useOperatorTexts();
  const t = words.registrations;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/operators/registrations', select: registrationFilterOf });
  const query = useInfiniteQuery({
    queryKey: ['platform', 'registrations', filter],
    queryFn: ({ pageParam }) => readRegistrations(filter, pageParam),
    ...byCursor,
  });
  const apply = (change: RegistrationFilter): void =>
    void navigate({ to: '/operators/registrations', search: { ...filter, ...change } });
  return (
    <OperatorsFrame
      acts={
        <ButtonLink to="/operators/stops" search={{}}>
          {t.switches}
        </ButtonLink>
      }
    >
      <Filters
        isSet={Object.keys(filter).length > 0}
        onClear={() => void navigate({ to: '/operators/registrations', search: {} })}
      >
        <Choice<RegistrationState | ''>
          label={t.state}
          value={filter.state ?? ''}
          options={[['', words.any], ...registrationStates.map((one) => [one, t.states[one]] as const)]}
          onChange={(state) => apply({ state: state || undefined })}
        />
      </Filters>
      <section className={css.card} aria-label={t.title}>
        <h2>{t.title}</h2>
        <More query={query} none={<p className={css.empty}>{filter.state === 'waiting' ? t.noneWaits : t.none}</p>}>
          {(registrations) => <Rows registrations={registrations} />}
        </More>
      </section>
      <InviteCodes onShow={(code) => apply({ state: undefined, code })} />
    </OperatorsFrame>
  );
}

const toneOf: Readonly<Record<RegistrationState, Tone>> = { approved: 'good', waiting: 'warn', refused: 'bad' };
type Asked = Readonly<{ one: Registration; what: 'approve' | 'refuse' }>;

function Rows({ registrations }: Readonly<{ registrations: readonly Registration[] }>) {
  const t = useOperatorTexts().registrations;
  const [asked, setAsked] = useState<Asked | null>(null);
  const names = [t.merchant, t.person, t.state, t.code, t.at];
  return (
    <>
      <Table label={t.title} columns={[...names.map((name) => ({ name })), { name: t.decide, isHidden: true }]}>
        {registrations.map((one) => (
          <tr key={one.merchant.id}>
            <td>
              <MerchantLink id={one.merchant.id} name={one.merchant.name} />
            </td>
            <td>
              {one.displayName ?? '–'}
              <div>{one.email}</div>
              {!one.isVerified && <div className={css.soft}>{t.unverified}</div>}
            </td>
            <td>
              <Badge tone={toneOf[one.state]} text={t.states[one.state]} />
            </td>
            <td>{one.inviteCode?.label ?? '–'}</td>
            <td>
              <Moment at={one.registeredAt} />
            </td>
            <td>
              <Acts one={one} onAsk={(what) => setAsked({ one, what })} />
            </td>
          </tr>
        ))}
      </Table>
      {asked && <Decide asked={asked} onEnd={() => setAsked(null)} />}
    </>
  );
}

function Acts({ one, onAsk }: Readonly<{ one: Registration; onAsk: (what: Asked['what']) => void }>) {
  const t = useOperatorTexts().registrations;
  if (one.state === 'approved') return null;
  const { name } = one.merchant;
  return (
    <div className={css.row}>
      <Button look="primary" label={t.approveOf(name)} onClick={() => onAsk('approve')}>
        {t.approve}
      </Button>
      {one.state === 'waiting' && (
        <Button look="danger" label={t.refuseOf(name)} onClick={() => onAsk('refuse')}>
          {t.refuse}
        </Button>
      )}
    </div>
  );
}

function Decide({ asked: { one, what }, onEnd }: Readonly<{ asked: Asked; onEnd: () => void }>) {
  const t = useOperatorTexts().registrations;
  const isApproval = what === 'approve';
  return (
    <ReasonDialog
      title={isApproval ? t.approveOf(one.merchant.name) : t.refuseOf(one.merchant.name)}
      sure={isApproval ? t.approveSure : t.refuseSure}
      submit={isApproval ? t.approve : t.refuse}
      isDanger={!isApproval}
      act={async (reason, factor) => {
        const params = { path: { merchantId: one.merchant.id } };
        const body = { reason, ...factor };
        const path = '/api/v1/platform/registrations/{merchantId}/';
        if (isApproval) await payload(client.POST(`${path}approve`, { params, body }));
        else await payload(client.POST(`${path}refuse`, { params, body }));
        return isApproval ? t.approved : t.refused;
      }}
      onEnd={onEnd}
    />
  );
}
