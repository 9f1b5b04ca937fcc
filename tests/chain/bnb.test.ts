import { chainContract } from './contract';
import { sibling, siblingFixture } from './evm-fixture';

chainContract('bnb', () => siblingFixture('bnb'));
sibling('bnb');
