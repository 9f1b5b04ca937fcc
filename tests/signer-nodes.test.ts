/** @jest-environment node */
import { expiringFamilies, checkSignerNode } from '../chains/expiring-nodes';
import type { NetworkId } from '../domain/chains/assets';
import { ConfigError, parseConfig } from '../domain/config';
import { simulated, tronFrom } from './chain/expiring-networks';
import { register } from './chain/registering';
import { TronWorld } from './chain/tron-world';
import { simulatedXrpl } from './chain/xrpl-network';

/** The nodes of the signer's own. */

const xrpl = 'xrpl';
const tron = 'tron';

const base = { NETWORKS: 'bitcoin,xrpl', ...simulated };
const given = (nodes: unknown): string => JSON.stringify(nodes);

describe('the setting', () => {
  it('is asked of the signer alone, for each network whose transactions expire', () => {
    expect(() => parseConfig(base, undefined, 'signer')).toThrow(
      'SIGNER_NODES names no node for xrpl: its transactions expire, and the signer asks one of its own',
    );
    expect(() => parseConfig(base)).toThrow(ConfigError);
    for (const process of ['api', 'payments', 'chain'] as const)
      expect(parseConfig(base, undefined, process).signerNodes).toEqual({});
    expect(parseConfig({}, undefined, 'signer').signerNodes).toEqual({});
  });

  it('is an address for each, and of TRON one of final blocks where that is another', () => {
    const nodes = { xrpl: 'http://10.0.0.1:5005', tron: ['http://10.0.0.2:8090', 'http://10.0.0.2:8091'] };
    expect(parseConfig({ ...base, SIGNER_NODES: given(nodes) }, undefined, 'signer').signerNodes).toEqual({
      xrpl: { url: 'http://10.0.0.1:5005' },
      tron: { url: 'http://10.0.0.2:8090', final: 'http://10.0.0.2:8091' },
    });
  });

  it('may come in a file, because credentials may be in it', () => {
    const read = (): string => given({ xrpl: 'https://us:word@node.example' });
    expect(parseConfig({ ...base, SIGNER_NODES_FILE: '/run/nodes' }, read, 'signer').signerNodes.xrpl).toEqual({
      url: 'https://us:word@node.example',
    });
  });

  it.each([
    ['no JSON', 'is not a JSON object'],
    ['[]', 'is not a JSON object'],
    [given({ dogecoin: 'http://127.0.0.1' }), "there is no network 'dogecoin' in the registry"],
    [given({ constructor: 'http://127.0.0.1' }), "there is no network 'constructor' in the registry"],
    [given({ bitcoin: 'http://127.0.0.1' }), 'transactions of bitcoin never expire'],
    [given({ xrpl: 'us:word@node' }), 'an address of xrpl is no http:// or https:// one'],
    [given({ xrpl: 7 }), 'an address of xrpl is no http:// or https:// one'],
    [given({ xrpl: [] }), 'xrpl has 0 addresses, not 1 to 1'],
    [given({ xrpl: ['http://a', 'http://b'] }), 'xrpl has 2 addresses, not 1 to 1'],
    [given({ tron: ['http://a', 'http://b', 'http://c'] }), 'tron has 3 addresses, not 1 to 2'],
  ])('refuses %s, and repeats no credentials', (SIGNER_NODES, what) => {
    const parse = () => parseConfig({ ...base, SIGNER_NODES }, undefined, 'signer');
    expect(parse).toThrow(what);
    expect(parse).not.toThrow('word');
  });

  it('in production names another node than the chain worker asks, and never over plain http to the public', () => {
    const production = {
      ...{ NODE_ENV: 'production', ...base, TRON_NETWORK: 'mainnet', SECRETS_KEY: 'ab'.repeat(31) + 'cd' },
      DATABASE_URL: 'postgres://db',
      ...{ TEMPORAL_ADDRESS: 'temporal:7233', XRPL_RPC_URL: 'https://node.example/v3/key', SMTP_URL: 'smtps://mail' },
    };
    const parse =
      (xrpl: string, XRPL_NETWORK = 'mainnet') =>
      () =>
        parseConfig({ ...production, XRPL_NETWORK, SIGNER_NODES: given({ xrpl }) }, undefined, 'signer');
    expect(parse('https://other.example', 'simulator')).toThrow('XRPL_NETWORK weakens the service');
    expect(parse('https://other.example')).not.toThrow();
    expect(parse('https://node.example/other')).toThrow('the node of xrpl is that of its chain worker');
    expect(parse('http://203.0.113.7:5005')).toThrow('an address of xrpl is plain http to a public address');
  });
});

describe('the families', () => {
  it('are those of the networks that are on, each on its own node', async () => {
    const net = await simulatedXrpl();
    try {
      const settings = parseConfig({
        ...base,
        SIGNER_NODES: given({ xrpl: net.part.url, tron: 'http://127.0.0.1:1' }),
      });
      const families = expiringFamilies(settings);
      expect(Object.keys(families)).toEqual(['xrpl']);
      await net.close(3);
      const { address } = await net.funded(1);
      const { address: to } = await net.funded(2);
      const asked = { from: address, to, currency: 'XRP', units: 1n };
      const answer = await families[xrpl]!.node.termsOf(asked);
      expect(answer).toMatchObject({ state: 'done', terms: { on: { height: (await net.node.head()).height } } });
    } finally {
      await net.end();
    }
  });

  it('believe no node of another network: what it never had is no proof that nothing was paid', async () => {
    const other = await simulatedXrpl(2000);
    try {
      await other.close(30);
      const families = expiringFamilies(parseConfig({ ...base, SIGNER_NODES: given({ xrpl: other.part.url }) }));
      const { node } = families[xrpl]!;
      const window = { from: 2, last: { height: 20 } };
      const refused = expect.objectContaining({ code: 'NODE_UNREACHABLE' });
      await expect(node.fateOf({ txId: 'A'.repeat(64), window } as never)).rejects.toEqual(refused);
      const { address: to } = other.person(2);
      await expect(node.termsOf({ from: to, to, currency: 'XRP', units: 1n })).rejects.toEqual(refused);
    } finally {
      await other.end();
    }
  });

  it('throw for one without a node', () => {
    const settings = parseConfig(base, undefined, 'payments');
    expect(() => expiringFamilies(settings)).toThrow('The signer has no node for xrpl');
  });
});

describe('the doctor', () => {
  const states = async (id: NetworkId, nodes: unknown, more: object = {}) =>
    (await checkSignerNode(id, parseConfig({ ...base, SIGNER_NODES: given(nodes), ...more }))).map(
      ({ state, what }) => [state, what] as const,
    );

  it('says of a node of the XRP Ledger that it is of its network, and whose it is', async () => {
    const net = await simulatedXrpl();
    try {
      await net.close(2);
      const good = ['good', expect.stringContaining('network 55555')];
      const kept = ['good', 'It keeps the ledgers that prove what has expired'];
      expect(await states(xrpl, { xrpl: net.part.url })).toEqual([good, kept]);
      expect(await states(xrpl, { xrpl: net.part.url }, { XRPL_RPC_URL: `${net.part.url}/other` })).toEqual([
        good,
        kept,
        ['warning', expect.stringContaining("chain worker's node")],
      ]);
    } finally {
      await net.end();
    }
    const other = await simulatedXrpl(2000);
    try {
      expect(await states(xrpl, { xrpl: other.part.url })).toEqual([
        ['fault', expect.stringContaining('on network 2000')],
      ]);
    } finally {
      await other.end();
    }
  });

  it('says of a node of TRON what is final, and throws for one of another chain', async () => {
    const world = await TronWorld.start();
    const nodes = { xrpl: 'http://127.0.0.1:1', tron: world.url };
    try {
      await world.mine(25);
      await expect(states(tron, nodes)).rejects.toThrow('first block');
      const leave = register([], tronFrom(world.chain.genesis));
      expect(await states(tron, nodes)).toEqual([['good', expect.stringMatching(/at block \d+, and \d+ is final/)]]);
      leave();
    } finally {
      await world.stop();
    }
  });

  it('says nothing of what never expires, and warns where it is not told', async () => {
    expect(await checkSignerNode('bitcoin', parseConfig({}))).toEqual([]);
    const untold = await checkSignerNode(xrpl, parseConfig(base, undefined, 'payments'));
    expect(untold).toMatchObject([{ state: 'warning', fix: 'Give SIGNER_NODES to this process too' }]);
  });
});
