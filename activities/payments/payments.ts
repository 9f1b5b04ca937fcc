import type { EntityManager } from 'typeorm';
import { assetOf, networkOf, type Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { newId, newSlug } from '../../domain/ids';
import { lossJournal, lossKey } from '../../domain/ledger/ledger';
import { neededShare, shareOf, valueOf } from '../../domain/payments/payable';
import {
  crossDeadline,
  isFinal,
  type Outcome,
  type PaymentEventType,
  type PaymentRow,
  type PaymentStatus,
  type Standing,
} from '../../domain/payments/payment';
import {
  countedDeposits,
  crossDeposits,
  isLive,
  judge,
  paidBy,
  rejectionOf,
  unratedDeposits,
} from '../../domain/payments/evaluate';
import { type Paid, type PaymentFacts, type Step } from '../../domain/payments/facts';
import { type CrossOffer } from '../../domain/payments/payment';
import { fiatValue, needOf, quote, splitPaid } from '../../domain/pricing/quote';
import { add, compare, fit } from '../../domain/money';
import { keepQuote, quoteAtMoment, rateDeposit, setDepositRate } from '../../db/payments/deposit-rates';
import { depositsById, setHome, type DepositRow } from '../../db/payments/deposits';
import { lockLimits } from '../../db/limits/egress';
import { failPoint } from '../../db/fail-point';
import { ensure, ensureHome, leaveHome, reverse } from '../../db/ledger/ledger';
import {
  announce,
  databaseNow,
  factsOf,
  lockPayment,
  movePayment,
  requiredDepth,
  type PaymentPatch,
} from '../../db/payments/payments';
import { priceQuote, rateNow, type Priced } from '../../db/pricing/pricing';
import { refundUnderpaid } from '../../commands/refunds/create';
import { requestScreen } from '../../db/screening/screening';
import { requestStart } from '../../db/temporal/temporal-requests';
import { settleIfSwept } from '../../txmanager/settle';
import { sweepAgain } from '../../txmanager/kinds/sweep';
import { type PaymentDeps } from './deps';
import { openIncident } from '../../db/incidents';
import { workflowIds } from '../../domain/workflow-ids';

/** Moves a payment as far as its facts allow. Each function is safe to repeat: the row under its lock decides. */
export const paymentActivities = ({ db, config, codecs }: PaymentDeps) => {
  /** One step of `judge`, in one transaction; true when there may be another. */
  const stepOnce = (
    id: string,
  ): Promise<{ again: boolean; payment: PaymentRow; confirmBy: Date; now: Date; scanned: boolean }> =>
    db.transaction(async (tx) => {
      const payment = await lockPayment(tx, id);
      const facts = await factsOf(tx, payment);
      const answer = (again: boolean, row: PaymentRow) => ({
        again,
        payment: row,
        confirmBy: facts.confirmBy,
        now: facts.now,
        scanned: facts.scannedPastExpiry,
      });
      if (unratedDeposits(facts).length) return answer(true, await rateDeposits(tx, payment, facts));
      const step = judge(facts);
      const again = await apply(tx, payment, step);
      if (again) return answer(again.status !== payment.status || step.do !== 'note', again);
      if (payment.status !== 'SWEEP_QUEUED') return answer(false, payment);
      const settled = await settleIfSwept(tx, payment);
      if (!settled) await sweepAgain(tx, payment);
      return answer(false, settled ?? payment);
    });

  /** Carries a step out; the row after it, or null where nothing changed. */
  async function apply(tx: EntityManager, payment: PaymentRow, step: Step): Promise<PaymentRow | null> {
    switch (step.do) {
      case 'nothing':
        return null;
      case 'note': {
        const isSame =
          isSameNumber(step.paid.amountPaid, payment.amount_paid) &&
          isSameNumber(step.paid.value, payment.value_paid) &&
          isSameNumber(step.paid.amount, payment.amount) &&
          step.paid.txIds.join() === payment.tx_ids.join() &&
          step.addExceptions.every((exception) => payment.exceptions.includes(exception));
        if (isSame) return null;
        const noted = await movePayment(tx, payment, {
          to: payment.status,
          cause: 'deposit-seen',
          events: [],
          addExceptions: step.addExceptions,
          patch: paidColumns(payment, step.paid),
          details: { txIds: step.paid.txIds },
        });
        await announce(tx, payment, noted, [notedAs[payment.status] ?? 'payment.confirming']);
        return noted;
      }
      case 'move': {
        const moved = await movePayment(tx, payment, {
          to: step.to,
          cause: step.cause,
          events: step.events,
          addExceptions: step.addExceptions,
          patch: {
            ...paidColumns(payment, step.paid),
            ...(step.to === 'CONFIRMED' ? { confirmed_at: await databaseNow(tx) } : {}),
            ...(step.reverse.length ? { sweep_state: null } : {}),
            ...(step.accept === null ? {} : { accepted_share: step.accept }),
            ...(step.offer ? await crossOffer(tx, payment, step.offer) : { cross_chain_auto_accept_at: null }),
          },
          details: { txIds: step.paid.txIds, amountPaid: step.paid.amountPaid },
        });
        // What a refund asks for comes before the balances, and before the merchant's counter, which announcing locks. Invariants: 6.
        if (step.hold.length && isRefundedByPolicy(moved)) await lockLimits(tx, moved.merchant_id);
        await reverseDeposits(tx, step.reverse);
        await creditDeposits(tx, moved, step.credit, 'unsettled');
        await creditDeposits(tx, moved, step.hold, 'unallocated');
        if (moved.status === 'CONFIRMED') await requestScreen(tx, moved, config.amlProviders.length > 0);
        await announce(tx, payment, moved, step.events);
        if (step.hold.length) await refundByPolicy(tx, moved);
        return moved;
      }
      case 'hold':
        await creditDeposits(tx, payment, step.depositIds, 'unallocated');
        await refundByPolicy(tx, payment);
        return payment;
      case 'release':
        await reverseDeposits(tx, step.depositIds);
        return payment;
      case 'adopt':
        return adopt(tx, payment, step);
      case 'acceptCross':
        return acceptCross(tx, payment, step.depositIds, 'other-asset-accepted-by-itself');
      case 'alarm':
        return raiseAlarm(tx, payment, step.depositIds);
      case 'recover':
        return recover(tx, payment, step.depositIds);
    }
  }

  /** Row 10, policy refund: once all that came in time has come to rest. */
  async function refundByPolicy(tx: EntityManager, payment: PaymentRow): Promise<void> {
    if (!isRefundedByPolicy(payment)) return;
    const isComing = countedDeposits(await factsOf(tx, payment)).some((deposit) => isLive(deposit));
    if (!isComing) await refundUnderpaid(tx, { codecs, rateMaxAgeSeconds: config.RATE_MAX_AGE_SECONDS }, payment);
  }

  async function creditDeposits(
    tx: EntityManager,
    payment: PaymentRow,
    ids: readonly string[],
    home: 'unsettled' | 'unallocated',
  ) {
    if (!ids.length) return;
    for (const deposit of await depositsById(tx, ids))
      await ensureHome(tx, { ...journalOf(deposit), merchantId: payment.merchant_id }, home);
    await setHome(tx, ids, home);
    await failPoint('confirm.afterPost');
  }

  async function reverseDeposits(tx: EntityManager, ids: readonly string[]) {
    if (!ids.length) return;
    for (const deposit of await depositsById(tx, ids)) await leaveHome(tx, journalOf(deposit));
    await setHome(tx, ids, null);
  }

  /** Row 18: deposits without a place in `payment` become payments of their own, at the current rate. */
  async function adopt(
    tx: EntityManager,
    payment: PaymentRow,
    step: Extract<Step, { do: 'adopt' }>,
  ): Promise<PaymentRow> {
    const deposits = await depositsById(tx, step.depositIds);
    await reverseDeposits(
      tx,
      deposits.filter((deposit) => deposit.home !== null).map((deposit) => deposit.id),
    );
    for (const deposit of deposits) await openChild(tx, payment, deposit);
    const moved = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'repeat-deposit',
      events: [],
      addExceptions: step.addExceptions,
      details: { depositIds: step.depositIds },
    });
    await announce(tx, payment, moved, ['payment.repeat_deposit']);
    return moved;
  }

  async function openChild(tx: EntityManager, parent: PaymentRow, deposit: DepositRow): Promise<void> {
    const currency = deposit.currency!;
    const price = await rateNow(tx, {
      merchantId: parent.merchant_id,
      currency,
      fiat: parent.fiat_currency,
      maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
    });
    const amount = fit(deposit.amount, assetOf(currency).decimals, 'down');
    const split = splitPaid(amount, currency, parent.fee_bps, price.networkFee);
    const id = newId();
    const fiat = fiatValue(amount, price.exchangeRate, parent.fiat_currency);
    const [child] = await tx.query<PaymentRow[]>(
      `INSERT INTO payment AS p (id, merchant_id, slug, status, source, merchant_order_id, customer_id, extra_id, metadata, order_id,
          ipn_callback_url, invoice_callback_url, invoice_cancel_url, fiat_amount, fiat_currency, fee_bearer, fee_bps, tolerance_pct,
          underpaid_policy, currency, network, amount, exchange_rate, commission_amount, network_fee_amount, fee_amount, net_amount,
          rate_id, native_rate, quote_amount, quoted_at, quote_expires_at, required_confirmations, deposit_address, settlement_address, custody,
          expires_at, expires_in, amount_paid, tx_ids, address_role, parent_payment_id, child_deposit_id)
        SELECT $1, merchant_id, $2, 'CONFIRMING', source, merchant_order_id, customer_id, extra_id, metadata, order_id,
          ipn_callback_url, invoice_callback_url, invoice_cancel_url, greatest($3::numeric, 0.01), fiat_currency, 'merchant', fee_bps, tolerance_pct,
          underpaid_policy, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $6, clock_timestamp(), clock_timestamp(), $14, $15, $16, $17,
          clock_timestamp(), expires_in, $6, ARRAY[$18::text], 'repeat', id, $19
        FROM payment WHERE id = $20
        ON CONFLICT (child_deposit_id) DO NOTHING RETURNING p.*, p.metadata::text AS metadata`,
      [
        id,
        newSlug(),
        fiat,
        currency,
        deposit.network,
        amount,
        price.exchangeRate,
        split.commission,
        split.network,
        split.fee,
        split.net,
        price.rateId,
        price.nativeRate,
        requiredDepth(deposit.network, config.confirmations),
        deposit.address,
        price.settlementAddress ?? parent.settlement_address,
        price.custody ?? parent.custody,
        deposit.tx_id,
        deposit.id,
        parent.id,
      ],
    );
    if (!child) return;
    await tx.query('UPDATE deposit SET child_payment_id = $2 WHERE id = $1', [deposit.id, child.id]);
    const { rateId, exchangeRate } = price;
    await setDepositRate(tx, [deposit.id], { rateId, exchangeRate, quoteAmount: amount });
    await tx.query(
      `INSERT INTO payment_event (payment_id, state_version, from_status, to_status, cause, details) VALUES ($1, 1, NULL, 'CONFIRMING', 'repeat-deposit', $2)`,
      [child.id, { parentPaymentId: parent.id, depositId: deposit.id, rateId: price.rateId }],
    );
    await requestStart(tx, {
      workflow: 'payment',
      workflowId: workflowIds.payment(child.id),
      args: [child.id],
      attributes: { MerchantId: child.merchant_id, PaymentStatus: child.status, Currency: currency },
    });
    await announce(tx, child, child, ['payment.created'], 1);
  }

  /** Row 19: the price of another asset, as of now, and when it is accepted by itself: where the merchant wants that, can settle it,
   *  and it is worth what was asked for. */
  async function crossOffer(tx: EntityManager, payment: PaymentRow, depositId: string) {
    const [deposit] = await depositsById(tx, [depositId]);
    const currency = deposit!.currency!;
    const price = await rateNow(tx, {
      merchantId: payment.merchant_id,
      currency,
      fiat: payment.fiat_currency,
      maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
    });
    const { rateId, exchangeRate, nativeRate, networkFee } = price;
    const offer: CrossOffer = { currency, rateId, exchangeRate, nativeRate, networkFee };
    const quoteAmount = quoteOf(payment, offer).amount;
    await setDepositRate(tx, [depositId], { rateId, exchangeRate, quoteAmount });
    const need = needOf(quoteAmount, payment.tolerance_pct, currency);
    const hours = payment.auto_accept_cross_chain_hours ?? 0;
    const isAutomatic = hours > 0 && price.settlementAddress !== null && compare(deposit!.amount, need) >= 0;
    return {
      cross_offer: offer,
      cross_chain_auto_accept_at: isAutomatic ? new Date(price.now.getTime() + hours * 3_600_000) : null,
    };
  }

  /** Row 20: what came becomes what is paid, at the price it had when it was noticed. null where no wallet can take it. */
  async function acceptCross(
    tx: EntityManager,
    payment: PaymentRow,
    depositIds: readonly string[],
    cause: string,
  ): Promise<PaymentRow | null> {
    const offer = payment.cross_offer!;
    const [wallet] = await tx.query<Array<{ settlement_address: string; custody: 'platform' | 'external' }>>(
      'SELECT settlement_address, custody FROM merchant_wallet WHERE merchant_id = $1 AND currency = $2 AND is_active',
      [payment.merchant_id, offer.currency],
    );
    if (!wallet) return null;
    const deposits = (await depositsById(tx, depositIds)).filter((deposit) => deposit.currency === offer.currency);
    const paid = add('0', ...deposits.map((deposit) => deposit.amount));
    const priced = quoteOf(payment, offer);
    const rate = { rateId: offer.rateId, exchangeRate: offer.exchangeRate, quoteAmount: priced.amount };
    const taken = deposits.map(({ amount }) => ({ amount, ...rate }));
    const isShort = compare(shareOf(taken), neededShare(payment.tolerance_pct)) < 0;
    await keepQuote(tx, payment);
    await setDepositRate(
      tx,
      deposits.map((deposit) => deposit.id),
      rate,
    );
    const network = networkOf(offer.currency);
    const moved = await movePayment(tx, payment, {
      to: 'CONFIRMING',
      cause,
      events: ['payment.cross_chain_accepted'],
      addExceptions: ['wrongCurrency', ...(isShort ? ['underpaid' as const] : [])],
      patch: {
        ...quoteColumns({ ...offer, quote: priced }),
        currency: offer.currency,
        network: network.id,
        settlement_address: wallet.settlement_address,
        custody: wallet.custody,
        required_confirmations: requiredDepth(network.id, config.confirmations),
        original_currency: payment.currency,
        original_amount: payment.amount,
        accepted_share: isShort ? shareOf(taken) : null,
        amount_paid: paid,
        value_paid: valueOf(taken),
        tx_ids: [...new Set(deposits.map((deposit) => deposit.tx_id))],
        cross_chain_auto_accept_at: null,
      },
      details: { currency: offer.currency, rateId: offer.rateId, depositIds },
    });
    await reverseDeposits(
      tx,
      deposits.filter((deposit) => deposit.home !== null).map((deposit) => deposit.id),
    );
    await announce(tx, payment, moved, ['payment.cross_chain_accepted']);
    return moved;
  }

  /** Row 23: money that was settled is gone from the chain. The books say so, operators are told, the asset stops moving. */
  async function raiseAlarm(
    tx: EntityManager,
    payment: PaymentRow,
    depositIds: readonly string[],
  ): Promise<PaymentRow> {
    const deposits = await depositsById(tx, depositIds);
    const moved = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'reorg-after-settlement',
      events: [],
      addExceptions: ['reorged'],
      details: { depositIds },
    });
    for (const deposit of deposits) {
      await ensure(
        tx,
        lossJournal({
          ...journalOf(deposit),
          from: payment.custody === 'external' ? 'A:deposit' : 'A:treasury',
          paymentId: payment.id,
        }),
      );
      await tx.query(`INSERT INTO egress_freeze (currency, reason) VALUES ($1, $2) ON CONFLICT (currency) DO NOTHING`, [
        deposit.currency,
        `Reorganisation below settled payment ${payment.id}`,
      ]);
    }
    await openIncident(tx, {
      kind: 'deep-reorg',
      subject: { kind: 'payment', id: payment.id },
      details: { paymentId: payment.id, depositIds },
    });
    await announce(tx, payment, moved, ['payment.reorged']);
    return moved;
  }

  /** After row 23: the chain has the deposit again. The asset stays frozen until an operator has looked. */
  async function recover(tx: EntityManager, payment: PaymentRow, depositIds: readonly string[]): Promise<PaymentRow> {
    for (const deposit of await depositsById(tx, depositIds)) await reverse(tx, lossKey(journalOf(deposit)));
    const moved = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'deposit-returned',
      events: [],
      details: { depositIds },
    });
    await announce(tx, payment, moved, []);
    return moved;
  }

  /** A new quote from a moment on, for what is missing of the price. Row 6, and `in time` of Invariants: 3. */
  async function requote(tx: EntityManager, payment: PaymentRow, cause: string, at: Date): Promise<PaymentRow> {
    const priced = await quoteAtMoment(tx, payment, at, config.RATE_MAX_AGE_SECONDS);
    const columns = quoteColumns(priced);
    const facts = { ...(await factsOf(tx, payment)), quoteAmount: columns.quote_amount };
    await keepQuote(tx, payment);
    const moved = await movePayment(tx, payment, {
      to: payment.status,
      cause,
      events: [],
      patch: {
        ...columns,
        ...amountColumns({ ...payment, ...columns }, paidBy(facts, countedDeposits(facts).filter(isLive)).amount),
        quoted_at: at,
        quote_expires_at: quoteEnd(at, payment.expires_at),
      },
      details: { rateId: priced.rateId, previousRateId: payment.rate_id },
    });
    await announce(tx, payment, moved, []);
    return moved;
  }

  /** Gives every deposit that needs one its rate. What came after the quote had ended makes another, from its moment on. */
  async function rateDeposits(tx: EntityManager, payment: PaymentRow, facts: PaymentFacts): Promise<PaymentRow> {
    let current = payment;
    for (const deposit of unratedDeposits(facts)) {
      const end = current.quote_expires_at;
      const isQuoted = current.status !== 'CROSS_CHAIN_PENDING';
      const at = deposit.rateMoment;
      if (isQuoted && end && at > end && at < current.expires_at)
        current = await requote(tx, current, 'paid-after-quote', at);
      await rateDeposit(tx, current, deposit, config.RATE_MAX_AGE_SECONDS);
    }
    return current;
  }

  const quoteEnd = (from: Date, expiresAt: Date): Date =>
    new Date(Math.min(from.getTime() + config.QUOTE_TTL_SECONDS * 1000, expiresAt.getTime()));

  return {
    /** Looks at deposits, the chain's progress and the database's clock, and moves the payment as far as they allow; settles it
     *  when its sweeps are final. Returns where it stands and when to look again. Throws RATE_UNAVAILABLE (retried). */
    async judgePayment(id: string): Promise<Standing> {
      for (;;) {
        const { again, payment, confirmBy, now } = await stepOnce(id);
        await failPoint('move.afterCommit');
        if (payment.status === 'SETTLED') await failPoint('settle.afterCommit');
        if (!again) {
          return {
            status: payment.status,
            stateVersion: payment.state_version,
            lookAgainInMs: lookAgainInMs(payment, confirmBy, now),
          };
        }
      }
    },

    /** Row 4. The same row lock as the deposits' judgement, so that one wins. */
    async cancelPayment(id: string, by: 'payer' | 'merchant', reason?: string): Promise<Outcome> {
      return db.transaction(async (tx) => {
        const payment = await lockPayment(tx, id);
        if (payment.status === 'CANCELLED') return { status: payment.status };
        const facts = await factsOf(tx, payment);
        const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
        if (!isOpen || firstLive(facts)) return { status: payment.status, refused: 'PAYMENT_NOT_CANCELLABLE' };
        const moved = await movePayment(tx, payment, {
          to: 'CANCELLED',
          cause: `cancelled-by-${by}`,
          events: ['payment.cancelled'],
          details: reason ? { reason } : {},
        });
        await announce(tx, payment, moved, ['payment.cancelled']);
        return { status: moved.status };
      });
    },

    /** Row 9: what arrived is enough. Row 10: what a failed payment holds becomes payments of its own. */
    async acceptUnderpaid(id: string): Promise<Outcome> {
      return db.transaction(async (tx): Promise<Outcome> => {
        const locked = await lockPayment(tx, id);
        const payment = await rateDeposits(tx, locked, await factsOf(tx, locked));
        const facts = await factsOf(tx, payment);
        if (payment.status === 'PARTIALLY_PAID' && firstLive(facts)) {
          const live = countedDeposits(facts).filter((deposit) => isLive(deposit));
          const moved = await movePayment(tx, payment, {
            to: 'CONFIRMING',
            cause: 'underpaid-accepted-by-merchant',
            events: ['payment.confirming'],
            addExceptions: ['underpaid'],
            patch: { ...paidColumns(payment, paidBy(facts, live)), accepted_share: shareOf(live) },
          });
          await announce(tx, payment, moved, ['payment.confirming']);
          return { status: moved.status };
        }
        const held = facts.deposits
          .filter((deposit) => deposit.owner === id && deposit.home === 'unallocated' && deposit.status === 'confirmed')
          .filter((deposit) => deposit.currency === payment.currency)
          .map((deposit) => deposit.id);
        const isHeld = payment.status === 'FAILED' && payment.exceptions.includes('underpaid') && held.length > 0;
        if (!isHeld || facts.isChild) return { status: payment.status, refused: 'INVALID_STATE' };
        const moved = await adopt(tx, payment, { do: 'adopt', depositIds: held, addExceptions: [] });
        return { status: moved.status };
      });
    },

    /** Row 20, by the merchant. */
    async acceptCrossChain(id: string): Promise<Outcome> {
      return db.transaction(async (tx): Promise<Outcome> => {
        const payment = await lockPayment(tx, id);
        const cross = crossDeposits(await factsOf(tx, payment)).map((deposit) => deposit.id);
        const moved =
          payment.status === 'CROSS_CHAIN_PENDING' && cross.length
            ? await acceptCross(tx, payment, cross, 'other-asset-accepted-by-merchant')
            : null;
        return moved ? { status: moved.status } : { status: payment.status, refused: 'INVALID_STATE' };
      });
    },

    /** Row 21, by the merchant: what came stays in `unallocated`; a part in the payment's own coin joins it at the next look. */
    async rejectCrossChain(id: string): Promise<Outcome> {
      return db.transaction(async (tx): Promise<Outcome> => {
        const payment = await lockPayment(tx, id);
        if (payment.status !== 'CROSS_CHAIN_PENDING') return { status: payment.status, refused: 'INVALID_STATE' };
        const moved = await movePayment(tx, payment, {
          to: 'FAILED',
          cause: 'other-asset-rejected-by-merchant',
          events: ['payment.failed'],
          addExceptions: rejectionOf(await factsOf(tx, payment)),
          patch: { cross_chain_auto_accept_at: null },
        });
        await announce(tx, payment, moved, ['payment.failed']);
        return { status: moved.status };
      });
    },

    /** Row 3. The address of an earlier choice stays watched. */
    async selectCurrency(id: string, currency: Currency, by: 'payer' | 'merchant'): Promise<Outcome> {
      const outcome = await db.transaction(async (tx): Promise<Outcome> => {
        const payment = await lockPayment(tx, id);
        const refused: Outcome = { status: payment.status, refused: 'CURRENCY_NOT_CHANGEABLE' };
        const facts = await factsOf(tx, payment);
        if (payment.status !== 'AWAITING_CURRENCY' && payment.status !== 'WAITING') return refused;
        if (facts.now >= payment.expires_at || firstLive(facts)) return refused;
        if (payment.status === 'WAITING' && payment.currency === currency) return { status: payment.status };
        const priced = await priceQuote(tx, {
          merchantId: payment.merchant_id,
          currency,
          fiatAmount: payment.fiat_amount,
          fiat: payment.fiat_currency,
          feeBps: payment.fee_bps,
          feeBearer: payment.fee_bearer,
          maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
        }).catch((error: unknown) => {
          if (error instanceof DomainError && error.code !== 'RATE_UNAVAILABLE') return null;
          throw error;
        });
        if (!priced) return refused;
        const network = networkOf(currency);
        const [key] = await tx.query<Array<{ xpub: string; index: string }>>(
          `SELECT xpub, nextval(format('key_index_%s_deposit', network)::regclass)::text AS index FROM extended_key WHERE network = $1 AND role = 'deposit'`,
          [network.id],
        );
        if (!key)
          throw new DomainError(
            'UPSTREAM_UNAVAILABLE',
            `No extended key for ${network.id}: the signer has not registered it yet`,
          );
        const keyIndex = parseInt(key.index, 10);
        const address = codecs[network.id].derive(key.xpub, keyIndex);
        await tx.query(
          `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id) VALUES ($1, $2, 'deposit', $3, $4, $5, $6)`,
          [network.id, address, keyIndex, currency, payment.merchant_id, payment.id],
        );
        const isFirst = payment.status === 'AWAITING_CURRENCY';
        const expiresAt = isFirst ? new Date(facts.now.getTime() + payment.expires_in * 1000) : payment.expires_at;
        await keepQuote(tx, payment);
        const moved = await movePayment(tx, payment, {
          to: 'WAITING',
          cause: `currency-selected-by-${by}`,
          events: ['payment.currency_selected'],
          patch: {
            ...quoteColumns(priced),
            currency,
            network: network.id,
            deposit_address: address,
            settlement_address: priced.settlementAddress,
            custody: priced.custody,
            required_confirmations: requiredDepth(network.id, config.confirmations),
            quoted_at: facts.now,
            quote_expires_at: quoteEnd(facts.now, expiresAt),
            expires_at: expiresAt,
          },
          details: { currency, rateId: priced.rateId },
        });
        await announce(tx, payment, moved, ['payment.currency_selected']);
        await failPoint('select.beforeCommit');
        return { status: moved.status };
      });
      await failPoint('select.afterCommit');
      return outcome;
    },

    /** Row 6. Refused while the quote still holds, or money was seen that has not been judged. */
    async refreshQuote(id: string): Promise<Outcome> {
      return db.transaction(async (tx): Promise<Outcome> => {
        const payment = await lockPayment(tx, id);
        const facts = await factsOf(tx, payment);
        const isStale =
          (payment.status === 'WAITING' || payment.status === 'PARTIALLY_PAID') &&
          payment.quote_expires_at !== null &&
          facts.now >= payment.quote_expires_at;
        const isSeen = payment.status === 'WAITING' ? firstLive(facts) : unratedDeposits(facts).length;
        if (!isStale || isSeen || facts.now >= payment.expires_at)
          return { status: payment.status, refused: 'QUOTE_NOT_REFRESHABLE' };
        return { status: (await requote(tx, payment, 'quote-refreshed', facts.now)).status };
      });
    },
  };
};

/** When the first live counted deposit was seen; undefined while there is none. */
function firstLive(facts: Parameters<typeof countedDeposits>[0]): Date | undefined {
  return countedDeposits(facts).find((deposit) => ['pool', 'mined', 'confirmed'].includes(deposit.status))?.firstSeenAt;
}

const isRefundedByPolicy = (payment: PaymentRow): boolean =>
  payment.status === 'FAILED' && payment.exceptions.includes('underpaid') && payment.underpaid_policy === 'refund';

/** What a payment would have cost in another asset. */
const quoteOf = (payment: PaymentRow, { currency, exchangeRate, networkFee }: CrossOffer) =>
  quote({
    currency,
    fiatAmount: payment.fiat_amount,
    rate: exchangeRate,
    feeBps: payment.fee_bps,
    feeBearer: payment.fee_bearer,
    networkFee,
  });

const journalOf = (deposit: DepositRow) => ({
  network: deposit.network,
  txId: deposit.tx_id,
  index: deposit.out_index,
  currency: deposit.currency!,
  amount: deposit.amount,
});

/** What has arrived, and what the price comes to with it. */
const paidColumns = (payment: PaymentRow, { amountPaid, value, amount, txIds }: Paid): PaymentPatch => ({
  amount_paid: amountPaid,
  value_paid: value,
  tx_ids: txIds,
  ...amountColumns(payment, amount),
});

/** Another amount, and the fees that come with it. */
function amountColumns(payment: PaymentRow, amount: string | null): PaymentPatch {
  if (amount === null || isSameNumber(amount, payment.amount)) return {};
  const split = splitPaid(amount, payment.currency!, payment.fee_bps, payment.network_fee_amount ?? '0');
  return {
    amount,
    commission_amount: split.commission,
    network_fee_amount: split.network,
    fee_amount: split.fee,
    net_amount: split.net,
  };
}

const isSameNumber = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : compare(a, b) === 0;

const quoteColumns = (priced: Pick<Priced, 'quote' | 'exchangeRate' | 'rateId' | 'nativeRate'>) => ({
  amount: priced.quote.amount,
  quote_amount: priced.quote.amount,
  commission_amount: priced.quote.commissionAmount,
  network_fee_amount: priced.quote.networkFeeAmount,
  fee_amount: priced.quote.feeAmount,
  net_amount: priced.quote.netAmount,
  exchange_rate: priced.exchangeRate,
  rate_id: priced.rateId,
  native_rate: priced.nativeRate,
});

/** The event of a payment to which more, or less, came without a change of its status. */
const notedAs: Partial<Record<PaymentStatus, PaymentEventType>> = {
  PARTIALLY_PAID: 'payment.partially_paid',
  CROSS_CHAIN_PENDING: 'payment.cross_chain_pending',
};

/** Until the next deadline; past it, until the follower has caught up, ever more patiently. Signals wake the workflow sooner. */
function lookAgainInMs(payment: PaymentRow, confirmBy: Date, now: Date): number {
  const until = (deadline: Date): number => {
    const left = deadline.getTime() - now.getTime();
    return left > 0 ? left + 1000 : Math.min(60_000, Math.max(2000, -left));
  };
  if (isFinal(payment.status)) return 0;
  if (payment.status === 'CONFIRMED' || payment.status === 'SWEEP_QUEUED') return 600_000;
  if (payment.status === 'CROSS_CHAIN_PENDING')
    return until(payment.cross_chain_auto_accept_at ?? crossDeadline(payment.expires_at));
  return until(payment.status === 'CONFIRMING' ? confirmBy : payment.expires_at);
}
