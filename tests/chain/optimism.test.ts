import { chainContract } from './contract';
import { sibling, siblingFixture } from './evm-fixture';

chainContract('optimism', () => siblingFixture('optimism'));
sibling('optimism');
