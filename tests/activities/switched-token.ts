import { hexOf } from '../../chains/tron/address';
import type { OperatorRequest } from '../../db/operators/requests';
import { sendIntent } from '../../txmanager/send/send';
import { bookEnd } from '../book-end';
import { usdt } from '../chain/tron-vectors';
import { byTwoOperators } from '../operators';
import { units, type TronShop } from './tron-shop';

/** A token of which its issuer switches a fee on between a signature and its block, and two operators who say what has
 *  been paid. */

export const token = 'USDT_TRC20';
/** Of each transfer a hundredth goes to the token's owner; it is taken beside it; or all of it goes to him. */
export const keeps = { feePoints: 100 };
export const onTop = { feePoints: 100, isOnTop: true };
export const diverts = { feePoints: 10_000 };

export type SwitchedToken = ReturnType<typeof switchedToken>;

export function switchedToken(tron: TronShop) {
  async function switched(more: object): Promise<void> {
    await tron.world.order('switch', { contract: hexOf(usdt), ...more });
    await tron.world.mine();
  }
  const sumOf = async (account: string): Promise<bigint> => {
    const [row] = await tron.db.query(
      `SELECT coalesce(sum(CASE WHEN debit = $1 THEN amount ELSE -amount END), 0)::text AS sum FROM posting
        WHERE $1 IN (debit, credit) AND asset = $2`,
      [account, token],
    );
    return units(row.sum);
  };
  return {
    switched,
    losses: () => sumOf('E:loss'),
    spendable: async () => -(await sumOf(`L:available:${tron.shop.id}`)),

    /** Signs and sends what `next` names until the first of a kind; that one is mined while the token is switched. */
    async sentSwitched(next: () => Promise<unknown>, kind: string, how: object, blocks = 20): Promise<string> {
      for (;;) {
        const intent = (await next()) as { id: string; kind: string };
        if (intent.kind !== kind) {
          await tron.carryOut(intent.id);
          continue;
        }
        expect(await tron.signer().signOnce(intent.id)).toEqual({ state: 'stored' });
        await switched(how);
        await sendIntent({ db: tron.db, adapter: tron.adapter, log: { info: () => undefined } }, intent.id);
        await tron.mine(blocks);
        await bookEnd(tron.db, intent.id);
        await switched({});
        return intent.id;
      }
    },

    decide: (intentId: string, outcome: string): Promise<OperatorRequest> =>
      byTwoOperators(tron.db, 'decide-transfer', { intentId, outcome }),

    /** As its workflow goes on after the follower's next look. */
    async goOn(intentId: string): Promise<void> {
      await tron.look();
      await bookEnd(tron.db, intentId);
    },

    /** Intents of which nobody has said what they have paid. */
    differing: async (): Promise<string[]> =>
      (
        await tron.db.query(
          `SELECT subject_id AS id FROM incident WHERE kind = 'transfer-differs' AND resolved_at IS NULL ORDER BY id`,
        )
      ).map(({ id }: { id: string }) => id),

    /** Books and chain agree, whatever has been decided. */
    async inOrder(): Promise<void> {
      expect(await tron.wrong(['I1', 'I2', 'I3', 'I4', 'I7', 'I8', 'I9', 'I10', 'I11', 'I15'])).toEqual([]);
      expect(await tron.unreconciled()).toEqual([]);
    },
  };
}
