import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What comes by Lightning is in the channels of our node, and nothing moves it to a merchant's own address.
 *  docs/decisions/0074-lightning-is-offered.md */
export class LightningWallets1799001030000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE merchant_wallet ADD CONSTRAINT merchant_wallet_lightning
      CHECK (currency <> 'BTC_LN' OR custody = 'platform') NOT VALID`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE merchant_wallet DROP CONSTRAINT merchant_wallet_lightning');
  }
}
