import { networks } from '../../domain/chains/assets';
import { behindReason, disagreement, isLocalChain, scannedThrough, staleReason } from '../../domain/chains/freshness';

const { bitcoin, ethereum } = networks;
const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
const well = { peers: 8, missing: 0 };

describe('B5: how far a network has been scanned', () => {
  it('is the time of the look where the whole mempool was seen', () => {
    expect(scannedThrough(now, ago(1800), now)).toEqual(now);
    expect(scannedThrough(now, ago(1800), ago(5))).toEqual(ago(5));
  });
  it('is the time of the head without, never after the look', () => {
    expect(scannedThrough(now, ago(12), null)).toEqual(ago(12));
    expect(scannedThrough(now, ago(12), ago(600))).toEqual(ago(12));
    expect(scannedThrough(now, ago(-300), null)).toEqual(now);
  });
});

describe('B5: a node stands still', () => {
  it.each([
    [bitcoin, 100, 100, null],
    [bitcoin, 97, 100, null],
    [bitcoin, 96, 100, 'The node is at block 96, and was at 100 before: it has lost blocks, or fetches them'],
    [ethereum, 85, 100, null],
    [ethereum, 84, 100, 'The node is at block 84, and was at 100 before: it has lost blocks, or fetches them'],
  ])('that is behind itself: %#', (network, head, before, reason) => {
    expect(behindReason(network, head, before)).toBe(reason);
  });

  it.each([
    [bitcoin, well, 7200, null],
    [bitcoin, well, 7201, 'The newest block of the node is 7201 seconds old'],
    [ethereum, well, 180, null],
    [ethereum, well, 181, 'The newest block of the node is 181 seconds old'],
    [ethereum, { peers: null, missing: 0 }, 0, null],
    [ethereum, { peers: 0, missing: 0 }, 0, 'The node has no peers'],
    [ethereum, { peers: 8, missing: 0, isApart: true }, 0, 'The node does not follow its network'],
    [ethereum, { peers: 8, missing: 0, isApart: false }, 0, null],
    [bitcoin, { peers: 8, missing: 2 }, 0, null],
    [bitcoin, { peers: 8, missing: 3 }, 0, 'The node knows 3 headers of blocks that it does not have'],
  ])('%#', (network, sync, age, reason) => {
    expect(staleReason(network, sync, ago(age), now)).toBe(reason);
  });

  it('on chains that live, and on no local one', () => {
    const chain = (name: string, id: number) => ({ chainNames: { bitcoin: name }, chainIds: { ethereum: id } });
    for (const [name, id, isLocal] of [
      ['mainnet', 1, false],
      ['testnet', 11155111, false],
      ['regtest', 31337, true],
      ['simnet', 1337, true],
    ] as const) {
      expect(isLocalChain(bitcoin, chain(name, id))).toBe(isLocal);
      expect(isLocalChain(ethereum, chain(name, id))).toBe(isLocal);
    }
  });
});

describe('B5: two nodes', () => {
  const view = (height: number, hashBelow: string | null = 'a') => ({ height, hashBelow });
  it.each([
    [view(100), view(85), null],
    [view(100), view(84), false],
    [view(84), view(100), true],
    [view(100), view(100, 'b'), true],
    [view(100), view(100, null), true],
  ])('%#', (first, second, isOurs) => {
    expect(disagreement(ethereum, first, second, 50)?.isOurs ?? null).toBe(isOurs);
  });
});
