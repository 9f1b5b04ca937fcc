import { writeFileSync } from 'node:fs';
import { paymentStatesFile, paymentStatesPage } from './payment-states-page';

/** `npm run docs:states`: writes docs/payment-states.md from the rows of the state machine. */
writeFileSync(paymentStatesFile, paymentStatesPage());
console.log(`Wrote ${paymentStatesFile}`);
