import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { operate } from '../../api/operator';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { parseConfig } from '../../domain/config';
import { networkOf } from '../../domain/chains/assets';
import { newId } from '../../domain/ids';
import type { ArchivedPostgres } from '../../sandbox/parts/postgres';
import { byTwoOperators } from '../operators';
import { World, type Invoice, type Owner } from '../world';

/** A restore as an operator does it, on the whole service: a base backup and the archive of the WAL, load, the loss of
 *  the server, a restore to an earlier moment, and what the service makes of it.
 *  docs/operations/backup-and-restore.md */

export type DrillOptions = Readonly<{
  /** How much is lost. */
  lossSeconds: number;
  /** kept: it goes on, ahead of the database. empty: a new one. */
  temporal: 'kept' | 'empty';
  /** Ether alone, and nobody waits a minute before what has lost its workflow is looked for. */
  isShort?: boolean;
  say?: (line: string) => void;
}>;

/** A withdrawal, to an address that gets no other. */
export type Paid = Readonly<{ id: string; address: string; currency: string; amount: string }>;

export class Drill {
  private constructor(
    readonly world: World,
    private readonly owner: Owner,
    private readonly options: DrillOptions,
  ) {}

  static async start(options: DrillOptions): Promise<Drill> {
    const env = { SWEEP_BATCH_SECONDS: '3' };
    const world = await World.start({ ownPostgres: true, archive: true, miner: true, isHasty: false, env });
    const owner = await world.merchant(['payments:create', 'payments:read', 'ledger:read', 'withdrawals:read']);
    return new Drill(world, owner, options);
  }

  private get postgres(): ArchivedPostgres {
    return this.world.stack.postgres as ArchivedPostgres;
  }

  /** An invoice that is not paid. */
  readonly invoice = (currency = 'ETH'): Promise<Invoice> =>
    this.world.invoice(this.owner.shop, { amount: 200, currency });
  readonly invoices = (currencies: readonly string[]): Promise<Invoice[]> =>
    Promise.all(currencies.map((currency) => this.invoice(currency)));
  async pay({ address, amount, currency = 'ETH' }: Invoice): Promise<void> {
    await this.world.payer.pay(currency, address, String(amount));
  }
  async settles(invoice: Invoice): Promise<void> {
    await this.world.sees(this.owner.shop, invoice.id, 'SETTLED', { ms: 240_000 });
  }

  /** A withdrawal to a new address, as its route makes it. */
  async withdrawal(currency: string, amount: string): Promise<Paid> {
    const { db, stack } = this.world;
    const codecs = createCodecs(parseConfig(stack.env).chain);
    const codec = codecs[networkOf(currency).id];
    // Nobody knows the key of a deposit address of another seed.
    const address = codec.derive(codec.extendedKey(randomBytes(64), 'deposit'), 0);
    const user = { id: newId(), email: 'ann@shop.example' };
    const { id: merchantId } = this.owner.shop;
    await addToWhitelist(db, merchantId, user, { type: 'wallet', currency, address, destinationTag: null });
    const { row } = await db.transaction((tx) =>
      openWithdrawal(
        tx,
        { codecs, rateMaxAgeSeconds: 3600 },
        merchantId,
        { currency, amount, feeMode: 'add', address },
        user,
        newId(),
      ),
    );
    return { id: row.id, address, currency, amount };
  }
  async statusOf(table: 'withdrawal' | 'payment', id: string): Promise<string | undefined> {
    const [row] = await this.world.db.query(`SELECT status FROM ${table} WHERE id = $1`, [id]);
    return row?.status;
  }
  completed(id: string): Promise<void> {
    return this.world.until(
      `withdrawal ${id} is completed`,
      async () => (await this.statusOf('withdrawal', id)) === 'completed',
      240_000,
    );
  }

  /** As if a minute had passed since open rows were changed: only then they are looked for. */
  async letAMinutePass(): Promise<void> {
    for (const table of ['payment', 'withdrawal'])
      await this.world.db.query(`UPDATE ${table} SET updated_at = updated_at - interval '61 seconds'`);
  }

  /** Two operators unfreeze a wallet. */
  async unfreeze(network: string, address: string): Promise<void> {
    await byTwoOperators(this.world.db, 'unfreeze-wallet', { network, address });
  }

  /** The merchant makes a forgotten invoice again, and two operators give it the address that its payer has paid. */
  async claims({ address, currency = 'ETH' }: Invoice): Promise<void> {
    const again = await this.invoice(currency);
    const network = networkOf(currency).id;
    await byTwoOperators(this.world.db, 'claim-address', { network, address, paymentId: again.id });
    await this.settles(again);
  }

  /** Operators pay what is booked as a loss, and some for fees, into the hot wallets. */
  async payIn(): Promise<void> {
    const { db } = this.world;
    const losses: Array<{ asset: string; amount: string }> = await db.query(
      `SELECT asset, trim_scale(2 * sum(amount))::text AS amount FROM posting WHERE debit = 'E:loss' GROUP BY asset`,
    );
    for (const { asset, amount } of losses) {
      await this.world.payIn(asset, amount, 120_000);
    }
  }

  readonly operator = (...args: string[]): Promise<string> =>
    operate(this.world.db, parseConfig(this.world.stack.env), args);

  /** Everything that the WAL has is in the archive, and a copy of the data folder in `<data folder>-base`. */
  async backUp(): Promise<void> {
    const { dataFolder, url } = this.postgres;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("SELECT pg_backup_start('drill', true)");
    const base = `${dataFolder}-base`;
    rmSync(base, { recursive: true, force: true });
    execFileSync('cp', ['-a', dataFolder, base]);
    rmSync(join(base, 'pg_wal'), { recursive: true, force: true });
    execFileSync('cp', ['-a', join(dataFolder, 'pg_wal', 'archive_status'), base]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(true)');
    await client.end();
    rmSync(join(base, 'archive_status'), { recursive: true, force: true });
    execFileSync('install', ['-d', '-m', '0700', join(base, 'pg_wal')]);
    writeFileSync(join(base, 'backup_label'), rows[0]!.labelfile);
    rmSync(join(base, 'postmaster.pid'), { force: true });
    execFileSync('chown', ['-R', '--reference', dataFolder, base]);
  }

  /** Loses the server and every process, and restores what was there at `moment`. */
  async loseAndRestore(moment: Date): Promise<void> {
    const { world, postgres, options } = this;
    const { stack } = world;
    await world.db.query('SELECT pg_switch_wal()');
    await world.until('the WAL is archived', async () => {
      const [row] = await world.db.query(
        `SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 16777216) AS done FROM pg_stat_archiver`,
      );
      return row.done === true;
    });
    await Promise.all([...stack.services.values()].map((one) => one.kill9()));
    await postgres.kill9();
    if (options.temporal === 'empty') {
      await stack.temporal.stop();
      rmSync(join(world.dataDir, 'temporal.db'), { force: true });
      await stack.temporal.start();
    }
    const { dataFolder, archiveFolder } = postgres;
    rmSync(dataFolder, { recursive: true });
    execFileSync('cp', ['-a', `${dataFolder}-base`, dataFolder]);
    appendFileSync(
      join(dataFolder, 'postgresql.auto.conf'),
      `
restore_command = 'cp ${archiveFolder}/%f %p'
recovery_target_time = '${moment.toISOString().replace('T', ' ').replace('Z', '+00')}'
recovery_target_action = 'promote'
`,
    );
    writeFileSync(join(dataFolder, 'recovery.signal'), '');
    execFileSync('chown', ['--reference', dataFolder, join(dataFolder, 'recovery.signal')]);
    await postgres.start();
    await world.until('the server is promoted', async () => {
      const [row] = await world.db.query('SELECT pg_is_in_recovery() AS waits').catch(() => [{ waits: true }]);
      return !row.waits;
    });
    await Promise.all([...stack.services.values()].map((one) => one.start()));
  }

  /** The newest comparison of the books with the chains is newer than all that has happened. */
  async agrees(): Promise<void> {
    const since = new Date();
    await this.world.until(
      'the books are compared with the chains',
      async () => {
        const rows: Array<{ at: Date }> = await this.world.db.query('SELECT min(at) AS at FROM reconciliation');
        return rows[0]!.at > since;
      },
      120_000,
    );
  }

  /** The chains differ from the books by nothing, and the books hold. */
  async problems(): Promise<string[]> {
    return (await this.world.audit()).map(({ invariant, what, found }) => `${invariant}: ${what}: ${found.join('; ')}`);
  }

  /** How often an amount was sent to an address, by every block of the chain. */
  async arrivals({ address, currency }: Paid): Promise<number> {
    const adapter = createAdapter(networkOf(currency).id, parseConfig(this.world.stack.env));
    const { height } = await adapter.head();
    let count = 0;
    for (let at = 1; at <= height; at += 1)
      count += ((await adapter.readBlock(at))?.transfers ?? []).filter(({ to }) => to === address).length;
    return count;
  }

  async lose(since: Date): Promise<void> {
    const left = since.getTime() + this.options.lossSeconds * 1000 - Date.now();
    if (left > 0) await sleep(left);
  }
}
