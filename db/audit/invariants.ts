/** What each invariant says, in the words of a report; in full in docs/invariants.md. */
export const invariantWords: Readonly<Record<string, string>> = {
  I1: 'journals are whole, and nobody has changed one',
  I2: 'no balance is below zero',
  I3: 'every stored sum is the sum of its parts',
  I4: 'we hold at least what we owe',
  I5: 'the chains hold what the books say',
  I6: 'every deposit is credited once, every payment settled once',
  I7: 'everything is sent once, in full, and after its approval',
  I8: 'no nonce is missing, no coin is spent twice, and of transactions that expire one stands at a time',
  I9: 'every hold ends once, and refunds stay below what came in',
  I10: 'unsettled money is what its deposits brought',
  I11: 'every event has its number, every delivery its next attempt',
  I12: 'every confirmed deposit belongs to something',
  I13: 'Temporal has taken every request, and no conversion is stuck',
  I14: 'conversions moved exactly what they say',
  I15: 'every deposit address is of one payment, and derives again',
};
