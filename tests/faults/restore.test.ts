import { restoreDrill } from '../restore-drill/scenario';

/** A restore to an earlier moment, as operators do it. The long form: `npm run restore-drill`. */

it('C2: a restored database goes on', async () => {
  expect(await restoreDrill({ lossSeconds: 0, temporal: 'kept', isShort: true })).toContain(
    'audit and reconciliation are clean',
  );
}, 900_000);
