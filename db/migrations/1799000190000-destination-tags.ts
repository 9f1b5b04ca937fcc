import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What refers to an account, whose row has no tag. */
const ofAccounts = ['wallet_sequence', 'attempt_account', 'balance_due'];

/** Many payments may share an address of ours, each behind a destination tag of its own. */
export class DestinationTags1799000190000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const table of ['deposit', ...ofAccounts])
      await q.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_network_address_fkey`);
    await q.query(`
      -- '': the address itself, which also gets what comes without a tag of ours.
      ALTER TABLE address ADD COLUMN tag text NOT NULL DEFAULT '';
      ALTER TABLE address DROP CONSTRAINT address_pkey, ADD PRIMARY KEY (network, address, tag);
      ALTER TABLE address DROP CONSTRAINT address_path;
      ALTER TABLE address ADD CONSTRAINT address_path UNIQUE (network, role, branch, key_index, tag);

      -- tag: of the row of ours that it came to; stated_tag: the one that it came with, whosever that is.
      ALTER TABLE deposit ADD COLUMN tag text NOT NULL DEFAULT '', ADD COLUMN stated_tag text;
      ALTER TABLE deposit ADD FOREIGN KEY (network, address, tag) REFERENCES address;

      ALTER TABLE payment ADD COLUMN destination_tag text
        CHECK (destination_tag IS NULL OR deposit_address IS NOT NULL)`);
    for (const table of ofAccounts)
      await q.query(`
        ALTER TABLE ${table} ADD COLUMN tag text NOT NULL GENERATED ALWAYS AS ('') STORED;
        ALTER TABLE ${table} ADD FOREIGN KEY (network, address, tag) REFERENCES address`);
  }

  async down(q: QueryRunner): Promise<void> {
    for (const table of ofAccounts) await q.query(`ALTER TABLE ${table} DROP COLUMN tag`);
    await q.query(`
      ALTER TABLE payment DROP COLUMN destination_tag;
      ALTER TABLE deposit DROP COLUMN tag, DROP COLUMN stated_tag;
      ALTER TABLE address DROP CONSTRAINT address_path;
      ALTER TABLE address ADD CONSTRAINT address_path UNIQUE (network, role, branch, key_index);
      ALTER TABLE address DROP CONSTRAINT address_pkey, ADD PRIMARY KEY (network, address);
      ALTER TABLE address DROP COLUMN tag`);
    for (const table of ['deposit', ...ofAccounts])
      await q.query(`ALTER TABLE ${table} ADD FOREIGN KEY (network, address) REFERENCES address`);
  }
}
