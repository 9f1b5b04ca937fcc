import { useState, type ReactNode } from 'react';
import { useAct } from '../design/act';
import { Notice, useToast } from '../design/feedback';
import { Field } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { renewPlatform } from './data';
import { useOperatorTexts } from './texts/use';

type Factor = Parameters<Parameters<ReturnType<typeof useStepUp>>[1]>[0];

/** An act of an operator: what it does, the reason for the audit log, and a factor. `act` resolves to what the person
 *  is told. It stays open on a refusal, and where the person brings no factor. */
export function ReasonDialog(
  props: Readonly<{
    title: string;
    sure: ReactNode;
    submit: string;
    /** Confirming another's request needs no reason of one's own. */
    withoutReason?: true;
    /** What is missing besides the reason. */
    missing?: string | undefined;
    isDanger?: boolean;
    act: (reason: string, factor: Factor) => Promise<string>;
    onEnd: () => void;
    children?: ReactNode;
  }>,
) {
  const { title, sure, submit, withoutReason = false, missing, isDanger = false, onEnd, children } = props;
  const t = useOperatorTexts();
  const all = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [reason, setReason] = useState('');
  const act = useAct(async () => {
    const done = await confirm('platform', (factor) => props.act(reason.trim(), factor));
    if (!done) return;
    await renewPlatform();
    toast(done.value);
    onEnd();
  });
  const lacksReason = !withoutReason && reason.trim() === '';
  return (
    <FormDialog
      title={title}
      submit={submit}
      act={act}
      onEnd={onEnd}
      isDanger={isDanger}
      reason={missing ?? (lacksReason ? all.required : undefined)}
    >
      <Notice tone="warn">{sure}</Notice>
      {children}
      {!withoutReason && (
        <Field
          label={t.reason}
          hint={t.reasonHint}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      )}
    </FormDialog>
  );
}
