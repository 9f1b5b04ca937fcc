import { nextOf } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import type { NextIntent } from '../../txmanager/next-intent';

/** Moves between our own addresses. */
export const treasuryActivities = (deps: GasDeps) => ({
  nextConsolidation: (ref: string): Promise<NextIntent> => nextOf(deps, { kind: 'consolidate', id: ref }),
});
