import type { ReactNode } from 'react';
import { ConfirmDialog } from '../design/confirm';
import { useToast } from '../design/feedback';

/** A decision about money that waits, made after a second look. `decide` resolves to null where the person changed
 *  their mind at the second factor: then the dialog stays. `renew` reads anew what the decision changes, after a refusal
 *  too: somebody else may have decided. */
export function DecisionDialog(
  props: Readonly<{
    words: Readonly<{ name: string; sure: string; done: string }>;
    isApproval: boolean;
    decide: () => Promise<unknown>;
    renew: () => Promise<void>;
    onEnd: () => void;
    children?: ReactNode;
  }>,
) {
  const { words, isApproval, decide, renew, onEnd, children } = props;
  const toast = useToast();
  const act = async (): Promise<boolean> => {
    const ended = await decide().finally(renew);
    if (ended) toast(words.done);
    return ended !== null;
  };
  return (
    <ConfirmDialog
      title={words.name}
      sure={words.sure}
      look={isApproval ? 'primary' : 'danger'}
      act={act}
      onEnd={onEnd}
    >
      {children}
    </ConfirmDialog>
  );
}
