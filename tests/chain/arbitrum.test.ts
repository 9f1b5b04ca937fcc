import { chainContract } from './contract';
import { sibling, siblingFixture } from './evm-fixture';

chainContract('arbitrum', () => siblingFixture('arbitrum'));
sibling('arbitrum');
