import { chainContract } from './contract';
import { sibling, siblingFixture } from './evm-fixture';

chainContract('polygon', () => siblingFixture('polygon'));
sibling('polygon');
