import type { DataSource } from 'typeorm';
import { post } from '../db/ledger/ledger';
import { adjustment } from '../domain/ledger/entry';
import { available } from '../domain/ledger/ledger';

/** Credits a merchant with money that is the platform's own: it must be on the chain. Once for a merchant and asset. */
export const creditFromCapital = (
  db: DataSource,
  merchantId: string,
  asset: string,
  amount: string,
): Promise<unknown> =>
  db.transaction((tx) =>
    post(tx, {
      key: `test/${merchantId}/${asset}`,
      entry: adjustment,
      postings: [{ debit: 'Q:capital', credit: available(merchantId), asset, amount }],
    }),
  );
