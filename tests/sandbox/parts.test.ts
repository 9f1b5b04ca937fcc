import { Connection } from '@temporalio/client';
import { createTransport } from 'nodemailer';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnvil } from '../../sandbox/parts/anvil';
import { startBtcd } from '../../sandbox/parts/btcd';
import { call } from '../../sandbox/parts/json-rpc';
import { startMail, type CaughtMail } from '../../sandbox/parts/mail';
import { startPostgres } from '../../sandbox/parts/postgres';
import { startTemporal } from '../../sandbox/parts/temporal';
import { startTemporalOnPostgres } from '../../sandbox/parts/temporal-on-postgres';
import { freePort } from '../../sandbox/ports';
import { mineBitcoin } from '../../sandbox/miner';
import { Payer } from '../../sandbox/payer';
import { payerMnemonic } from '../../sandbox/secrets';
import { freePorts, temporalPorts } from '../../sandbox/stack/ports';
import { chosenStore } from '../../sandbox/temporal-store';

type Temporal = Awaited<ReturnType<typeof startTemporal>>;

const miningAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

/** Megabytes of memory that a process holds. */
const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The one of `npm test -- --temporal …`, by itself. */
async function startChosenTemporal(dataDir: string): Promise<{ temporal: Temporal; end(): Promise<void> }> {
  if (chosenStore(process.env) === 'sqlite') {
    const temporal = await startTemporal({ dataDir, port: await freePort(), uiPort: await freePort() });
    return { temporal, end: () => temporal.stop() };
  }
  const postgres = await startPostgres({ dataDir, port: await freePort(), password: 'tests' });
  try {
    const ports = temporalPorts(await freePorts());
    const temporal = await startTemporalOnPostgres({
      dataDir,
      ports,
      uiPort: await freePort(),
      postgresUrl: postgres.url,
      password: "it's",
    });
    return {
      temporal,
      end: async () => {
        await temporal.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

describe('parts of the sandbox keep what they acknowledged over kill -9 and over a stop', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-parts-'));
    chmodSync(dataDir, 0o711);
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('anvil: blocks, their hashes, receipts and balances of the past', async () => {
    const anvil = await startAnvil({ dataDir, port: await freePort() });
    const to = '0x00000000000000000000000000000000000000aa';
    const send = async (): Promise<void> => {
      const [from] = await call<string[]>(anvil.url, 'eth_accounts');
      await call(anvil.url, 'eth_sendTransaction', [{ from, to, value: '0x1' }]);
      await call(anvil.url, 'evm_mine');
    };
    const look = async (): Promise<unknown> => {
      const block = await call<{ hash: string; transactions: string[] }>(anvil.url, 'eth_getBlockByNumber', [
        '0x1',
        false,
      ]);
      return {
        height: await call(anvil.url, 'eth_blockNumber'),
        hash: block.hash,
        receipt: await call(anvil.url, 'eth_getTransactionReceipt', block.transactions),
        then: await call(anvil.url, 'eth_getBalance', [to, '0x1']),
        now: await call(anvil.url, 'eth_getBalance', [to, 'latest']),
      };
    };
    try {
      for (const end of ['kill9', 'stop', 'kill9'] as const) {
        await send();
        const before = await look();
        await anvil[end]();
        expect(anvil.pid()).toBeUndefined();
        await anvil.start();
        expect(await look()).toEqual(before);
      }
    } finally {
      await anvil.stop();
    }
  });

  it('anvil: payers who pay from one account at the same moment are all heard', async () => {
    const anvil = await startAnvil({ dataDir, port: await freePort() });
    try {
      const chains = { ethRpcUrl: anvil.url, btcRpcUrl: '' };
      const payers = Array.from({ length: 4 }, () => new Payer(chains, {}, payerMnemonic(dataDir)));
      const address = '0x00000000000000000000000000000000000000aa';
      const rounds = Array.from({ length: 25 }, () => payers.map((payer) => payer.pay('ETH', address, '0.01')));
      const paid = await Promise.all(rounds.flat());
      expect(new Set(paid.map(({ txId }) => txId)).size).toBe(100);
      await call(anvil.url, 'evm_mine');
      expect(BigInt(await call<string>(anvil.url, 'eth_getBalance', [address, 'latest']))).toBe(10n ** 18n);
    } finally {
      await anvil.stop();
    }
  });

  it('anvil: a state file that was cut off in the middle is not believed', async () => {
    const port = await freePort();
    const first = await startAnvil({ dataDir, port });
    await call(first.url, 'evm_mine');
    await first.kill9(); // saved
    writeFileSync(join(dataDir, 'anvil', 'state-at-exit.json'), '{"block":{"num');
    const again = await startAnvil({ dataDir, port });
    try {
      expect(await call(again.url, 'eth_blockNumber')).toBe('0x1');
    } finally {
      await again.stop();
    }
  });

  it('anvil: thousands of blocks take little memory and a small file, and outlive an end while saving', async () => {
    const anvil = await startAnvil({ dataDir, port: await freePort() });
    const saved = join(dataDir, 'anvil', 'state.json');
    const blocks = 1500;
    try {
      await call(anvil.url, 'anvil_mine', [`0x${blocks.toString(16)}`]);
      while (!existsSync(saved)) await sleep(100);
      expect(statSync(saved).size).toBeLessThan(blocks * 4000);
      expect(residentMb(anvil.pid() ?? 0)).toBeLessThan(150);
      await anvil.kill9();
      await anvil.start();
      await call(anvil.url, 'anvil_reorg', [40, []]);
      const head = await call<{ hash: string }>(anvil.url, 'eth_getBlockByNumber', ['latest', false]);
      await anvil.stop();
      writeFileSync(join(dataDir, 'anvil', 'state-at-exit.json'), '{"block":{"num');
      await anvil.start();
      expect(await call(anvil.url, 'eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: head.hash });
    } finally {
      await anvil.stop();
    }
  });

  it('btcd: its blocks; the login guards it', async () => {
    const btcd = await startBtcd({ dataDir, port: await freePort(), user: 'u', password: 'secret', miningAddress });
    const ask = <T>(method: string, ...params: unknown[]): Promise<T> => call<T>(btcd.url, method, params, 'u:secret');
    try {
      await expect(call(btcd.url, 'getblockcount', [], 'u:wrong')).rejects.toThrow('401');
      for (const end of ['kill9', 'stop'] as const) {
        await ask('generate', 20);
        const before = [await ask('getblockcount'), await ask('getbestblockhash')];
        await btcd[end]();
        await btcd.start();
        expect([await ask('getblockcount'), await ask('getbestblockhash')]).toEqual(before);
      }
      const url = btcd.url.replace('://', '://u:secret@');
      const mined = await Promise.all(Array.from({ length: 4 }, () => mineBitcoin(url, 25)));
      expect(mined.map((hashes) => hashes.length)).toEqual([25, 25, 25, 25]);
    } finally {
      await btcd.stop();
    }
  });

  it('Temporal: workflows that were started; its page answers', async () => {
    const { temporal, end } = await startChosenTemporal(dataDir);
    const withService = async <T>(act: (service: Connection['workflowService']) => Promise<T>): Promise<T> => {
      const connection = await Connection.connect({ address: temporal.url });
      try {
        return await act(connection.workflowService);
      } finally {
        await connection.close();
      }
    };
    try {
      expect((await fetch(temporal.uiUrl)).status).toBe(200);
      for (const end of ['kill9', 'stop'] as const) {
        const workflowId = `kept-over-${end}`;
        await withService((service) =>
          service.startWorkflowExecution({
            namespace: 'default',
            workflowId,
            requestId: workflowId,
            workflowType: { name: 'nobodyRunsThis' },
            taskQueue: { name: 'nobody' },
          }),
        );
        await temporal[end]();
        await temporal.start();
        const found = await withService((service) =>
          service.describeWorkflowExecution({ namespace: 'default', execution: { workflowId } }),
        );
        expect(found.workflowExecutionInfo?.execution?.workflowId).toBe(workflowId);
      }
    } finally {
      await end();
    }
  });

  it('mail: messages, on a page and as JSON, with what is dangerous in them escaped', async () => {
    const mail = await startMail({ dataDir, smtpPort: await freePort(), port: await freePort() });
    try {
      const transport = createTransport(mail.smtpUrl);
      await transport.sendMail({
        from: 'a@shop.test',
        to: 'b@payer.test',
        subject: '<b>Code</b>',
        text: 'It is 123456 ✓',
      });
      await mail.kill9();
      await mail.start();
      const listed = (await (await fetch(`${mail.url}/messages.json?to=b@payer.test`)).json()) as CaughtMail[];
      expect(listed).toMatchObject([{ to: ['b@payer.test'], subject: '<b>Code</b>', text: 'It is 123456 ✓\n' }]);
      expect(await (await fetch(`${mail.url}/messages.json?to=other@payer.test`)).json()).toEqual([]);
      expect(await (await fetch(mail.url)).text()).toContain('&lt;b&gt;Code&lt;/b&gt;');
    } finally {
      await mail.stop();
    }
  });
});
