import * as wf from '@temporalio/workflow';
import type { PaymentActivities } from '../activities';
import { untilAnswered } from './retry';
import { activitiesOf } from './summaries';

const act = activitiesOf<PaymentActivities>({
  ...untilAnswered,
  startToCloseTimeout: '40s',
  scheduleToCloseTimeout: '1d',
});

/** Sends one mail; a mail server that does not take it is asked again for a day. Workflow id: `mail/<id>`. */
export async function mail(id: string): Promise<string> {
  await act.sendMail(id);
  const ended = 'The mail server has taken the mail.';
  wf.setCurrentDetails(ended);
  return ended;
}
