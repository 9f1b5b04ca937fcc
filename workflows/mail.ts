import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { untilAnswered } from './retry';

const act = wf.proxyActivities<PaymentActivities>({
  ...untilAnswered,
  startToCloseTimeout: '40s',
  scheduleToCloseTimeout: '1d',
});

/** Sends one mail; a mail server that does not take it is asked again for a day. Workflow id: `mail/<id>`. */
export async function mail(id: string): Promise<void> {
  await act.sendMail(id);
}
