import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { orderStates, type OrderState } from '../../../domain/conversions/swap';
import { byCursor } from '../api/queries';
import { Badge, type Tone } from '../design/badge';
import { ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { RowListLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { readSwapOrders, type SwapOrder } from './data';
import { orderFilterOf, type OrderFilter } from './filter';
import { OperatorsFrame } from './frame';
import { MerchantLink } from './merchant-link';
import { Workflow } from './record';
import { useOperatorTexts } from './texts/use';

/** Orders at swap providers, those under way first. */
export function SwapOrdersPage() {
  const words = useOperatorTexts();
  const t = words.swaps;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/operators/swap-orders', select: orderFilterOf });
  const { which = 'open', state } = filter;
  const query = useInfiniteQuery({
    queryKey: ['platform', 'swap-orders', which, state],
    queryFn: ({ pageParam }) => readSwapOrders(which === 'open', state, pageParam),
    ...byCursor,
    refetchInterval: 15_000,
  });
  const apply = (change: OrderFilter): void =>
    void navigate({ to: '/operators/swap-orders', search: { ...filter, ...change } });
  return (
    <OperatorsFrame
      acts={
        <ButtonLink to="/operators/requests" search={{}}>
          {t.ask}
        </ButtonLink>
      }
    >
      <p className={css.hint}>{t.why}</p>
      <Filters
        isSet={Object.keys(filter).length > 0}
        onClear={() => void navigate({ to: '/operators/swap-orders', search: {} })}
      >
        <Choice<'open' | 'all'>
          label={t.which}
          value={which}
          options={[
            ['open', t.open],
            ['all', t.all],
          ]}
          onChange={(chosen) => apply({ which: chosen === 'open' ? undefined : chosen })}
        />
        <Choice<OrderState | ''>
          label={t.state}
          value={state ?? ''}
          options={[['', words.any], ...orderStates.map((one) => [one, t.states[one]] as const)]}
          onChange={(chosen) => apply({ state: chosen || undefined })}
        />
      </Filters>
      <section className={css.card} aria-label={t.title}>
        <More query={query} none={<p className={css.empty}>{which === 'open' ? t.noneOpen : t.none}</p>}>
          {(orders) => <Rows orders={orders} />}
        </More>
      </section>
    </OperatorsFrame>
  );
}

const toneOf: Readonly<Record<OrderState, Tone>> = {
  waiting: 'busy',
  working: 'busy',
  finished: 'good',
  failed: 'bad',
  refunded: 'warn',
  expired: 'warn',
  unknown: 'bad',
  refused: 'plain',
  worse: 'plain',
};

function Rows({ orders }: Readonly<{ orders: readonly SwapOrder[] }>) {
  const t = useOperatorTexts().swaps;
  const names = [t.conversion, t.merchant, t.order, t.state, t.amounts, t.addresses, t.at];
  return (
    <Table label={t.title} columns={names.map((name) => ({ name }))}>
      {orders.map((one) => (
        <tr key={one.conversion.id}>
          <td>
            <RowListLink to="/operators/find" search={{ q: one.conversion.id }} className={css.code}>
              {one.conversion.id}
            </RowListLink>
            <div>{one.conversion.status}</div>
            <Workflow workflow={one.workflow} />
          </td>
          <td>
            <MerchantLink id={one.merchant.id} name={one.merchant.name} />
          </td>
          <td>
            {one.provider}
            <div className={css.code}>{one.orderId ?? t.noOrder}</div>
          </td>
          <td>
            {one.state === null ? '–' : <Badge tone={toneOf[one.state]} text={t.states[one.state]} />}
            {one.status !== null && <div className={css.soft}>{one.status}</div>}
          </td>
          <td>
            <Amounts order={one} />
          </td>
          <td className={css.code}>
            <Places order={one} />
          </td>
          <td>
            <Moment at={one.changedAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Amounts({ order }: Readonly<{ order: SwapOrder }>) {
  const t = useOperatorTexts().swaps;
  const numbers = useNumbers();
  const { fromCurrency, toCurrency } = order.conversion;
  return (
    <>
      <div>{t.sends(numbers.crypto(order.amount, fromCurrency))}</div>
      {order.promised !== null && <div>{t.promises(numbers.crypto(order.promised, toCurrency))}</div>}
      {order.credited !== null && <div>{t.credited(numbers.crypto(order.credited, toCurrency))}</div>}
    </>
  );
}

function Places({ order }: Readonly<{ order: SwapOrder }>) {
  const t = useOperatorTexts().swaps;
  const places = [
    [t.to, order.depositAddress],
    [t.back, order.refundAddress],
    [t.payout, order.payoutAddress],
    [t.payoutTx, order.payoutTxId],
  ] as const;
  return places.map(([name, value]) =>
    value === null ? null : (
      <div key={name}>
        <span className={css.soft}>{name}</span> {value}
      </div>
    ),
  );
}
