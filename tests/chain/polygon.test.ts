import { mnemonicToSeedSync } from '@scure/bip39';
import { getAddress } from 'viem';
import { createCodec, registered } from '../../chains/codecs';
import { contractOf, assetOf, networks, type ChainSettings } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { chainContract } from './contract';
import { evmFixture } from './evm-fixture';

const localId = networks.polygon.kind === 'account' ? networks.polygon.localChainIds[0]! : 0;
const settingsOf = (token: string): ChainSettings => ({
  chainNames: {},
  chainIds: { polygon: localId },
  tokenContracts: { USDC_POLYGON: token },
  sweepers: {},
});

chainContract('polygon', async () => (await evmFixture(registered('polygon'), localId, settingsOf)).fixture);

describe('Polygon PoS', () => {
  const { chain } = parseConfig({ POLYGON_SWEEPER_CONTRACT: `0x${'ab'.repeat(20)}` });
  const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);

  it('has the addresses of Ethereum, and payment URIs with its own chain id', () => {
    const [polygon, ethereum] = [createCodec('polygon', chain), createCodec('ethereum', chain)];
    const address = polygon.derive(polygon.extendedKey(seed, 'deposit'), 0);
    expect(address).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
    expect(address).toBe(ethereum.derive(ethereum.extendedKey(seed, 'deposit'), 0));
    expect(polygon.paymentUri(address, 'POL', '1.5')).toBe(`ethereum:${address}@137?value=1500000000000000000`);
    expect(polygon.paymentUri(address, 'USDC_POLYGON', '1.5')).toBe(
      `ethereum:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359@137/transfer?address=${address}&uint256=1500000`,
    );
  });

  it('has the token that Circle issues, and a sweeper of its own', () => {
    const contract = contractOf(assetOf('USDC_POLYGON'), chain)!;
    expect(getAddress(contract)).toBe(contract);
    expect(chain.sweepers).toEqual({ polygon: `0x${'ab'.repeat(20)}` });
  });
});
